//! A change between two figures: by how much B differs from A, the interval of that, and how likely it is by chance.

use crate::drift::Drift;
use crate::interval::{Centre, MEDIAN};
use crate::null::Null;
use crate::student;

/// Fewest boots a side that can tell a change from what every boot places elsewhere.
pub const FEWEST_BOOTS: usize = 3;

/// By how much B differs from A, and how well that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Logarithm of B / A.
    pub(super) logarithm: f64,
    pub(super) error: f64,
    pub(super) freedom: f64,
    /// What no launch can show, as a share: it is added at both ends of every interval.
    pub(super) grain: f64,
}

impl Change {
    /// Between two figures, from a value of each launch: of both the quantile `q` over launches. `grain` is what the clocks
    /// of both sides together cannot resolve, as a share; `drift` is that of each side's run.
    ///
    /// `None` where there is no ratio: no launches, or one that is not positive and finite.
    #[must_use]
    pub fn between(a: &[f64], b: &[f64], q: f64, grain: f64, drift: Drift) -> Option<Self> {
        let (a, b) = (Centre::of(a, q)?, Centre::of(b, q)?);
        if !a.relative || !b.relative {
            return None;
        }
        let (error, freedom) = drift.beside(&[(a.error, a.freedom), (b.error, b.freedom)], 2.0);
        Self::checked(b.value.ln() - a.value.ln(), error, freedom, grain)
    }

    /// From the ratio B / A of each round of alternating launches; of the rounds the median.
    ///
    /// `None` where there is no ratio, as for [`Change::between`].
    #[must_use]
    pub fn of_rounds(ratios: &[f64], grain: f64) -> Option<Self> {
        let centre = Centre::of(ratios, MEDIAN).filter(|centre| centre.relative)?;
        let (error, freedom) = Drift::NONE.beside(&[(centre.error, centre.freedom)], 1.0);
        Self::checked(centre.value.ln(), error, freedom, grain)
    }

    /// Between the boots of two sides, from a value of each boot. Boots are taken to scatter alike on both sides, which
    /// leaves an error its degrees of freedom where there are three of each.
    ///
    /// `None` where there is no ratio, and with fewer than [`FEWEST_BOOTS`] boots a side.
    #[must_use]
    pub fn between_boots(a: &[f64], b: &[f64], grain: f64) -> Option<Self> {
        let ratio = |value: &f64| *value > 0.0 && value.is_finite();
        if a.len().min(b.len()) < FEWEST_BOOTS || !a.iter().chain(b).all(ratio) {
            return None;
        }
        let mean = |side: &[f64]| side.iter().map(|value| value.ln()).sum::<f64>() / side.len() as f64;
        let (of_a, of_b) = (mean(a), mean(b));
        let around =
            |side: &[f64], mean: f64| side.iter().map(|value| (value.ln() - mean).powi(2)).sum::<f64>();
        let freedom = (a.len() + b.len() - 2) as f64;
        let variance = (around(a, of_a) + around(b, of_b)) / freedom;
        let error = (variance * (1.0 / a.len() as f64 + 1.0 / b.len() as f64)).sqrt();
        Self::checked(of_b - of_a, error, freedom, grain)
    }

    /// The same change where the null of its class says how much larger errors are than launches show.
    #[must_use]
    pub fn scaled(self, null: &Null) -> Self {
        Self { error: self.error * null.scale, freedom: self.freedom.min(null.freedom), ..self }
    }

    /// The same change of a figure of which both runs drift by as much more.
    #[must_use]
    pub fn drifting(self, drift: Drift) -> Self {
        let (error, freedom) = drift.beside(&[(self.error, self.freedom)], 2.0);
        Self { error, freedom, ..self }
    }

    /// Logarithm of B / A, and its standard error.
    #[must_use]
    pub fn moved(&self) -> (f64, f64) {
        (self.logarithm, self.error)
    }

    pub(super) fn checked(logarithm: f64, error: f64, freedom: f64, grain: f64) -> Option<Self> {
        let usable = logarithm.is_finite() && !error.is_nan() && !freedom.is_nan() && grain.is_finite();
        usable.then_some(Self { logarithm, error, freedom, grain: grain.max(0.0).ln_1p() })
    }

    /// B / A - 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.logarithm.exp_m1()
    }

    /// Lower and upper bound of B / A - 1, with the probability `outside` left out at each end.
    #[must_use]
    pub fn interval(&self, outside: f64) -> (f64, f64) {
        let spread =
            if self.error == 0.0 { 0.0 } else { self.error * student::exceeded_by(outside, self.freedom) };
        let half = spread + self.grain;
        ((self.logarithm - half).exp_m1(), (self.logarithm + half).exp_m1())
    }

    /// Probability of a change at least as large as this one where the true one is just the threshold, either way.
    pub(super) fn chance(&self, threshold: f64) -> f64 {
        let beyond = |distance: f64| -> f64 {
            if self.error == 0.0 {
                return if distance > 0.0 { 0.0 } else { 1.0 };
            }
            (2.0 * student::beyond(distance / self.error, self.freedom)).min(1.0)
        };
        let upper = beyond(self.logarithm - threshold.ln_1p() - self.grain);
        // Nothing gets smaller by more than all of it.
        let lower =
            if threshold < 1.0 { beyond((-threshold).ln_1p() - self.logarithm - self.grain) } else { 1.0 };
        upper.min(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_of_numbers() {
        let checked = Change::checked;
        assert!(checked(0.1, f64::INFINITY, 3.0, 0.01).is_some());
        assert_eq!(checked(f64::NAN, 0.1, 3.0, 0.01), None);
        assert_eq!(checked(f64::INFINITY, 0.1, 3.0, 0.01), None);
        assert_eq!(checked(0.1, f64::NAN, 3.0, 0.01), None);
        assert_eq!(checked(0.1, 0.1, f64::NAN, 0.01), None);
        assert_eq!(checked(0.1, 0.1, 3.0, f64::INFINITY), None);
    }

    #[test]
    fn what_has_no_error_is_certain() {
        let chance = |logarithm| Change::checked(logarithm, 0.0, 3.0, 0.0).map(|it| it.chance(0.1));
        assert_eq!((chance(0.05), chance(0.1), chance(-0.2)), (Some(1.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn both_runs_drift() {
        let error = |drift| Change::between(&[1.0; 8], &[1.1; 8], MEDIAN, 0.0, drift).map(|it| it.moved().1);
        assert_eq!(error(Drift::NONE), Some(0.0));
        assert!((error(Drift::usual(0.03)).unwrap_or_default() - 0.03 * 2.0_f64.sqrt()).abs() < 1e-12);
        let null = Null { scale: 2.0, shift: 0.0, freedom: 12.0 };
        let of = |freedom| Change { logarithm: 0.1, error: 0.2, freedom, grain: 0.0 };
        assert_eq!(
            [3.0, 20.0].map(|it| of(it).scaled(&null)),
            [3.0, 12.0].map(|it| Change { error: 0.4, ..of(it) })
        );
        let drifting = of(3.0).drifting(Drift::usual(0.1));
        assert!((drifting.error - 0.06_f64.sqrt()).abs() < 1e-12 && drifting.logarithm == 0.1);
    }
}
