//! Words of the glossary, quantities, warning codes, exit codes.

use oscost_results::quantity::{self, Better};
use oscost_results::{Mark, RemarkCode};

use super::Explanation;
use crate::exit::MEANINGS;
use crate::glossary;

/// The page of a word; `None` where it is none of these.
pub fn page(thing: &str) -> Option<Explanation> {
    code(thing).or_else(|| warning(thing)).or_else(|| word(thing))
}

/// "3", "exit 3", "exit code 3".
fn code(thing: &str) -> Option<Explanation> {
    let thing = thing.to_lowercase();
    let number =
        ["exit code ", "exit status ", "exit ", "code "].iter().find_map(|start| thing.strip_prefix(start));
    let number: u8 = number.unwrap_or(&thing).trim().parse().ok()?;
    let wanted = number.to_string();
    // "000" is a document.
    if thing.starts_with("00") {
        return None;
    }
    let meaning = MEANINGS.iter().find(|(codes, _)| codes.split(", ").any(|code| code == wanted));
    let page = Explanation::new(format!("Exit code {wanted}"));
    Some(match meaning {
        Some((_, meaning)) => page.say(*meaning),
        None => page.say(match number.checked_sub(128) {
            Some(signal) if signal > 0 => format!("signal {signal} ended the program; oscost itself ends this way only after SIGHUP, SIGINT and SIGTERM"),
            _ => "oscost never ends with this code".to_owned(),
        }),
    })
}

/// "W001", or the words of a warning.
fn warning(thing: &str) -> Option<Explanation> {
    let code = RemarkCode::named(thing).or_else(|| RemarkCode::of(thing))?;
    let whose = if code.name() < "W100" { "a warning of a run" } else { "a remark of a figure" };
    Some(Explanation::new(format!("{}: {whose}", code.name())).say(code.words()))
}

/// A word of the glossary, a mark, a quantity.
fn word(thing: &str) -> Option<Explanation> {
    let typed = thing.to_lowercase().replace(['-', ' '], "_");
    let quantity = quantity::ALL.iter().find(|known| known.name == typed);
    let entry = glossary::entry(thing);
    let mark = Mark::ALL.iter().find(|mark| mark.name() == typed);
    let title =
        entry.map(|entry| entry.words.to_owned()).or_else(|| quantity.map(|known| known.name.to_owned()))?;
    let mut page = Explanation::new(title);
    if let Some(entry) = entry {
        page = page.say(entry.meaning);
        page.fact("Beware", [entry.beware.to_owned()]);
    }
    if let Some(known) = quantity {
        let better = match known.better {
            Better::Less => "; less is better",
            Better::More => "; more is better",
            _ => "",
        };
        page.fact("Quantity", [format!("{} in {}{better}", known.what.trim_end_matches('.'), known.unit)]);
    }
    if mark.is_some() {
        page.fact("Mark", ["a warning beside a measured figure, which is shown all the same".to_owned()]);
    }
    Some(page)
}
