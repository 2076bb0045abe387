//! The true step of a clock, from the differences of readings taken back to back.

use std::collections::BTreeMap;

/// Share of the differences that the step must explain.
const EXPLAINED: f64 = 0.95;
/// Differences of more steps than this say nothing about the grid: the error of the step adds up.
const MOST_STEPS: f64 = 64.0;
/// Distinct differences, the most frequent first, that candidates are made from.
const CANDIDATES: usize = 16;

/// Step of a clock, in the unit of its readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The step. Not a whole number where the true one is not (41.67 ns, read in whole nanoseconds).
    pub step: f64,
    /// Share of the differences (of those up to 64 steps) that lie within 1 unit of a multiple of it.
    pub share: f64,
    /// Smallest difference that is not 0: what a naive look would take for the step.
    pub smallest: u64,
}

/// Step of the clock whose consecutive readings have these `differences`. `None` where the clock never advanced.
///
/// Neither `clock_getres` nor the smallest difference tells: both lie where a clock steps by 10 ns and a reading now and
/// then falls 1 unit beside the grid. The step is the *largest* d whose multiples explain the differences:
///
/// * a difference is explained when it lies within min(1, d/8) of a multiple of d (0 is one): whole units round a step that
///   is no whole number by less than 1 either way, and with d/8 a random difference is explained in one case of four;
/// * at least 95 % of the differences are explained, and at least 95 % of those outside the most frequent multiple. The
///   second condition tells a step of 20 from a fine clock whose readings take 19 to 21: only the first has its rarer
///   differences on the grid too;
/// * d is refined to the sum of the explained differences divided by the number of steps in them, in which the rounding of
///   the readings cancels.
///
/// Candidates are the 16 most frequent differences and the gaps between them. A clock whose differences are all equal shows
/// no more than an upper bound of its step. Where nothing larger holds the step is the unit, 1.
#[must_use]
pub fn clock_step(differences: &[u64]) -> Option<Step> {
    let smallest = differences.iter().copied().filter(|&difference| difference > 0).min()?;
    let mut counts = BTreeMap::new();
    for &difference in differences {
        *counts.entry(difference).or_insert(0_u64) += 1;
    }
    let histogram: Vec<(f64, f64)> =
        counts.iter().map(|(&difference, &count)| (difference as f64, count as f64)).collect();
    let fitted = candidates(&histogram).into_iter().find_map(|candidate| fit(&histogram, candidate));
    let (step, share) = fitted.unwrap_or((1.0, 1.0));
    Some(Step { step, share, smallest })
}

/// Steps worth trying, the largest first.
fn candidates(histogram: &[(f64, f64)]) -> Vec<f64> {
    let mut frequent: Vec<(f64, f64)> = histogram.to_vec();
    frequent.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    frequent.truncate(CANDIDATES);
    let mut candidates: Vec<f64> = Vec::new();
    for (place, &(difference, _)) in frequent.iter().enumerate() {
        candidates.push(difference);
        candidates.extend(frequent[..place].iter().map(|(other, _)| (difference - other).abs()));
    }
    candidates.retain(|&candidate| candidate > 0.0);
    candidates.sort_by(|a, b| b.total_cmp(a));
    candidates.dedup();
    candidates
}

/// The step near `candidate` and the share that it explains, if it explains enough.
fn fit(histogram: &[(f64, f64)], candidate: f64) -> Option<(f64, f64)> {
    // A candidate is off by up to 1 unit, so few steps are counted at first, and more as the step becomes known.
    let mut step = candidate;
    for reach in [1.0, 4.0, 16.0, MOST_STEPS] {
        let grid = Grid::new(histogram, step, reach);
        if grid.steps == 0.0 {
            return None;
        }
        step = grid.time / grid.steps;
    }
    let grid = Grid::new(histogram, step, MOST_STEPS);
    let holds = grid.explained >= EXPLAINED * grid.all
        && grid.explained_elsewhere >= EXPLAINED * grid.elsewhere
        && grid.all > 0.0;
    holds.then(|| (step, grid.explained / grid.all))
}

/// How the differences of up to `reach` steps lie on the multiples of a step.
struct Grid {
    /// Differences within reach.
    all: f64,
    /// Of these the explained ones.
    explained: f64,
    /// Differences that do not belong to the most frequent multiple.
    elsewhere: f64,
    /// Of these the explained ones.
    explained_elsewhere: f64,
    /// Sum of the explained differences.
    time: f64,
    /// Steps in them.
    steps: f64,
}

impl Grid {
    fn new(histogram: &[(f64, f64)], step: f64, reach: f64) -> Self {
        let tolerance = (step / 8.0).min(1.0);
        let mut grid = Self {
            all: 0.0,
            explained: 0.0,
            elsewhere: 0.0,
            explained_elsewhere: 0.0,
            time: 0.0,
            steps: 0.0,
        };
        let mut multiples: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for &(difference, count) in histogram {
            let steps = (difference / step).round();
            if steps > reach {
                continue;
            }
            let (all, explained) = multiples.entry(steps as u64).or_default();
            *all += count;
            grid.all += count;
            if (difference - steps * step).abs() <= tolerance + 1e-9 {
                *explained += count;
                grid.explained += count;
                grid.time += difference * count;
                grid.steps += steps * count;
            }
        }
        let most = multiples.values().copied().fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        grid.elsewhere = grid.all - most.0;
        grid.explained_elsewhere = grid.explained - most.1;
        grid
    }
}
