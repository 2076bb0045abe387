//! Finds where a curve with intervals falls below a bound: between which points, and how surely.

use crate::interval::Interval;

/// Where a falling curve crosses a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Crossing {
    /// Last point whose whole interval lies above the bound, before the first one that does not; `None` where even the
    /// first point does not.
    pub above: Option<f64>,
    /// First point from which on every interval lies below the bound; `None` where even the last one does not.
    pub below: Option<f64>,
}

/// Between which points `curve` (ascending in x) falls below `bound`. Points whose interval holds the bound belong to
/// neither side: they widen the bracket.
#[must_use]
pub fn crossing(curve: &[(f64, Interval)], bound: f64) -> Crossing {
    let above = curve.iter().take_while(|(_, interval)| interval.low > bound).last();
    let below = curve.iter().rev().take_while(|(_, interval)| interval.high < bound).last();
    Crossing { above: above.map(|point| point.0), below: below.map(|point| point.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, low: f64, high: f64) -> (f64, Interval) {
        (x, Interval { value: f64::midpoint(low, high), low, high, extremes: false })
    }

    #[test]
    fn a_curve_that_falls_once_is_bracketed() {
        let curve =
            [point(0.0, 15.0, 17.0), point(1.0, 2.4, 2.6), point(3.0, 1.8, 2.1), point(10.0, 1.1, 1.3)];
        assert_eq!(crossing(&curve, 2.0), Crossing { above: Some(1.0), below: Some(10.0) });
        assert_eq!(crossing(&curve, 1.05), Crossing { above: Some(10.0), below: None });
        assert_eq!(crossing(&curve, 20.0), Crossing { above: None, below: Some(0.0) });
    }

    #[test]
    fn a_curve_that_comes_back_is_below_only_at_its_end() {
        let curve = [point(0.0, 3.0, 4.0), point(1.0, 1.0, 1.5), point(2.0, 2.5, 3.0), point(3.0, 1.0, 1.2)];
        assert_eq!(crossing(&curve, 2.0), Crossing { above: Some(0.0), below: Some(3.0) });
    }

    #[test]
    fn there_is_no_crossing_of_nothing() {
        assert_eq!(crossing(&[], 1.0), Crossing { above: None, below: None });
    }

    #[test]
    fn an_interval_that_ends_at_the_bound_holds_it() {
        let curve = [point(0.0, 3.0, 4.0), point(1.0, 2.0, 2.5), point(2.0, 1.5, 2.0), point(3.0, 1.0, 1.2)];
        assert_eq!(crossing(&curve, 2.0), Crossing { above: Some(0.0), below: Some(3.0) });
    }
}
