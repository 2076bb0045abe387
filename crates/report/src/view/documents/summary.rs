//! What a document comes to on this machine, in at most six lines: whose it is, its answer, why, its statements.

use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_results::{Judgement, Reproduction, RunResult};

use super::answers::{LOST, Told, answers};
use crate::blocks::Fact;
use crate::words::{counted, plain};

/// Letters of a statement that a line of the summary has room for.
const LETTERS: usize = 72;

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
    let source = FOUNDING_DOCUMENTS.iter().find(|document| document.name == name);
    // The first answer that was found here, beside the document's; the headline of its page has the same.
    let first = answers(name, result).into_iter().find_map(|told| Some((told.here.clone()?, told)));
    let (answer, why) = first.map_or_else(Default::default, |((number, unit), told)| {
        let here = format!("{number} {unit}");
        let Told { name, there, how, why, finding, .. } = told;
        match there == LOST && !finding.is_empty() {
            true => (finding, why),
            false => (format!("{name}: there {there}, here {} ({how})", here.trim()), why),
        }
    });
    let lines = [
        ("source", source.map_or(String::new(), |document| document.source.to_owned())),
        ("answer", plain(&answer, unicode)),
        ("why", plain(&why, unicode)),
        ("verdict", format!("{}{others}", judged(name, &result.reproductions))),
        ("fails", named(&stated(Judgement::DoesNotHold))),
        ("in doubt", named(&doubtful)),
    ];
    let line = |(name, says)| Fact { name, says, of: Vec::new() };
    lines.into_iter().filter(|(_, says): &(_, String)| !says.is_empty()).map(line).collect()
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
