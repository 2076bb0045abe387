//! An estimate over launches, and how far another run of the same plan would probably be from it.
//!
//! The interval is Student's t around the estimate, on logarithms, with the standard error that the estimate itself has
//! when launches are resampled for ever. A t around the mean of the launches would be another quantity's: it holds a lower
//! quartile in half of the runs. Percentiles of the resampled estimates never leave the launches that were made: of six, all
//! lie above the true quartile in every sixth run. What it covers is simulated in the tests of this crate.

use crate::bootstrap::Distribution;
use crate::drift::Drift;
use crate::{quantile, student};

/// Share of launches below the estimate of a floor.
pub const LOWER_QUARTILE: f64 = 0.25;
/// Share of launches below the estimate of everything else.
pub const MEDIAN: f64 = 0.5;
/// Fewest launches that give an interval; with fewer, `low` and `high` are the extremes.
pub const FEWEST_LAUNCHES: usize = 6;
/// Probability left out at each end of an interval.
const OUTSIDE: f64 = 0.025;

/// An estimate with its interval, in the unit of the launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower bound, at most `value`.
    pub low: f64,
    /// Upper bound, at least `value`.
    pub high: f64,
    /// There were fewer than [`FEWEST_LAUNCHES`] launches: the bounds are their extremes, and no interval.
    pub extremes: bool,
}

impl Interval {
    /// Half the width of the interval as a share of the estimate: 0.01 is "± 1 %". 0 where there is no width, infinite
    /// where the estimate is 0 and there is one.
    #[must_use]
    pub fn half_width_share(&self) -> f64 {
        let half_width = (self.high - self.low) / 2.0;
        if half_width == 0.0 { 0.0 } else { half_width / self.value.abs() }
    }
}

/// The quantile `q` over launches with its 95 % interval, one value a launch in any order.
///
/// For [`MEDIAN`] the conventional median (the mean of the two middle launches where their number is even). For every other
/// `q`, such as [`LOWER_QUARTILE`], the order statistic ceil(q L), which is a launch that was measured.
///
/// `None` without launches, with a value that is not finite, or with `q` outside 0 to 1.
#[must_use]
pub fn over_launches(values: &[f64], q: f64) -> Option<Interval> {
    over_launches_drifting(values, q, Drift::NONE)
}

/// The same for a run that goes on until its launches agree: `values` in the order in which they were made, of which the first
/// `planned` were made in any case.
///
/// A run that stops at the first agreement may stop at a lucky one. So what the launches agreed on at the end counts no more than
/// what they showed at the earlier looks: the error is the largest of all looks, for as many launches as there are now, and is
/// known no better than the planned launches can tell it (Stein, 1945).
#[must_use]
pub fn over_launches_stopped(values: &[f64], q: f64, planned: usize) -> Option<Interval> {
    let mut centre = Centre::of(values, q)?;
    let planned = planned.max(FEWEST_LAUNCHES);
    centre.freedom = centre.freedom.min(planned as f64 - 1.0);
    for look in planned..values.len() {
        let then = Centre::of(&values[..look], q)?;
        if then.relative == centre.relative {
            centre.error = centre.error.max(then.error * (look as f64 / values.len() as f64).sqrt());
        }
    }
    centre.over(values, Drift::NONE)
}

/// The same for a machine of which figures drift between runs, by what the launches of one run cannot show.
#[must_use]
pub fn over_launches_drifting(values: &[f64], q: f64, drift: Drift) -> Option<Interval> {
    Centre::of(values, q)?.over(values, drift)
}

/// An estimate over launches with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Centre {
    /// The estimate, in the unit of the launches.
    pub value: f64,
    /// Its standard error: that of its logarithm where every launch is positive, else in the unit of the launches.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// The error is that of the logarithm: a share.
    pub relative: bool,
}

impl Centre {
    /// The quantile `q` over launches; see [`over_launches`], also for when there is none.
    #[must_use]
    pub fn of(values: &[f64], q: f64) -> Option<Self> {
        let launches = Launches::new(values, q)?;
        let value = launches.estimate()?;
        let relative = launches.sorted.iter().all(|launch| *launch > 0.0);
        let error = if relative {
            let logarithms = launches.sorted.iter().map(|launch| launch.ln()).collect();
            Launches { sorted: logarithms, rank: launches.rank }.distribution().standard_deviation()
        } else {
            launches.distribution().standard_deviation()
        };
        // One launch tells nothing of its error.
        let freedom = values.len() as f64 - 1.0;
        Some(Self { value, error, freedom, relative })
    }

    /// The estimate over these launches with its interval, or with their extremes where they are few.
    fn over(&self, values: &[f64], drift: Drift) -> Option<Interval> {
        let extremes = values.len() < FEWEST_LAUNCHES;
        let (low, high) = if extremes {
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?)
        } else {
            self.interval(drift)
        };
        Some(Interval { value: self.value, low, high, extremes })
    }

    /// The 95 % interval; drift, a share of the estimate, counts where the error is one, too.
    fn interval(&self, drift: Drift) -> (f64, f64) {
        let drift = if self.relative { drift } else { Drift::NONE };
        let (error, freedom) = drift.beside(&[(self.error, self.freedom)], 1.0);
        let half = error * student::exceeded_by(OUTSIDE, freedom);
        // Rounding must not put the estimate outside.
        if self.relative {
            ((self.value * (-half).exp()).min(self.value), (self.value * half.exp()).max(self.value))
        } else {
            (self.value - half, self.value + half)
        }
    }
}

/// Launches in ascending order, and what is estimated from them.
pub(crate) struct Launches {
    pub(crate) sorted: Vec<f64>,
    /// 1-based rank of the order statistic; `None` for the median.
    rank: Option<usize>,
}

impl Launches {
    pub(crate) fn new(values: &[f64], q: f64) -> Option<Self> {
        if values.is_empty() || !(0.0..=1.0).contains(&q) || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        // A q that means a whole number of launches must not be lifted to the next by rounding (0.07 * 100 > 7).
        let rank = (q * values.len() as f64 - 1e-9).ceil() as usize;
        let rank = (q != MEDIAN).then(|| rank.clamp(1, values.len()));
        Some(Self { sorted: quantile::sorted(values.to_vec()), rank })
    }

    pub(crate) fn estimate(&self) -> Option<f64> {
        match self.rank {
            Some(rank) => self.sorted.get(rank - 1).copied(),
            None => quantile::median(&self.sorted),
        }
    }

    pub(crate) fn distribution(&self) -> Distribution {
        match self.rank {
            Some(rank) => Distribution::of_order_statistic(&self.sorted, rank),
            None => Distribution::of_median(&self.sorted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_interval_is_t_around_the_estimate_on_logarithms() {
        // The median of two draws of {1, e^2} has the logarithm 0, 1 or 2 with probability 1/4, 1/2, 1/4 on a scale of
        // logarithms; the estimate itself is the mean of the two.
        let launches = [1.0_f64, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let centre = Centre::of(&launches, MEDIAN).unwrap();
        assert_eq!((centre.value, centre.freedom, centre.relative), (8.0, 6.0, true));
        let interval = over_launches(&launches, MEDIAN).unwrap();
        let half = centre.error * 2.446_911_85;
        assert!((interval.high.ln() - 8.0_f64.ln() - half).abs() < 1e-6, "{interval:?}");
        assert!((8.0_f64.ln() - interval.low.ln() - half).abs() < 1e-6, "{interval:?}");
        // Every launch is half of the next, so the error of the logarithm is that of their places times ln 2.
        let places = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
        let plain = Centre::of(&places, MEDIAN).unwrap();
        assert!(!plain.relative && (centre.error / 2.0_f64.ln() - plain.error).abs() < 1e-12);
        let interval = over_launches(&places, MEDIAN).unwrap();
        assert_eq!(interval.value, 0.0);
        assert!((interval.high - plain.error * 2.446_911_85).abs() < 1e-6);
    }

    #[test]
    fn ten_launches_give_a_known_floor() {
        let launches = [7.0, 3.0, 10.0, 1.0, 8.0, 2.0, 9.0, 5.0, 4.0, 6.0];
        let floor = over_launches(&launches, LOWER_QUARTILE).unwrap();
        assert_eq!(floor.value, 3.0);
        // Launches that were not made may lie below all that were.
        let steep = over_launches(&[1.0, 1.1, 1.2, 2.0, 3.0, 4.0], LOWER_QUARTILE).unwrap();
        assert!(steep.low < 1.0, "{steep:?}");
        assert_eq!(over_launches(&launches, MEDIAN).map(|interval| interval.value), Some(5.5));
    }

    #[test]
    fn drift_widens_what_launches_agree_on() {
        let launches = [100.0; 10];
        let alone = over_launches(&launches, MEDIAN).unwrap();
        assert_eq!((alone.low, alone.high), (100.0, 100.0));
        let drifting = over_launches_drifting(&launches, MEDIAN, Drift::usual(0.01)).unwrap();
        // Nothing but the drift is unknown: t with the 30 degrees of freedom of what is usual.
        assert!((drifting.high.ln() - 100.0_f64.ln() - 0.01 * 2.042_272).abs() < 1e-6, "{drifting:?}");
        // A count that may be 0 drifts by no share of itself.
        let counts = [0.0; 10];
        let counts = over_launches_drifting(&counts, MEDIAN, Drift::usual(0.01)).unwrap();
        assert_eq!((counts.low, counts.high), (0.0, 0.0));
    }

    /// Launches that agree at last do not make what they showed before undone.
    #[test]
    fn a_run_that_stopped_is_as_uncertain_as_it_was() {
        let scattered = [100.0, 104.0, 97.0, 103.0, 96.0, 105.0, 99.0, 101.0, 95.0, 106.0];
        let all: Vec<f64> = scattered.into_iter().chain([100.0; 20]).collect();
        let width = |interval: Option<Interval>| interval.unwrap().half_width_share();
        let then = Centre::of(&scattered, MEDIAN).unwrap().error;
        let stopped = over_launches_stopped(&all, MEDIAN, 10).unwrap();
        let half = then * (10.0_f64 / 30.0).sqrt() * student::exceeded_by(OUTSIDE, 9.0);
        assert!((stopped.high.ln() - stopped.value.ln() - half).abs() < 1e-9, "{stopped:?}");
        assert!(stopped.half_width_share() > 3.0 * width(over_launches(&all, MEDIAN)));
        // Planned launches are no look: nobody would have stopped there.
        assert_eq!(over_launches_stopped(&all, MEDIAN, 30), over_launches(&all, MEDIAN));
        assert_eq!(over_launches_stopped(&all[..10], MEDIAN, 10), over_launches(&all[..10], MEDIAN));
        assert_eq!(over_launches_stopped(&all[..5], MEDIAN, 10), over_launches(&all[..5], MEDIAN));
        assert_eq!(over_launches_stopped(&[], MEDIAN, 10), None);
    }

    #[test]
    fn ranks_are_not_lifted_by_rounding() {
        let launches: Vec<f64> = (1..=100).map(f64::from).collect();
        for percent in 1..=100 {
            let q = f64::from(percent) / 100.0;
            let expected = if percent == 50 { 50.5 } else { f64::from(percent) };
            assert_eq!(over_launches(&launches, q).map(|interval| interval.value), Some(expected));
        }
        assert_eq!(over_launches(&launches, 0.0).map(|interval| interval.value), Some(1.0));
    }

    #[test]
    fn few_launches_give_their_extremes() {
        let five = over_launches(&[5.0, 1.0, 4.0, 2.0, 3.0], LOWER_QUARTILE).unwrap();
        assert_eq!(five, Interval { value: 2.0, low: 1.0, high: 5.0, extremes: true });
        assert!(!over_launches(&[1.0; 6], LOWER_QUARTILE).unwrap().extremes);
        let one = over_launches(&[4.0], MEDIAN).unwrap();
        assert_eq!(one, Interval { value: 4.0, low: 4.0, high: 4.0, extremes: true });
    }

    #[test]
    fn refuses_what_is_no_launch() {
        assert_eq!(over_launches(&[], MEDIAN), None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(over_launches(&[1.0, bad], MEDIAN), None);
            assert_eq!(over_launches(&[1.0, 2.0], bad), None);
        }
        assert_eq!(over_launches(&[1.0], -0.1), None);
        assert_eq!(over_launches(&[1.0], 1.1), None);
    }

    #[test]
    fn width_of_nothing_is_nothing() {
        let of = |value, low, high| Interval { value, low, high, extremes: false }.half_width_share();
        assert_eq!(of(0.0, 0.0, 0.0), 0.0);
        assert_eq!(of(0.0, -1.0, 1.0), f64::INFINITY);
        assert_eq!(of(-2.0, -3.0, -1.0), 0.5);
    }

    proptest! {
        #[test]
        fn holds_its_estimate_and_ignores_order_and_unit(
            launches in prop::collection::vec(0.001..1e6f64, 1..40), q in 0.0..=1.0f64, middle: bool, seed: u64,
        ) {
            let q = if middle { MEDIAN } else { q };
            let interval = over_launches(&launches, q).unwrap();
            prop_assert!(interval.low <= interval.value && interval.value <= interval.high);
            prop_assert_eq!(interval.extremes, launches.len() < FEWEST_LAUNCHES);
            let mut shuffled: Vec<f64> = launches.iter().map(|launch| launch * 4.0).collect();
            crate::order::shuffle(&mut shuffled, &mut crate::order::seeded(seed, 0));
            let scaled = over_launches(&shuffled, q).unwrap();
            prop_assert_eq!(scaled.value, interval.value * 4.0);
            let alike = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs();
            prop_assert!(alike(scaled.low, interval.low * 4.0) && alike(scaled.high, interval.high * 4.0));
        }

        #[test]
        fn rises_with_q(launches in prop::collection::vec(0.001..1e6f64, 6..40), q in 0.01..0.49f64, r in 0.51..1.0f64) {
            let [low, middle, high] = [q, MEDIAN, r].map(|q| over_launches(&launches, q).unwrap());
            prop_assert!(low.value <= middle.value && middle.value <= high.value);
        }
    }

    /// Differences and lateness may be below zero, and have no logarithm.
    #[test]
    fn around_nothing_an_interval_reaches_as_far_to_both_sides() {
        let around: Vec<f64> = (-5..=5).map(f64::from).collect();
        let found = over_launches(&around, MEDIAN).expect("launches");
        assert_eq!((found.value, found.extremes), (0.0, false));
        assert!(found.low < 0.0 && found.low == -found.high, "{found:?}");
    }
}
