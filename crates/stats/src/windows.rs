//! Windows of consecutive rounds: what a round alone does not show (a core that is shared for some milliseconds) the median
//! of some dozen of them does.

use crate::quantile::{median, sorted};

/// Rounds of a window.
pub const ROUNDS: usize = 25;
/// Fewest rounds whose median says anything: a launch with fewer than a window has one window of all of them, if they are
/// so many.
pub const FEWEST_ROUNDS: usize = 5;

/// Median of each window of [`ROUNDS`] values in a row. What is left at the end belongs to the last window, so that no
/// value is in none; fewer than [`FEWEST_ROUNDS`] values are no window.
#[must_use]
pub fn medians(values: &[f64]) -> Vec<f64> {
    let whole = (values.len() / ROUNDS).max(usize::from(values.len() >= FEWEST_ROUNDS));
    (0..whole)
        .filter_map(|window| {
            let start = window * ROUNDS;
            let end = if window + 1 == whole { values.len() } else { start + ROUNDS };
            median(&sorted(values.get(start..end)?.to_vec()))
        })
        .collect()
}

/// The level of the least values: the median of all that lie within `width` (0.01: 1 %) above the least one that has at
/// least `support` values within that width. A value that hardly any other supports is none that the machine can have
/// again, however good it was.
///
/// `None` where no value is supported, and for values that are not above 0.
#[must_use]
pub fn lowest_level(values: &[f64], width: f64, support: usize) -> Option<f64> {
    let ordered = sorted(values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect());
    ordered.iter().enumerate().find_map(|(start, &least)| {
        let near: Vec<f64> =
            ordered[start..].iter().copied().take_while(|&value| value <= least * (1.0 + width)).collect();
        if near.len() >= support.max(1) { median(&near) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_value_is_in_one_window() {
        let rising: Vec<f64> = (0..80).map(f64::from).collect();
        assert_eq!(medians(&rising), [12.0, 37.0, 64.5], "the last one takes the five that are left");
        assert_eq!(medians(&rising[..50]), [12.0, 37.0]);
        assert_eq!(medians(&rising[..49]), [24.0]);
        assert_eq!(medians(&rising[..24]), [11.5]);
        assert_eq!(medians(&rising[..5]), [2.0]);
        assert_eq!(medians(&rising[..4]), [0.0; 0]);
    }

    #[test]
    fn the_lowest_level_is_that_of_many() {
        let mut values = vec![2.0; 100];
        values.extend([1.000, 1.001, 1.002, 1.003, 1.004]);
        assert_eq!(lowest_level(&values, 0.01, 5), Some(1.002));
        assert_eq!(lowest_level(&values, 0.01, 6), Some(2.0), "five are too few");
        values.push(0.5);
        assert_eq!(lowest_level(&values, 0.01, 5), Some(1.002), "one alone is no level");
        assert_eq!(lowest_level(&values, 0.002, 4), Some(2.0), "three lie within 0.2 %");
        assert_eq!(lowest_level(&values, 0.002, 3), Some(1.001));
    }

    #[test]
    fn what_is_no_cost_has_no_level() {
        assert_eq!(lowest_level(&[], 0.01, 1), None);
        assert_eq!(lowest_level(&[0.0, -1.0, f64::NAN, f64::INFINITY], 0.01, 1), None);
        assert_eq!(lowest_level(&[3.0], 0.01, 0), Some(3.0));
    }

    proptest! {
        #[test]
        fn a_level_lies_among_its_values(values in prop::collection::vec(0.1..10.0f64, 1..60), support in 1usize..20) {
            match lowest_level(&values, 0.05, support) {
                Some(level) => {
                    let near = values.iter().filter(|&&value| (value / level - 1.0).abs() <= 0.05).count();
                    prop_assert!(near >= support);
                }
                None => prop_assert!(support > 1),
            }
        }
    }

    #[test]
    fn a_width_has_its_end_in_it() {
        assert_eq!(lowest_level(&[1.0, 1.5, 9.0], 0.5, 2), Some(1.25));
        assert_eq!(lowest_level(&[1.0, 1.6, 9.0], 0.5, 2), None);
    }
}
