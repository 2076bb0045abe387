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
            if count > 0 {
                self.add(index, count);
            }
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
