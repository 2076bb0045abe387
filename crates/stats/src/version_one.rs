//! Version 1's verdict on two stored figures: results of version 1 are judged by the rule that they were made for, and only
//! against each other. Its intervals are percentiles of the bootstrap; version 2's rule is [`crate::compare`].

use std::cmp::Ordering;

use crate::bootstrap::Distribution;
use crate::interval::{FEWEST_LAUNCHES, Launches};

/// Smallest change that is ever called one: two stored runs of one machine differ by up to this.
pub const LEAST_MARGIN: f64 = 0.02;
/// Widest half-width of a side that still allows a verdict.
pub const WIDEST_HALF_WIDTH: f64 = 0.01;
/// A change must be so many times as large as the wider half-width: launches that scatter within a run were made on a
/// machine that moves, and it will have moved between the runs, too.
pub const HALF_WIDTHS: f64 = 4.0;

/// Probability left out at each end of an interval.
const OUTSIDE: f64 = 0.025;
/// Slack for the rounding of a sum of probabilities, far above it and far below any step that matters.
const ROUNDING: f64 = 1e-11;

/// One side of a comparison: one figure of one stored run.
#[derive(Debug, Clone, Copy)]
pub struct VersionOneSide<'a> {
    /// The headline of each launch: launch minima, ns per operation, for a floor.
    pub launches: &'a [f64],
    /// True step of the clock that measured it, ns.
    pub step_ns: f64,
    /// Operations in a batch (iterations times operations per iteration); 1 for a series.
    pub operations: u64,
    /// The figure is marked noisy.
    pub noisy: bool,
}

/// What can be said of B against A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// B is larger by more than the margin, with its whole interval.
    Slower,
    /// B is smaller by more than the margin, with its whole interval.
    Faster,
    /// The whole interval lies within 2 % (or two clock steps) either way.
    Same,
    /// None of these.
    CannotTell(Doubt),
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// A side has fewer than [`crate::interval::FEWEST_LAUNCHES`] launches.
    FewLaunches,
    /// A side is marked noisy.
    Noisy,
    /// A side's own half-width is over 1 %.
    WideInterval,
    /// The interval of the change is neither beyond the margin nor small enough to be called the same.
    AcrossMargin,
}

/// A change between two stored figures. All numbers are shares: 0.05 is + 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// What can be said.
    pub verdict: Verdict,
    /// B / A - 1.
    pub change: f64,
    /// Lower bound of the change.
    pub low: f64,
    /// Upper bound of the change.
    pub high: f64,
    /// What the change must exceed to be called one.
    pub margin: f64,
}

/// Judges B against A by the quantile `q` over launches (see [`crate::interval::over_launches`]).
///
/// The interval of the change is the 95 % percentile interval of B/A - 1 when the launches of both sides are resampled
/// independently, exact like those of the sides. The same is what lies within 2 %, or for either side within 2 clock steps in
/// a batch: 2 q / (n F). The margin of a change is the largest of this, of `least` (what else is known to move such figures,
/// as a share), and of [`HALF_WIDTHS`] times the wider half-width (up to [`WIDEST_HALF_WIDTH`], beyond which nothing is said). No test of significance: on stored runs of one machine
/// Mann-Whitney alarms in 34-62 % of the pairs.
///
/// `None` where a ratio makes no sense: no launches, a launch that is not positive and finite, or a ratio that overflows.
#[must_use]
pub fn judge(a: &VersionOneSide<'_>, b: &VersionOneSide<'_>, q: f64, least: f64) -> Option<Change> {
    let positive = |side: &VersionOneSide<'_>| side.launches.iter().all(|&launch| launch > 0.0);
    if !positive(a) || !positive(b) {
        return None;
    }
    let (of_a, of_b) = (Launches::new(a.launches, q)?, Launches::new(b.launches, q)?);
    let (value_a, value_b) = (of_a.estimate()?, of_b.estimate()?);
    let (spread_a, spread_b) = (of_a.distribution(), of_b.distribution());
    let (low, high) = ratio_quantiles(&spread_b, &spread_a, OUTSIDE)?;
    let steps =
        |side: &VersionOneSide<'_>, value: f64| 2.0 * side.step_ns / (side.operations.max(1) as f64 * value);
    let resolved = LEAST_MARGIN.max(steps(a, value_a)).max(steps(b, value_b));
    let half_width = half_width(&of_a, value_a, &spread_a).max(half_width(&of_b, value_b, &spread_b));
    let margin = resolved.max(least).max(HALF_WIDTHS * half_width.min(WIDEST_HALF_WIDTH));
    let (change, low, high) = (value_b / value_a - 1.0, low - 1.0, high - 1.0);
    if [change, low, high, margin].iter().any(|number| !number.is_finite()) {
        return None;
    }
    let few = a.launches.len().min(b.launches.len()) < FEWEST_LAUNCHES;
    let verdict = if few {
        Verdict::CannotTell(Doubt::FewLaunches)
    } else if a.noisy || b.noisy {
        Verdict::CannotTell(Doubt::Noisy)
    } else if half_width > WIDEST_HALF_WIDTH {
        Verdict::CannotTell(Doubt::WideInterval)
    } else if low > margin {
        Verdict::Slower
    } else if high < -margin {
        Verdict::Faster
    } else if -resolved <= low && high <= resolved {
        Verdict::Same
    } else {
        Verdict::CannotTell(Doubt::AcrossMargin)
    };
    Some(Change { verdict, change, low, high, margin })
}

/// Half the width of a side's interval, as a share of its estimate; of few launches that of their extremes.
fn half_width(launches: &Launches, value: f64, spread: &Distribution) -> f64 {
    let (low, high) = if launches.sorted.len() < FEWEST_LAUNCHES {
        (launches.sorted.first().copied(), launches.sorted.last().copied())
    } else {
        (quantile(spread, OUTSIDE), quantile(spread, 1.0 - OUTSIDE))
    };
    low.zip(high).map_or(0.0, |(low, high)| (high - low) / 2.0 / value)
}

/// Smallest value that is not exceeded with probability `p`.
fn quantile(of: &Distribution, p: f64) -> Option<f64> {
    let mut sum = 0.0;
    for &(value, probability) in &of.atoms {
        sum += probability;
        if sum >= p - ROUNDING {
            return Some(value);
        }
    }
    of.atoms.last().map(|&(value, _)| value)
}

/// Quantiles `p` and 1 - `p` of `of / other` for independent resamples. All values of both must be positive.
fn ratio_quantiles(of: &Distribution, other: &Distribution, p: f64) -> Option<(f64, f64)> {
    let (low, high) =
        (of.atoms.first()?.0 / other.atoms.last()?.0, of.atoms.last()?.0 / other.atoms.first()?.0);
    Some((ratio_quantile(of, other, p, low, high), ratio_quantile(of, other, 1.0 - p, low, high)))
}

/// Bisection over ratios from `low` to `high`: the pairs of atoms are too many to sort where both are medians.
fn ratio_quantile(of: &Distribution, other: &Distribution, p: f64, mut low: f64, mut high: f64) -> f64 {
    while high - low > 1e-12 * high {
        let middle = low + (high - low) / 2.0;
        // Numbers can be too small to be halved.
        if middle <= low || middle >= high {
            break;
        }
        match ratio_at_most(of, other, middle).partial_cmp(&(p - ROUNDING)) {
            Some(Ordering::Less) => low = middle,
            _ => high = middle,
        }
    }
    high
}

/// Probability that `of / other <= ratio`: both lists ascend, so one pass over each is enough.
fn ratio_at_most(of: &Distribution, other: &Distribution, ratio: f64) -> f64 {
    let mut numerators = of.atoms.iter().peekable();
    let (mut reached, mut total) = (0.0, 0.0);
    for &(denominator, probability) in &other.atoms {
        while let Some((_, more)) = numerators.next_if(|(numerator, _)| *numerator <= ratio * denominator) {
            reached += more;
        }
        total += probability * reached;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_equal_the_enumeration_of_all_pairs() {
        let (a, b) = (
            Distribution::of_median(&[1.0, 2.0, 4.0, 8.0, 16.0, 17.0]),
            Distribution::of_order_statistic(&[3.0, 5.0, 6.0, 7.0, 7.5, 9.0], 2),
        );
        let mut pairs: Vec<(f64, f64)> = a
            .atoms
            .iter()
            .flat_map(|(value, probability)| {
                b.atoms.iter().map(move |(other, more)| (value / other, probability * more))
            })
            .collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let enumerated = Distribution { atoms: pairs };
        for p in [0.025, 0.1, 0.3] {
            let (low, high) = ratio_quantiles(&a, &b, p).unwrap();
            let expected = (quantile(&enumerated, p).unwrap(), quantile(&enumerated, 1.0 - p).unwrap());
            assert!((low / expected.0 - 1.0).abs() < 1e-9, "{p}: {low} for {expected:?}");
            assert!((high / expected.1 - 1.0).abs() < 1e-9, "{p}: {high} for {expected:?}");
        }
    }

    /// A probability that is reached exactly is reached, though its sum is rounded.
    #[test]
    fn a_quantile_of_ratios_is_the_least_that_is_reached() {
        let atoms = (1..=10).map(|value| (f64::from(value), 0.1)).collect();
        let of = Distribution { atoms };
        // A ratio may be as small or as large as it likes.
        for unit in [1.0, 1e-9, 1e9] {
            let one = Distribution { atoms: vec![(unit, 1.0)] };
            for (p, expected) in [(0.3, (3.0, 7.0)), (0.5, (5.0, 5.0))] {
                assert_eq!(quantile(&of, p), Some(expected.0));
                let (low, high) = ratio_quantiles(&of, &one, p).unwrap();
                assert!(
                    (low * unit - expected.0).abs() < 1e-9 && (high * unit - expected.1).abs() < 1e-9,
                    "{p}: {low}, {high}"
                );
            }
        }
    }

    #[test]
    fn pairs_of_just_this_ratio_are_among_those_of_at_most_it() {
        let of = Distribution { atoms: vec![(1.0, 0.25), (2.0, 0.25), (3.0, 0.5)] };
        let other = Distribution { atoms: vec![(1.0, 0.5), (2.0, 0.5)] };
        // Of 1/1, 2/1, 3/1, 1/2, 2/2, 3/2 with weights of an eighth, but a quarter of each 3.
        let at = |ratio| ratio_at_most(&of, &other, ratio);
        assert_eq!([0.4, 0.5, 1.0, 1.5, 2.0, 3.0].map(at), [0.0, 0.125, 0.375, 0.625, 0.75, 1.0]);
    }

    /// B against A: equal launches of these values; a step of A's clock is so many ns.
    fn judged(a: &[f64], b: &[f64], step_ns: f64) -> Change {
        let of = |launches, step_ns| VersionOneSide { launches, step_ns, operations: 1, noisy: false };
        judge(&of(a, step_ns), &of(b, 0.0), 0.25, 0.0).expect("a ratio")
    }

    #[test]
    fn two_steps_of_the_clock_are_the_same_to_the_last_bit() {
        // 2 x 12.5 of 100 ns: a quarter either way.
        for (b, expected) in
            [(75.0, Verdict::Same), (125.0, Verdict::Same), (74.0, Verdict::Faster), (126.0, Verdict::Slower)]
        {
            assert_eq!(judged(&[100.0; 6], &[b; 6], 12.5).verdict, expected, "{b}");
        }
        // Across one end of 2 %, or the other: the quartile of resamples is one of the two lower values.
        for low in [97.6, 101.8] {
            let mut launches = [low + 1.0; 12];
            launches[..3].fill(low);
            launches[3..6].fill(low + 0.5);
            let across = judged(&[100.0; 6], &launches, 0.0);
            assert_eq!(across.verdict, Verdict::CannotTell(Doubt::AcrossMargin), "{across:?}");
        }
    }

    /// Each end leaves out what lies beyond it in one resample of forty.
    #[test]
    fn the_interval_beside_a_constant_is_that_of_the_other_side() {
        let launches: Vec<f64> = (0..200).map(|launch| 100.0 + f64::from(launch)).collect();
        let found = judged(&[100.0; 6], &launches, 0.0);
        let spread = Launches::new(&launches, 0.25).unwrap().distribution();
        let end = |p| quantile(&spread, p).unwrap() / 100.0 - 1.0;
        assert!(end(0.025) < end(0.0375) && end(0.9625) < end(0.975), "an atom of its own");
        assert!((found.low - end(0.025)).abs() < 1e-9 && (found.high - end(0.975)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_ratio_has_no_unit() {
        let [ns, us] = [1.0, 1e-3].map(|unit| judged(&[100.0 * unit; 6], &[120.0 * unit; 6], 0.0));
        assert_eq!((ns.verdict, us.verdict), (Verdict::Slower, Verdict::Slower));
        assert!((ns.change - us.change).abs() < 1e-12);
    }

    #[test]
    fn from_six_launches_on_the_width_is_that_of_resamples() {
        let mut six = [100.0; 6];
        six[5] = 105.0;
        assert_eq!(
            judged(&six, &[100.0; 6], 0.0).verdict,
            Verdict::Same,
            "one in six is seldom the quartile"
        );
        // Of five it is that of the extremes: four times 1 % is the margin then.
        let five = judged(&[100.0, 100.0, 100.0, 100.0, 104.0], &[200.0; 6], 0.0);
        assert_eq!((five.verdict, five.margin), (Verdict::CannotTell(Doubt::FewLaunches), 0.04));
        assert_eq!(judged(&[100.0; 5], &[200.0; 6], 0.0).margin, LEAST_MARGIN);
    }
}
