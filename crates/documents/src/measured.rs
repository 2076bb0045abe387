//! What may be called measured: a number over several runs with its interval. One run has none, and makes none.

use oscost_results::{AnswerHere, Estimate};

/// Runs without which there is no interval.
const LEAST: usize = 2;

/// A number over several runs, or one that was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured(Estimate);

impl Measured {
    /// An estimate over so many runs; `None` over fewer than two: what ran once has a value, and no interval.
    pub(crate) fn over(estimate: Estimate, runs: usize) -> Option<Self> {
        let finite = [estimate.value, estimate.low, estimate.high].iter().all(|bound| bound.is_finite());
        (runs >= LEAST && finite).then_some(Self(estimate))
    }

    /// The median of these runs, with its interval.
    pub(crate) fn of_runs(values: &[f64]) -> Option<Self> {
        let it = oscost_stats::interval::over_launches(values, oscost_stats::interval::MEDIAN)?;
        let estimate = Estimate { value: it.value, low: it.low, high: it.high, extremes: it.extremes };
        Self::over(estimate, values.len())
    }

    /// What the kernel counted: exact, so nothing lies around it.
    pub(crate) fn counted(count: f64) -> Self {
        Self(Estimate { value: count, low: count, high: count, extremes: true })
    }

    /// The estimate.
    pub(crate) fn estimate(self) -> Estimate {
        self.0
    }

    /// The same in another unit, or by another rule that turns each number into one: where it turns them round, the ends of the
    /// interval change places.
    pub(crate) fn map(self, each: impl Fn(f64) -> f64) -> Self {
        let Estimate { value, low, high, extremes } = self.0;
        let (low, high) = (each(low), each(high));
        Self(Estimate { value: each(value), low: low.min(high), high: low.max(high), extremes })
    }

    /// How many times as much as another one, which was not measured in the same launches: the widest that both intervals allow.
    pub(crate) fn quotient(self, to: Self) -> Option<Self> {
        let (of, to) = (self.0, to.0);
        let ratio = Estimate {
            value: of.value / to.value,
            low: of.low / to.high,
            high: of.high / to.low,
            extremes: of.extremes || to.extremes,
        };
        (to.low > 0.0).then_some(Self(ratio))
    }

    /// The same as an answer.
    pub(crate) fn here(self) -> AnswerHere {
        AnswerHere::Measured { value: self.0.value, low: self.0.low, high: self.0.high }
    }
}

#[cfg(test)]
mod tests;
