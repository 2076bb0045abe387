//! What a document comes to on this machine, in at most six lines: whose it is, its answer, why, its statements.

use oscost_results::document::{APUE, CONTEXT_SWITCH, GRAME, OSTEP, TLPI};
use oscost_results::{Judgement, Reproduction, RunResult};

use super::answers::{added_by_locks, answers};
use crate::blocks::Fact;
use crate::numbers;
use crate::view::story::Story;
use crate::words::{counted, plain};

/// Letters of a statement that a line of the summary has room for.
const LETTERS: usize = 72;

/// Whose numbers a document has.
const SOURCE: [(&str, &str); 5] = [
    (
        TLPI.name,
        "a reader's test of section 53.5 of The Linux Programming Interface, on a machine that is not named",
    ),
    (APUE.name, "the book Advanced Programming in the UNIX Environment, section 20.9"),
    (GRAME.name, "a technical report of GRAME from 2001, on PCs and Macs of that year"),
    (OSTEP.name, "a reader's notes on chapter 6 of OSTEP, measured on a Mac with an M2 Max"),
    (CONTEXT_SWITCH.name, "one reader's measurements on a MacBook Pro of 2015"),
];

/// Why the first answer is another one here: the document, the beginning of the statement that must hold in this very run, if the
/// reason rests on one, and the reason.
const WHY: [(&str, &str, &str); 3] = [
    (
        TLPI.name,
        "System V semaphore operations always require a system call",
        "System V enters the kernel twice a cycle, and POSIX never without contention",
    ),
    (OSTEP.name, "", "a call that takes 1.855 ns has not entered the kernel; here every call enters it"),
    (CONTEXT_SWITCH.name, "", "the same tag is one CPU here; without it the kernel chooses the CPUs"),
];

/// The lines: whose it is, its first answer there and here, why they differ, its statements, those that fail, those in doubt.
pub(super) fn facts(name: &str, rows: &[&Reproduction], result: &RunResult, unicode: bool) -> Vec<Fact> {
    let stated = |judgement: Judgement| -> Vec<&Reproduction> {
        rows.iter()
            .copied()
            .filter(|row| row.statement.is_some() && !row.ours && row.verdict == Some(judgement))
            .collect()
    };
    let named = |all: &[&Reproduction]| match all {
        [] => String::new(),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            format!("{}{more}", quoted(first, unicode))
        }
    };
    let count = |judgement: Judgement| stated(judgement).len();
    let open = count(Judgement::NotJudged) + count(Judgement::NotTestableHere);
    let others = [
        (count(Judgement::ItsMachine), ["figure of its machine", "figures of its machine"]),
        (open, ["not judged or not testable here"; 2]),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: String =
        others.map(|(count, [one, many])| format!("; {}", counted(*count, one, many))).collect();
    let doubtful = [stated(Judgement::HoldsInPart), stated(Judgement::Unclear)].concat();
    let answer = answer(name, rows, result, unicode);
    let source = SOURCE.iter().find(|(document, _)| *document == name);
    let why = match name {
        _ if answer.is_empty() => String::new(),
        name if name == GRAME.name => crate::view::grame::why(&Story::new(result, unicode)),
        name if name == APUE.name => added_by_locks(result).map_or(String::new(), locks),
        _ => {
            let is_it = |row: &&Reproduction, begin: &str| {
                row.statement.as_ref().is_some_and(|it| it.starts_with(begin))
                    && row.verdict == Some(Judgement::Holds)
            };
            let holds = |begin: &str| begin.is_empty() || rows.iter().any(|row| is_it(row, begin));
            let found = WHY.iter().find(|(document, begin, _)| *document == name && holds(begin));
            found.map_or(String::new(), |(.., words)| (*words).to_owned())
        }
    };
    let lines = [
        ("source", source.map_or(String::new(), |(_, words)| (*words).to_owned())),
        ("answer", answer),
        ("why", plain(&why, unicode)),
        ("verdict", format!("{}{others}", judged(name, &result.reproductions))),
        ("fails", named(&stated(Judgement::DoesNotHold))),
        ("in doubt", named(&doubtful)),
    ];
    let line = |(name, says)| Fact { name, says, of: Vec::new() };
    lines.into_iter().filter(|(_, says): &(_, String)| !says.is_empty()).map(line).collect()
}

/// What locks add to what the rest takes.
fn locks([there, here]: [[f64; 2]; 2]) -> String {
    let told = |[rest, added]: [f64; 2]| {
        let [rest, added] = [rest, added].map(|s| numbers::duration(s * 1e9));
        format!("{added} to {rest}")
    };
    format!("coarse locks add {} here, {} there", told(here), told(there))
}

/// The first answer that was found here, beside the document's; the headline of its page has the same.
fn answer(name: &str, rows: &[&Reproduction], result: &RunResult, unicode: bool) -> String {
    if name == GRAME.name {
        let found = crate::view::grame::finding(&Story::new(result, unicode));
        let told = if found.is_empty() { found } else { format!("{found}, by our copy of its program") };
        return plain(&told, unicode);
    }
    let all = answers(name, result);
    match all.iter().find_map(|answer| Some((answer, answer.here.as_ref()?))) {
        Some((answer, (number, unit))) => {
            let here = format!("{number} {unit}");
            plain(
                &format!("{}: there {}, here {} ({})", answer.name, answer.there, here.trim(), answer.how),
                unicode,
            )
        }
        None => beside(rows, unicode),
    }
}

/// How many of a document's statements that were judged have which verdict: the counts add up to the number that is told.
pub(crate) fn judged(name: &str, rows: &[Reproduction]) -> String {
    let own = || rows.iter().filter(|row| row.document == name && !row.ours);
    let of = |verdict: Judgement| {
        own().filter(|row| row.statement.is_some() && row.verdict == Some(verdict)).count()
    };
    let all = own().filter(|row| row.statement.is_some()).count();
    let holds = of(Judgement::Holds);
    let others = [
        (of(Judgement::HoldsInPart), "in part"),
        (of(Judgement::DoesNotHold), "not"),
        (of(Judgement::Unclear), "unclear"),
    ];
    let judged = holds + others.iter().map(|(count, _)| count).sum::<usize>();
    match (judged, all) {
        (0, 0) => "no statement".to_owned(),
        (0, all) => format!("none of its {} could be judged", counted(all, "statement", "statements")),
        (judged, _) => {
            let rest = others.iter().filter(|(count, _)| *count > 0);
            let rest: String = rest.map(|(count, word)| format!(", {count} {word}")).collect();
            let hold = if holds == 1 || judged == 1 { "holds" } else { "hold" };
            format!("{holds} of {} {hold}{rest}", counted(judged, "judged statement", "judged statements"))
        }
    }
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
    told.unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(verdicts: &[(&str, bool)]) -> Vec<Reproduction> {
        let row = |(verdict, ours): &(&str, bool)| {
            let row = serde_json::json!({
                "document": "tlpi", "place": "", "unit": "", "statement": "it is", "verdict": verdict, "ours": ours
            });
            serde_json::from_value(row).expect("a row")
        };
        verdicts.iter().map(row).collect()
    }

    /// The numbers of a sentence, in their order.
    fn numbers_of(text: &str) -> Vec<usize> {
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
    }

    #[test]
    fn what_locks_add_stands_beside_what_they_add_it_to() {
        assert_eq!(
            locks([[0.33, 0.18], [0.544, 0.0525]]),
            "coarse locks add 52.5 ms to 544 ms here, 180 ms to 330 ms there"
        );
    }

    #[test]
    fn the_counts_of_a_heading_add_up_to_the_statements_that_were_judged() {
        let own = |verdict| (verdict, false);
        let all = [
            "holds",
            "holds",
            "holds_in_part",
            "does_not_hold",
            "unclear",
            "unclear",
            "its_machine",
            "not_judged",
        ];
        let mut verdicts: Vec<_> = all.map(own).to_vec();
        verdicts.extend([("holds", true), ("does_not_hold", true)]);
        let told = judged("tlpi", &rows(&verdicts));
        assert_eq!(told, "2 of 6 judged statements hold, 1 in part, 1 not, 2 unclear");
        let [holds, judged_here, rest @ ..] = &numbers_of(&told)[..] else { panic!("{told}") };
        assert_eq!(holds + rest.iter().sum::<usize>(), *judged_here);
        assert_eq!(
            judged("tlpi", &rows(&[own("holds"), own("its_machine")])),
            "1 of 1 judged statement holds"
        );
        assert_eq!(
            judged("tlpi", &rows(&[own("not_judged"), own("its_machine")])),
            "none of its 2 statements could be judged"
        );
        assert_eq!(judged("tlpi", &rows(&[])), "no statement");
    }
}
