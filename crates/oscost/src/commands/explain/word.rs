//! Words of the glossary, quantities, warning codes, exit codes, commands.

use clap::CommandFactory;
use oscost_results::quantity::{self, Better};
use oscost_results::{Mark, RemarkCode};

use super::Explanation;
use crate::args::Arguments;
use crate::checks::{About, checks, mentions};
use crate::exit::MEANINGS;
use crate::glossary;

/// Codes of a shell for a program that a signal ended: 128 and the signal's number, 1 to 64.
const FIRST_SIGNAL: u8 = 129;
const LAST_SIGNAL: u8 = 192;

/// The page of a word; `None` where it is none of these.
pub fn page(thing: &str) -> Option<Explanation> {
    // Signs of the price list stand for words.
    let thing = match thing {
        "*" => "judged",
        "\u{b1}" | "+/-" => "interval",
        "?" => "unclear",
        "~" => "cycles",
        "\u{2265}" | ">=" => "price",
        "\u{2264}" | "<=" => "saved",
        other => other.strip_prefix('~').unwrap_or(other),
    };
    code(thing).or_else(|| warning(thing)).or_else(|| word(thing)).or_else(|| glossary_page(thing))
}

/// Every word and its meaning, for a reader who has the program alone.
fn glossary_page(thing: &str) -> Option<Explanation> {
    let mut page = Explanation::new("glossary: what the words of oscost mean".to_owned());
    page.fact("Words", glossary::entries().map(|entry| format!("{}: {}", entry.words, entry.meaning)));
    thing.eq_ignore_ascii_case("glossary").then_some(page)
}

/// The page of a check of `oscost doctor`.
pub fn check(check: About) -> Explanation {
    let name = check.name.replace('_', " ");
    let mut page = Explanation::new(format!("{name}: 'oscost doctor' looks at it")).say(check.looks);
    page.fact("Remedy", [check.remedy.to_owned()]);
    page.fact("Here", ["oscost doctor".to_owned()]);
    page
}

/// Most rows that a word is shown in.
const MOST: usize = 5;

/// Of a word that nothing is called by: the checks, the words of the glossary, and the warnings and remarks that mention it.
pub fn mentioned(thing: &str) -> Option<Explanation> {
    // A letter or two stand in everything.
    if thing.trim().chars().count() < 3 {
        return None;
    }
    let checks = checks().filter(|check| mentions(check.looks, thing) || mentions(check.remedy, thing));
    let checks = checks
        .map(|check| format!("{}: {} Remedy: {}", check.name.replace('_', " "), check.looks, check.remedy));
    let entries =
        glossary::entries().filter(|entry| mentions(entry.meaning, thing) || mentions(entry.beware, thing));
    let entries = entries.map(|entry| format!("{}: {}", entry.words, entry.meaning));
    let codes = RemarkCode::all().filter(|code| mentions(&code.words(), thing));
    let codes = codes.map(|code| format!("{}: {}", code.name(), code.words()));
    let (checks, words): (Vec<String>, Vec<String>) = (checks.collect(), entries.chain(codes).collect());
    if checks.is_empty() && words.is_empty() {
        return None;
    }
    let left_out = words.len().saturating_sub(MOST);
    let shown = oscost_results::Untrusted::new(thing).terminal().to_string();
    let mut page = Explanation::new(format!("Nothing is called '{shown}'; these mention it:"));
    page.fact("Doctor", checks.into_iter().take(MOST));
    page.fact("Words", words.into_iter().take(MOST));
    if left_out > 0 {
        page.fact("", [format!("and {left_out} more in 'oscost explain glossary'")]);
    }
    Some(page)
}

/// A command of the program.
pub fn command(thing: &str) -> Option<Explanation> {
    let program = Arguments::command();
    let command = program.get_subcommands().find(|it| !it.is_hide_set() && it.get_name() == thing)?;
    let mut page = Explanation::new(format!("oscost {thing}: a command"));
    page.fact("Does", command.get_about().map(ToString::to_string));
    page.fact("Options", [format!("oscost {thing} --help")]);
    Some(page)
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
    let words = match (meaning, number) {
        (Some((_, meaning)), _) => (*meaning).to_owned(),
        (None, FIRST_SIGNAL..=LAST_SIGNAL) => {
            format!(
                "signal {} ended the program; oscost ends this way only after SIGHUP, SIGINT and SIGTERM",
                number - 128
            )
        }
        (None, _) => return None,
    };
    Some(Explanation::new(format!("Exit code {wanted}")).say(words))
}

/// The exit codes that there are, if `thing` is another one.
pub fn missing(thing: &str) -> Option<String> {
    let asked = thing.to_lowercase();
    let number = asked.rsplit(' ').next()?;
    let is_code =
        ["exit ", "code "].iter().any(|start| asked.starts_with(start)) && number.parse::<u32>().is_ok();
    let codes: Vec<&str> = MEANINGS.iter().map(|(codes, _)| *codes).collect();
    is_code.then(|| format!("oscost ends with {}", codes.join(", ")))
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
        let unit = match known.unit {
            unit @ ("ns" | "cycles") => format!("in {unit}"),
            unit => format!("a {unit}"),
        };
        page.fact("Quantity", [format!("{}; {unit}{better}", known.what.trim_end_matches('.'))]);
    }
    if mark.is_some() {
        page.fact("Mark", ["a warning beside a figure that is measured and shown".to_owned()]);
    }
    Some(page)
}
