//! Withdrawn figures: every report gives the reason, and none shows the number.

use crate::fixture;
use crate::written::{Says, flat, style, written};

use oscost_report::compare::{Rules, compare, comparison_whole as comparison};
use oscost_report::{
    Named, RowChoice, RowFormat, history, open_metrics, page, price_list, price_list_markdown, rows_of,
};
use oscost_results::{RunResult, Status, from_bytes, outline_from_bytes, to_bytes};

/// An id whose first revision was wrong, and a number of it that no other figure has.
const ID: &str = "lock/shared_mutex/handover/cross_cpu";
const NUMBER: f64 = 987_654.0;

/// The fixture with one figure of that id, the baseline of another; of the revision in which it was wrong, or the next.
fn result(revision: u32) -> RunResult {
    let mut result = fixture::result();
    let old = "context_switch/pipe_alone/same_cpu";
    let other = "context_switch/pipe/same_cpu";
    let mut figure = result.figures.iter().find(|figure| figure.id == other).unwrap().clone();
    (figure.id, figure.revision, figure.family) = (ID.to_owned(), revision, "lock".to_owned());
    for quantity in figure.quantities.values_mut() {
        let estimate = &mut quantity.estimate;
        (estimate.value, estimate.low, estimate.high) = (NUMBER, NUMBER, NUMBER);
    }
    for launch in &mut figure.launches {
        launch.quantities.values_mut().for_each(|value| *value = NUMBER);
    }
    result.figures.push(figure);
    for pair in &mut result.differences {
        assert_eq!(pair.to, old);
        ID.clone_into(&mut pair.to);
        (pair.value, pair.low, pair.high) = (Some(NUMBER), Some(NUMBER), Some(NUMBER));
    }
    from_bytes(&to_bytes(&result).unwrap()).unwrap()
}

/// Every row with everything that can be said of it.
const EVERYTHING: RowChoice = RowChoice { all: true, verbose: true, order: None };

/// Every report of a result, by name.
fn reports(result: &RunResult) -> Vec<(String, String)> {
    let named = [Named { name: "run", result }];
    let mut reports = vec![
        ("markdown".to_owned(), written(|out| price_list_markdown(result, None, out))),
        ("csv".to_owned(), written(|out| rows_of(result, RowFormat::Csv, out))),
        ("openmetrics".to_owned(), written(|out| open_metrics(&named, out))),
        ("page".to_owned(), written(|out| page(&named, None, out))),
    ];
    for width in [60, 100, 160] {
        let style = style(width, true);
        reports.push((
            format!("text {width}"),
            written(|out| price_list(result, None, EVERYTHING, &style, out)),
        ));
    }
    reports
}

/// The number in the ways in which reports write it: "988 us", "987654", "9.87654e-4".
fn shows_number(report: &str) -> bool {
    ["988 us", "988 \u{b5}s", "987.654", "987654", "987 654", "0.000987", "98765"]
        .iter()
        .any(|number| report.contains(number))
}

#[test]
fn no_report_shows_the_number_and_each_says_why() {
    let wrong = result(1);
    assert_eq!(wrong.figures.last().unwrap().status, Status::Withdrawn);
    for (name, report) in reports(&wrong) {
        assert!(!shows_number(&report), "{name}: {report}");
        assert!(report.contains("withdrawn"), "{name}: {report}");
        let text = flat(&report);
        // For machines OpenMetrics has the state alone.
        let says_why = text.contains("so the figure is up to 500 times too low");
        assert!(says_why || name == "openmetrics", "{name}: {report}");
    }
    for (name, report) in reports(&result(2)) {
        assert!(shows_number(&report), "{name}: the next revision has one: {report}");
        assert!(!report.contains("withdrawn:"), "{name}");
    }
}

#[test]
fn a_withdrawn_figure_is_never_judged() {
    let (wrong, right) = (result(1), result(2));
    for (a, b) in [(&wrong, &right), (&right, &wrong), (&wrong, &wrong)] {
        let (a, b) = (Named { name: "a", result: a }, Named { name: "b", result: b });
        let compared = compare(&a, &b, Rules::default());
        assert!(compared.rows.iter().all(|row| row.id != ID), "{:?}", compared.rows);
        let style = style(100, true);
        let text = written(|out| comparison(&compared, &style, out));
        assert!(!text.contains("withdrawn") || text.contains(ID), "{text}");
    }
    let (a, b) = (Named { name: "a", result: &wrong }, Named { name: "b", result: &right });
    let text = written(|out| comparison(&compare(&a, &b, Rules::default()), &style(200, true), out));
    text.says("withdrawn: each batch ended before the lock was handed over");
}

#[test]
fn the_history_has_a_gap_where_it_was_wrong() {
    let outline = |revision: u32| outline_from_bytes(&to_bytes(&result(revision)).unwrap()).unwrap();
    let named = |runs: &[u32]| -> Vec<_> {
        runs.iter()
            .enumerate()
            .map(|(index, revision)| (format!("run-{index}"), outline(*revision)))
            .collect()
    };
    let style = style(160, true);
    let strip = |runs: &[u32]| {
        let text = written(|out| history(&named(runs), &style, out));
        text.lines().find(|line| line.trim_start().starts_with(ID)).map(str::to_owned)
    };
    assert_eq!(strip(&[1, 1, 1]), None);
    assert_eq!(strip(&[1, 1, 2]), None, "one value is no history");
    assert!(strip(&[1, 2, 2]).is_some_and(|strip| strip.contains("throughout")));
    // Revisions that were never wrong are not mixed either: only the last of them is shown.
    let mut runs = named(&[2, 2, 2]);
    let figure = runs[0].1.figures.iter_mut().find(|figure| figure.id == ID).unwrap();
    figure
        .quantities
        .values_mut()
        .for_each(|quantity| quantity.value = quantity.value.map(|value| value / 9.0));
    let changed = written(|out| history(&runs, &style, out));
    runs[1].1.figures.iter_mut().chain([]).for_each(|figure| figure.revision = 3);
    runs[2].1.figures.iter_mut().for_each(|figure| figure.revision = 3);
    let revised = written(|out| history(&runs, &style, out));
    let line = |text: &str| text.lines().find(|line| line.trim_start().starts_with(ID)).unwrap().to_owned();
    assert!(!line(&changed).contains("throughout") && line(&revised).contains("throughout"), "{revised}");
}
