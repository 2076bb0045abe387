//! The verdict on two stored figures: slower, faster, same, or nothing that could be said.

use crate::interval::{Launches, OUTSIDE, over_launches};

/// Smallest change that is ever called one: two stored runs of one machine differ by up to this.
pub const LEAST_MARGIN: f64 = 0.02;
/// Widest half-width of a side that still allows a verdict.
pub const WIDEST_HALF_WIDTH: f64 = 0.01;
/// A change must be so many times as large as the wider half-width: launches that scatter within a run were made on a
/// machine that moves, and it will have moved between the runs, too.
pub const HALF_WIDTHS: f64 = 4.0;

/// One side of a comparison: one figure of one stored run.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
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

/// Judges B against A by the quantile `q` over launches (see [`over_launches`]).
///
/// The interval of the change is the 95 % percentile interval of B/A - 1 when the launches of both sides are resampled
/// independently, exact like those of the sides. The same is what lies within 2 %, or for either side within 2 clock steps in
/// a batch: 2 q / (n F). The margin of a change is the largest of this, of `least` (what else is known to move such figures,
/// as a share), and of [`HALF_WIDTHS`] times the wider half-width (up to [`WIDEST_HALF_WIDTH`], beyond which nothing is said). No test of significance: on stored runs of one machine
/// Mann-Whitney alarms in 34-62 % of the pairs.
///
/// `None` where a ratio makes no sense: no launches, a launch that is not positive and finite, or a ratio that overflows.
#[must_use]
pub fn judge(a: &Side<'_>, b: &Side<'_>, q: f64, least: f64) -> Option<Change> {
    let positive = |side: &Side<'_>| side.launches.iter().all(|&launch| launch > 0.0);
    if !positive(a) || !positive(b) {
        return None;
    }
    let (of_a, of_b) = (over_launches(a.launches, q)?, over_launches(b.launches, q)?);
    let (launches_a, launches_b) = (Launches::new(a.launches, q)?, Launches::new(b.launches, q)?);
    let (low, high) = launches_b.distribution().ratio_quantiles(&launches_a.distribution(), OUTSIDE)?;
    let steps = |side: &Side<'_>, value: f64| 2.0 * side.step_ns / (side.operations.max(1) as f64 * value);
    let resolved = LEAST_MARGIN.max(steps(a, of_a.value)).max(steps(b, of_b.value));
    let half_width = of_a.half_width_share().max(of_b.half_width_share());
    let margin = resolved.max(least).max(HALF_WIDTHS * half_width.min(WIDEST_HALF_WIDTH));
    let (change, low, high) = (of_b.value / of_a.value - 1.0, low - 1.0, high - 1.0);
    if [change, low, high, margin].iter().any(|number| !number.is_finite()) {
        return None;
    }
    let verdict = if of_a.extremes || of_b.extremes {
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
