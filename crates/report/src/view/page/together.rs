//! The heading of a page that has all founding documents.

use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_results::{Judgement, Reproduction};

use crate::view::gallery::TITLE;

/// What became of the statements of all documents; `None` where one is missing.
pub(super) fn heading(rows: &[Reproduction]) -> Option<String> {
    let is_there = |name: &str| rows.iter().any(|row| row.document == name);
    if !FOUNDING_DOCUMENTS.iter().all(|document| is_there(document.name)) {
        return None;
    }
    let own = || rows.iter().filter(|row| row.statement.is_some() && !row.ours);
    let judged = |verdict: Judgement| own().filter(|row| row.verdict == Some(verdict)).count();
    let [holds, part, not, its] =
        [Judgement::Holds, Judgement::HoldsInPart, Judgement::DoesNotHold, Judgement::ItsMachine].map(judged);
    let all = own().count();
    Some(format!(
        "{TITLE}: {holds} of {all} statements hold here, {part} in part, {not} not; {its} tell of their machines, and {} stay open",
        all - holds - part - not - its
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_documents_have_one_heading_whose_numbers_add_up() {
        let row = |document: &str, verdict: Judgement, ours: bool| {
            let row = json!({"document": document, "place": "", "statement": "a sentence", "unit": ""});
            Reproduction { verdict: Some(verdict), ours, ..serde_json::from_value(row).expect("a row") }
        };
        let verdicts = [
            Judgement::Holds,
            Judgement::HoldsInPart,
            Judgement::ItsMachine,
            Judgement::Unclear,
            Judgement::NotTestableHere,
        ];
        let mut rows: Vec<Reproduction> = FOUNDING_DOCUMENTS
            .iter()
            .zip(verdicts)
            .map(|(document, verdict)| row(document.name, verdict, false))
            .collect();
        rows.push(row("tlpi", Judgement::Holds, true));
        assert_eq!(
            heading(&rows).as_deref(),
            Some(
                "Five classic measurements, twenty-five years on: 1 of 5 statements hold here, 1 in part, 0 not; 1 tell of their \
                 machines, and 2 stay open"
            )
        );
        rows.retain(|row| row.document != "grame");
        assert_eq!(heading(&rows), None);
    }
}
