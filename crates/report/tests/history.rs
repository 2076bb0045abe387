//! The list of a store's runs, and each figure over them.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod fixture;

use oscost_report::{Style, history};
use oscost_results::{Outline, RunResult, outline_from_bytes, to_bytes};

fn outline(factor: f64, note: Option<&str>) -> Outline {
    let mut result: RunResult = fixture::result();
    result.note = note.map(str::to_owned);
    let figure = result.figures.iter_mut().find(|figure| figure.id == "clock/monotonic").unwrap();
    for quantity in figure.quantities.values_mut() {
        let estimate = &mut quantity.estimate;
        [&mut estimate.value, &mut estimate.low, &mut estimate.high].into_iter().for_each(|it| *it *= factor);
    }
    outline_from_bytes(&to_bytes(&result).unwrap()).unwrap()
}

fn shown(runs: &[(String, Outline)], width: usize, unicode: bool) -> String {
    let mut out = Vec::new();
    history(runs, &Style { width, unicode, colour: false }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_strip_rises_where_the_figure_does() {
    let runs: Vec<(String, Outline)> = [1.0, 1.5, 2.0]
        .iter()
        .enumerate()
        .map(|(index, &factor)| {
            (format!("run-{index}"), outline(factor, (index == 1).then_some("after the update")))
        })
        .collect();
    let text = shown(&runs, 100, true);
    let strip = text.lines().find(|line| line.trim_start().starts_with("clock/monotonic ")).unwrap();
    assert!(strip.contains("\u{2581}\u{2584}\u{2588}"), "{strip}");
    assert!(strip.contains("22.2 .. 44.4 ns"), "{strip}");
    let still = text.lines().find(|line| line.trim_start().starts_with("syscall/getppid ")).unwrap();
    assert!(still.contains("throughout"), "{still}");
    assert!(text.contains("run-1") && text.contains("after the update"), "{text}");
    // The machine is said where it changes, not in every line.
    assert_eq!(text.matches("EPYC").count(), 1, "{text}");
    assert!(shown(&runs, 60, false).lines().all(|line| line.is_ascii() && line.len() <= 60));
}

#[test]
fn hostile_names_and_notes_obey_nobody() {
    let note = "\u{1b}[2J\u{202e}\r\n<script>";
    let mut runs = vec![(note.to_owned(), outline(1.0, Some(note))), ("b".to_owned(), outline(1.1, None))];
    runs[0].1.machine.cpu_model = note.into();
    runs[0].1.figures[0].id = note.into();
    let text = shown(&runs, 80, true);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn one_run_has_no_history() {
    assert!(
        shown(&[("only".to_owned(), outline(1.0, None))], 80, true)
            .contains("No figure was measured in two runs")
    );
}
