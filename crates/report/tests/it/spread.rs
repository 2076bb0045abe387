//! How far runs of one machine lie apart in what compare judges.

use oscost_report::{Named, spread, spread_markdown, spread_whole};
use oscost_results::RunResult;

use crate::fixture;
use crate::written::{Says, flat, style};

const ID: &str = "clock/monotonic";

/// A run of one figure, whose launches agree on this floor.
fn run(floor: f64) -> RunResult {
    let mut result = fixture::result();
    result.figures.retain(|figure| figure.id == ID);
    let figure = &mut result.figures[0];
    let mut launch = figure.launches[0].clone();
    launch.quantities.insert("floor".to_owned(), floor);
    figure.launches = vec![launch; 6];
    result
}

/// Where the runs that are left out are named.
fn shown(runs: &[RunResult]) -> String {
    at(runs, 120, true)
}

fn at(runs: &[RunResult], width: usize, whole: bool) -> String {
    let names: Vec<String> = (1..=runs.len()).map(|number| format!("run {number}")).collect();
    let named: Vec<Named<'_>> = names.iter().zip(runs).map(|(name, result)| Named { name, result }).collect();
    let mut out = Vec::new();
    let write = if whole { spread_whole } else { spread };
    write(&named, &style(width, false), &mut out).unwrap();
    let mut markdown = Vec::new();
    spread_markdown(&named, true, &mut markdown).unwrap();
    let text = String::from_utf8(out).unwrap();
    let cells = |text: &str| text.lines().filter(|line| line.contains(ID)).count();
    assert_eq!(cells(&text), cells(&String::from_utf8(markdown).unwrap()), "both say the same");
    text
}

#[test]
fn the_spread_is_the_highest_over_the_lowest() {
    for unit in [1.0, 0.1] {
        let text = shown(&[1.0, 1.03, 1.01, 1.02, 1.0].map(|floor| run(floor * unit)));
        let line = text.lines().find(|line| line.contains(ID)).unwrap();
        // The deviation of 0, 2.96, 1.00, 1.98 and 0 %.
        assert!(line.contains("3.00 %") && line.contains("1.29 %") && line.contains(" 5 "), "{text}");
        text.says("one CPU: 1 figure, spread 3.00 % in the middle").lacks("across CPUs");
    }
}

#[test]
fn runs_of_another_machine_or_method_are_left_out_and_named() {
    let mut other = run(5.0);
    other.machine.cpu_model = "another".to_owned();
    let mut old = run(7.0);
    old.estimators = 1;
    let text = shown(&[run(1.0), other, old, run(1.02)]);
    text.says("run 2 is left out: of another machine").says("run 3 is left out: made by another method");
    text.says(" 2.00 %");
}

/// The newest run had none of the figures of the two before it, and both were left out.
#[test]
fn runs_without_a_figure_of_the_newest_are_held_against_each_other() {
    let mut newest = run(3.0);
    newest.figures[0].id = "clock/tsc".to_owned();
    let text = shown(&[run(1.0), run(1.02), newest]);
    text.says("run 3 is left out: no figure in common").says(" 2.00 %").lacks("run 1 is left out");
}

/// After a bill every price list was left out.
#[test]
fn a_bill_is_left_out_wherever_it_stands() {
    let bill = RunResult { bill: Some(Box::default()), ..fixture::of(Vec::new()) };
    for place in 0..=2 {
        let mut runs = vec![run(1.0), run(1.02)];
        runs.insert(place, bill.clone());
        let left_out = format!("run {} is left out: a bill is no price list", place + 1);
        shown(&runs).says(&left_out).says(" 2.00 %").says("Spread over 2 runs");
    }
}

/// Of a store with three hundred bills the table began on the fourth screen, and its answer was cut.
#[test]
fn what_is_left_out_is_one_line_and_the_answer_is_whole_at_any_width() {
    let mut runs = vec![run(1.0), run(1.02)];
    runs.extend((0..30).map(|_| RunResult { bill: Some(Box::default()), ..fixture::of(Vec::new()) }));
    runs.insert(0, RunResult { estimators: 1, ..run(3.0) });
    for width in [40, 60, 80, 120] {
        let text = at(&runs, width, false);
        assert!(text.lines().all(|line| line.len() <= width), "{text}");
        // Title, columns, the figure, a blank, and the answer, of which each sentence may go on in the next line.
        let begins = text.lines().position(|line| line.contains("lowest"));
        assert!(begins.is_some_and(|line| line <= 3) && text.lines().count() <= 14, "{text}");
        let text = flat(&text);
        text.says("left out: 1 (made by another method), 30 bills; --verbose names them");
        text.says(
            "one CPU: 1 figure, spread 2.00 % in the middle, nine in ten within 2.00 %, at most 2.00 %",
        );
    }
}

#[test]
fn a_spread_of_hardly_anything_has_no_digits() {
    shown(&[run(1.0), run(1.0 + 1e-9)]).says("at most 0.00 %").lacks("e-");
}

#[test]
fn what_was_measured_once_or_otherwise_has_no_spread() {
    assert!(shown(&[run(1.0)]).contains("No figure was measured in two runs of one machine."));
    let mut revised = run(1.0);
    revised.figures[0].revision += 1;
    assert!(shown(&[run(1.0), revised]).contains("No figure was measured in two runs of one machine."));
}
