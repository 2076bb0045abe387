//! `oscost explain --trace`: the functions of the running kernel in one operation, in order, as ftrace sees them.
//!
//! Everything is set in an instance of its own (Linux's Documentation/trace/ftrace.rst, Instances), so nobody else's tracing
//! changes. A guard, which outlives this program, removes it.

mod functions;
mod instance;
mod traced;

use std::fmt::Write as _;

use oscost_harness::{Card, Tier, uncountable};
use oscost_results::Untrusted;

use self::functions::Function;
use self::instance::Instance;
use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::{output, words};

pub use instance::GUARD;
pub use traced::TRACED;

/// Does the work of a guard or of a traced process, if the program was started as one; its exit code.
pub fn serve_if_asked() -> Option<u8> {
    let mut arguments = std::env::args_os().skip(1);
    let (name, given) = (arguments.next()?, arguments.next());
    let given = given.as_deref().and_then(std::ffi::OsStr::to_str);
    match name.to_str()? {
        GUARD => Some(instance::guard(given)),
        TRACED => Some(traced::serve(given)),
        _ => None,
    }
}

/// Traces one operation, and shows what was called.
pub fn trace(thing: &str) -> Result<Exit, Ended> {
    let card = traceable(thing)?;
    let withheld = |why: &str| lacking(card, Exit::Withheld, why);
    // Functions on several CPUs have no order, and a series has no operation: neither for ftrace nor for the count.
    if let Some(why) = uncountable(card) {
        return Err(withheld(why));
    }
    let instance = Instance::new().map_err(|why| lacking(card, Exit::Unfit, &why))?;
    let text = traced::run(card.id, &instance).map_err(|why| withheld(&why));
    let removed = instance.remove();
    let text = text?;
    removed.map_err(|why| Ended::new(Exit::Internal, why))?;
    let (usual, of) = functions::of_an_operation(&text);
    if of == 0 {
        return Err(withheld("ftrace showed no whole operation"));
    }
    let page = page(card, &usual.functions, usual.times, of);
    output::data(|out| out.write_all(page.as_bytes()))?;
    Ok(Exit::Done)
}

/// The card of what is to be traced: an id, or a word that finds one alone.
fn traceable(thing: &str) -> Result<&'static Card, Ended> {
    let found = catalogue().look_up(&[thing.to_owned()], Tier::Thorough).map_err(Ended::misuse)?;
    let cards: Vec<&'static Card> =
        found.iter().flat_map(|found| &found.choices).map(|choice| choice.card()).collect();
    match cards.iter().copied().find(|card| card.id == thing).or((cards.len() == 1).then(|| cards[0])) {
        Some(card) => Ok(card),
        None => {
            let ids: Vec<&str> = cards.iter().map(|card| card.id).collect();
            Err(Ended::misuse(format!("--trace takes one id, and '{thing}' finds {}", words::listed(&ids))))
        }
    }
}

fn lacking(card: &Card, exit: Exit, why: &str) -> Ended {
    let mut words = format!("{} was not traced: {why}", card.id);
    if uncountable(card).is_none() {
        let _ = write!(words, ". Without ftrace: oscost count {} --by-function --kernel running", card.id);
    }
    Ended::new(exit, words)
}

fn page(card: &Card, functions: &[Function], times: usize, of: usize) -> String {
    let release = oscost_sys::identity::kernel().release;
    let mut text = format!("{}: functions of the running kernel in one operation, in order\n", card.id);
    let release = Untrusted::new(&release).terminal();
    let _ = writeln!(text, "Linux {release}, seen by ftrace: names, no counts.");
    let _ = writeln!(text, "Inlined functions, and those that may not be traced, are not among them.\n");
    if functions.is_empty() {
        text.push_str("  none: it does not enter the kernel\n");
    }
    let mut stack: Vec<&Function> = Vec::new();
    let mut whose = 0;
    for function in functions {
        if function.whose != whose {
            whose = function.whose;
            stack.clear();
            let who = if whose == 0 {
                "back in the measured process".to_owned()
            } else {
                format!("partner {whose}")
            };
            let _ = writeln!(text, "  -- {who}");
        }
        let caller = stack.iter().rposition(|above| above.name == function.caller);
        stack.truncate(caller.map_or(0, |at| at + 1));
        // A module names its functions as it likes.
        let name = Untrusted::new(&function.name).terminal();
        let _ = writeln!(text, "  {:1$}{2}", "", 2 * stack.len(), name);
        stack.push(function);
    }
    let _ = writeln!(
        text,
        "\nSo in {times} of {of} operations. Counts: oscost count {} --by-function --kernel KERNEL",
        card.id
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callee_stands_below_its_caller() {
        let of =
            |name: &str, caller: &str, whose| Function { name: name.into(), caller: caller.into(), whose };
        let card = Card { id: "a/b", ..Card::BATCHED };
        let functions = [
            of("read", "entry", 0),
            of("vfs_read", "read", 0),
            of("wake", "vfs_read", 0),
            of("exit", "entry", 0),
        ];
        let text = page(&card, &functions, 15, 16);
        assert!(text.contains("\n  read\n    vfs_read\n      wake\n  exit\n"), "{text}");
        assert!(text.contains("So in 15 of 16 operations."), "{text}");
        let text =
            page(&card, &[of("write", "entry", 0), of("read", "entry", 1), of("exit", "entry", 0)], 1, 1);
        assert!(
            text.contains("  write\n  -- partner 1\n  read\n  -- back in the measured process\n  exit\n"),
            "{text}"
        );
        assert!(page(&card, &[], 1, 1).contains("does not enter the kernel"));
        let text = page(&card, &[of("\u{1b}[31mx", "entry", 0)], 1, 1);
        assert!(!text.contains('\u{1b}') && text.contains("[31mx"), "{text}");
    }
}
