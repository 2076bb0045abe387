//! Sides of several results, figures on one side only, and changes that a clock cannot resolve.

use oscost_report::compare::{Comparison, Rules, Verdict, compare_sides};
use oscost_results::{RunResult, Status};

use super::{MONOTONIC, against, figure_mut, named, row, scaled, stored, verdict};

/// A side of these boots and costs.
fn side(runs: &[(&str, f64)]) -> Vec<RunResult> {
    let of = |&(boot, factor): &(&str, f64)| {
        let mut result = scaled(stored(), MONOTONIC, factor);
        result.conditions.boot_id = Some(boot.to_owned());
        result
    };
    runs.iter().map(of).collect()
}

fn judged(a: &[(&str, f64)], b: &[(&str, f64)]) -> Comparison<'static> {
    compare_sides(&named(side(a)), &named(side(b)), Rules::default()).unwrap()
}

/// What one run of the fixture costs.
fn once() -> f64 {
    let a = stored();
    row(&against(&a, &a), MONOTONIC).a.value
}

#[test]
fn a_boot_is_the_middle_of_its_runs_on_a_logarithm() {
    let comparison = judged(
        &[("a", 1.0), ("a", 4.0), ("b", 2.0), ("c", 2.0)],
        &[("d", 2.0), ("e", 2.0), ("f", 1.0), ("f", 4.0)],
    );
    let row = row(&comparison, MONOTONIC);
    for side in [row.a, row.b] {
        for value in [side.value, side.low, side.high] {
            assert!((value / once() - 2.0).abs() < 1e-9, "{side:?}");
        }
        assert!(side.extremes, "boots have no interval of their own");
    }
    assert_eq!(row.verdict, Verdict::Within, "{row:?}");
    assert!(row.change.unwrap().change.abs() < 1e-9);
    assert!(comparison.warnings.is_empty(), "{:?}", comparison.warnings);
}

#[test]
fn several_boots_are_shown_with_the_least_and_the_most() {
    let comparison = judged(&[("a", 1.0), ("b", 2.0), ("c", 4.0)], &[("d", 1.0), ("e", 2.0), ("f", 4.0)]);
    let shown = row(&comparison, MONOTONIC).a;
    for (value, factor) in [(shown.value, 2.0), (shown.low, 1.0), (shown.high, 4.0)] {
        assert!((value / once() - factor).abs() < 1e-9, "{shown:?}");
    }
    let little = [("a", 1e-6), ("b", 2e-6), ("c", 4e-6)];
    let shown = row(&judged(&little, &little), MONOTONIC).a;
    assert!((shown.high / once() / 4e-6 - 1.0).abs() < 1e-9 && shown.low > 0.0, "{shown:?}");
}

#[test]
fn runs_of_one_boot_are_said_to_be() {
    let runs = [("a", 1.0), ("a", 1.01), ("a", 0.99)];
    let comparison = judged(&runs, &runs);
    assert!(comparison.warnings.iter().any(|it| it.starts_with("all results are of one boot")));
    // One result and several of the same boot are runs, too.
    let comparison = judged(&runs[..1], &runs);
    assert!(comparison.warnings.iter().any(|it| it.starts_with("all results are of one boot")));
    let comparison = judged(&[("a", 1.0), ("b", 1.0), ("c", 1.0)], &runs[..2]);
    assert!(
        comparison.warnings.iter().any(|it| it.contains("of 3 and 1 boots")),
        "{:?}",
        comparison.warnings
    );
}

/// What a side says in place of a number.
#[test]
fn a_figure_of_one_side_says_what_the_other_has() {
    let a = stored();
    for (status, words, blind) in [
        (Status::Unsupported, "unsupported: a r\u{e9}ason", false),
        (Status::Failed, "failed: a r\u{e9}ason", true),
        (Status::Contradicted, "withheld: a r\u{e9}ason", true),
        (Status::Withdrawn, "withdrawn: a r\u{e9}ason", true),
        (Status::Unknown, "in an unknown state: a r\u{e9}ason", true),
    ] {
        let mut b = stored();
        (figure_mut(&mut b).status, figure_mut(&mut b).why) = (status, Some("a r\u{e9}ason".into()));
        let comparison = against(&a, &b);
        let one = comparison.one_sided.iter().find(|one| one.id == MONOTONIC).unwrap();
        assert_eq!((one.a.as_str(), one.b.as_str(), one.blind), ("measured", words, blind));
        let turned = against(&b, &a);
        let one = turned.one_sided.iter().find(|one| one.id == MONOTONIC).unwrap();
        assert_eq!((one.a.as_str(), one.b.as_str(), one.blind), (words, "measured", blind));
        let both = against(&b, &b);
        assert!(both.one_sided.iter().all(|one| one.id != MONOTONIC));
        assert_eq!(both.neither.iter().find(|one| one.id == MONOTONIC).unwrap().blind, blind);
    }
}

#[test]
fn what_a_side_has_no_quantity_of_is_one_sided() {
    let (mut a, mut b) = (stored(), stored());
    figure_mut(&mut a).judged = "qui\u{e9}t".into();
    figure_mut(&mut b).launches.iter_mut().for_each(|launch| launch.quantities.clear());
    let comparison = against(&a, &b);
    let one = comparison.one_sided.iter().find(|one| one.id == MONOTONIC).unwrap();
    assert_eq!((one.a.as_str(), one.b.as_str(), one.blind), ("has no qui\u{e9}t", "has no qui\u{e9}t", true));
}

/// Both first results lacked it, and the comparison did not mention it at all.
#[test]
fn what_the_first_results_lack_is_mentioned() {
    let lacking = || {
        let mut runs = side(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]);
        runs[0].figures.retain(|figure| figure.id != MONOTONIC);
        named(runs)
    };
    let comparison = compare_sides(&lacking(), &lacking(), Rules::default()).unwrap();
    let of_it: Vec<_> = comparison.neither.iter().filter(|one| one.id == MONOTONIC).collect();
    let [one] = of_it[..] else { panic!("{:?}", comparison.neither) };
    assert_eq!((one.a.as_str(), one.b.as_str(), one.blind), ("not there", "not there", false));
}

/// The first result of each side decided for all.
#[test]
fn the_speed_of_the_core_is_that_of_all_results_of_a_side() {
    let of = |speeds: &[f64]| {
        let boots: Vec<String> = (0..speeds.len()).map(|boot| boot.to_string()).collect();
        let mut runs = side(&boots.iter().map(|boot| (boot.as_str(), 1.0)).collect::<Vec<_>>());
        for (run, speed) in runs.iter_mut().zip(speeds) {
            for launch in run.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
                launch.chain_ns = launch.chain_ns.map(|ns| ns * speed);
            }
        }
        named(runs)
    };
    let told = |b: &[f64]| {
        let comparison = compare_sides(&of(&[1.0; 5]), &of(b), Rules::default()).unwrap();
        comparison.warnings.into_iter().filter(|it| it.starts_with("the core ran")).collect::<Vec<_>>()
    };
    assert_eq!(told(&[1.0, 1.2, 1.2, 1.2, 1.2]), ["the core ran 20.0 % slower in the x"]);
    assert_eq!(told(&[1.2, 1.0, 1.0, 1.0, 1.0]), Vec::<String>::new());
}

#[test]
fn zero_on_both_sides_is_the_same_and_on_one_has_no_ratio() {
    let zero = || scaled(stored(), MONOTONIC, 0.0);
    let told = |a: &RunResult, b: &RunResult| {
        let comparison = against(a, b);
        let row = row(&comparison, MONOTONIC);
        (row.verdict, row.why.clone(), row.change.is_some())
    };
    assert_eq!(told(&zero(), &zero()), (Verdict::Within, String::new(), false));
    let none = (Verdict::Unclear, "a side is zero, so there is no ratio".to_owned(), false);
    assert_eq!((told(&zero(), &stored()), told(&stored(), &zero())), (none.clone(), none));
}

/// Steps of the clock that are as long as the batch hide any change; a series times its own way.
#[test]
fn a_step_of_the_clock_counts_where_batches_were_timed() {
    let judged = |step: f64, iterations: u64| {
        let of = |factor: f64| {
            let mut result = scaled(stored(), MONOTONIC, factor);
            result.conditions.clock_step_ns = Some(step);
            figure_mut(&mut result).launches.iter_mut().for_each(|launch| launch.iterations = iterations);
            result
        };
        verdict(&against(&of(1.0), &of(2.0)), MONOTONIC)
    };
    // A batch of a million operations of 22 ns takes 22 ms.
    assert_eq!(judged(1e5, 1_000_000), Verdict::Slower);
    assert_eq!(judged(6e7, 1_000_000), Verdict::Unclear);
    assert_eq!(judged(6e7, 0), Verdict::Slower);
}

#[test]
fn what_is_refused_did_not_certainly_change() {
    let (a, mut b) = (stored(), scaled(stored(), MONOTONIC, 2.0));
    figure_mut(&mut b).revision = 2;
    let comparison = against(&a, &b);
    assert!(!row(&comparison, MONOTONIC).changed && row(&comparison, MONOTONIC).change.is_none());
}

/// Sides of three boots, of which the second of B is changed.
fn with_second(change: impl Fn(&mut RunResult)) -> Comparison<'static> {
    let pairs = |mut side: Vec<RunResult>| {
        for pair in side.iter_mut().flat_map(|result| &mut result.ratios) {
            if pair.of == "clock/monotonic_syscall" && pair.quantity == "paired" {
                pair.launches = (0..10).map(|launch| 8.0 + 1e-4 * f64::from(launch % 5)).collect();
            }
        }
        side
    };
    let a = pairs(side(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]));
    let mut b = pairs(side(&[("d", 1.0), ("e", 1.0), ("f", 1.0)]));
    change(&mut b[1]);
    compare_sides(&named(a), &named(b), Rules::default()).unwrap()
}

#[test]
fn a_pair_is_held_against_others_where_no_result_made_it_otherwise() {
    assert_eq!(with_second(|_| ()).pairs.len(), 1);
    assert_eq!(with_second(|b| figure_mut(b).revision = 2).pairs.len(), 0);
    assert_eq!(with_second(|b| figure_mut(b).status = Status::Failed).pairs.len(), 0);
    assert_eq!(with_second(|b| b.ratios.clear()).pairs.len(), 0);
}

/// Evidence and conditions are those of the first result of each side.
#[test]
fn what_differs_around_further_results_is_not_told() {
    let more = |b: &mut RunResult| {
        figure_mut(b).evidence.system_calls.insert("clock_gettime".into(), 1.0);
    };
    assert!(with_second(more).evidence.is_empty());
    let told = |place: usize| {
        let [a, mut b] = ["a", "b"].map(|boot| side(&[(boot, 1.0), (boot, 1.0)]));
        b[place].conditions.kernel = "Linux 99".into();
        let comparison = compare_sides(&named(a), &named(b), Rules::default()).unwrap();
        comparison.conditions.iter().any(|differs| differs.what == "kernel")
    };
    assert_eq!([told(0), told(1)], [true, false]);
}

/// Of two machines a side of fewer boots than tell anything is judged by its runs.
#[test]
fn boots_are_units_from_three_on_between_machines_too() {
    let shown = |boots: [&str; 4], cross_machine: bool| {
        let of = |name: &str| {
            let mut all = side(&boots.into_iter().zip([1.0, 4.0, 2.0, 2.0]).collect::<Vec<_>>());
            all.iter_mut()
                .for_each(|it| it.conditions.boot_id = it.conditions.boot_id.take().map(|it| it + name));
            named(all)
        };
        let rules = Rules { cross_machine, ..Rules::default() };
        let comparison = compare_sides(&of("a"), &of("b"), rules).unwrap();
        let shown = row(&comparison, MONOTONIC).b;
        [shown.low, shown.high].map(|value| (value / once() * 1e6).round() / 1e6)
    };
    let (three, two) = (["1", "1", "2", "3"], ["1", "1", "2", "2"]);
    assert_eq!([shown(three, true), shown(three, false), shown(two, false)], [[2.0; 2]; 3]);
    assert_eq!((shown(two, true), shown(["1"; 4], true)), ([1.0, 4.0], [1.0, 4.0]));
}
