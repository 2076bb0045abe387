//! Version 1's `judge` on unchanged runs of one machine (no false alarm), and on real changes (found).

use super::simulated::{Distribution, Simulator};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};
use oscost_stats::version_one::{Doubt, Verdict, VersionOneSide, judge};

fn side(launches: &[f64]) -> VersionOneSide<'_> {
    VersionOneSide { launches, step_ns: 10.0, operations: 10_000, noisy: false }
}

/// Shares of slower or faster, of same, and of cannot tell, when B is `factor` times A.
fn verdicts(distribution: Distribution, q: f64, factor: f64, runs: u32) -> [f64; 3] {
    let mut simulator = Simulator::new(99);
    let mut counts = [0.0; 3];
    for _ in 0..runs {
        let a = distribution.run(10, &mut simulator);
        let b: Vec<f64> = distribution.run(10, &mut simulator).iter().map(|launch| launch * factor).collect();
        match judge(&side(&a), &side(&b), q, 0.0).expect("costs are positive").verdict {
            Verdict::Slower | Verdict::Faster => counts[0] += 1.0,
            Verdict::Same => counts[1] += 1.0,
            Verdict::CannotTell(_) => counts[2] += 1.0,
        }
    }
    counts.map(|count| count / f64::from(runs))
}

#[test]
fn false_alarms_are_rare() {
    let runs = 4000;
    println!("| two runs of one machine, 10 launches each | slower or faster | same | cannot tell |");
    println!("|---|---|---|---|");
    for (name, distribution, independent) in [
        ("lognormal, scatter 0.3 %", Distribution::Lognormal(0.003), true),
        ("lognormal, scatter 1 %", Distribution::Lognormal(0.01), true),
        ("lognormal, scatter 3 %", Distribution::Lognormal(0.03), true),
        ("10 % of the launches slow", Distribution::Bimodal(0.003, 0.1), true),
        ("30 % of the launches slow", Distribution::Bimodal(0.003, 0.3), true),
        ("half of the launches slow", Distribution::Bimodal(0.003, 0.5), true),
        ("70 % of the launches slow", Distribution::Bimodal(0.003, 0.7), true),
        ("autocorrelated, scatter 1 %", Distribution::Autocorrelated(0.01), false),
        ("drifting, scatter 0.3 %", Distribution::Drifting(0.003), false),
        ("drifting, scatter 0.6 %", Distribution::Drifting(0.006), false),
        ("drifting, scatter 1 %", Distribution::Drifting(0.01), false),
        ("drifting, scatter 2 %", Distribution::Drifting(0.02), false),
    ] {
        for (estimate, q) in [("floor", LOWER_QUARTILE), ("median", MEDIAN)] {
            let [false_alarms, same, cannot_tell] =
                verdicts(distribution, q, 1.0, runs).map(|share| share * 100.0);
            println!("| {estimate}, {name} | {false_alarms:.2} % | {same:.1} % | {cannot_tell:.1} % |");
            // The rate must be at most 1 %, or 2 % where launches are not independent.
            let limit = if independent { 1.0 } else { 2.0 };
            assert!(false_alarms <= limit, "{estimate}, {name}: {false_alarms} %");
        }
    }
}

#[test]
fn changes_are_found_and_small_ones_are_not_called_changes() {
    for q in [LOWER_QUARTILE, MEDIAN] {
        for factor in [0.90, 0.95, 1.05, 1.10] {
            let [found, same, _] = verdicts(Distribution::Lognormal(0.003), q, factor, 1000);
            assert!(found >= 0.95 && same == 0.0, "factor {factor}: found {found}, same {same}");
        }
        let [found, same, _] = verdicts(Distribution::Lognormal(0.003), q, 1.005, 1000);
        assert!(found == 0.0 && same >= 0.95, "factor 1.005: found {found}, same {same}");
    }
}

#[test]
fn coverage_of_changes() {
    let runs = 2000;
    for (distribution, independent) in [
        (Distribution::Lognormal(0.003), true),
        (Distribution::Lognormal(0.01), true),
        (Distribution::Bimodal(0.003, 0.1), true),
        (Distribution::Bimodal(0.003, 0.3), true),
        (Distribution::Autocorrelated(0.01), false),
        (Distribution::Drifting(0.01), false),
    ] {
        for q in [LOWER_QUARTILE, MEDIAN] {
            let mut simulator = Simulator::new(98);
            let held = (0..runs)
                .filter(|_| {
                    let a = distribution.run(10, &mut simulator);
                    let b: Vec<f64> =
                        distribution.run(10, &mut simulator).iter().map(|launch| launch * 1.03).collect();
                    let change = judge(&side(&a), &side(&b), q, 0.0).expect("costs are positive");
                    change.low <= 0.03 && 0.03 <= change.high
                })
                .count();
            let share = held as f64 / f64::from(runs);
            println!(
                "a change of 3 %, {distribution:?}, quantile {q}: held by {:.1} % of the intervals",
                share * 100.0
            );
            assert!(!independent || share >= 0.8, "{distribution:?}, {q}: {share}");
        }
    }
}

#[test]
fn verdicts_by_known_numbers() {
    let (a, b) = ([100.0; 10], [110.0; 10]);
    let slower = judge(&side(&a), &side(&b), LOWER_QUARTILE, 0.0).unwrap();
    assert_eq!((slower.verdict, slower.margin), (Verdict::Slower, 0.02));
    for bound in [slower.change, slower.low, slower.high] {
        assert!((bound - 0.1).abs() < 1e-9);
    }
    let verdict =
        |a: &VersionOneSide<'_>, b: &VersionOneSide<'_>| judge(a, b, LOWER_QUARTILE, 0.0).unwrap().verdict;
    assert_eq!(verdict(&side(&b), &side(&a)), Verdict::Faster);
    assert_eq!(verdict(&side(&a), &side(&a)), Verdict::Same);
    assert_eq!(verdict(&side(&a), &side(&[101.9; 10])), Verdict::Same);

    assert_eq!(verdict(&side(&a[..5]), &side(&b)), Verdict::CannotTell(Doubt::FewLaunches));
    assert_eq!(
        verdict(&VersionOneSide { noisy: true, ..side(&a) }, &side(&b)),
        Verdict::CannotTell(Doubt::Noisy)
    );
    assert_eq!(
        verdict(&side(&a), &VersionOneSide { noisy: true, ..side(&b) }),
        Verdict::CannotTell(Doubt::Noisy)
    );
    let wide: Vec<f64> = (0..10).map(|launch| 100.0 + 2.0 * f64::from(launch)).collect();
    assert_eq!(verdict(&side(&wide), &side(&[200.0; 10])), Verdict::CannotTell(Doubt::WideInterval));
    let near = [101.5, 101.5, 101.5, 102.5, 102.5, 102.5, 102.5, 102.5, 102.5, 102.5];
    assert_eq!(verdict(&side(&a), &side(&near)), Verdict::CannotTell(Doubt::AcrossMargin));
}

#[test]
fn a_coarse_clock_widens_the_margin() {
    // 2 steps of 1000 ns in a batch of 100 operations of 100 ns are 20 % of it: a change of 10 % cannot be called one.
    let coarse = |launches| VersionOneSide { launches, step_ns: 1000.0, operations: 100, noisy: false };
    let (a, b) = ([100.0; 10], [110.0; 10]);
    let change = judge(&coarse(&a), &side(&b), LOWER_QUARTILE, 0.0).unwrap();
    assert_eq!((change.verdict, change.margin), (Verdict::Same, 0.2));
    assert_eq!(judge(&side(&b), &coarse(&a), LOWER_QUARTILE, 0.0).unwrap().margin, 0.2);
    // A series observes single operations: 0 is taken as 1.
    let series = VersionOneSide { launches: &a, step_ns: 10.0, operations: 0, noisy: false };
    assert_eq!(judge(&series, &series, MEDIAN, 0.0).unwrap().margin, 0.2);
}

#[test]
fn what_has_no_ratio_is_not_judged() {
    let good = [1.0; 10];
    for bad in [&[][..], &[0.0; 10], &[1.0, 1.0, 1.0, -1.0, 1.0], &[f64::NAN; 10], &[f64::INFINITY; 10]] {
        assert_eq!(judge(&side(&good), &side(bad), LOWER_QUARTILE, 0.0), None);
        assert_eq!(judge(&side(bad), &side(&good), LOWER_QUARTILE, 0.0), None);
    }
}

#[test]
fn numbers_of_any_size_come_to_an_end() {
    // A stored result may hold anything: ratios that overflow or vanish must neither hang nor be called the same.
    let (tiny, huge) = ([f64::from_bits(1); 10], [f64::MAX; 10]);
    let mixed: Vec<f64> = tiny.iter().chain(&huge).copied().collect();
    for a in [&tiny[..], &huge, &mixed] {
        for b in [&tiny[..], &huge, &mixed] {
            let verdict = judge(&side(a), &side(b), LOWER_QUARTILE, 0.0).map(|change| change.verdict);
            assert!(a == b || verdict != Some(Verdict::Same), "{a:?} {b:?}: {verdict:?}");
        }
    }
}
