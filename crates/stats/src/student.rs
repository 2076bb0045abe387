//! Student's t: how far an estimate may be from the truth if its error is estimated too.

use std::f64::consts::TAU;

/// Terms of the continued fraction before it is taken as it is; 40 do for every t that is looked at.
const MOST_TERMS: u32 = 500;

/// Probability that t with `freedom` degrees of freedom exceeds `t`.
///
/// `freedom` need not be whole; where there is none, every t is as likely as any other. A `t` that is no number is never
/// beyond anything.
pub(crate) fn beyond(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if freedom <= 0.0 {
        return 0.5;
    }
    if freedom.is_infinite() {
        // No printed digit of a t differs from here on.
        return beyond(t, 1e9);
    }
    if t.is_infinite() {
        return if t.is_sign_positive() { 0.0 } else { 1.0 };
    }
    let tail = beta_share(freedom / 2.0, 0.5, freedom / (freedom + t * t)) / 2.0;
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// The t that is exceeded with probability `outside`, below one half.
pub(crate) fn exceeded_by(outside: f64, freedom: f64) -> f64 {
    if freedom <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, freedom) > outside {
        high += high;
    }
    // Each step halves the bracket: 60 of them leave less than the rounding of its ends.
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if beyond(middle, freedom) > outside { low = middle } else { high = middle }
    }
    high
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (NIST, Digital Library of Mathematical
/// Functions, 8.17.22), evaluated from the front (Lentz).
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    // On this side it converges fast.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(b, a, 1.0 - x);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let apart = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let (mut numerator, mut denominator) = (1.0, 1.0 / apart(1.0 - (a + b) * x / (a + 1.0)));
    let mut sum = denominator;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut grown = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / apart(1.0 + coefficient * denominator);
            numerator = apart(1.0 + coefficient / numerator);
            grown = denominator * numerator;
            sum *= grown;
        }
        if (grown - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front.exp() * sum / a
}

/// Logarithm of the gamma function of a positive number: Stirling's series from 10 on, reached by its recurrence.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_printed_tables() {
        // Quantiles as printed in tables of t, and for 1 and 2 degrees of freedom in closed form.
        for (outside, freedom, expected) in [
            (0.025, 1.0, 12.706_204_736),
            (0.025, 2.0, 4.302_652_73),
            (0.025, 9.0, 2.262_157_163),
            (0.025, 30.0, 2.042_272_456),
            (0.05, 5.0, 2.015_048_373),
            (0.005, 18.0, 2.878_440_473),
            (0.0005, 10.0, 4.586_893_859),
            (0.25, 1.0, 1.0),
            (0.4, 1.0, 0.324_919_696_2),
            (0.25, 2.0, 0.816_496_580_9),
            (0.025, 1e7, 1.959_964_2),
        ] {
            let found = exceeded_by(outside, freedom);
            assert!((found / expected - 1.0).abs() < 1e-7, "{outside} of {freedom}: {found} for {expected}");
            assert!((beyond(found, freedom) / outside - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn is_cauchy_with_one_degree_and_known_with_two() {
        for t in [-40.0, -1.0, -0.1, 0.0, 0.3, 2.0, 1e3, 1e8] {
            let cauchy = (1.0_f64).atan2(t) / std::f64::consts::PI;
            assert!((beyond(t, 1.0) - cauchy).abs() <= 1e-12 * cauchy.max(1e-9), "{t}");
            let two = 0.5 * (1.0 - t / (2.0 + t * t).sqrt());
            assert!((beyond(t, 2.0) - two).abs() < 1e-14, "{t}");
        }
    }

    #[test]
    fn is_symmetric_and_never_leaves_probability() {
        for freedom in [0.7, 1.5, 3.0, 17.3, 1e4] {
            let mut before = 1.0;
            for step in -200..=200_i32 {
                let t = f64::from(step) / 10.0;
                let here = beyond(t, freedom);
                assert!((0.0..=1.0).contains(&here) && here <= before, "{t}, {freedom}");
                assert!((here + beyond(-t, freedom) - 1.0).abs() < 1e-12);
                before = here;
            }
        }
        assert_eq!((beyond(f64::INFINITY, 3.0), beyond(f64::NEG_INFINITY, 3.0)), (0.0, 1.0));
        assert_eq!(beyond(f64::NAN, 3.0), 1.0);
        assert_eq!((beyond(1e9, 0.0), exceeded_by(0.025, 0.0)), (0.5, f64::INFINITY), "nothing is known");
        assert!((exceeded_by(0.025, f64::INFINITY) - 1.959_964).abs() < 1e-6);
        assert!(beyond(1e6, 30.0) < 1e-100);
    }
}
