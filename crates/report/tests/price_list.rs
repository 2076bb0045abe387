//! The reports of a realistic result: as they stand in terminals of several widths, and what holds at every width.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod fixture;

use oscost_report::{
    Style, doctor, numbers, price_list, price_list_csv, price_list_markdown, reproductions,
    reproductions_markdown,
};
use oscost_results::{Figure, RunResult, Status, Verdict};

const SAVED: &str = "2026-11-20T23-14-05Z-9f2c41d0";

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn shown(result: &RunResult, style: Style) -> String {
    text(|out| price_list(result, Some(SAVED), &style, out))
}

fn style(width: usize, unicode: bool) -> Style {
    Style { width, unicode, colour: false }
}

#[test]
fn the_price_list_at_several_widths() {
    for width in [60, 80, 100, 160] {
        insta::assert_snapshot!(format!("unicode_{width}"), shown(&fixture::result(), style(width, true)));
        insta::assert_snapshot!(format!("ascii_{width}"), shown(&fixture::result(), style(width, false)));
    }
}

#[test]
fn the_other_reports() {
    let result = fixture::result();
    for width in [80, 120] {
        let style = style(width, true);
        insta::assert_snapshot!(
            format!("reproductions_{width}"),
            text(|out| reproductions(&result, &style, out))
        );
        insta::assert_snapshot!(format!("doctor_{width}"), text(|out| doctor(&result.doctor, &style, out)));
    }
    insta::assert_snapshot!("markdown", text(|out| price_list_markdown(&result, Some(SAVED), out)));
    insta::assert_snapshot!("reproductions_markdown", text(|out| reproductions_markdown(&result, out)));
    insta::assert_snapshot!("csv", text(|out| price_list_csv(&result, out)));
}

/// What must be found of a figure: its value and verdict, or its state.
fn essence(figure: &Figure) -> Vec<String> {
    match figure.status {
        Status::Measured => {
            let value = numbers::duration(figure.quantities[&figure.headline].estimate.value);
            let verdict = match figure.evidence.verdict {
                Verdict::Proved => "proved",
                Verdict::Contradicted => "contradicted",
                Verdict::NoClaim => "no claim",
            };
            vec![value, verdict.to_owned()]
        }
        Status::Unsupported => vec!["unsupported:".to_owned()],
        Status::Failed => vec!["failed:".to_owned()],
        Status::Contradicted => vec!["withheld:".to_owned()],
    }
}

#[test]
fn id_value_and_verdict_survive_at_every_width() {
    let result = fixture::result();
    for width in 40..=200 {
        for unicode in [true, false] {
            let shown = shown(&result, style(width, unicode));
            let lines: Vec<&str> = shown.lines().collect();
            for figure in &result.figures {
                let name = &figure.id[figure.family.len() + 1..];
                // A long id may be broken over lines; otherwise the row is its line or the one below it.
                let row = lines.iter().position(|line| {
                    name.starts_with(line.trim()) && line.len() > 20
                        || line.split(' ').any(|word| word == name)
                });
                let row = row.unwrap_or_else(|| panic!("{name} at {width}:\n{shown}"));
                let below = lines[row..lines.len().min(row + 3)].join("\n");
                for part in essence(figure) {
                    assert!(below.contains(&part), "{name}: no {part:?} at {width}:\n{shown}");
                }
            }
        }
    }
}

#[test]
fn no_line_is_wider_than_the_page() {
    let result = fixture::result();
    for width in 20..=200 {
        for line in shown(&result, style(width, true)).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn pictures_and_intervals_go_in_that_order_below_80_columns() {
    let result = fixture::result();
    let at = |width| shown(&result, style(width, true));
    assert!(at(80).contains('█') && at(80).contains('±'));
    assert!(!at(79).contains('█') && at(79).contains('±'));
    assert!(!at(60).contains('█') && !at(60).contains('±'));
}

#[test]
fn ascii_is_ascii() {
    assert!(shown(&fixture::result(), style(100, false)).is_ascii());
}

#[test]
fn colour_adds_nothing_but_colour() {
    let result = fixture::result();
    let plain = shown(&result, style(100, true));
    let coloured = shown(&result, Style { colour: true, ..style(100, true) });
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}[32mproved\u{1b}[0m") && coloured.contains("\u{1b}[31mfailed\u{1b}[0m"));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn a_partial_result_and_its_warnings_say_so_first() {
    let mut result = fixture::result();
    result.partial = true;
    result.note = Some("after the upgrade".to_owned());
    result.warnings = vec!["another run was measuring (--force)".to_owned()];
    let shown = shown(&result, style(100, true));
    let before = shown.split("INSTRUMENT").next().unwrap();
    assert!(before.contains("partial: the run was ended before its plan was"));
    assert!(before.contains("note: after the upgrade"));
    assert!(before.contains("warning: another run was measuring (--force)"));
    assert!(shown.contains("Partial: the run was ended early."));
}

#[test]
fn what_was_not_counted_is_said_once() {
    let mut result = fixture::result();
    result.figures.retain(|figure| figure.status == Status::Measured);
    for figure in &mut result.figures {
        figure.evidence.audit_missing = Some("seccomp and ptrace are refused".to_owned());
    }
    let all = shown(&result, style(100, true));
    assert_eq!(all.matches("seccomp and ptrace are refused").count(), 1);
    result.figures[0].evidence.audit_missing = None;
    // Notes are one paragraph, which wraps wherever it must.
    let but_one = shown(&result, style(100, true)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(but_one.matches("seccomp and ptrace are refused").count(), result.figures.len() - 1);
}

#[test]
fn an_empty_result_is_told_as_such() {
    let mut result = fixture::result();
    result.figures.clear();
    result.doctor.clear();
    result.reproductions.clear();
    let shown = shown(&result, style(100, true));
    assert!(shown.contains("0 figures. Nothing was measured."));
    assert!(shown.contains("the machine was not examined (oscost doctor)"));
    let reproduced = text(|out| reproductions(&result, &style(100, true), out));
    assert_eq!(reproduced, "No founding document was reproduced in this run.\n");
}
