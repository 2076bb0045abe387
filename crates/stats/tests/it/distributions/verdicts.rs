//! `judge` on unchanged runs of one machine (no false alarm), and on real changes (found).

use super::simulated::{Distribution, Plan, Simulator};
use oscost_stats::compare::{Change, Verdict, judge};
use oscost_stats::drift::{Drift, DriftFound};
use oscost_stats::interval::{Centre, LOWER_QUARTILE, MEDIAN};
use oscost_stats::order;

/// Figures of a report.
const FIGURES: usize = 40;
/// Past runs of the same thing in the store.
const PAST: usize = 6;
/// Past runs from which those of a figure are taken.
const POOL: u64 = 300;
/// What is usual on such a machine.
const USUAL: f64 = 0.003;

/// Shares, in percent: figures slower, faster, within and unclear, and reports with anything slower or faster.
struct Shares {
    slower: f64,
    faster: f64,
    within: f64,
    unclear: f64,
    reports: f64,
}

/// Reports of two runs, of which one figure in ten costs `factor` times as much in B; the shares are of those that changed, or of
/// the others. The runs are the same for every factor and threshold.
fn reports<const N: usize>(
    distribution: Distribution,
    q: f64,
    plan: Plan,
    count: u32,
    cases: [(f64, f64); N],
) -> [Shares; N] {
    let mut simulator = Simulator::new(99);
    let mut counts = [[0_usize; 4]; N];
    let mut alarmed = [0; N];
    let found = |_| {
        let centre = Centre::of(&plan.run(distribution, q, &mut simulator).0, q).expect("it worked");
        DriftFound { value: centre.value, error: centre.error }
    };
    let pool: Vec<DriftFound> = (0..POOL).map(found).collect();
    for _ in 0..count {
        let runs = |_| {
            let place = order::below(POOL - PAST as u64, &mut simulator.0) as usize;
            let drift = Drift::usual(USUAL).learnt(&[pool[place..place + PAST].to_vec()]);
            let [a, b] = [(); 2].map(|()| plan.run(distribution, q, &mut simulator).0);
            let by = move |factor: f64| {
                let b: Vec<f64> = b.iter().map(|launch| launch * factor).collect();
                Change::between(&a, &b, q, 0.001, drift)
            };
            (by(1.0), by)
        };
        let runs: Vec<_> = (0..FIGURES).map(runs).collect();
        for (case, (factor, threshold)) in cases.into_iter().enumerate() {
            let changes: Vec<Option<Change>> = runs
                .iter()
                .enumerate()
                .map(
                    |(figure, (unchanged, by))| {
                        if factor != 1.0 && figure.is_multiple_of(10) { by(factor) } else { *unchanged }
                    },
                )
                .collect();
            let judged = judge(&changes, threshold);
            let asked = judged.iter().enumerate().filter(|(figure, _)| factor == 1.0 || figure % 10 == 0);
            let mut alarm = false;
            for (_, judged) in asked {
                let verdict = judged.expect("costs are positive").verdict;
                alarm |= matches!(verdict, Verdict::Slower | Verdict::Faster);
                counts[case][match verdict {
                    Verdict::Slower => 0,
                    Verdict::Faster => 1,
                    Verdict::Within => 2,
                    Verdict::Unclear => 3,
                }] += 1;
            }
            alarmed[case] += u32::from(alarm);
        }
    }
    std::array::from_fn(|case| {
        let asked = counts[case].iter().sum::<usize>() as f64;
        let [slower, faster, within, unclear] = counts[case].map(|count| count as f64 / asked * 100.0);
        let reports = f64::from(alarmed[case]) / f64::from(count) * 100.0;
        Shares { slower, faster, within, unclear, reports }
    })
}

const DISTRIBUTIONS: [(&str, Distribution); 10] = [
    ("lognormal, scatter 0.3 %", Distribution::Lognormal(0.003)),
    ("lognormal, scatter 1 %", Distribution::Lognormal(0.01)),
    ("lognormal, scatter 3 %", Distribution::Lognormal(0.03)),
    ("long tail of 1 %", Distribution::Tailed(0.01)),
    ("10 % of the launches slow", Distribution::Bimodal(0.003, 0.1)),
    ("30 % of the launches slow", Distribution::Bimodal(0.003, 0.3)),
    ("half of the launches slow", Distribution::Bimodal(0.003, 0.5)),
    ("autocorrelated, scatter 1 %", Distribution::Autocorrelated(0.01)),
    ("drifting, scatter 0.3 %", Distribution::Drifting(0.003)),
    ("drifting, scatter 1 %", Distribution::Drifting(0.01)),
];

/// Where the goal of 5 % of reports is missed, by what the table says: half of the launches of every figure are slow, or every
/// figure drifts on its own by more than the threshold.
fn misses_the_goal_of_reports(distribution: Distribution) -> bool {
    matches!(distribution, Distribution::Bimodal(_, 0.5) | Distribution::Drifting(0.01))
}

#[test]
#[ignore = "longer: it repeats"]
fn false_alarms_are_rare() {
    println!(
        "| two runs of one machine | launches | threshold | slower or faster | within | unclear | reports with one |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, distribution) in DISTRIBUTIONS {
        for (estimate, q) in [("floor", LOWER_QUARTILE), ("median", MEDIAN)] {
            let six = (Plan::Fixed(6), "6", 0.05);
            let ten = (Plan::Fixed(10), "10", 0.02);
            let converging = (Plan::Converging, "10 to 30", 0.02);
            let plans = match distribution {
                Distribution::Lognormal(_) | Distribution::Tailed(_) => &[six, ten, converging][..],
                _ => &[six, ten],
            };
            for &(plan, launches, threshold) in plans {
                let [shares] = reports(distribution, q, plan, 100, [(1.0, threshold)]);
                let alarms = shares.slower + shares.faster;
                println!(
                    "| {estimate}, {name} | {launches} | {:.0} % | {alarms:.2} % | {:.1} % | {:.1} % | {:.0} % |",
                    threshold * 100.0,
                    shares.within,
                    shares.unclear,
                    shares.reports
                );
                assert!(alarms <= 0.5, "{estimate}, {name}, {launches}: {alarms} %");
                // A hundred reports tell 5 % only roughly.
                let limit = if misses_the_goal_of_reports(distribution) { 25.0 } else { 8.0 };
                assert!(
                    shares.reports <= limit,
                    "{estimate}, {name}, {launches}: {} % of reports",
                    shares.reports
                );
            }
        }
    }
}

#[test]
fn changes_are_found() {
    println!(
        "| launches are | +5 % at 2 %: slower | +5 % at 5 %: slower, within | +10 %: slower | +20 % | doubled | 40 times |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, distribution) in DISTRIBUTIONS {
        for (estimate, q) in [("floor", LOWER_QUARTILE), ("median", MEDIAN)] {
            let cases = [(1.05, 0.02), (1.05, 0.05), (1.1, 0.05), (1.2, 0.05), (2.0, 0.05), (40.0, 0.05)];
            let [small, asked, ten, twenty, double, forty] =
                reports(distribution, q, Plan::Fixed(10), 25, cases);
            println!(
                "| {estimate}, {name} | {:.0} % | {:.1} %, {:.1} % | {:.0} % | {:.0} % | {:.0} % | {:.0} % |",
                small.slower,
                asked.slower,
                asked.within,
                ten.slower,
                twenty.slower,
                double.slower,
                forty.slower
            );
            assert_eq!((double.within, forty.within), (0.0, 0.0), "{estimate}, {name}");
            let least = if matches!(distribution, Distribution::Bimodal(_, 0.5)) { 95.0 } else { 99.0 };
            assert!(
                double.slower >= least && forty.slower >= 99.0,
                "{estimate}, {name}: {} %",
                double.slower
            );
            for wrong in [small.faster, asked.faster, ten.faster, twenty.faster] {
                assert!(wrong <= 0.5, "{estimate}, {name}: {wrong} % faster");
            }
            // What an honest machine must show; others are for the table.
            match distribution {
                Distribution::Lognormal(0.003) => {
                    assert!(small.slower >= 95.0 && ten.slower >= 95.0, "{estimate}, {name}")
                }
                Distribution::Lognormal(0.01) | Distribution::Tailed(_) => {
                    assert!(ten.slower >= 95.0, "{estimate}, {name}")
                }
                _ => {}
            }
            if !matches!(distribution, Distribution::Drifting(_) | Distribution::Autocorrelated(_)) {
                assert!(asked.within <= 5.0, "{estimate}, {name}: {} % within", asked.within);
            }
        }
    }
}

/// What boots place elsewhere, for all of a report's figures: some hardly, some by a tenth.
#[test]
fn boots_are_what_differs_between_boots() {
    const PLACED: [f64; 4] = [0.002, 0.01, 0.03, 0.1];
    println!(
        "| boots a side | B costs more by | slower | faster | within | unclear | reports with an alarm |"
    );
    println!("|---|---|---|---|---|---|---|");
    for boots in [3, 5, 10] {
        for factor in [1.0, 1.1, 1.2, 1.5, 2.0] {
            let mut simulator = Simulator::new(boots as u64);
            let (mut counts, mut alarmed) = ([0_u32; 4], 0);
            let reports = if factor == 1.0 { 300 } else { 60 };
            for _ in 0..reports {
                let mut side = |figure: usize, factor: f64| -> Vec<f64> {
                    (0..boots).map(|_| factor * (PLACED[figure % 4] * simulator.normal()).exp()).collect()
                };
                let changes: Vec<Option<Change>> = (0..FIGURES)
                    .map(|figure| {
                        Change::between_boots(&side(figure, 100.0), &side(figure, 100.0 * factor), 0.0)
                    })
                    .collect();
                let mut alarm = false;
                for judged in judge(&changes, 0.05).into_iter().flatten() {
                    alarm |= matches!(judged.verdict, Verdict::Slower | Verdict::Faster);
                    counts[judged.verdict as usize] += 1;
                }
                alarmed += u32::from(alarm);
            }
            let all = f64::from(reports) * FIGURES as f64;
            let [slower, faster, within, unclear] = counts.map(|count| f64::from(count) * 100.0 / all);
            let alarms = f64::from(alarmed) * 100.0 / f64::from(reports);
            println!(
                "| {boots} | {:.0} % | {slower:.1} % | {faster:.2} % | {within:.1} % | {unclear:.1} % | {} |",
                (factor - 1.0) * 100.0,
                if factor == 1.0 { format!("{alarms:.1} %") } else { "-".to_owned() }
            );
            if factor == 1.0 {
                assert!(
                    slower + faster <= 0.5 && alarms <= 8.0,
                    "{boots} boots: {slower} %, {alarms} % of reports"
                );
            }
            assert!(faster <= 0.5 && (factor < 1.5 || within == 0.0), "{boots} boots, {factor}");
        }
    }
}

/// Boots judged by their launches, as if boots were nothing: why three of them are asked for.
#[test]
fn two_boots_would_raise_alarms() {
    let mut simulator = Simulator::new(3);
    let mut alarms = 0;
    for _ in 0..1000 {
        let mut side = || -> Vec<f64> {
            let boot = (0.03 * simulator.normal()).exp();
            (0..10).map(|_| 100.0 * boot * (0.003 * simulator.normal()).exp()).collect()
        };
        let change = Change::between(&side(), &side(), MEDIAN, 0.0, Drift::usual(USUAL));
        let judged = judge(&[change], 0.05)[0].expect("costs are positive");
        alarms += u32::from(matches!(judged.verdict, Verdict::Slower | Verdict::Faster));
    }
    println!(
        "two boots that differ by 3 %, judged by their launches: {} % called changed",
        f64::from(alarms) / 10.0
    );
    assert!(alarms > 50, "{alarms} of 1000");
}
