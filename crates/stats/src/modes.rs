//! Whether samples have two modes, such as a loop that is slow in some rounds for a reason the canary does not see.

use crate::quantile;

/// Modes must differ by more than this ratio to matter.
const APART: f64 = 1.05;
/// Least share of the lower mode: a floor in a rarer mode is still shown as the floor.
const LOWER_SHARE: f64 = 0.05;
/// Least share of the upper mode: batches hit by a timer or an interrupt are up to a tenth, and no mode.
const UPPER_SHARE: f64 = 0.10;
/// Samples beyond this quantile are drawn in to it before the split: a few stalls, a hundred times longer than the rest,
/// would otherwise be the best second cluster.
const OUTLYING: f64 = 0.95;
/// Windows a distance between the modes, and steps a window, when looking for the valley.
const WINDOWS: f64 = 4.0;
const STEPS: f64 = 4.0;
/// How many standard deviations of counting noise the valley must be deep.
const DEPTH: f64 = 4.0;

/// One of two modes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FoundMode {
    /// Median of the samples of the mode.
    pub value: f64,
    /// Its share of the samples, 0 to 1.
    pub share: f64,
}

/// The two modes of clean samples in ascending order, lower mode first; `None` where they do not clearly have two.
///
/// Four conditions, all on the logarithm, so that the unit does not matter:
/// 1. spread: p50/p5 > 1.05 or p90/p50 > 1.05 (the first alone would not see a slow mode of 30 %);
/// 2. the two-means split (exact: every place in the sorted samples is tried; samples beyond p95 count as p95) leaves at
///    least 5 % of the samples below and 10 % above, with medians more than 5 % apart;
/// 3. a valley between these medians: a window a quarter of their distance wide that holds at most half as many samples as
///    some window to its left and some window to its right. Skewed noise with one peak fails here, however wide it is;
/// 4. the valley is deeper than four standard deviations of counting noise, so under about 50 samples nothing is bimodal.
///
/// `None` also where a sample among the lowest 5 % is not positive. Samples must resolve 1 % of their value: a coarse clock
/// makes modes of its own.
#[must_use]
pub fn bimodal(sorted: &[f64]) -> Option<[FoundMode; 2]> {
    let at = |q| quantile::quantile(sorted, q);
    let (p5, p50, p90, p95) = (at(LOWER_SHARE)?, at(0.5)?, at(1.0 - UPPER_SHARE)?, at(OUTLYING)?);
    if sorted.first().is_none_or(|&least| least <= 0.0) || !(p50 > p5 * APART || p90 > p50 * APART) {
        return None;
    }
    let logs: Vec<f64> = sorted.iter().map(|sample| sample.ln()).collect();
    let split = two_means(&logs, p95.ln());
    let (lower, upper) = sorted.split_at(split);
    let share = |part: &[f64]| part.len() as f64 / sorted.len() as f64;
    let modes = [
        FoundMode { value: quantile::median(lower)?, share: share(lower) },
        FoundMode { value: quantile::median(upper)?, share: share(upper) },
    ];
    let real = modes[0].share >= LOWER_SHARE
        && modes[1].share >= UPPER_SHARE
        && modes[1].value > modes[0].value * APART
        && has_valley(&logs, modes[0].value.ln(), modes[1].value.ln());
    real.then_some(modes)
}

/// Number of samples in the lower of the two clusters with the least sum of squares, samples above `cap` counted as `cap`.
fn two_means(logs: &[f64], cap: f64) -> usize {
    // Relative to the lowest sample: sums of large logarithms would cancel.
    let origin = logs[0];
    let capped = |log: f64| log.min(cap) - origin;
    let total: f64 = logs.iter().map(|&log| capped(log)).sum();
    let count = logs.len() as f64;
    let (mut best, mut split, mut below) = (0.0, 0, 0.0);
    for (place, &log) in (1..logs.len()).zip(logs) {
        below += capped(log);
        let share = place as f64;
        // Least squares within is most squares between: n1 n2 / n (mean1 - mean2)^2, without the constant n.
        let between = share * (count - share) * (below / share - (total - below) / (count - share)).powi(2);
        if between > best {
            (best, split) = (between, place);
        }
    }
    split
}

/// Whether a window between `left` and `right` is empty enough beside windows on both sides of it.
fn has_valley(logs: &[f64], left: f64, right: f64) -> bool {
    let distance = right - left;
    let width = distance / WINDOWS;
    let step = width / STEPS;
    // Peaks may lie outside the medians of a skewed mode, but not further than the modes are apart.
    let windows = (3.0 * distance / step).ceil() as usize;
    let starts: Vec<f64> =
        (0..=windows).map(|place| left - distance - width / 2.0 + step * place as f64).collect();
    let counts: Vec<usize> = starts
        .iter()
        .map(|start| {
            let from = logs.partition_point(|log| log < start);
            logs.partition_point(|log| *log < start + width) - from
        })
        .collect();
    starts.iter().enumerate().any(|(place, start)| {
        let centre = start + width / 2.0;
        if centre < left || centre > right {
            return false;
        }
        // The place itself may stand among those on its right: it is no peak beside itself.
        let peak_left = counts[..place].iter().max().copied().unwrap_or_default();
        let peak_right = counts[place..].iter().max().copied().unwrap_or_default();
        let (peak, valley) = (peak_left.min(peak_right) as f64, counts[place] as f64);
        valley <= peak / 2.0 && peak - valley >= DEPTH * (peak + valley).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many samples of each value, which ascend.
    fn samples(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|&(count, value)| vec![value; count]).collect()
    }

    fn shares(parts: &[(usize, f64)]) -> Option<[f64; 2]> {
        bimodal(&samples(parts)).map(|modes| modes.map(|mode| mode.share))
    }

    #[test]
    fn a_mode_has_its_least_share_and_the_valley_its_least_depth() {
        // 16 samples are four standard deviations deep, and here 5 % of all.
        assert_eq!(shares(&[(16, 1.0), (264, 2.0), (40, 2.2)]), Some([0.05, 0.95]));
        assert_eq!(shares(&[(15, 1.0), (245, 2.0), (40, 2.2)]), None);
        assert_eq!(shares(&[(16, 1.0), (280, 2.0), (40, 2.2)]), None);
        assert_eq!(shares(&[(20, 0.9), (160, 1.0), (20, 3.0)]), Some([0.9, 0.1]));
        assert_eq!(shares(&[(20, 0.9), (162, 1.0), (20, 3.0)]), None);
        assert_eq!(shares(&[(16, 1.0), (17, 1.06)]), Some([16.0 / 33.0, 17.0 / 33.0]), "as few as may be");
    }

    #[test]
    fn peaks_lie_no_further_outside_than_the_modes_are_apart() {
        for distance in [0.5, 1.0, 2.0] {
            let valley = |left: f64, right: f64| {
                let few = (-20..40).map(|step| (1, (f64::from(step) + 0.5) / 16.0 * distance));
                let peaks = [(100, left * distance), (100, right * distance)];
                let all = samples(&few.chain(peaks).collect::<Vec<_>>());
                has_valley(&quantile::sorted(all), 0.0, distance)
            };
            assert!(valley(0.0, 1.0) && valley(-0.9, 1.0) && valley(0.0, 1.9), "{distance}");
            assert!(!valley(-1.2, 1.0) && !valley(0.0, 2.2), "{distance}");
        }
    }

    #[test]
    fn a_valley_holds_at_most_half_of_its_peaks() {
        let valley = |few: usize| {
            let background = (-20..40).map(|step| (few, (f64::from(step) + 0.5) / 16.0));
            let all = samples(&background.chain([(400, 0.0), (400, 1.0)]).collect::<Vec<_>>());
            has_valley(&quantile::sorted(all), 0.0, 1.0)
        };
        // A window holds the background of four steps: 400 of 800, 404 of 804.
        assert!(valley(100) && !valley(101));
    }

    /// A gap as wide as a window, between places at which windows begin, and between others.
    #[test]
    fn windows_are_a_quarter_of_the_distance_and_begin_at_sixteenths() {
        let gap = |shift: f64| {
            let few = (-20..3).chain(7..40).map(|step| (30, (f64::from(step) + 0.5) / 16.0 + shift));
            let edges = [3.0 / 16.0 - 0.001, 7.0 / 16.0 + 0.001].map(|edge| (200, edge + shift));
            let all = samples(&few.chain(edges).collect::<Vec<_>>());
            has_valley(&quantile::sorted(all), 0.0, 1.0)
        };
        assert!(gap(0.0) && gap(1.0 / 16.0));
        // Its middle is the left mode or the right one, or a step outside of them.
        assert_eq!([-6.0, -5.0, 11.0, 12.0].map(|step| gap(step / 16.0)), [false, true, true, false]);
        assert!(!gap(1.0 / 32.0), "each window has one of the edges");
    }

    #[test]
    fn modes_that_are_less_than_a_twentieth_apart_are_one() {
        assert_eq!(shares(&[(55, 0.94), (445, 1.0), (500, 1.04)]), None);
        assert_eq!(shares(&[(55, 0.94), (445, 1.0), (500, 1.06)]), Some([0.5, 0.5]));
        // A tenth of them is, and here less.
        assert_eq!(shares(&[(890, 1.0), (15, 1.045), (95, 1.08)]), None);
    }
}
