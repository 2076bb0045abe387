//! Rows of a comparison: their order, what is asked of several launches of a side, and what nobody asked for.

use std::collections::BTreeSet;

use oscost_report::Named;
use oscost_report::compare::{Comparison, Rules, Verdict, compare, compare_live, compare_sides, look_live};
use oscost_results::{Mark, PairedValue, RunResult};

use super::{MONOTONIC, against, figure_mut, named, row, scaled, stored};

const SYSCALL: &str = "clock/monotonic_syscall";
const GETPPID: &str = "syscall/getppid";

/// A result whose figures cost so many times what the fixture's do, and whose pairs have these values.
fn costing(factors: &[(&str, f64)], pairs: &[(&str, f64)]) -> RunResult {
    let mut result = factors.iter().fold(stored(), |result, (id, factor)| scaled(result, id, *factor));
    for (of, value) in pairs {
        for pair in result.ratios.iter_mut().chain(&mut result.differences).filter(|pair| pair.of == *of) {
            pair.launches = (0..10).map(|launch| value * (1.0 + 1e-4 * f64::from(launch % 5))).collect();
        }
    }
    result
}

fn ids(rows: &[oscost_report::compare::Compared]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

#[test]
fn the_largest_change_comes_first_of_figures_and_of_pairs() {
    let values = |factors: [f64; 3]| -> Vec<(&str, f64)> {
        ["semaphore/system_v", SYSCALL, "context_switch/pipe/same_cpu"].into_iter().zip(factors).collect()
    };
    let mut a = costing(&[], &values([8.0, 8.0, 1690.0]));
    let mut b = costing(&[(MONOTONIC, 1.2), (SYSCALL, 0.5), (GETPPID, 3.0)], &values([8.0, 12.0, 2200.0]));
    for result in [&mut a, &mut b] {
        result.differences[0].to = GETPPID.to_owned();
        result.differences[0].of = "context_switch/pipe/same_cpu".to_owned();
    }
    let comparison = against(&a, &b);
    assert_eq!(ids(&comparison.rows)[..3], [GETPPID, SYSCALL, MONOTONIC]);
    let pairs = [
        "clock/monotonic_syscall to clock/monotonic",
        "context_switch/pipe/same_cpu less syscall/getppid",
        "semaphore/system_v to semaphore/posix_named",
    ];
    let shown: Vec<&str> = ids(&comparison.pairs).into_iter().filter(|id| pairs.contains(id)).collect();
    assert_eq!(shown, pairs);
    let floors = "semaphore/system_v to semaphore/posix_named (floor)";
    assert!(ids(&comparison.pairs).contains(&floors), "{:?}", ids(&comparison.pairs));
    assert!(comparison.pairs.iter().all(|pair| !pair.baseline_only), "of figures alone that is said");
    let pair = &comparison.pairs[0];
    assert_eq!(pair.pair, Some((SYSCALL.to_owned(), MONOTONIC.to_owned())));
    assert!((pair.a.value / 8.0 - 1.0).abs() < 1e-3 && (pair.b.value / 12.0 - 1.0).abs() < 1e-3, "{pair:?}");
    assert!(pair.change.is_some_and(|it| (it.change - 0.5).abs() < 1e-9), "{pair:?}");
}

/// A pair that only one side has, or has without launches, is none.
#[test]
fn a_pair_is_of_both_sides_and_was_asked_about() {
    let a = costing(&[], &[(SYSCALL, 8.0)]);
    let pairs = |change: &dyn Fn(&mut PairedValue), only: Option<&BTreeSet<String>>| {
        let mut b = a.clone();
        b.ratios.iter_mut().filter(|pair| pair.of == SYSCALL).for_each(change);
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        compare(&a, &b, Rules { only, ..Rules::default() }).pairs.len()
    };
    assert_eq!(pairs(&|_| (), None), 1);
    assert_eq!(pairs(&|pair| pair.launches.clear(), None), 0);
    assert_eq!(pairs(&|pair| pair.unit = "ns".to_owned(), None), 0);
    assert_eq!(pairs(&|pair| pair.launches[0] = 0.0, None), 0, "there is no ratio");
    let only = |id: &str| BTreeSet::from([id.to_owned()]);
    assert_eq!([SYSCALL, MONOTONIC].map(|id| pairs(&|_| (), Some(&only(id)))), [1, 0]);
}

/// Whoever typed what is divided gets the divisor, and is told nothing of it that a gate would stop at.
#[test]
fn a_baseline_that_nobody_asked_for_is_no_figure_that_got_slower() {
    let asked = |result: RunResult, pattern: Option<&str>| RunResult {
        plan: oscost_results::Plan {
            patterns: pattern.into_iter().map(str::to_owned).collect(),
            ..result.plan.clone()
        },
        reproductions: Vec::new(),
        ..result
    };
    let told = |of_a: Option<&str>, of_b: Option<&str>, only: Option<&BTreeSet<String>>, slower: &str| {
        let (a, b) = (asked(stored(), of_a), asked(scaled(stored(), slower, 2.0), of_b));
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let comparison = compare(&a, &b, Rules { only, ..Rules::default() });
        assert_eq!(row(&comparison, slower).verdict, Verdict::Slower);
        (row(&comparison, slower).baseline_only, comparison.is_slower())
    };
    let typed = Some(SYSCALL);
    let (unasked, is_asked) = ((true, false), (false, true));
    assert_eq!(told(typed, typed, None, MONOTONIC), unasked);
    assert_eq!(told(typed, typed, None, SYSCALL), is_asked);
    for (of_a, of_b) in [(None, typed), (typed, None), (None, None), (Some(MONOTONIC), typed)] {
        assert_eq!(told(of_a, of_b, None, MONOTONIC), is_asked, "{of_a:?} {of_b:?}: all of it was asked for");
    }
    let only = BTreeSet::from([MONOTONIC.to_owned()]);
    assert_eq!(told(typed, typed, Some(&only), MONOTONIC), is_asked, "it is asked for now");
    let still = stored();
    assert!(!against(&still, &still).is_slower());
    let rounds = |factor: f64| named(vec![asked(scaled(stored(), MONOTONIC, factor), typed); 12]);
    assert!(row(&compare_live(&rounds(1.0), &rounds(2.0), Rules::default()), MONOTONIC).baseline_only);
}

/// Rounds of which each launch costs so many times what the fixture's do.
fn rounds(count: usize, factors: &[(&str, f64)]) -> Vec<RunResult> {
    let mut result = costing(factors, &[]);
    result.figures.iter_mut().for_each(|figure| figure.launches.truncate(1));
    vec![result; 2 * count]
}

#[test]
fn rounds_that_answer_all_leave_nothing_open() {
    let look = |a: Vec<RunResult>, b: Vec<RunResult>, only: &[&str]| {
        let only: BTreeSet<String> = only.iter().map(|id| (*id).to_owned()).collect();
        let look = look_live(&named(a), &named(b), Rules { only: Some(&only), ..Rules::default() }, 1.0);
        let ids: Vec<String> = look.comparison.rows.iter().map(|row| row.id.clone()).collect();
        (look.open, ids)
    };
    let all = [MONOTONIC, SYSCALL, GETPPID];
    let b = || rounds(6, &[(MONOTONIC, 1.2), (GETPPID, 3.0), (SYSCALL, 0.5)]);
    let found = look(rounds(6, &[]), b(), &all);
    assert_eq!(found, (false, [GETPPID, SYSCALL, MONOTONIC].map(str::to_owned).into()), "the largest first");
    assert_eq!(look(rounds(6, &[]), b(), &[SYSCALL]), (false, vec![SYSCALL.to_owned()]));
    let one = || rounds(1, &[])[..1].to_vec();
    assert_eq!(look(one(), one(), &[SYSCALL]), (true, vec![SYSCALL.to_owned()]), "no round at all");
    let few = || rounds(5, &[]);
    assert_eq!(look(few(), few(), &[SYSCALL]), (true, vec![SYSCALL.to_owned()]), "one more round may tell");
    let mut noisy = b();
    for (result, factor) in noisy.iter_mut().zip([1.0, 1.0, 1.3, 1.3, 0.8, 0.8].into_iter().cycle()) {
        let launch = &mut figure_mut(result).launches[0];
        launch.quantities.values_mut().for_each(|value| *value *= factor);
    }
    assert_eq!(look(rounds(6, &[]), noisy.clone(), &[MONOTONIC]), (true, vec![MONOTONIC.to_owned()]));
    assert!(!look(rounds(6, &[]), noisy, &[SYSCALL]).0);
    let mut elsewhere = b();
    elsewhere.iter_mut().for_each(|it| it.machine.cpu_model = "another".to_owned());
    assert!(!look(rounds(6, &[]), elsewhere, &[SYSCALL]).0, "no number of rounds would tell");
}

/// Surroundings are those of the first results; a look that may spend all of a chance of an error is judged as two results are.
#[test]
fn rounds_are_around_their_first_results_and_are_judged_at_the_level_of_one_look() {
    let changed = |side: usize, place: usize| {
        let mut sides = [rounds(6, &[]), rounds(6, &[(SYSCALL, 2.0)])];
        sides[side][place].conditions.kernel = "Linux 99".to_owned();
        let [a, b] = sides.map(named);
        let only = BTreeSet::from([MONOTONIC.to_owned(), SYSCALL.to_owned()]);
        let comparison = compare_live(&a, &b, Rules { only: Some(&only), ..Rules::default() });
        let levels = [SYSCALL, MONOTONIC].map(|id| row(&comparison, id).change.unwrap().level);
        assert!((levels[0] - 0.995).abs() < 1e-12 && (levels[1] - 0.9).abs() < 1e-12, "{levels:?}");
        comparison.conditions.iter().any(|differs| differs.what == "kernel")
    };
    assert_eq!([changed(0, 0), changed(0, 11), changed(1, 0), changed(1, 11)], [true, false, true, false]);
}

/// What no round resolves is half a per cent, and what the clocks do not.
#[test]
fn rounds_are_known_to_half_a_per_cent_and_the_steps_of_both_clocks() {
    let high = |step: f64, iterations: u64, operations: u64| {
        let side = |factor: f64| {
            let mut all = rounds(6, &[(MONOTONIC, factor)]);
            for result in &mut all {
                result.conditions.clock_step_ns = Some(step);
                let figure = figure_mut(result);
                figure.operations_per_iteration = operations;
                figure.launches[0].iterations = iterations;
            }
            // The clock of a side is that of its first result.
            all[11].conditions.clock_step_ns = Some(1e9);
            named(all)
        };
        let (a, b) = (side(1.0), side(2.0));
        let floor =
            a[0].result.figures.iter().find(|it| it.id == MONOTONIC).unwrap().launches[0].quantities["floor"];
        let comparison = compare_live(&a, &b, Rules::default());
        let change = row(&comparison, MONOTONIC).change.unwrap();
        assert!(((1.0 + change.low) * (1.0 + change.high) / 4.0 - 1.0).abs() < 1e-9, "{change:?}");
        ((1.0 + change.high) / 2.0 - 1.0, floor)
    };
    let (none, floor) = high(0.0, 1_000_000, 1);
    assert!((none - 0.005).abs() < 1e-9, "{none}");
    for (operations, iterations) in [(1, 1_000_000), (7, 10_000), (1, 3), (1, 1)] {
        let per_batch = (operations * iterations) as f64 * floor;
        let step = 0.01 * per_batch;
        let (half, _) = high(step, iterations, operations);
        assert!((half - 0.005 - 0.01 * 1.5).abs() < 1e-9, "{operations} {iterations}: {half}");
    }
    assert_eq!(high(1e6, 0, 7).0, none, "a series times its own way");
}

/// A neighbour on one side: of several results, whoever had one.
#[test]
fn a_neighbour_of_some_results_is_one_of_their_side() {
    let judged = |busy_a: [bool; 2], busy_b: [bool; 2], factor: f64, judged: &str| {
        let side = |busy: [bool; 2], factor: f64| {
            let of = |busy: bool| {
                let mut result = scaled(stored(), MONOTONIC, factor);
                let figure = figure_mut(&mut result);
                figure.marks.extend(busy.then_some(Mark::BusySibling));
                figure.judged = judged.to_owned();
                for launch in &mut figure.launches {
                    let floor = launch.quantities["floor"];
                    launch.quantities = [(judged.to_owned(), floor)].into();
                }
                result
            };
            named(busy.map(of).into())
        };
        let comparison: Comparison<'_> =
            compare_sides(&side(busy_a, 1.0), &side(busy_b, factor), Rules::default()).unwrap();
        let row = row(&comparison, MONOTONIC);
        assert_eq!(row.quantity, judged);
        (row.verdict, row.why.contains("busy sibling"))
    };
    let (none, one, both) = ([false; 2], [true, false], [true; 2]);
    let (slower, unclear) = ((Verdict::Slower, false), (Verdict::Unclear, true));
    for (a, b, expected) in [
        (none, none, slower),
        (both, both, slower),
        (one, none, slower),
        (both, none, slower),
        (none, one, unclear),
        (both, one, unclear),
        (one, both, unclear),
        (one, one, unclear),
    ] {
        assert_eq!(judged(a, b, 3.0, "quiet"), expected, "{a:?} {b:?}");
    }
    assert_eq!(judged(none, one, 0.3, "quiet"), (Verdict::Faster, false));
    // A core that is kept awake wakes sleepers sooner.
    for (a, b) in [(one, none), (none, one), (both, none)] {
        assert_eq!(judged(a, b, 3.0, "typical"), unclear, "{a:?} {b:?}");
    }
    assert_eq!(judged(both, both, 3.0, "typical"), slower);
}

/// The steps of both clocks are added at both ends of an interval, in a batch of all of its operations.
#[test]
fn a_change_is_known_to_the_steps_of_both_clocks() {
    let high = |steps: [f64; 2], operations: u64| {
        let [a, b] = [(1.0, steps[0]), (2.0, steps[1])].map(|(factor, step)| {
            let mut result = scaled(stored(), MONOTONIC, factor);
            result.conditions.clock_step_ns = Some(step);
            let figure = figure_mut(&mut result);
            figure.operations_per_iteration = operations;
            figure.launches.iter_mut().for_each(|it| it.iterations = 1000);
            result
        });
        let only = BTreeSet::from([MONOTONIC.to_owned()]);
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let floor =
            a.result.figures.iter().find(|it| it.id == MONOTONIC).unwrap().launches[0].quantities["floor"];
        let comparison = compare(&a, &b, Rules { only: Some(&only), ..Rules::default() });
        (1.0 + row(&comparison, MONOTONIC).change.unwrap().high, floor * 1000.0)
    };
    let (none, batch) = high([0.0; 2], 1);
    assert!(none > 2.0);
    for (of_a, of_b, operations) in [(0.01, 0.0, 1_u32), (0.0, 0.04, 1), (0.01, 0.04, 7), (0.02, 0.02, 3)] {
        let steps = [of_a, of_b].map(|share| share * batch * f64::from(operations));
        let grain = high(steps, operations.into()).0 / none - 1.0;
        assert!((grain - of_a - of_b / 2.0).abs() < 1e-9, "{of_a} {of_b} {operations}: {grain}");
    }
}

/// Fourteen figures that enter the kernel cost 8 % more, and three that stay out of it what they did.
#[test]
fn what_all_that_enters_the_kernel_moved_by_is_told_beyond_the_threshold() {
    let of = |inside: f64, outside: f64| {
        let mut result = stored();
        let template = figure_mut(&mut result).clone();
        result.figures = (0..17)
            .map(|at| {
                let (calls, factor) = if at < 14 { (1.0, inside) } else { (0.0, outside) };
                let mut figure = oscost_results::Figure { id: format!("x/{at}"), ..template.clone() };
                figure.evidence.audit_method = Some("ptrace".to_owned());
                figure.evidence.system_calls = [("call".to_owned(), calls)].into();
                for launch in &mut figure.launches {
                    launch
                        .quantities
                        .values_mut()
                        .for_each(|value| *value *= factor * (1.0 + 1e-5 * f64::from(at)));
                }
                figure
            })
            .collect();
        result.ratios.clear();
        result
    };
    let told = |inside: f64, outside: f64, rules: Rules<'_>| {
        let (a, b) = (of(1.0, 1.0), of(inside, outside));
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let warnings = compare(&a, &b, rules).warnings;
        let all = warnings
            .into_iter()
            .filter_map(|it| Some(it.strip_prefix("all that enters the kernel ")?.to_owned()));
        all.collect::<Vec<String>>()
    };
    let by = |share: &str| [format!("moved by about {share} %, and what stays out of it did not")];
    assert_eq!(told(1.08, 1.0, Rules::default()), by("+8.0"));
    assert_eq!(told(0.9, 1.0, Rules::default()), by("-10.0"));
    let none = Vec::<String>::new();
    assert_eq!(
        told(1.08, 1.0, Rules { threshold: 0.09, ..Rules::default() }),
        none,
        "nobody asks about less"
    );
    assert_eq!(told(1.08, 1.08, Rules::default()), none, "all moved");
    let mut elsewhere = of(1.08, 1.0);
    elsewhere.machine.cpu_model = "another".to_owned();
    let a = of(1.0, 1.0);
    let [a, b] = [&a, &elsewhere].map(|result| Named { name: "x", result });
    let asked = compare(&a, &b, Rules { cross_machine: true, ..Rules::default() });
    assert!(asked.warnings.iter().all(|it| !it.contains("enters the kernel")), "{:?}", asked.warnings);
    // One that was not asked about belongs to the null of its class, and has no row.
    let only = BTreeSet::from(["x/3".to_owned()]);
    let one = told(1.08, 1.0, Rules { only: Some(&only), ..Rules::default() });
    assert_eq!(one, by("+8.0"));
}

/// Results of two methods are not held against each other, whichever side and whichever of its results is the older one.
#[test]
fn one_result_of_another_method_is_enough() {
    for (side, place) in [(0, 0), (0, 2), (1, 0), (1, 2)] {
        for count in [1, 3] {
            let mut sides = [vec![stored(); count], vec![scaled(stored(), MONOTONIC, 2.0); count]];
            sides[side][place.min(count - 1)].estimators = 1;
            let [a, b] = sides.map(named);
            let comparison = compare_sides(&a, &b, Rules::default()).unwrap();
            let row = row(&comparison, MONOTONIC);
            assert!(row.verdict == Verdict::Unclear && row.why.starts_with("the method changed"), "{row:?}");
            assert!(comparison.pairs.is_empty() && row.a.value > 0.0 && row.b.value > 0.0, "{row:?}");
        }
    }
}

/// Evidence and grain are those of the first result of each side, and so are its conditions.
#[test]
fn the_first_result_of_a_side_speaks_for_what_is_around_it() {
    let changed = |side: usize, place: usize| {
        let mut sides = [vec![stored(); 3], vec![scaled(stored(), MONOTONIC, 2.0); 3]];
        for result in sides.iter_mut().flatten() {
            result.conditions.clock_step_ns = Some(1000.0);
            figure_mut(result).launches.iter_mut().for_each(|it| it.iterations = 1000);
        }
        let one = &mut sides[side][place];
        one.conditions.clock_step_ns = Some(2000.0);
        one.conditions.kernel = "Linux 99".to_owned();
        figure_mut(one).evidence.system_calls.insert("futex".to_owned(), 1.0);
        figure_mut(one).operations_per_iteration = 4;
        let [a, b] = sides.map(named);
        let floor = figure_mut(&mut stored()).launches[0].quantities["floor"];
        let comparison = compare_sides(&a, &b, Rules::default()).unwrap();
        let high = (1.0 + row(&comparison, MONOTONIC).change.unwrap().high) / 2.0 - 1.0;
        let kernel = comparison.conditions.iter().any(|it| it.what == "kernel");
        ((high * floor * 100.0).round() / 100.0, kernel, comparison.evidence.len())
    };
    assert_eq!([changed(0, 0), changed(1, 0)], [(1.0, true, 1), (1.25, true, 1)]);
    assert_eq!([changed(0, 2), changed(1, 2)], [(1.5, false, 0); 2]);
}

/// Sides of several boots that have one in common are of one machine.
#[test]
fn one_boot_on_both_sides_is_enough() {
    let side = |boots: [&str; 2]| {
        let of = |boot: &str| {
            let mut result = stored();
            result.conditions.boot_id = Some(boot.to_owned());
            result
        };
        named(boots.map(of).into())
    };
    let is_one = |a: [&str; 2], b: [&str; 2]| {
        let rules = Rules { cross_machine: true, ..Rules::default() };
        let warnings = compare_sides(&side(a), &side(b), rules).unwrap().warnings;
        warnings.iter().any(|it| it.starts_with("there are results of one boot on both sides"))
    };
    assert!(
        is_one(["a", "b"], ["b", "c"]) && is_one(["a", "b"], ["c", "a"]) && is_one(["a", "a"], ["a", "a"])
    );
    assert!(!is_one(["a", "b"], ["c", "d"]) && !is_one(["", "a"], ["", "b"]), "what is not known is not one");
}

/// A quantity that scatters less is taken where enough launches, or rounds, of both sides have it, and not between machines.
#[test]
fn a_steadier_quantity_is_taken_where_enough_of_both_sides_have_it() {
    let of = |count: usize, in_cycles: usize, factor: f64| {
        let mut result = scaled(stored(), MONOTONIC, factor);
        let figure = figure_mut(&mut result);
        for (at, launch) in figure.launches.iter_mut().enumerate() {
            let scatter = 1.0 + 0.02 * (at * 7 % 10) as f64;
            launch.quantities.values_mut().for_each(|value| *value *= scatter);
            if at < in_cycles {
                launch.quantities.insert("cycles".into(), 100.0 * factor + 1e-3 * at as f64);
            }
        }
        figure.launches.truncate(count);
        result
    };
    let quantity = |in_a: usize, in_b: usize| {
        let (a, b) = (of(10, in_a, 1.0), of(10, in_b, 1.5));
        row(&against(&a, &b), MONOTONIC).quantity.clone()
    };
    assert_eq!([quantity(10, 10), quantity(4, 10), quantity(10, 4)], ["cycles"; 3]);
    assert_eq!([quantity(3, 10), quantity(10, 3), quantity(0, 10)], ["quiet"; 3]);
    let in_rounds = |lacking: usize, cross_machine: bool| {
        let side = |factor: f64, step: usize| {
            let mut all: Vec<RunResult> = vec![of(10, 10, factor); 14];
            for (at, result) in all.iter_mut().enumerate() {
                let figure = figure_mut(result);
                figure.launches.swap(0, at * step % 10);
                figure.launches.truncate(1);
                if (1..=lacking).contains(&at) {
                    figure.launches[0].quantities.remove("cycles");
                }
            }
            named(all)
        };
        let rules = Rules { cross_machine, ..Rules::default() };
        row(&compare_live(&side(1.0, 3), &side(1.5, 7), rules), MONOTONIC).quantity.clone()
    };
    let six_of_seven = [0, 1, 2].map(|lacking| in_rounds(lacking, false));
    assert_eq!(six_of_seven, ["cycles", "cycles", "quiet"], "at least six rounds must have it");
    assert_eq!([in_rounds(0, true), in_rounds(2, true)], ["quiet"; 2]);
}
