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
    let launches = Launches::new(values, q)?;
    let extremes = launches.sorted.len() < FEWEST_LAUNCHES;
    let (low, high) = if extremes {
        (*launches.sorted.first()?, *launches.sorted.last()?)
    } else {
        let distribution = launches.distribution();
        (distribution.quantile(OUTSIDE)?, distribution.quantile(1.0 - OUTSIDE)?)
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
