//! What a document comes to on this machine, in five lines.

use oscost_results::{Judgement, Reproduction};

use crate::blocks::Fact;
use crate::numbers;
use crate::words::{counted, plain};

/// Letters of a statement that a line of the summary has room for.
const LETTERS: usize = 72;

/// The five lines: its laws, those that fail, those that hold in part, its machine and this one, its numbers.
pub(super) fn facts(rows: &[&Reproduction], unicode: bool) -> Vec<Fact> {
    let stated = |judgement: Judgement| -> Vec<&Reproduction> {
        rows.iter()
            .copied()
            .filter(|row| row.statement.is_some() && !row.ours && row.verdict == Some(judgement))
            .collect()
    };
    let count = |judgement: Judgement| stated(judgement).len();
    let (holds, part) = (count(Judgement::Holds), count(Judgement::HoldsInPart));
    let (fails, unclear) = (count(Judgement::DoesNotHold), count(Judgement::Unclear));
    let open = count(Judgement::NotJudged) + count(Judgement::NotTestableHere);
    let named = |all: &[&Reproduction], none: &str| match all {
        [] => none.to_owned(),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            format!("{}{more}", quoted(first, unicode))
        }
    };
    let doubtful = [stated(Judgement::HoldsInPart), stated(Judgement::Unclear)].concat();
    let figures = stated(Judgement::ItsMachine);
    let machine = figures.iter().find(|row| row.because.starts_with("there "));
    let published = rows.iter().filter(|row| row.published.is_some()).count();
    let literal = rows.iter().filter(|row| row.literal.is_some()).count();
    let differs = rows.iter().filter(|row| row.place.starts_with("differs: ")).count();
    let hold = if holds == 1 { "holds" } else { "hold" };
    let do_not = if fails == 1 { "does not" } else { "do not" };
    let of_machine = match figures.len() {
        0 => String::new(),
        some => format!("; {} of its machine", counted(some, "figure", "figures")),
    };
    let none = if holds + part + fails + unclear == 0 { "no law was judged" } else { "none" };
    let line = |name: &'static str, says: String| Fact { name, says, of: Vec::new() };
    vec![
        line(
            "laws",
            format!(
                "{} judged: {holds} {hold}, {part} in part, {fails} {do_not}, {unclear} unclear; {open} not judged or not testable \
                 here{of_machine}",
                holds + part + fails + unclear,
            ),
        ),
        line("fails", named(&stated(Judgement::DoesNotHold), none)),
        line("in doubt", named(&doubtful, none)),
        line(
            "machines",
            match machine {
                Some(row) => plain(&row.because, unicode),
                None => beside(rows, unicode),
            },
        ),
        line(
            "numbers",
            format!(
                "{published} published, {literal} by our copies of its programs{}; tables first, statements last",
                match differs {
                    0 => String::new(),
                    _ => format!(", which differ from them in {}", counted(differs, "thing", "things")),
                }
            ),
        ),
    ]
}

/// The first published value that is known here, too.
fn beside(rows: &[&Reproduction], unicode: bool) -> String {
    let told = rows.iter().find_map(|row| {
        let (cell, there, here) = (row.cell.as_ref()?, row.published?, row.literal?);
        let unit = numbers::nanoseconds(&row.unit)?;
        let name = plain(&format!("{}, {}: {}", cell.row, cell.column, cell.table), unicode);
        let name = name.split(": ").take(2).collect::<Vec<_>>().join(": ");
        let [there, here] = [there, here].map(|value| numbers::duration(value * unit));
        Some(format!("there {there}, here {here} by our copy of its program ({name})"))
    });
    told.unwrap_or_else(|| "no figure of its machine was measured here".to_owned())
}

/// The beginning of a statement, with quotation marks.
fn quoted(row: &Reproduction, unicode: bool) -> String {
    let text = plain(row.statement.as_deref().unwrap_or_default(), unicode);
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => {
            let cut = text[..end].rfind(' ').unwrap_or(end);
            format!("\"{} ...\"", &text[..cut])
        }
        None => format!("\"{text}\""),
    }
}
