//! Every question that a page asks of a document names a place that the document's rows have.

use oscost_documents::{ALL, DocumentParameters, Found};
use oscost_report::{Named, page};
use oscost_results::RunResult;

/// A result with the rows of a document in which every published value was found twice as large by its own program, and
/// every statement tells one number twice.
fn result_of(document: &oscost_documents::Document) -> RunResult {
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
    result.reproductions = (document.judge)(&Found::of(&[], &[], &[]), &DocumentParameters::default());
    for row in &mut result.reproductions {
        row.literal = row.published.map(|published| published * 2.0);
        if row.statement.is_some() {
            row.because = "there 40 ns, here 50 ns".to_owned();
        }
    }
    result
}

#[test]
fn every_question_of_a_page_has_its_place_in_the_document() {
    // Of document 002 the sessions are asked, which are no rows.
    for document in ALL.iter().filter(|document| document.founding.name != "grame") {
        let name = document.founding.name;
        let result = result_of(document);
        let mut out = Vec::new();
        page(&[Named { name: "x", result: &result }], &mut out).expect("written to memory");
        let shown = String::from_utf8(out).expect("a page is text");
        let cards: Vec<&str> = shown.split("<li class=\"card ").skip(1).collect();
        assert_eq!(cards.len(), 6, "{name}");
        for card in cards {
            let card = card.split("</li>").next().unwrap_or(card);
            assert!(card.contains("published: ") && !card.contains("not measured here"), "{name}: {card}");
        }
        let heading =
            shown.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap_or_default();
        assert!(heading.contains(" here, ") && heading.contains(" as published"), "{name}: {heading}");
    }
}
