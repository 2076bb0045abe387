//! What stands out of a series of latencies, and the body that is left: peaks, moments, clipping.
//! docs/method/families.md.

use crate::quantile::{median, quantile, quartiles, sorted};

/// Peaks of a series: runs of values above the rule, neighbours taken as one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Peaks {
    /// How many.
    pub count: usize,
    /// 5th percentile of the peaks' heights; 0 without a peak.
    pub low: f64,
    /// The highest; 0 without a peak.
    pub high: f64,
    /// Peaks in a thousand values.
    pub per_thousand: f64,
}

/// Finds peaks: values above the third quartile by three times the distance of the quartiles, and above the median by
/// `least`. `None` without a value.
#[must_use]
pub fn peaks(values: &[f64], least: f64) -> Option<Peaks> {
    let ordered = sorted(values.to_vec());
    let [q1, middle, q3] = quartiles(&ordered)?;
    let threshold = (q3 + 3.0 * (q3 - q1)).max(middle + least);
    let mut heights: Vec<f64> = Vec::new();
    let mut inside = false;
    for &value in values {
        match (value > threshold, inside) {
            (true, true) => {
                if let Some(height) = heights.last_mut() {
                    *height = height.max(value);
                }
            }
            (true, false) => heights.push(value),
            (false, _) => {}
        }
        inside = value > threshold;
    }
    let heights = sorted(heights);
    Some(Peaks {
        count: heights.len(),
        low: quantile(&heights, 0.05).unwrap_or(0.0),
        high: heights.last().copied().unwrap_or(0.0),
        per_thousand: heights.len() as f64 * 1000.0 / values.len() as f64,
    })
}

/// The word for so many peaks in a thousand values: document 002 says low, medium or high without a number.
#[must_use]
pub fn frequency(per_thousand: f64) -> &'static str {
    match per_thousand {
        none if none <= 0.0 => "none",
        low if low < 10.0 => "low",
        medium if medium < 50.0 => "medium",
        _ => "high",
    }
}

/// Arithmetic mean and standard deviation (of the population: all values are there). `None` without a value.
#[must_use]
pub fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    Some((mean, variance.sqrt()))
}

/// Mean and standard deviation of the worst `length` neighbours: those whose sum of the two is the greatest. `None` where
/// there are not so many values.
#[must_use]
pub fn worst_stretch(values: &[f64], length: usize) -> Option<(f64, f64)> {
    if length == 0 || values.len() < length {
        return None;
    }
    // Around a value of their own the squares of large numbers keep their digits.
    let origin = values[0];
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut worst: Option<(f64, f64)> = None;
    for (index, value) in values.iter().map(|value| value - origin).enumerate() {
        sum += value;
        squares += value * value;
        if index >= length {
            let gone = values[index - length] - origin;
            sum -= gone;
            squares -= gone * gone;
        }
        if index + 1 >= length {
            let mean = sum / length as f64;
            let deviation = (squares / length as f64 - mean * mean).max(0.0).sqrt();
            if worst.is_none_or(|(most, width)| mean + origin + deviation > most + width) {
                worst = Some((mean + origin, deviation));
            }
        }
    }
    worst
}

/// What is left when values beyond three standard deviations are taken away until none is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SpectrumBody {
    /// Smallest value kept.
    pub low: f64,
    /// Largest value kept.
    pub high: f64,
    /// Share of the values kept.
    pub share: f64,
}

/// The body of a series. `None` without a value.
#[must_use]
pub fn body(values: &[f64]) -> Option<SpectrumBody> {
    let mut kept = sorted(values.to_vec());
    loop {
        let (mean, deviation) = moments(&kept)?;
        let before = kept.len();
        kept.retain(|value| (value - mean).abs() <= 3.0 * deviation);
        if kept.len() == before {
            break;
        }
    }
    let (low, high) = (*kept.first()?, *kept.last()?);
    Some(SpectrumBody { low, high, share: kept.len() as f64 / values.len() as f64 })
}

/// Median of the distances from the median. `None` without a value.
#[must_use]
pub fn median_deviation(ordered: &[f64]) -> Option<f64> {
    let middle = median(ordered)?;
    median(&sorted(ordered.iter().map(|value| (value - middle).abs()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 values of 10 or 11, with these in their place.
    fn series(peaks: &[(usize, f64)]) -> Vec<f64> {
        let mut values: Vec<f64> = (0..1000).map(|index| 10.0 + f64::from(index % 2)).collect();
        for &(index, value) in peaks {
            values[index] = value;
        }
        values
    }

    #[test]
    fn a_steady_series_has_no_peak() {
        let found = peaks(&series(&[]), 0.1).expect("values");
        assert_eq!((found.count, found.low, found.high, found.per_thousand), (0, 0.0, 0.0, 0.0));
        assert_eq!(frequency(found.per_thousand), "none");
    }

    #[test]
    fn neighbours_are_one_peak_of_the_greater_height() {
        let found = peaks(&series(&[(5, 30.0), (6, 40.0), (500, 20.0)]), 0.1).expect("values");
        assert_eq!((found.count, found.high, found.per_thousand), (2, 40.0, 2.0));
        assert!((20.0..=40.0).contains(&found.low));
        assert_eq!(frequency(found.per_thousand), "low");
    }

    #[test]
    fn the_rule_is_three_quartile_distances_and_no_less_than_the_least() {
        // Quartiles 10 and 12: the rule is 18.
        let apart = |height: f64| {
            let values: Vec<f64> =
                (0..1000).map(|index| 10.0 + f64::from(index % 2) * 2.0).chain([height]).collect();
            peaks(&values, 0.1).map(|found| found.count)
        };
        assert_eq!([apart(17.9), apart(18.1)], [Some(0), Some(1)]);
        // Quartiles 10 and 11: the rule is 14.
        assert_eq!(peaks(&series(&[(7, 14.0)]), 0.1).map(|found| found.count), Some(0));
        assert_eq!(peaks(&series(&[(7, 14.1)]), 0.1).map(|found| found.count), Some(1));
        assert_eq!(peaks(&series(&[(7, 14.1)]), 50.0).map(|found| found.count), Some(0));
        assert_eq!(peaks(&[], 1.0), None);
    }

    #[test]
    fn a_value_of_just_the_rule_parts_two_peaks() {
        let found = peaks(&series(&[(5, 30.0), (6, 14.0), (7, 20.0)]), 0.1).expect("values");
        assert_eq!(found.count, 2);
    }

    #[test]
    fn the_worst_stretch_is_that_of_all_stretches_looked_at_one_by_one() {
        let values: Vec<f64> = series(&[(0, 50.0), (500, 1e9), (503, 1e9 + 1.0), (999, 60.0)]);
        for length in [1, 2, 7, 1000] {
            let each = values.windows(length).filter_map(moments);
            let (mean, sd) = each.max_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1))).expect("values");
            let found = worst_stretch(&values, length).expect("values");
            assert!((found.0 + found.1 - mean - sd).abs() < 1e-3 * (mean + sd), "{length}: {found:?}");
        }
        assert_eq!(worst_stretch(&values, 1001), None);
        assert_eq!(worst_stretch(&values, 0), None);
        assert_eq!(worst_stretch(&[5.0], 1), Some((5.0, 0.0)));
        assert_eq!(worst_stretch(&[10.0, 0.0, 20.0, 20.0], 2), Some((10.0, 10.0)), "the first of two");
    }

    #[test]
    fn words_have_their_bounds() {
        assert_eq!([9.9, 10.0, 49.9, 50.0].map(frequency), ["low", "medium", "medium", "high"]);
    }

    #[test]
    fn the_body_leaves_out_what_is_far_away() {
        let found = body(&series(&[(3, 1000.0), (9, 500.0)])).expect("values");
        assert_eq!((found.low, found.high, found.share), (10.0, 11.0, 0.998));
        assert_eq!(body(&[5.0]).map(|body| body.share), Some(1.0));
        assert_eq!(body(&[]), None);
    }

    #[test]
    fn moments_are_exact_for_a_known_series() {
        assert_eq!(moments(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Some((5.0, 2.0)));
        assert_eq!(median_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }

    #[test]
    fn the_low_peak_is_the_fifth_percentile_of_the_heights() {
        let found = peaks(&series(&[(5, 20.0), (500, 40.0)]), 0.1).expect("values");
        assert!((found.low - 21.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_long_peak_is_as_high_as_its_highest_value() {
        for heights in [[30.0, 40.0, 50.0], [50.0, 40.0, 30.0], [30.0, 50.0, 40.0]] {
            let [one, two, three] = heights;
            let found = peaks(&series(&[(5, one), (6, two), (7, three)]), 0.1).expect("values");
            assert_eq!((found.count, found.low, found.high), (1, 50.0, 50.0));
        }
    }

    #[test]
    fn the_body_ends_at_three_standard_deviations() {
        // 10 and 11 scatter by a half around 10.5.
        assert_eq!(body(&series(&[(3, 11.9)])).map(|body| body.high), Some(11.9));
        assert_eq!(body(&series(&[(3, 12.2)])).map(|body| body.high), Some(11.0));
        assert_eq!(body(&series(&[(3, 8.8)])).map(|body| body.low), Some(10.0));
    }

    #[test]
    fn neighbours_that_are_all_the_same_scatter_by_nothing() {
        assert_eq!(worst_stretch(&[5.0; 10], 3), Some((5.0, 0.0)));
        assert_eq!(worst_stretch(&[1e17 / 3.0; 10], 3), Some((1e17 / 3.0, 0.0)));
    }
}
