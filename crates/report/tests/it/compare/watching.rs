//! Watched histories: which runs are marked, and how they are shown.

use crate::written::{fits, flat, written};
use oscost_report::Style;
use oscost_report::watch::{Watch, newest, screen, summary};
use oscost_results::{RunResult, Status};

use super::{MONOTONIC, scaled, stored};

const STYLE: Style = Style { width: 100, unicode: false, colour: false };

/// What is watched after runs in which one figure cost so many times what it costs.
fn watched(factors: &[f64]) -> Watch {
    let mut watch = Watch::new(0.05);
    for factor in factors {
        watch.add(RunResult { duration_ns: 2_000_000_000, ..scaled(stored(), MONOTONIC, *factor) }, &[]);
    }
    watch
}

/// The line of the figure.
fn line(shown: &str) -> String {
    let line = shown.lines().find(|line| line.contains("clock/monotonic  ")).unwrap();
    flat(line)
}

#[test]
fn a_run_that_changed_is_marked_and_is_what_the_next_ones_are_held_against() {
    let told = |factors: &[f64]| line(&written(|out| newest(&watched(factors), &STYLE, out)));
    assert_eq!(told(&[1.0]), "1 clock/monotonic 22.6 ns first");
    assert_eq!(told(&[1.0, 1.01]), "2 clock/monotonic 22.9 ns within 5 %");
    assert_eq!(told(&[1.0, 1.0, 1.2]), "3 clock/monotonic 27.2 ns slower +20.0 % in run 3 (quiet)");
    assert_eq!(told(&[1.0, 1.0, 1.2, 1.2]), "4 clock/monotonic 27.2 ns within 5 %");
    assert_eq!(
        told(&[1.0, 1.0, 1.2, 1.2, 1.0]),
        "5 clock/monotonic 22.6 ns faster -16.7 % in run 5 since 3 (quiet)"
    );
}

#[test]
fn the_screen_keeps_the_last_change_and_draws_the_runs() {
    let watch = watched(&[1.0, 1.0, 1.2, 1.2]);
    assert_eq!(watch.runs(), 4);
    let shown = written(|out| screen(&watch, &STYLE, out));
    assert_eq!(line(&shown), "clock/monotonic 27.2 ns slower +20.0 % in run 3 (quiet) ..@@", "{shown}");
    let other = shown.lines().find(|line| line.contains("clock/monotonic_syscall")).unwrap();
    assert!(other.contains("within 5 %") && other.ends_with("...."), "{shown}");
    assert!(shown.starts_with("  run 4 ") && shown.contains("by compare's rule, over 5 %"), "{shown}");
    assert_eq!(shown.lines().count(), stored().figures.len() + 2, "one line a figure\n{shown}");
    fits(|width| written(|out| screen(&watch, &Style { width, ..STYLE }, out)));
    let told = written(|out| summary(&watch, &STYLE, out));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "4 runs in 8 s, 1 change");
    assert_eq!(lines[1], "  clock/monotonic  slower +20.0 % in run 3 (quiet)");
    let still = written(|out| summary(&watched(&[1.0, 1.0]), &STYLE, out));
    assert_eq!(still, "2 runs in 4 s, 0 changes\n");
}

/// A figure that comes later, or has no number for a while, has a gap, and no base of before it was there.
#[test]
fn a_run_without_a_number_is_a_gap() {
    let mut watch = watched(&[1.0]);
    let mut without = stored();
    let figure = without.figures.iter_mut().find(|figure| figure.id == MONOTONIC).unwrap();
    figure.status = Status::Failed;
    figure.why = Some("clock_gettime: EP\u{c9}RM\u{1b}[2J".into());
    watch.add(without, &[]);
    let shown = written(|out| screen(&watch, &STYLE, out));
    assert_eq!(line(&shown), "clock/monotonic - failed .", "{shown}");
    let told = written(|out| newest(&watch, &STYLE, out));
    assert_eq!(line(&told), "2 clock/monotonic - failed: clock_gettime: EP\\u{c9}RM\\u{1b}[2J", "{told}");
    let told = written(|out| newest(&watch, &Style { unicode: true, ..STYLE }, out));
    assert!(line(&told).ends_with("failed: clock_gettime: EP\u{c9}RM\\u{1b}[2J"), "{told}");
    watch.add(scaled(stored(), MONOTONIC, 1.2), &[]);
    let shown = written(|out| screen(&watch, &STYLE, out));
    assert!(line(&shown).ends_with("slower +20.0 % in run 3 (quiet) . @"), "held against run 1: {shown}");
    // So has one that a run did not look at.
    let mut others = stored();
    others.figures.retain(|figure| figure.id != MONOTONIC);
    watch.add(others, &[]);
    watch.add(scaled(stored(), MONOTONIC, 1.2), &[]);
    let shown = written(|out| screen(&watch, &STYLE, out));
    assert!(line(&shown).ends_with(" . @ @"), "{shown}");
}

#[test]
fn a_core_of_another_speed_is_told_while_it_lasts() {
    let mut watch = watched(&[1.0]);
    for speed in [1.05, 1.0] {
        let mut run = stored();
        for launch in run.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
            launch.chain_ns = launch.chain_ns.map(|ns| ns * speed);
        }
        watch.add(run, &[]);
        let shown = written(|out| screen(&watch, &STYLE, out));
        assert_eq!(shown.contains("the core ran 5.0 % slower than in run 1"), speed > 1.0, "{shown}");
    }
}

/// It has no base before, and is held against the run that it came in.
#[test]
fn a_figure_that_comes_later_begins_with_a_gap() {
    let mut first = stored();
    first.figures.retain(|figure| figure.id != MONOTONIC);
    let mut watch = Watch::new(0.05);
    watch.add(first, &[]);
    watch.add(stored(), &[]);
    assert_eq!(line(&written(|out| newest(&watch, &STYLE, out))), "2 clock/monotonic 22.6 ns first");
    watch.add(scaled(stored(), MONOTONIC, 1.2), &[]);
    let shown = written(|out| screen(&watch, &STYLE, out));
    let line = shown.lines().find(|line| line.contains("clock/monotonic  ")).unwrap();
    assert!(line.ends_with("slower +20.0 % in run 3 since 2 (quiet)   .@"), "{shown}");
    assert_eq!(written(|out| summary(&watch, &STYLE, out)).lines().next(), Some("3 runs in 156 s, 1 change"));
}

/// The core of a run that nothing is held against any more is no news.
#[test]
fn a_run_that_is_no_base_is_forgotten() {
    let at = |speed: f64, factor: f64| {
        let mut run = scaled(stored(), MONOTONIC, factor);
        run.figures.retain(|figure| figure.id == MONOTONIC);
        run.figures[0].launches.iter_mut().for_each(|it| it.chain_ns = it.chain_ns.map(|ns| ns * speed));
        run
    };
    let mut watch = Watch::new(0.05);
    for run in [at(1.0, 1.0), at(1.05, 1.5), at(1.05, 1.5)] {
        watch.add(run, &[]);
    }
    let shown = written(|out| screen(&watch, &STYLE, out));
    assert!(shown.contains("slower +50.0 % in run 2") && !shown.contains("the core ran"), "{shown}");
}
