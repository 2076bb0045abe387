//! Quantiles of a set of samples.

/// Sorts by the total order of IEEE 754 (`-0.0` before `0.0`).
///
/// A sample is a measured number, so NaN here is a defect of the caller: debug builds stop on it. Release builds sort it
/// beyond the infinities, where it shows in the extremes instead of hiding in the middle.
#[must_use]
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    debug_assert!(values.iter().all(|value| !value.is_nan()), "a sample is a number");
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Quantile by linear interpolation between order statistics: type 7 of Hyndman and Fan (1996), the default of R and
/// NumPy. With `h = (n - 1) q`, the value lies the share `h - floor(h)` of the way from `sorted[floor(h)]` to its successor.
///
/// `None` for an empty set and for `q` outside 0 to 1. Monotone in `q`, and never outside the samples.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * q;
    let below = position.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted[(below + 1).min(last)];
    let share = position - position.floor();
    // Without the case of equals, two infinities would give NaN; without the clamp, rounding could pass the upper sample.
    Some(if share == 0.0 || low == high { low } else { (low + (high - low) * share).min(high) })
}

/// The middle sample, or the mean of the two middle ones.
#[must_use]
pub fn median(sorted: &[f64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// Lower quartile, median and upper quartile.
#[must_use]
pub fn quartiles(sorted: &[f64]) -> Option<[f64; 3]> {
    Some([quantile(sorted, 0.25)?, median(sorted)?, quantile(sorted, 0.75)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_r_type_7() {
        // R: quantile(c(1, 2, 4, 8, 16), c(0, .1, .25, .5, .9, 1), type = 7)
        let samples = sorted(vec![16.0, 1.0, 8.0, 4.0, 2.0]);
        for (q, expected) in [(0.0, 1.0), (0.1, 1.4), (0.25, 2.0), (0.5, 4.0), (0.9, 12.8), (1.0, 16.0)] {
            let found = quantile(&samples, q).unwrap();
            assert!((found - expected).abs() < 1e-12, "q {q}: {found} for {expected}");
        }
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0]), Some([1.75, 2.5, 3.25]));
        assert_eq!(median(&[1.0, 2.0, 10.0, 20.0]), Some(6.0));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(quantile(&[1.0, f64::INFINITY], 0.0), Some(1.0));
    }

    #[test]
    fn refuses_what_has_no_quantile() {
        assert_eq!(median(&[]), None);
        assert_eq!(quartiles(&[]), None);
        for q in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(quantile(&[1.0, 2.0], q), None);
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a sample is a number")]
    fn debug_builds_stop_on_nan() {
        let _ = sorted(vec![1.0, f64::NAN]);
    }

    proptest! {
        #[test]
        fn lies_between_the_extremes_and_rises_with_q(
            values in prop::collection::vec(-1e300..1e300f64, 1..60), q in 0.0..=1.0f64, r in 0.0..=1.0f64,
        ) {
            let samples = sorted(values);
            let (low, high) = (q.min(r), q.max(r));
            let (at_low, at_high) = (quantile(&samples, low).unwrap(), quantile(&samples, high).unwrap());
            prop_assert!(samples[0] <= at_low && at_low <= at_high && at_high <= samples[samples.len() - 1]);
        }

        #[test]
        fn scales_and_ignores_order(values in prop::collection::vec(0.001..1e6f64, 1..60), q in 0.0..=1.0f64, seed: u64) {
            let at_first = quantile(&sorted(values.clone()), q).unwrap();
            let mut shuffled = values.clone();
            crate::order::shuffle(&mut shuffled, &mut crate::order::seeded(seed, 0));
            prop_assert_eq!(quantile(&sorted(shuffled), q).unwrap(), at_first);
            // Powers of two scale without rounding, so equality is exact.
            let scaled = sorted(values.iter().map(|value| value * 8.0).collect());
            prop_assert_eq!(quantile(&scaled, q).unwrap(), at_first * 8.0);
        }
    }
}
