//! Two results of version 1, judged by version 1's rule: verdicts on simulated runs of one machine whose host lends it more or
//! less of its frequency. What did not change is not called changed, whether it follows the core's speed or not, and what
//! changed is still found.

use crate::fixture;
use crate::simulated::Simulator;

use oscost_report::Named;
use oscost_report::compare::{Rules, Verdict, compare};
use oscost_results::{LaunchRecord, RunResult};
use oscost_stats::order;

const ID: &str = "clock/monotonic";

/// What the host does with the core: how much longer an empty loop takes in each launch of a run.
#[derive(Debug, Clone, Copy)]
enum Host {
    /// The same in all launches of a run, up to this share more or less than in another run.
    Steady(f64),
    /// From a random place to a random place, both up to this share off.
    Drifting(f64),
    /// At random in each launch: full speed, or slower by this share.
    Jumping(f64),
}

impl Host {
    fn run(self, random: &mut Simulator) -> [f64; 10] {
        let (from, to) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
        std::array::from_fn(|launch| match self {
            Self::Steady(share) => 1.0 + share * from,
            Self::Drifting(share) => 1.0 + share * (from + (to - from) * launch as f64 / 10.0),
            Self::Jumping(share) => 1.0 + share * f64::from(u8::from(random.uniform() < 0.5)),
        })
    }
}

/// A result of version 1 with these launches of one figure.
fn of_launches(launches: impl Iterator<Item = LaunchRecord>) -> RunResult {
    let mut result = fixture::result();
    result.estimators = 1;
    result.conditions.clock_step_ns = Some(1.0);
    result.figures.retain(|figure| figure.id == ID);
    result.figures[0].marks.clear();
    result.figures[0].launches = launches.collect();
    result
}

/// A run of one figure of which the part `follows` costs cycles of the core and the rest does not, times `factor`.
fn run(host: Host, follows: f64, factor: f64, random: &mut Simulator) -> RunResult {
    let speeds = host.run(random);
    let launch = |(speed, sequence): (f64, u32)| {
        let cost = factor * 100.0 * (follows * speed + 1.0 - follows) * (0.003 * random.normal()).exp();
        LaunchRecord {
            sequence,
            iterations: 10_000,
            canary_ns: Some(0.3 * speed * (0.001 * random.normal()).exp()),
            quantities: [("floor".to_owned(), cost)].into(),
            ..LaunchRecord::default()
        }
    };
    of_launches(speeds.into_iter().zip(0..).map(launch))
}

/// Any change that version 1 saw, however small.
const ANY: Rules<'_> = Rules { cross_machine: false, threshold: 0.0, past: &[], only: None };

/// Shares of runs called changed, same, and neither, in percent.
fn verdicts(host: Host, follows: f64, factor: f64) -> [f64; 3] {
    const RUNS: u32 = 300;
    let mut random = Simulator(order::seeded(20_261_121, 7));
    let mut counts = [0_u32; 3];
    for _ in 0..RUNS {
        let (a, b) = (run(host, follows, 1.0, &mut random), run(host, follows, factor, &mut random));
        let named = |result| Named { name: "x", result };
        let verdict = compare(&named(&a), &named(&b), ANY).rows[0].verdict;
        counts[match verdict {
            Verdict::Slower if factor >= 1.0 => 0,
            Verdict::Faster if factor <= 1.0 => 0,
            // The wrong direction is worse than a false alarm.
            Verdict::Slower | Verdict::Faster => {
                panic!("{host:?}, {follows}: {verdict:?} at a factor of {factor}")
            }
            Verdict::Within => 1,
            Verdict::Unclear => 2,
        }] += 1;
    }
    counts.map(|count| f64::from(count) * 100.0 / f64::from(RUNS))
}

#[test]
#[ignore = "longer: it repeats"]
fn a_host_that_lends_its_frequency_raises_no_alarm() {
    println!("| the core | follows its speed | slower or faster | same | cannot tell |");
    println!("|---|---|---|---|---|");
    let hosts = [0.02, 0.05, 0.2].map(Host::Steady).into_iter();
    let hosts = hosts.chain([0.02, 0.05, 0.2].map(Host::Drifting)).chain([0.05, 0.2].map(Host::Jumping));
    for host in hosts {
        for follows in [1.0, 0.9, 0.5, 0.0] {
            let [alarms, same, cannot_tell] = verdicts(host, follows, 1.0);
            println!(
                "| {host:?} | {:.0} % | {alarms:.1} % | {same:.0} % | {cannot_tell:.0} % |",
                follows * 100.0
            );
            assert!(alarms <= 1.0, "{host:?}, {follows}: {alarms} %");
        }
    }
}

#[test]
fn changes_are_found_on_a_core_of_one_speed_and_large_ones_on_any() {
    for follows in [1.0, 0.5, 0.0] {
        for (factor, moves) in [(0.95, 0.002), (1.05, 0.002), (0.5, 0.2), (2.0, 0.2)] {
            let [found, same, _] = verdicts(Host::Steady(moves), follows, factor);
            assert!(found >= 95.0 && same == 0.0, "{follows}, {factor}: found {found} %, same {same} %");
        }
    }
}

/// A result whose launches cost these many ns at this speed of the core.
fn exactly(costs: &[f64], speed: f64) -> RunResult {
    let launch = |(&cost, sequence): (&f64, u32)| LaunchRecord {
        sequence,
        iterations: 1_000_000,
        canary_ns: Some(0.3 * speed),
        quantities: [("floor".to_owned(), cost)].into(),
        ..LaunchRecord::default()
    };
    of_launches(costs.iter().zip(0..).map(launch))
}

/// Verdict, whether it certainly changed, and why, at a threshold of 5 %.
fn told(a: &RunResult, b: &RunResult) -> (Verdict, bool, String) {
    let named = |result| Named { name: "x", result };
    let comparison = compare(&named(a), &named(b), Rules::default());
    let row = &comparison.rows[0];
    (row.verdict, row.changed, row.why.clone())
}

#[test]
fn what_version_1_called_a_change_is_held_against_the_threshold() {
    let scattered = |low: f64| {
        let mut costs = [low + 2.0; 12];
        costs[..3].fill(low);
        costs[3..6].fill(low + 1.0);
        costs
    };
    let of = |costs: &[f64]| told(&exactly(&[100.0; 12], 1.0), &exactly(costs, 1.0));
    let plainly = |verdict, changed| (verdict, changed, String::new());
    for (cost, expected) in [
        (100.0, plainly(Verdict::Within, false)),
        (110.0, plainly(Verdict::Slower, true)),
        (90.0, plainly(Verdict::Faster, true)),
        (103.0, plainly(Verdict::Within, true)),
        (97.0, plainly(Verdict::Within, true)),
    ] {
        assert_eq!(of(&[cost; 12]), expected, "{cost}");
    }
    // About 4 to 5 % slower, or as much faster: neither beyond 5 % nor within it.
    for low in [104.2, 94.8] {
        assert_eq!(of(&scattered(low)), plainly(Verdict::Unclear, true), "{low}");
    }
    let unclear = |why: &str| (Verdict::Unclear, false, why.to_owned());
    assert_eq!(of(&[150.0; 5]), unclear("fewer than 6 launches"));
    assert_eq!(
        of(&scattered(101.5)),
        unclear("the change is neither beyond version 1's margin nor within 2 %")
    );
    let mut wide = [130.0; 12];
    wide[..4].fill(100.0);
    assert_eq!(of(&wide), unclear("an interval is wider than 1 % either way"));
    assert_eq!(of(&[0.0; 12]), unclear("a side is zero, so there is no ratio"));
    let zero = || exactly(&[0.0; 12], 1.0);
    assert_eq!(told(&zero(), &zero()), plainly(Verdict::Within, false));
    let once = exactly(&[0.0], 1.0);
    assert_eq!(told(&once, &once), plainly(Verdict::Within, false));
    let never = exactly(&[], 1.0);
    assert_eq!(told(&never, &never), unclear("a side is zero, so there is no ratio"));
}

/// The change and its interval are told; of another machine neither.
#[test]
fn a_change_is_told_with_its_interval() {
    let a = exactly(&[100.0; 12], 1.0);
    let mut b = exactly(&[110.0; 12], 1.0);
    let change = |b: &RunResult| {
        let named = |result| Named { name: "x", result };
        let row = compare(&named(&a), &named(b), Rules::default()).rows.remove(0);
        (row.change.map(|change| (change.level, [change.change, change.low, change.high])), row.why)
    };
    let (Some((level, shares)), why) = change(&b) else { panic!("a change") };
    assert_eq!((level, why.as_str()), (0.95, ""));
    assert!(shares.iter().all(|share| (share - 0.1).abs() < 1e-9), "{shares:?}");
    b.machine.cpu_model = "another".into();
    assert_eq!(change(&b), (None, "another machine".to_owned()));
}

/// In passes of the empty loop nothing changed: the other machine's core takes twice as long for all of it.
#[test]
fn between_machines_time_is_judged() {
    let (a, b) = (exactly(&[100.0; 12], 1.0), exactly(&[200.0; 12], 2.0));
    assert_eq!(told(&a, &b).0, Verdict::Within);
    let named = |result| Named { name: "x", result };
    let asked = compare(&named(&a), &named(&b), Rules { cross_machine: true, ..Rules::default() });
    assert_eq!((asked.rows[0].verdict, asked.rows[0].why.as_str()), (Verdict::Slower, ""));
}

#[test]
fn a_noisy_side_is_named() {
    let side = |noisy: bool| {
        let mut result = exactly(&[100.0; 12], 1.0);
        result.figures[0].marks.extend(noisy.then_some(oscost_results::Mark::Noisy));
        result
    };
    let why = |a, b| told(&side(a), &side(b)).2;
    assert_eq!(
        [why(true, true), why(true, false), why(false, true)],
        ["noisy in both", "noisy in the first", "noisy in the second"]
    );
}

#[test]
fn at_another_speed_of_the_core_passes_are_compared() {
    let of = |cost: f64, speed: f64| told(&exactly(&[100.0; 12], 1.0), &exactly(&[cost; 12], speed));
    let passes = "in passes of the empty loop, which took +5.0 %";
    assert_eq!(of(105.0, 1.05), (Verdict::Within, false, passes.to_owned()), "it follows the core");
    let only = (Verdict::Unclear, false, format!("{passes}; in ns it is no change"));
    assert_eq!(of(100.0, 1.05), only, "a memory does not");
    assert_eq!(of(150.0, 1.05), (Verdict::Slower, true, passes.to_owned()));
    assert_eq!(of(70.0, 1.05), (Verdict::Faster, true, passes.to_owned()));
    // In ns it must be a change by more than 2 %, too.
    for (speed, passes, still, moved) in [(0.95, "-5.0", 101.9, 102.2), (1.05, "+5.0", 98.1, 97.8)] {
        let passes = format!("in passes of the empty loop, which took {passes} %");
        assert_eq!(of(still, speed), (Verdict::Unclear, false, format!("{passes}; in ns it is no change")));
        assert!(of(moved, speed).1 && of(moved, speed).2 == passes, "{speed}");
    }
    let slightly = "in passes of the empty loop, which took +2.5 %".to_owned();
    assert_eq!(of(102.5, 1.025), (Verdict::Within, false, slightly));
    // Half of what the core explains is no change in passes.
    assert_eq!([of(105.0 * 1.02, 1.05).1, of(105.0 * 1.03, 1.05).1], [false, true]);
    assert_eq!(of(101.9, 1.019), (Verdict::Within, false, String::new()), "hardly another speed");
    assert!(!of(103.0, 1.019).1 && !of(97.0, 0.981).1, "less than 2 % beyond that speed");
}

/// A step of the clock is one of batches: a series times its own way.
#[test]
fn a_step_counts_where_batches_were_timed() {
    let judged = |iterations: u64| {
        let of = |cost: f64| {
            let mut result = exactly(&[cost; 12], 1.0);
            result.conditions.clock_step_ns = Some(1e5);
            result.figures[0].launches.iter_mut().for_each(|launch| launch.iterations = iterations);
            result
        };
        told(&of(100.0), &of(110.0))
    };
    assert_eq!((judged(0).0, judged(1_000_000).0), (Verdict::Slower, Verdict::Slower));
    // Of a coarse clock +10 % was the same, and is within nothing that anybody asks today.
    let (verdict, _, why) = judged(1);
    assert!(verdict == Verdict::Unclear && why.starts_with("the same to version 1"), "{why}");
}

#[test]
fn version_1_is_named_where_both_are_of_it() {
    let warned = |of_a: u32, of_b: u32| {
        let [a, b] = [of_a, of_b].map(|estimators| RunResult { estimators, ..exactly(&[100.0; 12], 1.0) });
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        compare(&a, &b, ANY).warnings.iter().any(|it| it.starts_with("both results are of version 1"))
    };
    assert_eq!([(1, 1), (1, 2), (2, 1), (2, 2)].map(|(a, b)| warned(a, b)), [true, false, false, false]);
}

/// Passes are of floors; what a series quotes is judged in ns, by its median.
#[test]
fn what_is_no_floor_is_judged_in_ns_by_its_median() {
    let series = |costs: &[f64], speed: f64| {
        let mut result = exactly(costs, speed);
        let figure = &mut result.figures[0];
        figure.headline = "last_p50".to_owned();
        for launch in &mut figure.launches {
            launch.quantities = [("last_p50".to_owned(), launch.quantities["floor"])].into();
        }
        result
    };
    let a = series(&[100.0; 12], 1.0);
    assert_eq!(told(&a, &series(&[110.0; 12], 1.1)), (Verdict::Slower, true, String::new()));
    let mut halves = [110.0; 12];
    halves[..5].fill(108.9);
    let change = |a: &RunResult, b: &RunResult| {
        let [a, b] = [a, b].map(|result| Named { name: "x", result });
        compare(&a, &b, ANY).rows[0].change.unwrap().change
    };
    assert!((change(&a, &series(&halves, 1.0)) - 0.1).abs() < 0.002);
    let floors = exactly(&[100.0; 12], 1.0);
    assert!((change(&floors, &exactly(&halves, 1.0)) - 0.089).abs() < 0.002, "the lower quartile of floors");
    // In passes the undisturbed launches are the upper ones.
    assert!((change(&floors, &exactly(&halves, 1.05)) - (1.1 / 1.05 - 1.0)).abs() < 0.002);
}

/// What the results say of themselves is shown, judged or not.
#[test]
fn estimates_are_those_of_the_results() {
    let shown = |change: &dyn Fn(&mut RunResult)| {
        let (a, mut b) = (exactly(&[100.0; 12], 1.0), exactly(&[110.0; 12], 1.0));
        b.figures[0].quantities.get_mut("floor").unwrap().estimate.value = 7.0;
        change(&mut b);
        let of = |result: &RunResult| result.figures[0].quantities["floor"].estimate;
        let own = [of(&a), of(&b)];
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let row = compare(&a, &b, ANY).rows.remove(0);
        assert_eq!(([row.a, row.b], row.unit.as_str(), row.quantity.as_str()), (own, "ns", "floor"));
        (row.verdict, row.why)
    };
    assert_eq!(shown(&|_| ()), (Verdict::Slower, String::new()));
    let unclear = |why: &str| (Verdict::Unclear, why.to_owned());
    assert_eq!(shown(&|b| b.machine.cpu_model = "another".into()), unclear("another machine"));
    let in_passes =
        |b: &mut RunResult| b.figures[0].quantities.get_mut("floor").unwrap().unit = "passes".into();
    assert_eq!(shown(&in_passes), unclear("the units differ"));
}

/// A change by just the threshold is neither beyond it nor within it.
#[test]
fn a_change_by_the_threshold_itself_is_unclear() {
    let a = exactly(&[100.0; 12], 1.0);
    for cost in [110.0, 90.0] {
        let b = exactly(&[cost; 12], 1.0);
        let [a, b] = [&a, &b].map(|result| Named { name: "x", result });
        let at = |threshold: f64| compare(&a, &b, Rules { threshold, ..ANY }).rows.remove(0);
        let just = at(0.0).change.unwrap();
        assert_eq!(just.low, just.high);
        let beyond = if cost > 100.0 { Verdict::Slower } else { Verdict::Faster };
        let found = [1.0 - 1e-9, 1.0, 1.0 + 1e-9].map(|factor| at(just.change.abs() * factor).verdict);
        assert_eq!(found, [beyond, Verdict::Unclear, Verdict::Within], "{cost}");
    }
}
