//! The table at the end of the campaign: each space in one line, from the counts of its outcome.

use crate::Outcome;

/// A column: its heading, and the counts that it adds up, each by the beginning of its name.
const COLUMNS: &[(&str, &[&str])] = &[
    ("kills", &["SIGKILL", "SIGINT", "SIGTERM", "SIGHUP", "SIGSTOP", SAVING, KILLED, SERVERS, CLIENTS]),
    ("injected", &["calls that failed", "calls that found no room", "calls refused", LATE]),
    ("races", &[RACES, "starts at once"]),
    ("lacks", &["lacks", "full outputs", "quotas, noticed", "times that CPUs were taken away", "runaways"]),
    ("left", &["processes left", "objects left", "left", "stray files"]),
    ("lost", &["torn results", "lost launches", "files of others that were touched"]),
    ("panics", &["panics"]),
    ("hangs", &["hangs"]),
    ("false", &["figures beside an error"]),
];

const SAVING: &str = "kills while saving";
const KILLED: &str = "runs with files that were killed with everybody";
const SERVERS: &str = "tick servers killed";
const CLIENTS: &str = "tick clients killed";
const LATE: &str = "operations that failed late";

/// Commands of root in whose time another user swapped names under its feet.
pub const RACES: &str = "commands raced by another user";

/// What a column of this heading adds up to.
pub fn column<'a>(heading: &str, outcomes: impl Iterator<Item = &'a Outcome>) -> u64 {
    let names = COLUMNS.iter().filter(|(of, _)| *of == heading).flat_map(|(_, names)| names.iter());
    let names: Vec<&str> = names.copied().collect();
    outcomes.map(|outcome| sum(outcome, &names)).sum()
}

/// What a column adds up. A name counts whole, but for the signals, which say whom they met.
fn sum(outcome: &Outcome, names: &[&str]) -> u64 {
    let of = |name: &str, begin: &str| name == begin || begin.starts_with("SIG") && name.starts_with(begin);
    let counts = outcome.counts.iter();
    counts.filter(|(name, _)| names.iter().any(|begin| of(name, begin))).map(|(_, count)| count).sum()
}

/// The table of all parts by name, with a line for their sum.
pub fn of<'a>(parts: impl Iterator<Item = (&'a str, &'a Outcome)>) -> String {
    let mut rows: Vec<(String, Vec<u64>)> = parts
        .map(|(name, outcome)| {
            let mut cells: Vec<u64> = COLUMNS.iter().map(|(_, names)| sum(outcome, names)).collect();
            cells.push(outcome.skipped.len() as u64);
            cells.push(outcome.failures.len() as u64);
            (name.to_owned(), cells)
        })
        .collect();
    let columns = COLUMNS.len() + 2;
    let all = (0..columns).map(|at| rows.iter().map(|(_, cells)| cells[at]).sum()).collect();
    rows.push(("all".to_owned(), all));
    let headings = COLUMNS.iter().map(|(heading, _)| *heading).chain(["skipped", "failures"]);
    let mut text = format!("| {:<8} |", "space");
    headings.for_each(|heading| text += &format!(" {heading:>8} |"));
    text += &format!("\n|{:-<10}|{}", "", format!("{:->9}:|", "").repeat(columns));
    for (name, cells) in rows {
        text += &format!("\n| {name:<8} |");
        cells.iter().for_each(|cell| text += &format!(" {cell:>8} |"));
    }
    text
}
