//! A log histogram: every distribution in 32 buckets an octave, small enough to keep for each launch.

/// Buckets an octave: a bucket is 2.2 % wide.
const PER_OCTAVE: f64 = 32.0;
/// Bucket of the smallest positive number, and one beyond that of the largest.
const BUCKETS: std::ops::Range<i32> = -1074 * 32..1024 * 32;

/// Counts of positive values by logarithm: bucket i holds the values in [2^(i/32), 2^((i+1)/32)).
///
/// A measured duration minus the cost of the clock can come out as 0 or below. Such values have no logarithm; they are
/// counted apart ([`Self::not_positive`]) and rank below all buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogHistogram {
    first: i32,
    counts: Vec<u64>,
    not_positive: u64,
}

/// Lower bound of bucket `index`, which belongs to it.
#[must_use]
pub fn lower_bound(index: i32) -> f64 {
    (f64::from(index) / PER_OCTAVE).exp2()
}

impl LogHistogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A histogram from what [`Self::counts`] returned. `None` where a bucket lies outside the range of numbers or the total
    /// overflows: the counts were not made here.
    #[must_use]
    pub fn from_counts(first: i32, counts: &[u64]) -> Option<Self> {
        counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
        let Some(skipped) = counts.iter().position(|&count| count > 0) else { return Some(Self::new()) };
        let kept = counts.len() - counts.iter().rev().take_while(|&&count| count == 0).count();
        let from = i64::from(first) + skipped as i64;
        let to = i64::from(first) + kept as i64;
        if from < i64::from(BUCKETS.start) || to > i64::from(BUCKETS.end) {
            return None;
        }
        Some(Self { first: from as i32, counts: counts[skipped..kept].to_vec(), not_positive: 0 })
    }

    /// Counts one value. NaN is a defect of the caller (debug builds stop on it; release builds count it as not positive),
    /// infinity counts as the largest number.
    pub fn record(&mut self, value: f64) {
        debug_assert!(!value.is_nan(), "a sample is a number");
        if value > 0.0 {
            self.add(bucket(value.min(f64::MAX)), 1);
        } else {
            self.not_positive = self.not_positive.saturating_add(1);
        }
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (index, &count) in (other.first..).zip(&other.counts) {
            self.add(index, count);
        }
        self.not_positive = self.not_positive.saturating_add(other.not_positive);
    }

    /// Index of the first bucket, and the counts from there on; the first and last count are not 0.
    #[must_use]
    pub fn counts(&self) -> (i32, &[u64]) {
        (self.first, &self.counts)
    }

    /// Values recorded that were 0 or below; they are in no bucket.
    #[must_use]
    pub fn not_positive(&self) -> u64 {
        self.not_positive
    }

    /// All values recorded, those in no bucket included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(self.not_positive, |sum, &count| sum.saturating_add(count))
    }

    /// The value of rank ceil(q total), as the geometric middle of its bucket: at most 1.1 % from the value recorded. 0 where
    /// that value was not positive. `None` for an empty histogram and for `q` outside 0 to 1.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        match self.bucket_at(q)? {
            None => Some(0.0),
            Some(index) => Some(lower_bound(index) * (0.5 / PER_OCTAVE).exp2()),
        }
    }

    /// Bucket of the value of rank ceil(q total); `Some(None)` where that value was not positive.
    fn bucket_at(&self, q: f64) -> Option<Option<i32>> {
        let total = self.total();
        if total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * total as f64).ceil() as u64).clamp(1, total);
        let mut reached = self.not_positive;
        if reached >= rank {
            return Some(None);
        }
        for (index, &count) in (self.first..).zip(&self.counts) {
            reached = reached.saturating_add(count);
            if reached >= rank {
                return Some(Some(index));
            }
        }
        None
    }

    fn add(&mut self, index: i32, count: u64) {
        if self.counts.is_empty() {
            self.first = index;
        }
        if index < self.first {
            let missing = (self.first - index) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = index;
        }
        let place = (index - self.first) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(count);
    }
}

/// Index of the bucket that holds `value`, which must be positive and finite.
fn bucket(value: f64) -> i32 {
    let index = (value.log2() * PER_OCTAVE).floor() as i32;
    // The logarithm is rounded: at a bound it may name the neighbour. The bounds decide.
    if value < lower_bound(index) {
        index - 1
    } else if value >= lower_bound(index + 1) {
        index + 1
    } else {
        index
    }
}

/// A small picture: `columns` heights from 0 to 1, the highest 1, from p0.5 to p99.5 on a logarithmic axis.
///
/// The first column also gathers what lies below, the last what lies above. A column is at least one bucket wide, so a
/// distribution narrower than `columns` buckets fills the first columns only. Values that were not positive are not drawn.
/// All 0 for an empty histogram.
#[must_use]
pub fn shape(histogram: &LogHistogram, columns: usize) -> Vec<f64> {
    let drawn = LogHistogram { not_positive: 0, ..histogram.clone() };
    let (Some(Some(from)), Some(Some(to))) = (drawn.bucket_at(0.005), drawn.bucket_at(0.995)) else {
        return vec![0.0; columns];
    };
    // Columns a bucket, at most one. A bucket's count is spread over the columns that it overlaps.
    let scale = (columns as f64 / f64::from(to - from + 1)).min(1.0);
    let height = |column: usize| -> f64 {
        let buckets = (drawn.first..).zip(&drawn.counts);
        let parts = buckets.map(|(index, &count)| {
            let start = f64::from(index.clamp(from, to) - from) * scale;
            let overlap = (start + scale).min(column as f64 + 1.0) - start.max(column as f64);
            count as f64 * overlap.max(0.0)
        });
        parts.sum()
    };
    let heights: Vec<f64> = (0..columns).map(height).collect();
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    heights.iter().map(|height| height / highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = f64>) -> LogHistogram {
        let mut histogram = LogHistogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn bounds_belong_to_the_bucket_above() {
        assert_eq!(of([1.0]).counts(), (0, &[1][..]));
        assert_eq!(of([1.0_f64.next_down()]).counts(), (-1, &[1][..]));
        assert_eq!(of([2.0, 2.0_f64.next_down()]).counts(), (31, &[1, 1][..]));
        for index in -35_000..33_000 {
            let bound = lower_bound(index);
            if bound >= f64::MIN_POSITIVE && bound.is_finite() {
                assert_eq!(bucket(bound), index);
                assert_eq!(bucket(bound.next_down()), index - 1);
            }
        }
    }

    #[test]
    fn the_whole_range_of_numbers_has_buckets() {
        assert!(BUCKETS.contains(&bucket(f64::from_bits(1))));
        let extremes = of([f64::MAX, f64::MIN_POSITIVE, f64::INFINITY]);
        let (first, counts) = extremes.counts();
        assert_eq!((first, counts.first(), counts.last()), (-1022 * 32, Some(&1), Some(&2)));
        assert_eq!(first + counts.len() as i32, BUCKETS.end);
        assert_eq!(LogHistogram::from_counts(first, counts), Some(extremes));
        assert!(LogHistogram::from_counts(BUCKETS.start, &[1]).is_some());
    }

    #[test]
    fn values_without_a_logarithm_are_counted_apart() {
        let histogram = of([-1.0, 0.0, -0.0, 100.0]);
        assert_eq!((histogram.not_positive(), histogram.total()), (3, 4));
        assert_eq!((histogram.quantile(0.5), histogram.quantile(0.75)), (Some(0.0), Some(0.0)));
        assert!((histogram.quantile(1.0).unwrap() / 100.0 - 1.0).abs() < 0.011);
        assert_eq!(shape(&histogram, 3), [1.0, 0.0, 0.0]);
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!((twice.not_positive(), twice.total()), (6, 8));
    }

    #[test]
    fn counts_of_others_are_checked() {
        assert_eq!(LogHistogram::from_counts(5, &[]), Some(LogHistogram::new()));
        assert_eq!(LogHistogram::from_counts(i32::MAX, &[0, 0]), Some(LogHistogram::new()));
        assert_eq!(LogHistogram::from_counts(i32::MAX, &[0, 1]), None);
        assert_eq!(LogHistogram::from_counts(i32::MIN, &[1]), None);
        assert_eq!(LogHistogram::from_counts(0, &[u64::MAX, 1]), None);
        assert_eq!(LogHistogram::from_counts(0, &[u64::MAX]).unwrap().total(), u64::MAX);
        assert_eq!(LogHistogram::from_counts(-2, &[0, 0, 3, 0]).unwrap().counts(), (0, &[3][..]));
        assert_eq!(LogHistogram::new().quantile(0.5), None);
        assert_eq!(of([1.0]).quantile(1.5), None);
    }

    #[test]
    fn pictures_known_shapes() {
        assert_eq!(shape(&LogHistogram::new(), 4), [0.0; 4]);
        assert_eq!(shape(&of([100.0]), 0), []);
        // Narrower than the picture: one bucket a column.
        assert_eq!(shape(&of([1.0, 1.0, 1.03]), 4), [1.0, 0.5, 0.0, 0.0]);
        // Eight buckets on four columns, and a thousandth far out gathers in the last column.
        let even = (0..8).flat_map(|index| std::iter::repeat_n(lower_bound(index) * 1.001, 1000));
        let mut histogram = of(even);
        assert_eq!(shape(&histogram, 4), [1.0; 4]);
        (0..8).for_each(|_| histogram.record(1e6));
        let heights = shape(&histogram, 4);
        assert!(
            heights[3] == 1.0 && heights[..3].iter().all(|height| (height - 2000.0 / 2008.0).abs() < 1e-12)
        );
        // What is rarer than p0.5 has no column of its own, and what is not has one.
        let low = |count: usize| shape(&of(std::iter::repeat_n(1.0, count).chain([100.0; 994])), 4);
        assert_eq!((low(4), low(6)[3]), (vec![1.0, 0.0, 0.0, 0.0], 1.0));
        // Two modes of 70 % and 30 % stay two peaks.
        let modes = of((0..1000).map(|round| if round % 10 < 7 { 104.0 } else { 128.0 }));
        let heights = shape(&modes, 8);
        assert_eq!(heights[0], 1.0);
        assert!(heights[1..7].iter().all(|&height| height < 0.5), "{heights:?}");
        assert!((0.3..0.5).contains(&heights[7]), "{heights:?}");
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_bucket_of_the_truth(values in prop::collection::vec(1e-3..1e9f64, 1..200), q in 0.0..=1.0f64) {
            let histogram = of(values.iter().copied());
            let truth = crate::quantile::sorted(values);
            let rank = ((q * truth.len() as f64).ceil() as usize).max(1);
            let error = histogram.quantile(q).unwrap() / truth[rank - 1];
            prop_assert!((1.0 / 1.011..1.011).contains(&error), "{error}");
        }

        #[test]
        fn merging_equals_recording_everything(a in prop::collection::vec(-1.0..1e6f64, 0..50), b in prop::collection::vec(-1.0..1e6f64, 0..50)) {
            let mut merged = of(a.iter().copied());
            merged.merge(&of(b.iter().copied()));
            prop_assert_eq!(&merged, &of(b.iter().chain(&a).copied()));
            prop_assert_eq!(merged.total(), (a.len() + b.len()) as u64);
            let (first, counts) = merged.counts();
            let stored = LogHistogram::from_counts(first, counts).unwrap();
            prop_assert_eq!(stored.counts(), merged.counts());
        }

        #[test]
        fn heights_are_shares_of_the_highest(values in prop::collection::vec(1e-3..1e9f64, 1..200), columns in 1..30_usize) {
            let heights = shape(&of(values), columns);
            prop_assert_eq!(heights.len(), columns);
            prop_assert!(heights.iter().all(|height| (0.0..=1.0).contains(height)));
            prop_assert!(heights.contains(&1.0));
        }
    }
}
