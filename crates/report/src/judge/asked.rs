//! What is asked about a row of a comparison, before it is pronounced upon.

use oscost_results::Figure;
use oscost_stats::compare::Change;
use oscost_stats::drift::Drift;

use super::core_speed::Beside;
use super::{Compared, Verdict};

/// A row to be, and what is asked about it.
pub(super) struct Asked {
    pub row: Compared,
    pub question: Question,
    /// Which figures move like it; pairs have none, nor has what is not of two results.
    pub kin: Option<Kin>,
}

/// What is asked about a row.
pub(super) enum Question {
    /// Nothing any more: the row says what there is to say.
    Answered,
    /// Whether this change is one.
    Open {
        change: Change,
        /// The same change in another unit, where the core ran at another speed.
        beside: Option<Beside>,
        /// Why it cannot be called slower or faster, whatever the numbers.
        hold: Option<String>,
        /// A neighbour shared the core on one side alone.
        neighbour: Option<Neighbour>,
    },
}

/// A neighbour on the core's other thread, on one side alone. It can make that side slower, never faster: one verdict stands.
pub(super) struct Neighbour {
    pub stands: Verdict,
    pub why: String,
}

/// What a figure has in common with those that move alike when nothing changed.
pub(super) struct Kin {
    pub class: Class,
    /// How often it enters the kernel, where its calls were counted.
    pub calls: Option<f64>,
    /// The geometric mean of both floors, ns.
    pub price: f64,
    /// What past runs show of it beside the null of its class.
    pub own: Drift,
}

/// The class of figures whose participants are all on one CPU.
const ONE_CPU: &str = "one_cpu";

/// Figures that move alike when nothing changed: those of a placement, and both that stay on one CPU are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class(String);

impl Class {
    /// The class of a figure.
    pub(super) fn of(figure: &Figure) -> Self {
        Self::of_placement(&figure.placement)
    }

    /// The class of a placement.
    pub(super) fn of_placement(placement: &str) -> Self {
        Self(if placement == "same_cpu" { ONE_CPU } else { placement }.to_owned())
    }

    /// The class of figures that stay on one CPU.
    pub(super) fn one_cpu() -> Self {
        Self(ONE_CPU.to_owned())
    }

    /// Whether all participants stay on one CPU.
    pub(super) fn is_one_cpu(&self) -> bool {
        self.0 == ONE_CPU
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_on_one_cpu_is_of_one_class() {
        let [one, same, cross, spread] =
            ["one_cpu", "same_cpu", "cross_cpu", "spread"].map(Class::of_placement);
        assert!(one == same && one == Class::one_cpu() && one.is_one_cpu());
        assert!(!cross.is_one_cpu() && cross != one && cross != spread);
    }
}
