//! An estimate over launches, and how far another run of the same plan would probably be from it.
//!
//! The interval is the 95 % percentile interval of the bootstrap over launches, exact (no resampling, no seed). It says how
//! launches of *this* run scatter. What it covers in truth is simulated in the tests of this crate: about 91 % with
//! 10 independent launches, less where the machine drifts from run to run.

use crate::bootstrap::Distribution;
use crate::quantile;

/// Share of launches below the estimate of a floor.
pub const LOWER_QUARTILE: f64 = 0.25;
/// Share of launches below the estimate of everything else.
pub const MEDIAN: f64 = 0.5;
/// Fewest launches that give an interval; with fewer, `low` and `high` are the extremes.
pub const FEWEST_LAUNCHES: usize = 6;
/// Probability left out at each end of an interval.
pub(crate) const OUTSIDE: f64 = 0.025;

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

/// The quantile `q` over launches, one value a launch in any order.
///
/// For [`MEDIAN`] the conventional median (the mean of the two middle launches where their number is even). For every other
/// `q`, such as [`LOWER_QUARTILE`], the order statistic ceil(q L), which is a launch that was measured.
///
/// `None` without launches, with a value that is not finite, or with `q` outside 0 to 1.
#[must_use]
pub fn over_launches(values: &[f64], q: f64) -> Option<Interval> {
    over_launches_outside(values, q, OUTSIDE)
}

/// The same with another interval: `outside` is the probability that is left out at each end of it (0.005 for 99 %).
///
/// `None` as for [`over_launches`], and with `outside` not below one half.
#[must_use]
pub fn over_launches_outside(values: &[f64], q: f64, outside: f64) -> Option<Interval> {
    if !(0.0..0.5).contains(&outside) {
        return None;
    }
    let launches = Launches::new(values, q)?;
    let extremes = launches.sorted.len() < FEWEST_LAUNCHES;
    let (low, high) = if extremes {
        (*launches.sorted.first()?, *launches.sorted.last()?)
    } else {
        let distribution = launches.distribution();
        (distribution.quantile(outside)?, distribution.quantile(1.0 - outside)?)
    };
    Some(Interval { value: launches.estimate()?, low, high, extremes })
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
    fn ten_launches_give_known_ranks() {
        // P(Bin(10, 1/10) >= 3) = 0.070 and P(Bin(10, 6/10) >= 3) = 0.988, but 0.945 with 5/10: launches 1 to 6 of 10.
        let launches = [7.0, 3.0, 10.0, 1.0, 8.0, 2.0, 9.0, 5.0, 4.0, 6.0];
        let floor = over_launches(&launches, LOWER_QUARTILE).unwrap();
        assert_eq!(floor, Interval { value: 3.0, low: 1.0, high: 6.0, extremes: false });
        assert!((floor.half_width_share() - 2.5 / 3.0).abs() < 1e-12);
        assert_eq!(over_launches(&launches, MEDIAN).map(|interval| interval.value), Some(5.5));
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
            prop_assert_eq!((scaled.low, scaled.high), (interval.low * 4.0, interval.high * 4.0));
        }

        #[test]
        fn rises_with_q(launches in prop::collection::vec(0.001..1e6f64, 6..40), q in 0.01..0.49f64, r in 0.51..1.0f64) {
            let [low, middle, high] = [q, MEDIAN, r].map(|q| over_launches(&launches, q).unwrap());
            prop_assert!(low.value <= middle.value && middle.value <= high.value);
            prop_assert!(low.low <= high.low && low.high <= high.high);
        }
    }
}
