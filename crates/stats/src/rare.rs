//! Bounds on how often a rare event happens, even if it was never seen.

/// Level of the bound.
pub const LEVEL: f64 = 0.95;
/// Quantile of the normal distribution at the level.
const Z: f64 = 1.644_853_626_951_472_7;
/// From so many events on the bound is computed by an approximation that is then good to one part in ten thousand.
const MANY: u64 = 100;

/// The largest mean number of events that is compatible with having seen `events`: its one-sided 95 % bound. Of a Poisson
/// distribution, which for events that are rare and independent is theirs; 2.996 where none was seen.
#[must_use]
pub fn at_most(events: u64) -> f64 {
    if events >= MANY {
        // Wilson and Hilferty: the cube root of a chi-square is nearly normal.
        let n = events as f64 + 1.0;
        return n * (1.0 - 1.0 / (9.0 * n) + Z / (3.0 * n.sqrt())).powi(3);
    }
    // The mean at which so few are seen in one case of twenty.
    let (mut low, mut high) = (0.0, 2.0 * events as f64 + 20.0);
    while high - low > 1e-9 * high {
        let middle = f64::midpoint(low, high);
        if so_few(events, middle) > 1.0 - LEVEL { low = middle } else { high = middle }
    }
    high
}

/// Probability of `events` or fewer where `mean` are expected.
fn so_few(events: u64, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut sum = term;
    for count in 1..=events {
        term *= mean / count as f64;
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the 0.95 quantile of chi-square with 2 (events + 1) degrees of freedom, from tables.
    #[test]
    fn bounds_are_those_of_the_tables() {
        for (events, expected) in
            [(0, 2.9957), (1, 4.7439), (2, 6.2958), (3, 7.7537), (10, 16.9622), (50, 63.2867)]
        {
            assert!((at_most(events) / expected - 1.0).abs() < 1e-4, "{events}: {}", at_most(events));
        }
        assert!((at_most(99) / at_most(100) - 99.0 / 100.0).abs() < 3e-3, "no jump where the way changes");
        assert!((at_most(100) / 118.078_513 - 1.0).abs() < 1e-7, "{}", at_most(100));
    }

    #[test]
    fn the_bound_holds_in_nineteen_of_twenty_cases() {
        for mean in [0.5, 3.0, 20.0, 60.0] {
            // Cases in which the bound lies below the truth.
            let mut missed = 0.0;
            for events in 0..200_u64 {
                if at_most(events) < mean {
                    missed = so_few(events, mean);
                }
            }
            assert!(missed <= 0.0501, "mean {mean}: missed in {missed}");
        }
    }
}
