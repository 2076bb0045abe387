//! The program on Linux, where it measures.

use std::io::Write;
use std::process::ExitCode;

use oscost_sys::usage;

use crate::args::Compare;
use crate::commands;
use crate::exit::{Ended, Exit, in_bisection};
use crate::output::Talk;
use crate::tick;

pub use crate::args::MeasuringCommand as Command;
pub use crate::session::recover;
pub use oscost_sys::terminal::{columns, columns_behind_a_pipe, stdout_unwritable};

/// Nothing needs another system.
pub const NEEDS_LINUX: Option<&str> = None;

/// What the start screen says first.
pub const TITLE: &str = "oscost: what operating-system primitives cost on this machine, with evidence";

/// Commands of the start screen, each with the question that it answers.
pub const COMMANDS: &[(&str, &str)] = &[
    ("oscost run --quick", "first look, about 20 s"),
    ("oscost run semaphore", "one family, or any word: mutex, getpid"),
    ("oscost explain ID", "what a figure means and what was counted"),
    ("oscost compare", "your last two runs: what got slower?"),
    ("oscost compare --live A B ID", "two builds or settings, in alternation"),
    ("oscost count ID --kernel K", "instructions of one operation, on a kernel"),
    ("oscost bill -- PROGRAM", "what does my program pay the system?"),
    ("oscost reproduce tlpi", "the book's table beside this machine's"),
    ("oscost doctor", "is this machine quiet enough?"),
];

/// No allocation that fails ends the program by a signal.
#[global_allocator]
static MEMORY: oscost_sys::allocator::OrEnd = oscost_sys::allocator::OrEnd::new(Exit::Unfit.code());

/// A stack that every command has room in, bytes: with less, the kernel would end the program without a word.
const LEAST_STACK: u64 = 512 << 10;

/// Prepares the process, and does its work if it was started as a part of another one; its exit code then.
pub fn begin() -> Option<ExitCode> {
    if oscost_sys::identity::is_elevated() {
        let refusal = "oscost: refused, because the program has more privilege than its caller (set-user-ID or file capabilities): run it as the user who wants the figures";
        let _ = writeln!(std::io::stderr(), "{refusal}");
        return Some(in_bisection(Exit::Unfit).into());
    }
    let stack = usage::limit_of(usage::Limit::Stack).map_or(u64::MAX, |(soft, _)| soft);
    if stack < LEAST_STACK {
        let (has, needs) = (stack >> 10, LEAST_STACK >> 10);
        let refusal = format!("oscost: the stack may have {has} KiB, and {needs} are needed: ulimit -s 8192");
        let _ = writeln!(std::io::stderr(), "{refusal}");
        return Some(in_bisection(Exit::Unfit).into());
    }
    MEMORY.set_code(in_bisection(Exit::Unfit).code());
    oscost_sys::process::outlive_file_limit();
    oscost_sys::process::hear_of_children();
    // A program that measures is its own worker; nothing else may happen before.
    if let Some(code) = oscost_harness::serve_if_asked(&commands::catalogue) {
        return Some(ExitCode::from(code));
    }
    if tick::serve_if_asked() {
        return Some(ExitCode::SUCCESS);
    }
    // And it is what runs in an emulated machine that counts.
    let guest = oscost_count::guest::serve_if_asked(&commands::catalogue, &commands::count::hello);
    guest.or_else(commands::trace::serve_if_asked).map(ExitCode::from)
}

/// Runs a command that measures.
pub fn run(command: &Command, talk: &Talk) -> Result<Exit, Ended> {
    refuse_a_standing_clock()?;
    match command {
        Command::Run(options) => commands::run::run(options, talk),
        Command::Reproduce(options) => commands::reproduce::reproduce(options, talk),
        Command::Count(options) => commands::count::count(options, talk),
        Command::Bill(options) => commands::bill::bill(options, talk),
        Command::Crosscheck(options) => commands::crosscheck::crosscheck(options, talk),
        Command::Tick(options) => commands::tick::tick(options, talk),
        Command::Doctor(options) => commands::doctor::doctor(options, talk),
    }
}

/// Measures for a comparison, and judges: two commands in turn, or one id for a bisection.
pub fn compare(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    refuse_a_standing_clock()?;
    let asked = options.bisect.as_deref().unwrap_or_default();
    match (&options.live, &options.kernel) {
        (Some(sides), _) => commands::live::live(sides, options, talk),
        (_, Some(kernel)) => commands::count_bisect::bisect(asked, kernel, options, talk),
        _ => commands::bisect::bisect(asked, options, talk),
    }
}

/// Traces an operation.
pub fn trace(thing: &str) -> Result<Exit, Ended> {
    refuse_a_standing_clock()?;
    commands::trace::trace(thing)
}

/// What times something would wait for ever by a clock that does not advance.
fn refuse_a_standing_clock() -> Result<(), Ended> {
    if oscost_sys::clock::advances() {
        return Ok(());
    }
    Err(Ended::unfit(oscost_session::Error::StandingClock))
}

/// Names of the programs that crosscheck holds figures against.
pub fn peers() -> impl Iterator<Item = &'static str> {
    crate::crosscheck::PEERS.iter().map(|peer| peer.name)
}

/// Version, build, target and C library.
pub fn version() -> String {
    let tool = oscost_session::machine::tool();
    format!("{}\nbuild {}\n{}\n{}", tool.version, tool.build_id, tool.target, tool.libc)
}

#[cfg(test)]
mod tests {
    use clap::Subcommand;

    use super::Command;

    /// The program of other systems is not compiled here: its source is read, and the list of what Wine is asked.
    #[test]
    fn what_measures_is_refused_on_other_systems() {
        let elsewhere = include_str!("elsewhere.rs");
        let needs_linux = elsewhere.lines().find(|line| line.contains("This system cannot be measured"));
        let needs_linux = needs_linux.expect("what needs Linux");
        let windows = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/release/windows");
        let windows = std::fs::read_to_string(windows).expect("the script");
        let commands = Command::augment_subcommands(clap::Command::new("oscost"));
        let names: Vec<&str> = commands.get_subcommands().map(clap::Command::get_name).collect();
        assert!(names.len() >= 7 && names.contains(&"bill"), "{names:?}");
        for name in names {
            assert!(elsewhere.contains(&format!("(_) => \"{name}\",")), "{name} is unknown there");
            assert!(needs_linux.contains(&format!(" {name},")), "{name}: {needs_linux}");
            assert!(windows.contains(&format!("(5, \"{name}")), "{name} is not tried in Wine");
        }
    }
}
