//! Stored results against one another: what differs around them, and a verdict a figure. METHOD.md, Comparing.

mod figure;
mod json;
mod live;
mod markdown;
mod matrix;
mod surroundings;
mod text;

use oscost_results::{Estimate, RunResult};

pub use json::comparison_json;
pub use live::compare_live;
pub use markdown::comparison_markdown;
pub use matrix::{matrix, matrix_markdown};
pub use text::comparison;

use crate::Named;

/// B against A: everything that a reader needs to believe a change, or not to.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// Name of the older one, or of the base.
    pub a: &'a str,
    /// Name of the other one.
    pub b: &'a str,
    /// Facts of the machine that differ: with any, there is no ratio unless the user insists.
    pub machine: Vec<Differs>,
    /// Conditions that differ: what users change.
    pub conditions: Vec<Differs>,
    /// What a reader must know before the first figure.
    pub warnings: Vec<String>,
    /// Evidence that differs: it explains most changes.
    pub evidence: Vec<Evident>,
    /// Figures of both, the largest change first.
    pub rows: Vec<Row>,
    /// Figures of one side only, or withheld on a side.
    pub one_sided: Vec<OneSided>,
    /// Figures that were withheld on both sides.
    pub neither: Vec<OneSided>,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    /// Its name in words.
    pub what: &'static str,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
}

/// A count an operation that differs between two figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Evident {
    /// Id of the figure.
    pub id: String,
    /// What was counted ("system calls", "calls of futex").
    pub what: String,
    /// In A, per operation.
    pub a: f64,
    /// In B, per operation.
    pub b: f64,
}

/// A figure of both results.
#[derive(Debug, Clone)]
pub struct Row {
    /// Id of the figure.
    pub id: String,
    /// Unit of both estimates.
    pub unit: String,
    /// The headline in A.
    pub a: Estimate,
    /// The headline in B.
    pub b: Estimate,
    /// The judged change; `None` where a ratio makes no sense or is not given.
    pub change: Option<Shift>,
    /// What can be said.
    pub verdict: Verdict,
    /// Why nothing can be said, or how it was judged, in words; may be empty.
    pub why: String,
    /// Change of the typical cost, as a share; shown, never judged.
    pub typical: Option<f64>,
}

/// By how much B differs from A. All numbers are shares: 0.05 is + 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// B / A - 1.
    pub change: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// What the whole interval must exceed to be called a change.
    pub margin: f64,
}

/// What is said of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It costs more, by more than the margin.
    Slower,
    /// It costs less, by more than the margin.
    Faster,
    /// It costs the same, within the margin.
    Same,
    /// None of these.
    CannotTell,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// A figure that not both sides show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneSided {
    /// Id of the figure.
    pub id: String,
    /// What A has ("measured", "not there", "unsupported: why").
    pub a: String,
    /// What B has.
    pub b: String,
}

/// How to compare.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Judge although the machines differ.
    pub cross_machine: bool,
}

/// Compares B with A by METHOD.md's rule: a verdict needs an interval beyond the margin, and never rests on noise.
#[must_use]
pub fn compare<'a>(a: &Named<'a>, b: &Named<'a>, rules: Rules) -> Comparison<'a> {
    let machine = surroundings::machine(a.result, b.result);
    let speed = figure::speed(a.result, b.result);
    let judged = machine.is_empty() || rules.cross_machine;
    let mut comparison = Comparison {
        a: a.name,
        b: b.name,
        conditions: surroundings::conditions(a.result, b.result),
        warnings: surroundings::warnings(a.result, b.result, !machine.is_empty(), rules, speed),
        machine,
        evidence: Vec::new(),
        rows: Vec::new(),
        one_sided: Vec::new(),
        neither: Vec::new(),
    };
    let find = |result: &'a RunResult, id: &str| result.figures.iter().find(|figure| figure.id == id);
    for of_a in &a.result.figures {
        figure::compare(of_a, find(b.result, &of_a.id), (a.result, b.result), judged, &mut comparison);
    }
    for of_b in b.result.figures.iter().filter(|figure| find(a.result, &figure.id).is_none()) {
        comparison.one_sided.push(OneSided {
            id: of_b.id.clone(),
            a: "not there".to_owned(),
            b: figure::state(of_b),
        });
    }
    let size = |row: &Row| row.change.map_or(-1.0, |change| change.change.abs());
    comparison.rows.sort_by(|one, other| size(other).total_cmp(&size(one)));
    comparison
}

impl Comparison<'_> {
    /// Rows of one verdict.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    /// The figures of one side only, those together of which the same is told: ids, what A has, what B has.
    fn one_sided_alike(&self) -> Vec<(Vec<&str>, &str, &str)> {
        let mut groups: Vec<(Vec<&str>, &str, &str)> = Vec::new();
        for one in &self.one_sided {
            match groups.iter_mut().find(|(_, a, b)| *a == one.a && *b == one.b) {
                Some((ids, ..)) => ids.push(&one.id),
                None => groups.push((vec![&one.id], &one.a, &one.b)),
            }
        }
        groups
    }

    /// Whether a figure is slower by more than `share` with its whole interval.
    #[must_use]
    pub fn is_slower_by(&self, share: f64) -> bool {
        self.of(Verdict::Slower).filter_map(|row| row.change).any(|change| change.low > share)
    }
}

/// A share as a change in percent, with its sign.
fn percent(share: f64) -> String {
    let shown = format!("{:+.1} %", share * 100.0);
    // Less than is shown has no direction.
    if shown == "-0.0 %" { "+0.0 %".to_owned() } else { shown }
}
