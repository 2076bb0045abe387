//! How evenly work was shared.

/// Jain's index of fairness, `(sum x)^2 / (n sum x^2)`: 1 when all received the same, 1/n when one received everything
/// (Jain, Chiu and Hawe, DEC-TR-301, 1984).
///
/// `None` where nobody received anything, or where a share is negative or not finite.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    if shares.iter().any(|share| !share.is_finite() || *share < 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    // Divided by the largest first: squares of large counts would overflow, those of small ones vanish.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest).powi(2)).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert!((jain_index(&[1.0, 3.0]).unwrap() - 0.8).abs() < 1e-12);
        for none in [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(jain_index(none), None);
        }
    }

    proptest! {
        #[test]
        fn lies_between_one_nth_and_one_whatever_the_unit(shares in prop::collection::vec(0.01..1e6f64, 1..20), unit in 1e-200..1e200f64) {
            let index = jain_index(&shares).unwrap();
            prop_assert!(1.0 / shares.len() as f64 - 1e-12 <= index && index <= 1.0 + 1e-12);
            let scaled: Vec<f64> = shares.iter().map(|share| share * unit).collect();
            prop_assert!((jain_index(&scaled).unwrap() - index).abs() < 1e-9);
        }
    }
}
