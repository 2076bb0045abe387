//! How often intervals over launches hold the truth: for every distribution, for fixed numbers of launches and for runs that stop
//! when they have converged, by the launches alone and with the drift that past runs have shown.

use super::simulated::{Distribution, Plan, Simulator};
use oscost_stats::drift::{Drift, DriftFound};
use oscost_stats::interval::{Centre, LOWER_QUARTILE, MEDIAN, over_launches_drifting};

const RUNS: usize = 4000;
/// Past runs of the same thing in the store.
const PAST: usize = 10;
/// What is usual on such a machine, where the store knows nothing.
const USUAL: f64 = 0.003;

/// Share of the intervals that hold the truth, of those that converged: by the launches alone, and with what the runs before
/// have shown.
fn covered(distribution: Distribution, plan: Plan, q: f64) -> Option<[f64; 2]> {
    let mut simulator = Simulator::new(7);
    let longest = if let Plan::Fixed(launches) = plan { launches } else { 30 };
    let truth = distribution.truth(q, longest, &mut simulator);
    let runs: Vec<(Vec<f64>, bool)> =
        (0..RUNS + PAST).map(|_| plan.run(distribution, q, &mut simulator)).collect();
    let found: Vec<DriftFound> = runs
        .iter()
        .map(|(launches, _)| {
            let centre = Centre::of(launches, q).expect("it worked");
            DriftFound { value: centre.value, error: centre.error }
        })
        .collect();
    let (mut converged, mut held) = (0, [0, 0]);
    for run in PAST..runs.len() {
        let (launches, narrow) = &runs[run];
        if !narrow {
            continue;
        }
        converged += 1;
        let learnt = Drift::usual(USUAL).learnt(&[found[run - PAST..run].to_vec()]);
        let drifting = over_launches_drifting(launches, q, learnt).expect("it worked");
        for (held, interval) in held.iter_mut().zip([plan.interval(launches, q), drifting]) {
            *held += u32::from(interval.low <= truth && truth <= interval.high);
        }
    }
    // A distribution that hardly ever converges has no such figures to speak of.
    (converged > RUNS as u32 / 4).then(|| held.map(|held| f64::from(held) / f64::from(converged) * 100.0))
}

#[test]
#[ignore = "longer: it repeats"]
fn coverage_of_intervals() {
    const GOAL: f64 = 93.0;
    const LEAST: f64 = 83.0;
    let plans = [Plan::Fixed(6), Plan::Fixed(10), Plan::Fixed(30), Plan::Converging];
    let mut tables = ["by the launches alone", "with ten past runs"].map(|title| {
        format!(
            "\n{title}\n| launches of a run are | floor, 6 | 10 | 30 | converged | median, 6 | 10 | 30 | converged |\n\
             |---|---|---|---|---|---|---|---|---|\n"
        )
    });
    for (name, distribution, independent) in [
        ("independent, lognormal, scatter 0.3 %", Distribution::Lognormal(0.003), true),
        ("the same, scatter 1 %", Distribution::Lognormal(0.01), true),
        ("the same, scatter 2 %", Distribution::Lognormal(0.02), true),
        ("independent, long tail of 1 %", Distribution::Tailed(0.01), true),
        ("independent, 10 % of them in a slow mode", Distribution::Bimodal(0.003, 0.1), true),
        ("independent, 30 % of them in a slow mode", Distribution::Bimodal(0.003, 0.3), true),
        ("autocorrelated by 0.7", Distribution::Autocorrelated(0.003), false),
        ("drifting", Distribution::Drifting(0.003), false),
    ] {
        tables.iter_mut().for_each(|table| *table += &format!("| {name} |"));
        for q in [LOWER_QUARTILE, MEDIAN] {
            for plan in plans {
                let Some(shares) = covered(distribution, plan, q) else {
                    tables.iter_mut().for_each(|table| *table += " - |");
                    continue;
                };
                for (index, (table, share)) in tables.iter_mut().zip(shares).enumerate() {
                    *table += &format!(" {share:.1} % |");
                    // Where a machine drifts by more than it did before, and of six launches with a common slow mode, the goal is
                    // missed by what the table says.
                    let missed = matches!(distribution, Distribution::Drifting(_))
                        || matches!(distribution, Distribution::Bimodal(_, 0.3))
                            && plan == Plan::Fixed(6)
                            && q == MEDIAN;
                    let limit = if missed { LEAST } else { GOAL };
                    assert!(
                        share >= limit || !independent && index == 0,
                        "{name}, quantile {q}: {share} %, of which {} is asked",
                        limit
                    );
                }
            }
        }
        tables.iter_mut().for_each(|table| *table += "\n");
    }
    tables.iter().for_each(|table| println!("{table}"));
}
