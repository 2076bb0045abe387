//! The exact distribution of an estimate under resampling of launches, so that no interval needs a seed.
//!
//! A bootstrap draws L launches with replacement from the L measured ones, again and again. For an order statistic the
//! outcome of doing so for ever is known: how many of L draws fall among the i smallest launches is binomial (L, i/L).

/// Cells less likely than this are dropped: even 10^5 launches lose less than 10^-9 of the distribution.
const NEGLIGIBLE: f64 = 1e-20;

/// A discrete distribution: its values in ascending order, each with its probability.
pub(crate) struct Distribution {
    pub(crate) atoms: Vec<(f64, f64)>,
}

impl Distribution {
    /// Of the `rank`-th smallest of a resample (1-based), given the launches in ascending order.
    pub(crate) fn of_order_statistic(sorted: &[f64], rank: usize) -> Self {
        let count = sorted.len();
        let mut below = 0.0;
        let atoms = sorted.iter().zip(1..).map(|(&value, place)| {
            let up_to = at_least(count, rank, place as f64 / count as f64);
            let probability = up_to - below;
            below = up_to;
            (value, probability)
        });
        Self { atoms: atoms.collect() }
    }

    /// Of the conventional median of a resample, given the launches in ascending order.
    ///
    /// For an even number L = 2k the median is the mean of the order statistics k and k+1 of the resample. These fall on the
    /// launches i < j exactly when k draws are among the first i, one of them at least at i itself, and the other k are
    /// among the last L-j+1, one of them at least at j: C(L,k) (i^k - (i-1)^k) ((L-j+1)^k - (L-j)^k) / L^L. Both fall on i
    /// in what remains of the probability that the order statistic k falls there.
    pub(crate) fn of_median(sorted: &[f64]) -> Self {
        let count = sorted.len();
        if !count.is_multiple_of(2) {
            return Self::of_order_statistic(sorted, count.div_ceil(2));
        }
        let half = count / 2;
        let ways = (0..half).map(|i| ((count - i) as f64 / (half - i) as f64).ln()).sum::<f64>();
        // C(L,k) a^k b^k / L^L for a of the lower and b of the upper launches, in logarithms because L^L overflows.
        let exactly_half = |lower: usize, upper: usize| {
            if lower == 0 || upper == 0 {
                return 0.0;
            }
            let shares = (lower as f64 / count as f64).ln() + (upper as f64 / count as f64).ln();
            (ways + half as f64 * shares).exp()
        };
        let lower_middle = Self::of_order_statistic(sorted, half);
        let mut atoms = Vec::new();
        for (place, &(value, probability)) in (1..).zip(&lower_middle.atoms) {
            if probability < NEGLIGIBLE {
                continue;
            }
            let mut both = probability;
            for (other_place, &other) in (place + 1..).zip(&sorted[place..]) {
                let from = count - other_place + 1;
                let apart =
                    exactly_half(place, from) - exactly_half(place - 1, from) - exactly_half(place, from - 1)
                        + exactly_half(place - 1, from - 1);
                // It only falls from here on, as the upper order statistic moves away.
                if apart < NEGLIGIBLE {
                    break;
                }
                both -= apart;
                atoms.push((value + (other - value) / 2.0, apart));
            }
            atoms.push((value, both.max(0.0)));
        }
        atoms.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        Self { atoms }
    }

    /// Standard deviation: the standard error of what was estimated.
    pub(crate) fn standard_deviation(&self) -> f64 {
        // Differences from a value inside keep equal launches at exactly 0.
        let Some(&(origin, _)) = self.atoms.first() else { return 0.0 };
        let moment = |power: i32| -> f64 {
            self.atoms.iter().map(|(value, probability)| probability * (value - origin).powi(power)).sum()
        };
        let mean = moment(1);
        (moment(2) - mean * mean).max(0.0).sqrt()
    }
}

/// Probability that at least `rank` of `count` draws hit, when each does with probability `hit`.
fn at_least(count: usize, rank: usize, hit: f64) -> f64 {
    // The shorter tail is summed, outwards from `rank`, where terms shrink fast.
    let upwards = rank as f64 > count as f64 * hit;
    let start = if upwards { rank } else { rank - 1 };
    let ways: f64 = (0..start).map(|i| ((count - i) as f64 / (start - i) as f64).ln()).sum();
    let mut term = (ways + start as f64 * hit.ln() + (count - start) as f64 * (1.0 - hit).ln()).exp();
    let odds = hit / (1.0 - hit);
    let mut sum = 0.0;
    let mut hits = start;
    loop {
        sum += term;
        if upwards {
            if hits == count || term < NEGLIGIBLE {
                return sum;
            }
            term *= (count - hits) as f64 / (hits + 1) as f64 * odds;
            hits += 1;
        } else {
            if hits == 0 || term < NEGLIGIBLE {
                return 1.0 - sum;
            }
            term *= hits as f64 / (count - hits + 1) as f64 / odds;
            hits -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{order, quantile};

    /// Probability of each estimate over all L^L resamples, counted one by one.
    fn by_enumeration(launches: &[f64], estimate: impl Fn(&[f64]) -> f64) -> Vec<(f64, f64)> {
        let count = launches.len();
        let all = count.pow(count as u32);
        let mut estimates: Vec<f64> = (0..all)
            .map(|code| {
                let mut rest = code;
                let draw = |_| {
                    let launch = launches[rest % count];
                    rest /= count;
                    launch
                };
                estimate(&quantile::sorted((0..count).map(draw).collect()))
            })
            .collect();
        estimates.sort_unstable_by(f64::total_cmp);
        estimates.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64 / all as f64)).collect()
    }

    /// The same with equal values of a computed distribution put together.
    fn merged(distribution: &Distribution) -> Vec<(f64, f64)> {
        let groups = distribution.atoms.chunk_by(|a, b| a.0 == b.0);
        let sums =
            groups.map(|same| (same[0].0, same.iter().map(|(_, probability)| probability).sum::<f64>()));
        sums.filter(|(_, probability)| *probability > 1e-12).collect()
    }

    #[track_caller]
    fn assert_equal(computed: &[(f64, f64)], enumerated: &[(f64, f64)]) {
        assert_eq!(computed.len(), enumerated.len(), "{computed:?}\n{enumerated:?}");
        for (a, b) in computed.iter().zip(enumerated) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-12, "{a:?} for {b:?}");
        }
    }

    /// Launches without ties, and with some; no two means of two of them are equal by chance in the first.
    const LAUNCHES: [[f64; 7]; 2] =
        [[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], [3.0, 3.0, 3.0, 5.0, 5.0, 9.0, 9.0]];

    #[test]
    fn order_statistics_equal_the_enumeration_of_all_resamples() {
        for launches in LAUNCHES {
            for count in 1..=7 {
                for rank in 1..=count {
                    let computed = merged(&Distribution::of_order_statistic(&launches[..count], rank));
                    assert_equal(
                        &computed,
                        &by_enumeration(&launches[..count], |resample| resample[rank - 1]),
                    );
                }
            }
        }
    }

    #[test]
    fn medians_equal_the_enumeration_of_all_resamples() {
        for launches in LAUNCHES {
            for count in 1..=7 {
                let computed = merged(&Distribution::of_median(&launches[..count]));
                let median = |resample: &[f64]| quantile::median(resample).unwrap();
                assert_equal(&computed, &by_enumeration(&launches[..count], median));
            }
        }
    }

    #[test]
    fn ten_launches_agree_with_a_million_resamples() {
        let launches = [5.0, 5.1, 5.3, 5.35, 5.6, 5.61, 5.9, 6.4, 7.0, 9.0];
        let draws = 1_000_000;
        let mut generator = order::seeded(10, 0);
        let (mut floors, mut medians) = (Vec::with_capacity(draws), Vec::with_capacity(draws));
        for _ in 0..draws {
            let mut places = [0; 10];
            places.fill_with(|| order::below(10, &mut generator) as usize);
            places.sort_unstable();
            floors.push(launches[places[2]]);
            medians.push(quantile::median(&places.map(|place| launches[place])).unwrap());
        }
        for (distribution, drawn) in [
            (Distribution::of_order_statistic(&launches, 3), quantile::sorted(floors)),
            (Distribution::of_median(&launches), quantile::sorted(medians)),
        ] {
            for (value, expected) in merged(&distribution) {
                let found = drawn.partition_point(|&other| other <= value)
                    - drawn.partition_point(|&other| other < value);
                let found = found as f64 / draws as f64;
                let deviation = (expected * (1.0 - expected) / draws as f64).sqrt();
                assert!((found - expected).abs() < 5.0 * deviation + 1e-9, "{value}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn many_launches_lose_nothing() {
        for count in [100, 1000, 1001, 20_000] {
            let launches: Vec<f64> = (0..count).map(f64::from).collect();
            for distribution in [
                Distribution::of_order_statistic(&launches, count as usize / 4),
                Distribution::of_median(&launches),
            ] {
                let sum: f64 = distribution.atoms.iter().map(|(_, probability)| probability).sum();
                assert!((sum - 1.0).abs() < 1e-8, "{count} launches: {sum}");
                assert!(distribution.atoms.iter().all(|(_, probability)| *probability > -1e-12));
            }
        }
    }

    #[test]
    fn the_error_is_that_of_all_resamples() {
        for launches in LAUNCHES {
            for count in 1..=7 {
                let of = |distribution: Distribution, estimate: &dyn Fn(&[f64]) -> f64| {
                    let all = by_enumeration(&launches[..count], estimate);
                    let mean: f64 = all.iter().map(|(value, probability)| value * probability).sum();
                    let variance: f64 =
                        all.iter().map(|(value, probability)| probability * (value - mean).powi(2)).sum();
                    assert!((distribution.standard_deviation() - variance.sqrt()).abs() < 1e-7);
                };
                of(Distribution::of_median(&launches[..count]), &|all| quantile::median(all).unwrap());
                of(Distribution::of_order_statistic(&launches[..count], 1), &|all| all[0]);
            }
        }
        // Exactly nothing, however large the value.
        assert_eq!(Distribution::of_median(&[1e17 / 3.0; 10]).standard_deviation(), 0.0);
    }
}
