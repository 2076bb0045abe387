//! The true step of a clock, from the differences of readings taken back to back.

use std::collections::BTreeMap;

/// Share of the differences that the step must explain.
const EXPLAINED: f64 = 0.95;
/// Differences of more steps than this say nothing about the grid: the error of the step adds up.
const MOST_STEPS: f64 = 64.0;
/// Where nearly every reading takes more steps than [`MOST_STEPS`], its gaps tell the step so well that differences of so many
/// steps say something.
const MOST_STEPS_OF_SLOW: f64 = 1024.0;
/// So many distinct multiples of a step are all multiples of its double in 1 case of 64.
const DIVIDED: u32 = 6;
/// Distinct differences, the most frequent first, that candidates are made from.
const CANDIDATES: usize = 16;

/// Step of a clock, in the unit of its readings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The step. Not a whole number where the true one is not (41.67 ns, read in whole nanoseconds).
    pub step: f64,
    /// Share of the differences (of those up to 64 steps) that lie on a multiple of it.
    pub share: f64,
    /// Smallest difference that is not 0: what a naive look would take for the step.
    pub smallest: u64,
}

/// Step of the clock whose consecutive readings have these `differences`. `None` where the clock never advanced.
///
/// Neither `clock_getres` nor the smallest difference tells: both lie where a clock steps by 10 ns and a reading now and
/// then falls 1 unit beside the grid. The step is the *largest* d whose multiples explain the differences:
///
/// * a difference is explained when it lies within min(1.25, d/8) of a multiple of d (0 is one): a step that is no whole
///   number is rounded by up to 1 either way, the estimate of d may be off by the rest, and with d/8 no more than one random
///   difference in four is explained;
/// * at least 95 % of the differences outside the multiple that explains most are explained, and so are 95 % of all. That
///   tells a step of 20 from a fine clock whose readings take 19 to 21: only the first has its rarer differences on the
///   grid too;
/// * d is refined to the sum of the explained differences divided by the number of steps in them, in which the rounding of
///   the readings cancels;
/// * where a reading takes over 64 steps, d is first fitted to the gaps between the differences, which are few steps, and then
///   to the differences;
/// * where an emulated machine counts instructions, nearly all readings take the same time and no gaps tell d: then it is what
///   divides each of at least 6 differences without a rest.
///
/// Candidates are the 16 most frequent differences and the gaps between them. A clock whose differences are all equal shows
/// no more than an upper bound of its step. Where nothing larger holds the step is the unit, 1, and so it is for a step below
/// 8 that is no whole number.
#[must_use]
pub fn clock_step(differences: &[u64]) -> Option<Step> {
    let smallest = differences.iter().copied().filter(|&difference| difference > 0).min()?;
    let mut counts = BTreeMap::new();
    for &difference in differences {
        *counts.entry(difference).or_insert(0_u64) += 1;
    }
    let histogram: Vec<(f64, f64)> =
        counts.iter().map(|(&difference, &count)| (difference as f64, count as f64)).collect();
    let fitted = candidates(&histogram)
        .into_iter()
        .find_map(|candidate| fit(&histogram, candidate).or_else(|| fit_slow(&histogram, candidate)))
        .or_else(|| Some((divisor(counts.keys())?, 1.0)));
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
        if grid.steps > 0.0 {
            step = grid.time / grid.steps;
        }
    }
    Grid::new(histogram, step, MOST_STEPS).step(step)
}

/// The same for readings of which at least 95 % take more steps than [`MOST_STEPS`].
fn fit_slow(histogram: &[(f64, f64)], candidate: f64) -> Option<(f64, f64)> {
    let count = |of: &mut dyn Iterator<Item = &(f64, f64)>| of.map(|(_, count)| count).sum::<f64>();
    let all = count(&mut histogram.iter());
    let far = count(&mut histogram.iter().filter(|(difference, _)| *difference > MOST_STEPS * candidate));
    if far < EXPLAINED * all {
        return None;
    }
    let &(most, _) = histogram.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let gaps: Vec<(f64, f64)> =
        histogram.iter().map(|&(difference, count)| ((difference - most).abs(), count)).collect();
    let (mut step, _) = fit(&gaps, candidate)?;
    for reach in [4.0 * MOST_STEPS, MOST_STEPS_OF_SLOW] {
        let grid = Grid::new(histogram, step, reach);
        if grid.steps > 0.0 {
            step = grid.time / grid.steps;
        }
    }
    Grid::new(histogram, step, MOST_STEPS_OF_SLOW).step(step)
}

/// What divides each of the differences that are not 0, if that is more than 1 and there are at least [`DIVIDED`] of them.
fn divisor<'a>(differences: impl Iterator<Item = &'a u64>) -> Option<f64> {
    let (mut divisor, mut divided) = (0, 0);
    for &difference in differences.filter(|&&difference| difference > 0) {
        // Euclid.
        let mut rest = difference;
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        divided += 1;
    }
    (divisor > 1 && divided >= DIVIDED).then_some(divisor as f64)
}

/// How the differences of up to `reach` steps lie on the multiples of a step.
#[derive(Default)]
struct Grid {
    /// Differences within reach.
    all: f64,
    /// Of these the explained ones.
    explained: f64,
    /// Differences not explained by the multiple that explains most.
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
        let tolerance = (step / 8.0).min(1.25);
        let mut grid = Self::default();
        let mut multiples: BTreeMap<u64, f64> = BTreeMap::new();
        for &(difference, count) in histogram {
            let steps = (difference / step).round();
            if steps > reach {
                continue;
            }
            grid.all += count;
            if (difference - steps * step).abs() <= tolerance + 1e-9 {
                *multiples.entry(steps as u64).or_default() += count;
                grid.explained += count;
                grid.time += difference * count;
                grid.steps += steps * count;
            }
        }
        let most = multiples.values().copied().max_by(f64::total_cmp).unwrap_or_default();
        grid.elsewhere = grid.all - most;
        grid.explained_elsewhere = grid.explained - most;
        grid
    }

    /// Its step and the share that this explains, if that is enough.
    fn step(&self, step: f64) -> Option<(f64, f64)> {
        let holds = self.explained_elsewhere >= EXPLAINED * self.elsewhere && self.steps > 0.0;
        holds.then(|| (step, self.explained / self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order;

    /// Differences of readings of a clock with a true `step`, shown in whole units, that takes `cost` to read, now and then
    /// up to `jitter` more, and in one reading of a thousand a stall of up to 50000.
    fn scripted(step: f64, cost: f64, jitter: f64, stalls: bool) -> Vec<u64> {
        let mut generator = order::seeded(7, 0);
        let mut random = || order::below(1 << 53, &mut generator) as f64 / (1_u64 << 53) as f64;
        let mut now = random() * step;
        let mut readings = Vec::new();
        for _ in 0..200_001 {
            let reading = ((now / step).floor() * step + 1e-6).floor() as u64;
            readings.push(reading);
            now += cost + jitter * random().powi(8);
            if stalls && random() < 0.001 {
                now += 50_000.0 * random();
            }
        }
        readings.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[track_caller]
    fn assert_step(differences: &[u64], expected: f64) -> Step {
        let found = clock_step(differences).unwrap();
        assert!((found.step - expected).abs() <= 0.002 * expected, "{found:?} for a step of {expected}");
        assert!(found.share >= 0.95);
        found
    }

    #[test]
    fn finds_the_step_of_scripted_clocks() {
        for stalls in [false, true] {
            // Faster to read than a step, slower than one, and slower than many; in ns and, for 1 us and 4 ms, coarse ones.
            for (step, cost, jitter) in [
                (1.0, 20.3, 9.0),
                (1.0, 20.0, 2.0),
                (1.0, 1.3, 3.0),
                (10.0, 4.0, 3.0),
                (10.0, 20.4, 9.0),
                (10.0, 27.0, 30.0),
                (10.015, 20.1, 9.0),
                (40.0, 22.0, 9.0),
                (40.0, 101.0, 30.0),
                (125.0 / 3.0, 21.0, 9.0),
                (125.0 / 3.0, 52.0, 30.0),
                (1_000_000.0 / 14318.18, 800.0, 300.0),
                (1000.0, 21.0, 9.0),
                (4_000_000.0, 21.0, 9.0),
            ] {
                assert_step(&scripted(step, cost, jitter, stalls), step);
            }
        }
    }

    #[test]
    fn readings_of_over_64_steps_tell_the_step() {
        // An emulated counter, the HPET of a virtual machine, and a clock whose step is no whole number.
        for (step, cost, jitter) in [
            (16.0, 1090.0, 60.0),
            (10.0, 3000.0, 900.0),
            (125.0 / 3.0, 4000.0, 1500.0),
            (125.0 / 3.0, 40_000.0, 15_000.0),
        ] {
            for stalls in [false, true] {
                assert_step(&scripted(step, cost, jitter, stalls), step);
            }
        }
        // Over so many steps a step is known to a thousandth of its own rounding.
        let found = assert_step(&scripted(125.0 / 3.0, 4000.0, 1500.0, false), 125.0 / 3.0).step;
        assert!((found * 3.0 / 125.0 - 1.0).abs() < 2e-5, "{found}");
        // A fine clock that is as slow, and one whose gaps have a grid that its differences do not have.
        assert_step(&scripted(1.0, 1090.0, 60.0, true), 1.0);
        let beside =
            |by: u64| clock_step(&[1104 + by, 1120 + by, 1136 + by].repeat(100)).map(|step| step.step);
        assert_eq!((beside(0), beside(5)), (Some(16.0), Some(1.0)));
        // Of which one in ten takes few steps: these are asked alone, and a third of them is off the grid.
        let near = [[160; 20].as_slice(), &[167; 10]].concat();
        let step = clock_step(&[[1104, 1120, 1136].repeat(100), near].concat()).map(|step| step.step);
        assert_eq!(step, Some(1.0));
        // Just nineteen of twenty are enough.
        let far = [vec![1104; 35], vec![1120; 30], vec![1136; 30]].concat();
        let step = clock_step(&[far, vec![160, 160, 160, 167, 167]].concat()).map(|step| step.step);
        assert_eq!(step, Some(16.0));
        // Of more than 1024 steps nothing is taken, on the grid or off it.
        let far = [16 * 1025 + 1, 16 * 1025 + 7, 16 * 1024 + 7].map(|far| {
            let step = clock_step(&[[1104, 1120, 1136].repeat(100), vec![far]].concat()).unwrap();
            (step.step, step.share)
        });
        assert_eq!(far, [(16.0, 1.0), (16.0, 1.0), (16.0, 300.0 / 301.0)]);
    }

    #[test]
    fn readings_that_all_take_the_same_time_tell_the_step_by_what_divides_them() {
        // As an emulated machine that counts instructions has them: a loop, a page fault now and then, ticks of a timer.
        let of = |rare: &[u64]| {
            let differences = [vec![560; 34_777], vec![1216; 33], rare.to_vec()].concat();
            clock_step(&differences).map(|step| {
                assert_eq!(step.share, 1.0, "all of them");
                (step.step, step.smallest)
            })
        };
        let ticks = [45_936, 60_752, 68_096, 146_160, 165_296];
        assert_eq!(of(&ticks), Some((16.0, 560)));
        // One that is not divided, or too few of them, leave the unit.
        assert_eq!(of(&[45_936, 60_752, 68_096, 146_160, 165_297]), Some((1.0, 560)));
        assert_eq!(of(&ticks[..3]), Some((1.0, 560)));
        let enough = DIVIDED as usize - 2;
        assert_eq!(of(&ticks[..enough]), Some((16.0, 560)), "beside the two that all have");
        // Nothing is divided by everything.
        let with_nothing = of(&[&ticks[..enough - 1], &[0]].concat());
        assert_eq!(with_nothing.map(|(step, _)| step), Some(1.0));
    }

    #[test]
    fn is_not_misled_by_readings_beside_the_grid() {
        // The cycle counter of the machine that founded this: 26 ticks 81 %, 25 ticks 9 %, 1 tick 10 %.
        let mut differences = vec![26; 81_000];
        differences.extend(vec![25; 9_000]);
        differences.extend(vec![1; 10_000]);
        let step = assert_step(&differences, 26.0);
        assert_eq!((step.smallest, step.share), (1, 1.0));
    }

    #[test]
    fn a_fine_clock_is_not_called_coarse() {
        // Readings take 19 to 21 in 99 % of the cases, which a step of 20 would explain, but the rest is off its grid.
        let mut differences = [19, 20, 21].repeat(33_000);
        differences.extend((0..1000).map(|place| 22 + place % 37));
        assert_eq!(clock_step(&differences).map(|step| step.step), Some(1.0));
    }

    #[test]
    fn multiples_do_not_hide_the_step() {
        // A step of 10 whose readings take two steps, now and then three.
        let mut differences = vec![20; 98_000];
        differences.extend(vec![30; 2_000]);
        assert_eq!(clock_step(&differences).map(|step| step.step), Some(10.0));
    }

    #[test]
    fn the_least_that_can_be_said() {
        assert_eq!(clock_step(&[]), None);
        assert_eq!(clock_step(&[0; 100]), None);
        assert_eq!(clock_step(&[0, 0, 7]), Some(Step { step: 7.0, share: 1.0, smallest: 7 }));
        assert_eq!(clock_step(&[10; 9]), Some(Step { step: 10.0, share: 1.0, smallest: 10 }));
        assert!(clock_step(&[u64::MAX, 1, 0, u64::MAX]).is_some());
    }

    /// Ten and twenty, and one difference more.
    fn beside_tens(other: u64) -> Step {
        let mut differences = vec![10; 60];
        differences.extend([20; 40]);
        differences.push(other);
        clock_step(&differences).unwrap()
    }

    #[test]
    fn differences_of_more_than_64_steps_say_nothing() {
        assert_eq!((beside_tens(652).step, beside_tens(652).share), (10.0, 1.0));
        assert_eq!((beside_tens(642).step, beside_tens(642).share), (10.0, 100.0 / 101.0));
    }

    #[test]
    fn a_difference_is_explained_within_an_eighth_of_a_step_and_one_and_a_quarter() {
        assert_eq!((beside_tens(21).share, beside_tens(22).share), (1.0, 100.0 / 101.0));
        // A step of 4 allows half a unit, which is none.
        let mut fine = vec![4; 60];
        fine.extend([8; 40]);
        fine.push(9);
        assert_eq!(clock_step(&fine).map(|step| step.share), Some(100.0 / 101.0));
        // A step of 41.5, of which 40 is one and a half beside.
        let mut coarse = [41, 42].repeat(30);
        coarse.extend([83; 40]);
        assert_eq!(clock_step(&coarse), Some(Step { step: 41.5, share: 1.0, smallest: 41 }));
        coarse.push(40);
        assert_eq!(clock_step(&coarse), Some(Step { step: 41.5, share: 100.0 / 101.0, smallest: 40 }));
    }

    #[test]
    fn nineteen_of_twenty_outside_the_most_frequent_multiple_must_be_on_the_grid() {
        let step = |beside: usize| {
            let mut differences = vec![10; 200];
            differences.extend([20; 95]);
            differences.extend(vec![13; beside]);
            clock_step(&differences).unwrap()
        };
        assert_eq!((step(5).step, step(5).share), (10.0, 295.0 / 300.0));
        assert_eq!(step(6).step, 1.0);
    }

    #[test]
    fn rare_differences_hide_no_frequent_one() {
        let mut differences = vec![100; 5000];
        differences.extend([200; 2000]);
        // More of them than candidates, and all smaller.
        differences.extend(3..30);
        assert_eq!(clock_step(&differences).map(|step| step.step), Some(100.0));
        // Sixteen that have no step of their own, and one more that would show it.
        let mut differences: Vec<u64> = (0..16).flat_map(|place| vec![20 + 30 * place; 100]).collect();
        differences.extend([60, 60, 33]);
        assert_eq!(clock_step(&differences).map(|step| step.step), Some(1.0));
    }
}
