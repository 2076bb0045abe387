//! A histogram of whole numbers with two significant digits or more, as HdrHistogram has it: cheap enough to count every
//! operation into it, fine enough for percentiles of the tail.

/// Buckets an octave is cut into: values below this have a bucket each, others are known to 1 in 64 (1.6 %).
const PER_OCTAVE: u64 = 64;
const BITS: u32 = PER_OCTAVE.trailing_zeros();
/// Buckets of all values of 64 bits.
const BUCKETS: usize = (PER_OCTAVE as usize) * (64 - BITS as usize + 1);

/// Counts of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FineHistogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    least: u64,
    largest: u64,
}

impl Default for FineHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Index of the bucket that holds `value`.
#[inline(always)]
fn bucket(value: u64) -> usize {
    if value < PER_OCTAVE {
        return value as usize;
    }
    // The leading bit and the next six name the bucket.
    let shift = 63 - value.leading_zeros() - BITS;
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// Smallest value of bucket `index`, and how many values it holds.
fn bounds(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < 2 * PER_OCTAVE {
        return (index, 1);
    }
    let shift = (index >> BITS) - 1;
    (((index & (PER_OCTAVE - 1)) + PER_OCTAVE) << shift, 1 << shift)
}

impl FineHistogram {
    /// An empty histogram. All its memory is there, so that counting allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, sum: 0, least: u64::MAX, largest: 0 }
    }

    /// A histogram from its [`Self::buckets`], sum and extremes. `None` where they do not fit together.
    #[must_use]
    pub fn from_parts(buckets: &[(u64, u64)], sum: u128, extremes: Option<(u64, u64)>) -> Option<Self> {
        let mut made = Self::new();
        for &(from, count) in buckets {
            let index = bucket(from);
            if bounds(index).0 != from {
                return None;
            }
            made.counts[index] = made.counts[index].checked_add(count)?;
            made.total = made.total.checked_add(count)?;
        }
        let (least, largest) = extremes.unwrap_or((u64::MAX, 0));
        let ends = made.buckets().next().zip(made.buckets().last()).map(|(first, last)| (first.0, last.0));
        let of = |value: u64| bounds(bucket(value)).0;
        if ends != extremes.map(|(least, largest)| (of(least), of(largest))) {
            return None;
        }
        Some(Self { sum, least, largest, ..made })
    }

    /// Counts one value.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
    }

    /// Values counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Sum of all values, exactly.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean of all values, exactly; `None` for an empty histogram.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// Smallest and largest value, exactly; `None` for an empty histogram.
    #[must_use]
    pub fn extremes(&self) -> Option<(u64, u64)> {
        (self.total > 0).then_some((self.least, self.largest))
    }

    /// The value of rank ceil(q total), as the middle of its bucket: at most 0.8 % from the value that was counted, and never
    /// beyond the extremes. `None` for an empty histogram and for `q` outside 0 to 1.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut reached = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            reached += count;
            if reached >= rank {
                let (least, values) = bounds(index);
                let middle = least as f64 + (values - 1) as f64 / 2.0;
                return Some(middle.clamp(self.least as f64, self.largest as f64));
            }
        }
        None
    }

    /// The buckets that hold something, in rising order: smallest value and count of each.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(index, &count)| (bounds(index).0, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_follow_one_another() {
        let mut next = 0_u64;
        for index in 0..BUCKETS {
            let (least, values) = bounds(index);
            assert_eq!(least, next, "bucket {index} begins where the one before ends");
            let last = least + (values - 1);
            for value in [least, least + values / 2, last] {
                assert_eq!(bucket(value), index, "{value}");
            }
            assert!(values == 1 || values as f64 / least as f64 <= 1.0 / PER_OCTAVE as f64);
            next = last.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the last value");
    }

    #[test]
    fn quantiles_are_values_by_rank() {
        let mut histogram = FineHistogram::new();
        (1..=1000_u64).rev().for_each(|value| histogram.record(value));
        for (q, expected) in
            [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0), (0.0, 1.0)]
        {
            let found = histogram.quantile(q).unwrap_or(f64::NAN);
            assert!((found / expected - 1.0).abs() <= 0.008, "{q}: {found}");
        }
        assert_eq!(
            (histogram.total(), histogram.sum(), histogram.extremes()),
            (1000, 500_500, Some((1, 1000)))
        );
        assert_eq!(histogram.mean(), Some(500.5));
        assert_eq!(histogram.quantile(1.5), None);
        assert_eq!(FineHistogram::new().quantile(0.5), None);
    }

    #[test]
    fn merged_is_as_counted_together() {
        let (mut one, mut other, mut both) = Default::default();
        for value in 0..10_000_u64 {
            let value = value * value % 77_777;
            let half: &mut FineHistogram = if value % 2 == 0 { &mut one } else { &mut other };
            half.record(value);
            FineHistogram::record(&mut both, value);
        }
        one.merge(&other);
        assert_eq!(one, both);
        assert_eq!(both.buckets().map(|(_, count)| count).sum::<u64>(), both.total());
        let parts: Vec<(u64, u64)> = both.buckets().collect();
        assert_eq!(FineHistogram::from_parts(&parts, both.sum(), both.extremes()), Some(both.clone()));
        assert_eq!(FineHistogram::from_parts(&parts, both.sum(), None), None);
        assert_eq!(FineHistogram::from_parts(&[], 0, None), Some(FineHistogram::new()));
        assert_eq!(
            FineHistogram::from_parts(&[(129, 1)], 129, Some((129, 129))),
            None,
            "no bucket begins there"
        );
    }

    #[test]
    fn a_quantile_is_the_middle_of_its_bucket_and_never_beyond_the_extremes() {
        let of = |values: &[u64]| {
            let mut histogram = FineHistogram::new();
            values.iter().for_each(|&value| histogram.record(value));
            histogram.quantile(0.5)
        };
        // 1024 to 1039 have one bucket.
        assert_eq!(of(&[1024, 1030, 1039]), Some(1031.5));
        assert_eq!(of(&[1024, 1025]), Some(1025.0));
        assert_eq!(of(&[1038, 1039]), Some(1038.0));
    }

    #[test]
    fn the_first_and_the_last_value_have_their_ranks() {
        let mut histogram = FineHistogram::new();
        [10, 20, 30, 40].into_iter().for_each(|value| histogram.record(value));
        let at = |q| histogram.quantile(q);
        assert_eq!(
            [at(0.0), at(0.25), at(0.26), at(0.75), at(0.76), at(1.0)].map(Option::unwrap),
            [10.0, 10.0, 20.0, 30.0, 40.0, 40.0]
        );
        assert_eq!(at(-0.1), None);
        assert_eq!((FineHistogram::new().mean(), FineHistogram::new().extremes()), (None, None));
        let mut one = FineHistogram::new();
        one.record(0);
        assert_eq!((one.mean(), one.extremes(), one.quantile(0.5)), (Some(0.0), Some((0, 0)), Some(0.0)));
    }

    #[test]
    fn merged_extremes_are_those_of_both_whichever_comes_first() {
        let of = |value: u64| {
            let mut histogram = FineHistogram::new();
            histogram.record(value);
            histogram
        };
        for (first, second) in [(5, 900), (900, 5)] {
            let mut merged = of(first);
            merged.merge(&of(second));
            assert_eq!((merged.extremes(), merged.total(), merged.sum()), (Some((5, 900)), 2, 905));
        }
    }
}
