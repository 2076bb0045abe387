//! Which of many alike are odd: a robust centre and scale, the chance of what lies beyond, and few false discoveries.
//!
//! The centre is the median, and the scale the larger of two: the median absolute deviation and Qn, a quartile of the distances
//! of all pairs. They hold as long as fewer than half of the values are odd (Hampel, "The influence curve and its role in robust
//! estimation", JASA 69, 1974; Rousseeuw and Croux, "Alternatives to the median absolute deviation", JASA 88, 1993). Qn is known
//! better from few values; but it is nothing where many odd values are equal, and then the other one holds. Among many tests,
//! Benjamini and Hochberg's cut keeps the expected share of false discoveries below a rate ("Controlling the false discovery
//! rate", JRSS B 57, 1995).

use crate::student;

/// Values that a tail is learnt from, at least; and the share of all.
const LEAST_FAR: usize = 5;
const FAR_SHARE: usize = 10;
/// Scales of a normal value beyond which a tenth of them lie, on both sides: where a tail begins.
const FAR: f64 = 1.645;

/// The median absolute deviation of normal values is this share of their standard deviation: the third quartile of the normal.
const OF_NORMAL: f64 = 0.674_489_750_196_081_7;
/// The quartile of the distances of normal pairs, times this, is their standard deviation: 1 / (sqrt(2) * quantile(5 / 8)).
const OF_PAIRS: f64 = 2.219_144_465_985_076;
/// What that is multiplied with for 2 to 9 values, and the excess of the divisor for more of them, odd and even in number: the
/// corrections of Rousseeuw and Croux.
const OF_FEW: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];
const OF_MANY: [f64; 2] = [3.8, 1.4];
/// Degrees of freedom of a distance in such scales, for each value but one: the least that 200 000 samples of 8 to 100 normal
/// values had, for distances of 3 to 12 scales.
const EFFICIENCY: f64 = 0.54;

/// Where values lie, and how far apart, without regard to the odd ones.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bulk {
    /// Their median.
    pub centre: f64,
    /// What the standard deviation of normal values that scatter so would be.
    pub scale: f64,
    /// How many values there were.
    pub count: usize,
}

impl Bulk {
    /// The bulk of `values`; `None` where there are none. Values that are no numbers are passed over.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let centre = median(&mut values)?;
        let mut apart: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
        let scale = (median(&mut apart)? / OF_NORMAL).max(of_pairs(&values));
        Some(Self { centre, scale, count: values.len() })
    }

    /// Distance from the centre at which a value has this chance. Infinite where nothing is known of the scale.
    #[must_use]
    pub fn reach(&self, chance: f64) -> f64 {
        if self.count < 3 || self.scale <= 0.0 || !(chance > 0.0 && chance < 1.0) {
            return f64::INFINITY;
        }
        self.scale * student::exceeded_by(chance / 2.0, self.freedom())
    }

    fn freedom(&self) -> f64 {
        EFFICIENCY * self.count.saturating_sub(1) as f64
    }

    /// Chance that one of as many normal values lies as far from the centre, on either side, if the error of that value adds
    /// to the scale. 1 where nothing is known of the scale.
    #[must_use]
    pub fn chance(&self, value: f64, error: f64) -> f64 {
        let scale = self.scale.hypot(error);
        if self.count < 3 || scale <= 0.0 || scale.is_nan() || value.is_nan() {
            return 1.0;
        }
        2.0 * student::beyond(((value - self.centre) / scale).abs(), self.freedom())
    }
}

/// How far out the farthest values lie, whatever their distribution: measured values have long tails.
///
/// Beyond the farthest tenth a tail is taken to fall as a power of the distance, as Hill does ("A simple general approach to
/// inference about the tail of a distribution", Annals of Statistics 3, 1975). That the power is estimated from so few is part
/// of the chance: a new value's logarithm, over the sum of theirs, has a known distribution. Lighter tails have smaller
/// chances than are told here.
#[derive(Debug, Clone, PartialEq)]
pub struct Tail {
    /// The farthest distances, the largest first.
    farthest: Vec<f64>,
    /// How many distances there are of others than the one that is asked for, and how many of these are far.
    others: usize,
    far: usize,
}

impl Tail {
    /// The tail of these distances; their signs do not matter.
    #[must_use]
    pub fn of(distances: impl IntoIterator<Item = f64>) -> Self {
        let mut farthest: Vec<f64> =
            distances.into_iter().map(f64::abs).filter(|it| it.is_finite()).collect();
        farthest.sort_unstable_by(|one, other| other.total_cmp(one));
        let others = farthest.len().saturating_sub(1);
        let far = (others / FAR_SHARE).max(LEAST_FAR);
        farthest.truncate(far + 2);
        Self { farthest, others, far }
    }

    /// Chance that a value lies as far out as this one of them, judged by the others; its own error beyond what is usual
    /// makes it lie nearer. 1 if it is not among the farthest, or too few are known.
    #[must_use]
    pub fn chance(&self, distance: f64, error: f64) -> f64 {
        let distance = distance.abs();
        if self.others <= self.far || distance.is_nan() {
            return 1.0;
        }
        let own = self.farthest.iter().position(|&it| it == distance);
        let others = self.farthest.iter().enumerate().filter(|(at, _)| Some(*at) != own).map(|(_, &it)| it);
        let others: Vec<f64> = others.take(self.far + 1).collect();
        let begins = others.last().copied().unwrap_or_default();
        let beyond = (distance / begins.hypot(FAR * error)).ln();
        let sum: f64 = others.iter().map(|it| (it / begins).ln()).sum();
        if !(beyond > 0.0 && sum > 0.0) {
            return 1.0;
        }
        // A value is beyond the far ones of the others with this chance; then beyond its distance with the next.
        let share = (self.far + 1) as f64 / (self.others + 1) as f64;
        share * (1.0 + beyond / sum).powf(-(self.far as f64))
    }
}

/// Qn of sorted values: of the distances of their pairs, the one whose rank is the number of pairs among half of the values.
fn of_pairs(sorted: &[f64]) -> f64 {
    let count = sorted.len();
    if count < 2 || !(sorted[count - 1] - sorted[0]).is_finite() {
        return 0.0;
    }
    let half = count / 2 + 1;
    let rank = half * (half - 1) / 2;
    // Pairs that lie no farther apart than this.
    let within = |distance: f64| -> usize {
        let mut from = 0;
        let of = sorted.iter().enumerate().map(|(at, value)| {
            while value - sorted[from] > distance {
                from += 1;
            }
            at - from
        });
        of.sum()
    };
    // Numbers from 0 on have the order of their bits: each step halves what is left, and ends at the distance itself.
    let (mut low, mut high) = (0, (sorted[count - 1] - sorted[0]).to_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if within(f64::from_bits(middle)) >= rank { high = middle } else { low = middle + 1 }
    }
    let few = OF_FEW.get(count - 2).copied();
    let share = few.unwrap_or_else(|| count as f64 / (count as f64 + OF_MANY[count % 2]));
    f64::from_bits(low) * OF_PAIRS * share
}

/// The median; sorts the values.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

/// Of each of these chances the smallest rate of false discoveries at which it is a discovery: what Benjamini and Hochberg's
/// procedure adjusts it to. Whoever takes all up to a rate expects at most that share of them to be false.
#[must_use]
pub fn rates(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_unstable_by(|&a, &b| chances[b].total_cmp(&chances[a]));
    let mut rates = vec![1.0; chances.len()];
    let mut least = 1.0_f64;
    for (rank, at) in (1..=chances.len()).rev().zip(order) {
        // What is no number is no discovery.
        let rate = chances[at] * chances.len() as f64 / rank as f64;
        if rate.is_finite() {
            least = least.min(rate);
        }
        rates[at] = if chances[at].is_nan() { 1.0 } else { least };
    }
    rates
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::Rng;

    use super::*;
    use crate::order::seeded;

    /// Normal values, by Box and Muller.
    fn normal(count: usize, seed: u64) -> Vec<f64> {
        let mut generator = seeded(seed, 77);
        let mut even = || (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..count)
            .map(|_| (-2.0 * (1.0 - even()).ln()).sqrt() * (std::f64::consts::TAU * even()).cos())
            .collect()
    }

    #[test]
    fn a_bulk_moves_and_stretches_with_its_values() {
        let values = normal(101, 1);
        let bulk = Bulk::of(values.iter().copied()).unwrap();
        let moved = Bulk::of(values.iter().map(|value| value * -3.0 + 10.0)).unwrap();
        assert!((moved.centre - (bulk.centre * -3.0 + 10.0)).abs() < 1e-12);
        assert!((moved.scale - bulk.scale * 3.0).abs() < 1e-12);
        let mut reversed = values.clone();
        reversed.reverse();
        assert_eq!(Bulk::of(reversed), Some(bulk));
        assert_eq!(Bulk::of([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Bulk::of([f64::NAN, 4.0]).map(|it| (it.centre, it.scale, it.count)), Some((4.0, 0.0, 1)));
    }

    #[test]
    fn just_under_half_of_the_values_may_be_anything() {
        for wild in [1e9, -1e9, f64::MAX / 4.0] {
            let mut values = normal(101, 2);
            values[..50].fill(wild);
            let bulk = Bulk::of(values.iter().copied()).unwrap();
            assert!(bulk.centre.abs() < 4.0 && bulk.scale < 10.0, "{bulk:?}");
        }
    }

    /// The scale of normal values is their standard deviation: 400 estimates of 1001 values each have a mean within four of their
    /// errors, sqrt(1 / (2 * 0.37 * 1001) / 400) = 0.0018. The larger of two, with errors of 0.037 and 0.025, lies above it by at
    /// most sqrt((0.037 * 0.037 + 0.025 * 0.025) / tau) = 0.0178.
    #[test]
    fn the_scale_of_normal_values_is_their_deviation() {
        let mean: f64 = (0..400).map(|seed| Bulk::of(normal(1001, seed)).unwrap().scale).sum::<f64>() / 400.0;
        assert!(mean > 1.0 - 4.0 * 0.0018 && mean < 1.0178 + 4.0 * 0.0018, "{mean}");
    }

    /// A rank among all pairs, found one by one; and half of the normal scale belongs to half of the values.
    #[test]
    fn the_scale_of_pairs_is_the_distance_of_a_pair() {
        for count in [2, 3, 8, 9, 10, 33, 60] {
            let mut values = normal(count, 31);
            values.sort_unstable_by(f64::total_cmp);
            let mut pairs: Vec<f64> = Vec::new();
            for (at, one) in values.iter().enumerate() {
                pairs.extend(values[..at].iter().map(|other| one - other));
            }
            pairs.sort_unstable_by(f64::total_cmp);
            let half = count / 2 + 1;
            let expected = pairs[half * (half - 1) / 2 - 1];
            let found = of_pairs(&values) / of_pairs_factor(count);
            assert!((found / expected - 1.0).abs() < 1e-12, "{count}: {found} {expected}");
        }
        assert_eq!([of_pairs(&[1.0]), of_pairs(&[f64::NEG_INFINITY, 1.0, 2.0])], [0.0; 2]);
        assert_eq!(of_pairs(&[1.0, 1.0, 1.0, 9.0]), 0.0);
    }

    /// Of samples of these counts the mean scale of pairs is the deviation, within four errors of a mean of 4000, and 1 %.
    #[test]
    fn the_scale_of_few_pairs_is_right_on_average() {
        for count in [8, 9, 20, 21, 50] {
            let of = |seed| {
                let mut values = normal(count, seed);
                values.sort_unstable_by(f64::total_cmp);
                of_pairs(&values)
            };
            let mean = (0..4000).map(of).sum::<f64>() / 4000.0;
            assert!((mean - 1.0).abs() < 0.01 + 4.0 * 0.35 / 4000.0_f64.sqrt(), "{count}: {mean}");
        }
    }

    fn of_pairs_factor(count: usize) -> f64 {
        let few = OF_FEW.get(count - 2).copied();
        OF_PAIRS * few.unwrap_or_else(|| count as f64 / (count as f64 + OF_MANY[count % 2]))
    }

    #[test]
    fn a_value_at_its_reach_has_that_chance() {
        let bulk = Bulk::of(normal(30, 4)).unwrap();
        for chance in [0.3, 1e-3, 1e-6] {
            let found = bulk.chance(bulk.centre - bulk.reach(chance), 0.0);
            assert!((found / chance - 1.0).abs() < 1e-6, "{chance}: {found}");
        }
        assert_eq!(Bulk::of([1.0, 2.0]).unwrap().reach(0.01), f64::INFINITY);
        assert_eq!([0.0, 1.0].map(|chance| bulk.reach(chance)), [f64::INFINITY; 2]);
        let three = Bulk::of([1.0, 2.0, 3.0]).unwrap();
        assert!(three.reach(0.3).is_finite() && three.chance(9.0, 0.0) < 0.5, "three have a scale");
        assert_eq!(three.freedom(), 2.0 * EFFICIENCY);
    }

    /// Nearly half of the values are odd, and equal: their distances are nothing, and the others have their scale all the same.
    #[test]
    fn equal_odd_values_do_not_hide_the_scale() {
        let mut values = normal(101, 3);
        values[..49].fill(5.0);
        let bulk = Bulk::of(values.iter().copied()).unwrap();
        assert!(values[49..].iter().all(|&value| bulk.chance(value, 0.0) > 1e-3), "{bulk:?}");
        assert_eq!(Bulk::of([0.0, 0.0, 0.0, 2.0, 5.0, 5.0, 5.0]).unwrap().scale, 2.0 / OF_NORMAL);
    }

    /// Of one more value of the same kind, a share p has a chance of at most p: with many values closely, with few not more
    /// than double.
    #[test]
    fn a_chance_is_a_chance() {
        for (count, most) in [(8, 2.0), (30, 1.5), (1000, 1.3)] {
            let draws = if count > 100 { 40 } else { 400 };
            let mut chances = Vec::new();
            for seed in 0..draws {
                let values = normal(count, 1000 + seed);
                let bulk = Bulk::of(values.iter().copied()).unwrap();
                chances.extend(values.iter().map(|&value| bulk.chance(value, 0.0)));
            }
            for p in [0.05, 0.01, 0.001] {
                let found = chances.iter().filter(|&&chance| chance <= p).count() as f64;
                let expected = p * chances.len() as f64;
                // Four errors of a count on top.
                let limit = most * expected + 4.0 * expected.sqrt();
                assert!(found <= limit, "{count} values, {p}: {found} of {expected}");
            }
        }
    }

    /// Even numbers above 0 and up to 1.
    fn even(count: usize, seed: u64) -> impl Iterator<Item = f64> {
        let mut generator = seeded(seed, 78);
        (0..count).map(move |_| 1.0 - (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// A power of an even number has the tail that is assumed: chances are chances, up to four errors of a count. Those of a
    /// lighter tail are rarer.
    #[test]
    fn a_chance_in_a_tail_is_a_chance() {
        for count in [12, 60, 300] {
            let draws = 60_000 / count;
            let mut chances = [Vec::new(), Vec::new()];
            for seed in 0..draws as u64 {
                let heavy: Vec<f64> = even(count, seed).map(|it| it.powf(-0.7)).collect();
                for (values, chances) in [heavy, normal(count, seed)].iter().zip(&mut chances) {
                    let tail = Tail::of(values.iter().copied());
                    chances.extend(values.iter().map(|&value| tail.chance(value, 0.0)));
                }
            }
            for p in [0.02, 0.002] {
                let [heavy, light] =
                    [0, 1].map(|at| chances[at].iter().filter(|&&it| it <= p).count() as f64);
                let expected = p * chances[0].len() as f64;
                let error = 4.0 * expected.sqrt();
                assert!(heavy <= expected + error, "{count}, {p}: {heavy} of {expected}");
                assert!(light <= expected + error, "{count}, {p}: {light} of {expected}");
            }
        }
    }

    #[test]
    fn a_tail_tells_what_is_far_beyond_the_others() {
        let mut values = normal(300, 9);
        values[17] = 40.0;
        let tail = Tail::of(values.iter().copied());
        assert!(tail.chance(40.0, 0.0) < 1e-4 && tail.chance(-40.0, 0.0) < 1e-4);
        assert!(
            tail.chance(40.0, 0.0) < tail.chance(40.0, 3.0)
                && tail.chance(40.0, 0.0) < tail.chance(20.0, 0.0)
        );
        assert_eq!(tail.chance(0.5, 0.0), 1.0);
        // One in twenty is as far out: that is how these values are.
        values.iter_mut().step_by(20).for_each(|value| *value = 40.0);
        assert!(Tail::of(values.iter().copied()).chance(40.0, 0.0) > 0.01);
        for few in [&[][..], &[1.0, 2.0, 100.0], &[0.0; 50], &[3.0; 50]] {
            assert_eq!(Tail::of(few.iter().copied()).chance(100.0, 0.0), 1.0, "{few:?}");
        }
        assert_eq!(tail.chance(f64::NAN, 0.0), 1.0);
    }

    #[test]
    fn nothing_is_odd_where_nothing_is_known() {
        let bulk = |values: &[f64]| Bulk::of(values.iter().copied()).unwrap();
        assert_eq!(bulk(&[1.0, 2.0]).chance(100.0, 0.0), 1.0, "two have no bulk");
        assert_eq!(bulk(&[1.0, 1.0, 1.0, 9.0]).chance(9.0, 0.0), 1.0, "equal values have no scale");
        assert!(bulk(&[1.0, 1.0, 1.0, 1.0, 9.0]).chance(9.0, 1e-3) < 0.01, "but the error is one");
        let some = bulk(&normal(50, 5));
        assert_eq!(some.chance(f64::NAN, 0.0), 1.0);
        assert!(
            some.chance(3.0, 0.0) < some.chance(3.0, 1.0) && some.chance(3.0, 0.0) < some.chance(2.0, 0.0)
        );
        assert!((some.chance(some.centre, 0.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rates_are_those_of_benjamini_and_hochberg() {
        // Their own example: 15 chances, of which four are discoveries at 5 %.
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.000,
        ];
        let found = rates(&chances);
        assert_eq!(found.iter().filter(|&&rate| rate <= 0.05).count(), 4);
        assert!((found[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1]) && found[14] <= 1.0);
        let mut shuffled = chances;
        shuffled.reverse();
        let mut of_shuffled = rates(&shuffled);
        of_shuffled.reverse();
        assert_eq!(of_shuffled, found);
        assert_eq!(rates(&[]), Vec::<f64>::new());
        assert_eq!(rates(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(rates(&[f64::NAN, 0.9]), [1.0, 1.0]);
    }

    /// The share of false discoveries, over 200 draws of 1000 tests of which 20 are true: 5 % at most, and four errors of a mean
    /// of 200 shares that scatter by no more than 0.1.
    #[test]
    fn few_discoveries_are_false() {
        let (mut shares, mut missed) = (0.0, 0);
        for seed in 0..200 {
            let mut values = normal(1000, 5000 + seed);
            values[..20].iter_mut().for_each(|value| *value += 6.0);
            let bulk = Bulk::of(values.iter().copied()).unwrap();
            let chances: Vec<f64> = values.iter().map(|&value| bulk.chance(value, 0.0)).collect();
            let rates = rates(&chances);
            let named = rates.iter().filter(|&&rate| rate <= 0.05).count();
            let right = rates[..20].iter().filter(|&&rate| rate <= 0.05).count();
            shares += (named - right) as f64 / named.max(1) as f64;
            missed += 20 - right;
        }
        assert!(shares / 200.0 <= 0.05 + 4.0 * 0.1 / 200.0_f64.sqrt(), "{}", shares / 200.0);
        assert!(missed < 200, "{missed} of 4000");
    }

    /// Distances of 1.00 and so on in steps of 0.01: a far one is a few per cent beyond the others, and the next is a little
    /// more than any. So many are far: five, or a tenth of the others.
    #[test]
    fn a_tail_of_values_that_differ_little_tells_a_little() {
        for (count, far) in [(40, 5), (109, 10), (110, 11)] {
            let value = |step: i32| 1.0 + f64::from(step) / 100.0;
            let chance = Tail::of((0..=count).map(value)).chance(value(count), 0.1);
            let begins = value(count - far - 1);
            let sum: f64 = (count - far..count).map(|step| (value(step) / begins).ln()).sum();
            let share = f64::from(far + 1) / f64::from(count + 1);
            let expected = share * (1.0 + (value(count) / begins.hypot(0.1645)).ln() / sum).powi(-far);
            assert!((chance / expected - 1.0).abs() < 1e-9, "{count}: {chance} for {expected}");
        }
    }
}
