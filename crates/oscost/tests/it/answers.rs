//! Every document asks its questions with published answers, and a page shows each of them with this machine's.

use oscost_documents::{ALL, Document, DocumentParameters, Found};
use oscost_report::{Named, page};
use oscost_results::{AnswerHere, RunResult};

/// A result with the rows and the questions of a document, each answered by twice what was published.
fn result_of(document: &Document) -> RunResult {
    let bare = serde_json::json!({
        "format": "oscost-result", "version": 2, "estimators": 2, "partial": false,
        "started": "2026-11-20T23:14:05Z", "duration_ns": 1,
        "tool": {"version": "", "build_id": "", "target": "", "libc": ""},
        "machine": {"cpu_model": "", "architecture": "", "hypervisor": null, "cpus": 4},
        "conditions": {"kernel": "", "clock_source": "", "clock_step_ns": 10.0},
        "plan": {"seed": 7, "launches": 10, "launch_ns": 40_000_000, "effort": "default"},
        "figures": [],
    });
    let mut result: RunResult = serde_json::from_value(bare).expect("a result without figures");
    let nothing = Found::of(&[], &[], &[]);
    result.reproductions = document.judge(&nothing, &DocumentParameters::default());
    result.answers = (document.answers)(&nothing, &DocumentParameters::default());
    for answer in &mut result.answers {
        let [first, ..] = &answer.published[..] else { continue };
        answer.here = Some(AnswerHere::Literal { value: first.value * 2.0 });
    }
    result
}

#[test]
fn every_question_of_a_document_has_both_answers_on_its_page() {
    for document in ALL {
        let name = document.founding.name;
        let result = result_of(document);
        let keys: Vec<&str> = result.answers.iter().map(|answer| &*answer.key).collect();
        assert!(keys.len() >= 5, "{name}: {keys:?}");
        assert!(keys.iter().enumerate().all(|(at, key)| !keys[..at].contains(key)), "{name}: {keys:?}");
        let mut out = Vec::new();
        page(&[Named { name: "x", result: &result }], None, &mut out).expect("written to memory");
        let shown = String::from_utf8(out).expect("a page is text");
        let cards: Vec<&str> = shown.split("<li class=\"card ").skip(1).collect();
        let answered = result.answers.iter().filter(|answer| answer.here.is_some()).count();
        assert_eq!(cards.len(), answered, "{name}");
        for card in cards {
            let card = card.split("</li>").next().unwrap_or(card);
            assert!(card.contains("published: ") && !card.contains("not measured here"), "{name}: {card}");
        }
        let heading =
            shown.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap_or_default();
        assert!(
            heading.contains(" here, ") && heading.contains(&result.answers[0].finding[..6]),
            "{name}: {heading}"
        );
    }
}

#[test]
fn nothing_is_answered_where_nothing_ran() {
    for document in ALL {
        let answers = (document.answers)(&Found::of(&[], &[], &[]), &DocumentParameters::default());
        assert!(answers.iter().all(|answer| answer.here.is_none()), "{}", document.founding.name);
        assert!(answers.iter().all(|answer| answer.document == document.founding.name));
    }
}
