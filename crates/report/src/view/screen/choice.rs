//! Chooses the figures of a screen, and their order.

use oscost_results::{Estimate, Figure, RunResult, Status};
use oscost_stats::sorting::SmallSort;

use crate::view::story::headline;
use crate::words::distinct;

/// Most rows of a run that nobody asked for by name.
const ROWS: usize = 40;
/// Most families of such a run: each has a heading.
const FAMILIES: usize = 7;

/// Which rows are shown, in which order, and how much of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowChoice {
    /// Every row, whatever it takes.
    pub all: bool,
    /// Everything that is noteworthy, below each row.
    pub verbose: bool,
    /// Without one: by family, as they were measured.
    pub order: Option<RowOrder>,
}

/// An order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// By id.
    Name,
    /// The dearest first.
    Price,
    /// The widest interval first.
    Interval,
}

impl RowOrder {
    /// What a heading says.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Price => "price, the dearest first",
            Self::Interval => "width of the interval, the widest first",
        }
    }
}

/// What is quoted, where it is a number that can be.
pub(super) fn quoted(figure: &Figure) -> Option<Estimate> {
    let estimate = figure.quantities.get(headline(figure))?.estimate;
    (figure.status == Status::Measured && estimate.value.is_finite()).then_some(estimate)
}

impl RowChoice {
    /// Whether families may show more than their rows: a user who named a family wants to see that.
    pub(super) fn views(self, result: &RunResult) -> bool {
        self.all || !result.plan.patterns.is_empty() || result.figures.len() <= ROWS
    }

    /// The rows of `told` that are shown, in the order in which they are.
    pub(super) fn rows<'r>(self, result: &RunResult, told: &[&'r Figure]) -> Vec<&'r Figure> {
        let mut rows =
            if self.all || !result.plan.patterns.is_empty() { told.to_vec() } else { most_asked(told) };
        let number = |figure: &Figure, of: fn(Estimate) -> f64| quoted(figure).map_or(f64::NEG_INFINITY, of);
        match self.order {
            None => {}
            Some(RowOrder::Name) => rows.small_sort_by(|one, other| one.id.cmp(&other.id)),
            Some(order) => {
                let of: fn(Estimate) -> f64 = match order {
                    RowOrder::Interval => |it| (it.high - it.low) / it.value.abs(),
                    _ => |it| it.value,
                };
                rows.small_sort_by(|one, other| number(other, of).total_cmp(&number(one, of)));
            }
        }
        rows
    }
}

/// What people ask for first: of the first families what was counted to be otherwise, then the plainest ids, as many of
/// each as there is room for, in the order in which they were measured.
fn most_asked<'r>(told: &[&'r Figure]) -> Vec<&'r Figure> {
    let families = distinct(told.iter().map(|figure| &figure.family));
    if told.len() <= ROWS && families.len() <= FAMILIES {
        return told.to_vec();
    }
    let families = &families[..families.len().min(FAMILIES)];
    let told: Vec<&Figure> =
        told.iter().filter(|figure| families.contains(&&figure.family)).copied().collect();
    let rank = |(position, figure): &(usize, &Figure)| {
        let in_family = told[..*position].iter().filter(|other| other.family == figure.family).count();
        let depth = figure.id.matches('/').count();
        (figure.status != Status::Contradicted, figure.status == Status::Unsupported, depth, in_family)
    };
    let mut ranked: Vec<(usize, &Figure)> = told.iter().copied().enumerate().collect();
    ranked.small_sort_by_key(rank);
    let mut kept: Vec<usize> = ranked.into_iter().take(ROWS).map(|(position, _)| position).collect();
    kept.sort_unstable();
    kept.into_iter().map(|position| told[position]).collect()
}
