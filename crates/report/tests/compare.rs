//! Comparisons of made-up results: what is told first, who gets a verdict, and that hostile text obeys nobody.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod fixture;

use oscost_report::compare::{
    Comparison, Rules, Verdict, compare, compare_live, comparison, comparison_json, comparison_markdown,
    matrix, matrix_markdown,
};
use oscost_report::{Named, Style};
use oscost_results::{Expectation, LaunchRecord, Mark, RunResult, Status};

/// The fixture with ten launches of every floor, scattered by a few parts in ten thousand, at one speed of the core.
fn stored() -> RunResult {
    let mut result = fixture::result();
    result.conditions.clock_step_ns = Some(1.0);
    for figure in result.figures.iter_mut().filter(|figure| figure.status == Status::Measured) {
        figure.marks.clear();
        let value = figure.quantities[&figure.headline].estimate.value;
        let launch = |index: u32| LaunchRecord {
            sequence: index,
            iterations: 1_000_000,
            canary_ns: Some(0.334),
            quantities: [(figure.headline.clone(), value * (1.0 + f64::from(index % 5) * 1e-4))].into(),
            ..LaunchRecord::default()
        };
        figure.launches = (0..10).map(launch).collect();
    }
    result
}

/// Every launch of one figure, times `factor`.
fn scaled(mut result: RunResult, id: &str, factor: f64) -> RunResult {
    let figure = result.figures.iter_mut().find(|figure| figure.id == id).unwrap();
    for launch in &mut figure.launches {
        launch.quantities.values_mut().for_each(|value| *value *= factor);
    }
    for quantity in figure.quantities.values_mut() {
        let estimate = &mut quantity.estimate;
        [&mut estimate.value, &mut estimate.low, &mut estimate.high].into_iter().for_each(|it| *it *= factor);
    }
    result
}

fn against<'a>(a: &'a RunResult, b: &'a RunResult) -> Comparison<'a> {
    compare(&Named { name: "before", result: a }, &Named { name: "after", result: b }, Rules::default())
}

fn verdict(comparison: &Comparison<'_>, id: &str) -> Verdict {
    comparison.rows.iter().find(|row| row.id == id).unwrap().verdict
}

#[test]
fn a_result_is_the_same_as_itself() {
    let result = stored();
    let comparison = against(&result, &result);
    assert!(
        comparison.machine.is_empty() && comparison.conditions.is_empty() && comparison.warnings.is_empty()
    );
    assert!(comparison.one_sided.is_empty(), "{:?}", comparison.one_sided);
    assert!(comparison.rows.iter().all(|row| row.verdict == Verdict::Same), "{:?}", comparison.rows);
}

#[test]
fn a_change_is_found_and_nothing_else() {
    let a = stored();
    for (factor, expected) in [(1.05, Verdict::Slower), (0.95, Verdict::Faster)] {
        let b = scaled(stored(), "clock/monotonic", factor);
        let comparison = against(&a, &b);
        assert_eq!(verdict(&comparison, "clock/monotonic"), expected);
        assert_eq!(comparison.rows[0].id, "clock/monotonic", "the largest change comes first");
        assert!(comparison.rows[1..].iter().all(|row| row.verdict == Verdict::Same));
        assert_eq!(comparison.is_slower_by(0.04), factor > 1.0);
        assert!(!comparison.is_slower_by(0.06));
    }
}

#[test]
fn a_small_change_is_none() {
    let (a, b) = (stored(), scaled(stored(), "clock/monotonic", 1.015));
    assert_eq!(verdict(&against(&a, &b), "clock/monotonic"), Verdict::Same);
}

#[test]
fn noise_and_few_launches_get_no_verdict() {
    let a = stored();
    let mut b = scaled(stored(), "clock/monotonic", 1.5);
    let figure = b.figures.iter_mut().find(|figure| figure.id == "clock/monotonic").unwrap();
    figure.marks.push(Mark::Noisy);
    assert_eq!(verdict(&against(&a, &b), "clock/monotonic"), Verdict::CannotTell);
    figure_mut(&mut b).marks.clear();
    assert_eq!(verdict(&against(&a, &b), "clock/monotonic"), Verdict::Slower);
    figure_mut(&mut b).launches.truncate(5);
    assert_eq!(verdict(&against(&a, &b), "clock/monotonic"), Verdict::CannotTell);
}

fn figure_mut(result: &mut RunResult) -> &mut oscost_results::Figure {
    result.figures.iter_mut().find(|figure| figure.id == "clock/monotonic").unwrap()
}

/// A host that lends another frequency makes everything slower, and nothing worse.
#[test]
fn another_speed_of_the_core_is_no_change() {
    let a = stored();
    let mut b = stored();
    for launch in b.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
        launch.canary_ns = launch.canary_ns.map(|ns| ns * 1.2);
        launch.quantities.values_mut().for_each(|value| *value *= 1.2);
    }
    let comparison = against(&a, &b);
    assert!(
        comparison.warnings.iter().any(|warning| warning.contains("+20.0 %")),
        "{:?}",
        comparison.warnings
    );
    let floors = |row: &&oscost_report::compare::Row| row.why.contains("in passes");
    assert!(comparison.rows.iter().filter(floors).count() > 3);
    assert!(
        comparison.rows.iter().filter(floors).all(|row| row.verdict == Verdict::Same),
        "{:?}",
        comparison.rows
    );
    // What changes by more than half of the speed's change is still found.
    let b = scaled(b, "clock/monotonic", 1.3);
    assert_eq!(verdict(&against(&a, &b), "clock/monotonic"), Verdict::Slower);
}

#[test]
fn another_machine_gives_no_ratio_unless_it_is_asked_for() {
    let a = stored();
    let mut b = scaled(stored(), "clock/monotonic", 1.5);
    b.machine.cpu_model = "another one".into();
    let named = |result| Named { name: "x", result };
    let silent = compare(&named(&a), &named(&b), Rules::default());
    assert!(silent.rows.iter().all(|row| row.change.is_none() && row.verdict == Verdict::CannotTell));
    assert_eq!(silent.machine[0].what, "processor");
    let told = compare(&named(&a), &named(&b), Rules { cross_machine: true });
    assert_eq!(verdict(&told, "clock/monotonic"), Verdict::Slower);
    assert!(told.warnings[0].contains("--cross-machine"));
}

#[test]
fn evidence_conditions_and_one_sided_figures_are_named() {
    let a = stored();
    let mut b = stored();
    let figure = figure_mut(&mut b);
    figure.evidence.system_calls.insert("clock_gettime".into(), 1.0);
    b.conditions.kernel = "Linux 99".into();
    b.tool.build_id = "another".into();
    b.figures.retain(|figure| figure.id != "clock/monotonic_syscall");
    let comparison = against(&a, &b);
    let evident = &comparison.evidence[0];
    assert_eq!(
        (&*evident.id, &*evident.what, evident.a, evident.b),
        ("clock/monotonic", "calls of clock_gettime", 0.0, 1.0)
    );
    assert!(comparison.conditions.iter().any(|it| it.what == "kernel" && it.b == "Linux 99"));
    assert!(comparison.warnings.iter().any(|warning| warning.contains("builds differ")));
    assert!(
        comparison.one_sided.iter().any(|one| one.id == "clock/monotonic_syscall" && one.b == "not there")
    );
}

/// An audit of what blocks counts a little more or less each time; a call more is still seen.
#[test]
fn counts_inside_claimed_bounds_are_no_news() {
    let with = |futexes: f64| {
        let mut result = stored();
        let figure =
            result.figures.iter_mut().find(|figure| figure.id == "context_switch/pipe/same_cpu").unwrap();
        figure.evidence.audit_method = Some("seccomp user notification".into());
        figure.evidence.system_calls.insert("futex".into(), futexes);
        figure.evidence.claims[0].expected = Expectation::Between { at_least: 1.9, at_most: 2.1 };
        result
    };
    let seen = |a, b| against(&with(a), &with(b)).evidence.len();
    assert_eq!([seen(1.93, 2.05), seen(1.0, 2.0), seen(0.0, 1.0)], [0, 1, 1]);
    let exactly = |calls: f64| {
        let mut result = stored();
        figure_mut(&mut result).evidence.system_calls.insert("clock_gettime".into(), calls);
        result
    };
    assert_eq!(against(&exactly(1.0), &exactly(1.01)).evidence.len(), 1, "one call in a hundred operations");
}

/// A table names what a cell lacks, whichever result has it.
#[test]
fn cells_without_a_number_say_what_is_there_instead() {
    let a = stored();
    let queue = |result: &mut RunResult| {
        let monotonic = figure_mut(result).clone();
        let queue = result.figures.iter_mut().find(|figure| figure.id == "semaphore/posix_queue").unwrap();
        *queue = oscost_results::Figure { id: queue.id.clone(), ..monotonic };
    };
    let (mut b, mut c) = (stored(), stored());
    queue(&mut b);
    c.figures.retain(|figure| figure.id != "clock/monotonic");
    let mut out = Vec::new();
    let style = Style { width: 120, unicode: false, colour: false };
    matrix(&[against(&a, &a), against(&a, &b), against(&a, &c)], &style, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    let cells = |id: &str| {
        shown
            .lines()
            .find(|line| line.trim().starts_with(id))
            .unwrap()
            .split_whitespace()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(cells("semaphore/posix_queue"), "unsupported unsupported measured unsupported");
    assert_eq!(cells("clock/monotonic "), "22.2 ns same same not there");
}

/// Rounds of A B B A in which B costs 3 % more, on a machine that drifts by far more than that.
#[test]
fn alternating_launches_see_through_a_drift() {
    let launch = |drift: f64, factor: f64| {
        let mut result = scaled(stored(), "clock/monotonic", factor);
        for figure in &mut result.figures {
            figure.launches.truncate(1);
            for launch in &mut figure.launches {
                launch.quantities.values_mut().for_each(|value| *value *= drift);
            }
        }
        result
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..10_u32 {
        let at = |step: u32| 1.0 + f64::from(4 * round + step) * 0.02 + f64::from(round % 3) * 0.001;
        a.extend([launch(at(0), 1.0), launch(at(3), 1.0)]);
        b.extend([launch(at(1), 1.03), launch(at(2), 1.03)]);
    }
    let named =
        |all: &'static [RunResult]| all.iter().map(|result| Named { name: "x", result }).collect::<Vec<_>>();
    let (a, b): (&'static [RunResult], &'static [RunResult]) = (a.leak(), b.leak());
    let comparison = compare_live(&named(a), &named(b), Rules::default());
    let row = comparison.rows.iter().find(|row| row.id == "clock/monotonic").unwrap();
    assert_eq!(row.verdict, Verdict::Slower, "{row:?}");
    assert!((row.change.unwrap().change - 0.03).abs() < 0.002, "{row:?}");
    let others = comparison.rows.iter().filter(|row| row.id != "clock/monotonic");
    assert!(others.clone().count() > 3);
    assert!(others.clone().all(|row| row.verdict == Verdict::Same), "{:?}", comparison.rows);
}

#[test]
fn every_format_shows_hostile_text_harmlessly() {
    let a = stored();
    let mut b = scaled(stored(), "clock/monotonic", 1.5);
    const HURT: &str = "\u{1b}[2J\u{202e}<script>x</script>|=cmd\r\n";
    for text in [&mut b.machine.cpu_model, &mut b.conditions.kernel, &mut b.tool.build_id, &mut b.tool.libc] {
        HURT.clone_into(text);
    }
    b.figures[2].id = HURT.into();
    for figure in &mut b.figures {
        figure.why = Some(HURT.into());
        figure.evidence.system_calls.insert(HURT.into(), 3.0);
    }
    let named = |result| Named { name: HURT, result };
    let comparisons = [
        compare(&named(&a), &named(&b), Rules { cross_machine: true }),
        compare(&named(&a), &named(&b), Rules::default()),
    ];
    let style = Style { width: 80, unicode: true, colour: false };
    let text = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let terminal = [
        text(&|out| comparison(&comparisons[0], &style, out)),
        text(&|out| comparison(&comparisons[1], &style, out)),
        text(&|out| matrix(&comparisons, &style, out)),
    ];
    let markdown = [
        text(&|out| comparison_markdown(&comparisons[0], out)),
        text(&|out| matrix_markdown(&comparisons, out)),
    ];
    for shown in terminal.iter().chain(&markdown) {
        assert!(
            !shown.contains(|c: char| c.is_control() && c != '\n') && !shown.contains('\u{202e}'),
            "{shown}"
        );
    }
    assert!(markdown.iter().all(|shown| !shown.contains("<script")), "{}", markdown[0]);
    for shown in &terminal {
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
    assert!(!comparison_json(&comparisons[0]).to_string().contains('\u{1b}'), "JSON escapes what it holds");
}

#[test]
fn the_screens_of_a_comparison() {
    let a = stored();
    let mut b = scaled(stored(), "clock/monotonic", 1.142);
    b.conditions.kernel = "Linux 6.19.0".into();
    figure_mut(&mut b).evidence.system_calls.insert("clock_gettime".into(), 1.0);
    let b = scaled(b, "semaphore/posix_named", 0.9);
    let pair = against(&a, &b);
    let style = Style { width: 100, unicode: true, colour: false };
    let mut out = Vec::new();
    comparison(&pair, &style, &mut out).unwrap();
    insta::assert_snapshot!("comparison", String::from_utf8(out).unwrap());
    let mut out = Vec::new();
    comparison_markdown(&pair, &mut out).unwrap();
    insta::assert_snapshot!("comparison_markdown", String::from_utf8(out).unwrap());
    let mut out = Vec::new();
    matrix(&[against(&a, &b), against(&a, &a)], &style, &mut out).unwrap();
    insta::assert_snapshot!("comparison_matrix", String::from_utf8(out).unwrap());
}
