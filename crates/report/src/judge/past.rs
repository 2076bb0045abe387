//! Learns the drift of a machine: from past runs of the store, and from the compared runs themselves.

use std::collections::BTreeMap;

use oscost_results::{Figure, Mark, PairedValue, RunResult, Status};
use oscost_stats::drift::{Drift, DriftFound, Moved, usual};
use oscost_stats::interval::{Centre, MEDIAN};
use oscost_stats::quantile::{median, sorted};

use super::figure::{launches, quantile_of};
use super::paired::find;
use super::surroundings;
use crate::named::Named;

/// Placement under which drift of pairs is looked up.
const PAIR: &str = "paired";
/// Differences around two results that make another machine's drift of it: none of these does.
const HARMLESS: [&str; 7] =
    ["kernel", "kernel version", "command line", "mitigations", "boot", "oscost", "build"];

/// Runs that are good to learn from, in cells of one set of surroundings each, oldest first.
pub(super) struct Learning<'a> {
    cells: Vec<Vec<&'a RunResult>>,
    /// The compared results, where each side has one.
    compared: Option<(&'a RunResult, &'a RunResult)>,
    /// What is usual here for a placement and a quantity, and whether figures were disturbed.
    usual: BTreeMap<(String, String, bool), Drift>,
}

impl<'a> Learning<'a> {
    /// Sorts out which past runs say something of the machine of `a` and `b`: those made there, under conditions like
    /// theirs, and not the compared ones themselves.
    pub(super) fn new(past: &'a [RunResult], a: &[Named<'a>], b: &[Named<'a>]) -> Self {
        let compared = || a.iter().chain(b).map(|named| named.result);
        let same = |one: &RunResult, other: &RunResult| {
            (&one.started, one.plan.seed) == (&other.started, other.plan.seed)
        };
        let fit = |run: &&RunResult| {
            run.estimators != 1
                && !compared().any(|result| same(run, result))
                && compared().any(|result| surroundings::alike(run, result, &HARMLESS))
        };
        let mut cells: Vec<Vec<&RunResult>> = Vec::new();
        for run in past.iter().filter(fit) {
            let alike = |cell: &&mut Vec<&RunResult>| {
                cell.first()
                    .is_some_and(|first| surroundings::alike(first, run, &[]) && first.note == run.note)
            };
            match cells.iter_mut().find(alike) {
                Some(cell) => cell.push(run),
                None => cells.push(vec![run]),
            }
        }
        cells.retain(|cell| cell.len() > 1);
        let compared = match (a, b) {
            ([a], [b]) => Some((a.result, b.result)),
            _ => None,
        };
        Self { cells, compared, usual: BTreeMap::new() }
    }

    /// The drift of a quantity of a figure: what is usual for such figures on such a machine, on this one where past runs
    /// show it, and of this figure as far as they do.
    ///
    /// `figures` are all those that are compared, of one id: where one of them was disturbed, they move as disturbed ones do.
    pub(super) fn drift(&mut self, figures: &[&Figure], quantity: &str) -> Drift {
        let Some(figure) = figures.first() else { return Drift::NONE };
        let disturbed = figures.iter().any(|figure| is_disturbed(figure));
        let alike = |other: &Figure| other.placement == figure.placement;
        let found = |result: &RunResult, id: &str| {
            let of = |other: &&Figure| {
                other.id == *id && other.status == Status::Measured && is_disturbed(other) == disturbed
            };
            let other = result.figures.iter().find(of)?;
            let values = launches(&[other], quantity).pop()?;
            Some((other.revision, located(&values, quantile_of(quantity))?))
        };
        let ids = |result: &'a RunResult| -> Vec<&'a str> {
            result.figures.iter().filter(|other| alike(other)).map(|other| other.id.as_str()).collect()
        };
        let key = (figure.placement.clone(), quantity.to_owned(), disturbed);
        let moved =
            if self.usual.contains_key(&key) { vec![] } else { self.moved(&alike, quantity, disturbed) };
        self.learn(key, &figure.id, figure.revision, &moved, ids, found)
    }

    /// By how much the figures of a class differ between the compared results.
    fn moved(&self, alike: &impl Fn(&Figure) -> bool, quantity: &str, disturbed: bool) -> Vec<Moved> {
        let Some((a, b)) = self.compared else { return vec![] };
        let of = |figure: &Figure| {
            let found =
                |figure: &Figure| located(&launches(&[figure], quantity).pop()?, quantile_of(quantity));
            let other =
                b.figures.iter().find(|other| other.id == figure.id && other.revision == figure.revision)?;
            let both = [figure, other];
            let fit = both.iter().all(|one| one.status == Status::Measured && alike(one));
            if !fit || both.iter().any(|one| is_disturbed(one)) != disturbed {
                return None;
            }
            let (before, after) = (found(figure)?, found(other)?);
            Some(Moved { apart: (after.value / before.value).ln(), error: before.error.hypot(after.error) })
        };
        a.figures.iter().filter_map(of).collect()
    }

    /// The drift of a paired ratio or difference.
    pub(super) fn drift_of_pair(&mut self, pair: &PairedValue) -> Drift {
        let name = |pair: &PairedValue| format!("{} {} {} {}", pair.of, pair.to, pair.quantity, pair.unit);
        let own = name(pair);
        let found = |result: &RunResult, id: &str| {
            let mut all = result.ratios.iter().chain(&result.differences);
            let values = &find(result, all.find(|pair| name(pair) == id)?)?.launches;
            Some((1, located(values, MEDIAN)?))
        };
        let key = (PAIR.to_owned(), pair.unit.clone(), false);
        self.learn(key, &own, 1, &[], |_| vec![], found)
    }

    /// Drift of `id`, by what `found` finds of ids in a run: its revision, and where it was.
    fn learn<'i>(
        &mut self,
        key: (String, String, bool),
        id: &str,
        revision: u32,
        moved: &[Moved],
        ids: impl Fn(&'a RunResult) -> Vec<&'i str>,
        found: impl Fn(&RunResult, &str) -> Option<(u32, DriftFound)>,
    ) -> Drift
    where
        'a: 'i,
    {
        let series = |id: &str, revision: Option<u32>| -> Vec<Vec<DriftFound>> {
            let of_cell = |cell: &Vec<&RunResult>| {
                let all: Vec<(u32, DriftFound)> = cell.iter().filter_map(|run| found(run, id)).collect();
                let revision = revision.or(all.last().map(|last| last.0));
                all.into_iter().filter(|(own, _)| Some(*own) == revision).map(|(_, found)| found).collect()
            };
            self.cells.iter().map(of_cell).collect()
        };
        let class = match self.usual.get(&key) {
            Some(known) => *known,
            None => {
                let mut names: Vec<&str> = self.cells.iter().flatten().flat_map(|run| ids(run)).collect();
                names.sort_unstable();
                names.dedup();
                // The figure in the middle: one that moves much says nothing of the others.
                let table = usual(&key.0, &key.1, key.2);
                let shares = names.iter().map(|id| table.learnt(&series(id, None)).share()).collect();
                median(&sorted(shares)).map_or(table, Drift::usual).narrowed(moved)
            }
        };
        let own = class.learnt(&series(id, Some(revision)));
        self.usual.insert(key, class);
        own
    }
}

/// Whether others had a part of the measured CPU, or of its core.
fn is_disturbed(figure: &Figure) -> bool {
    [Mark::BusySibling, Mark::Shared].iter().any(|mark| figure.marks.contains(mark))
}

/// Where a run found a figure, if that has a logarithm.
fn located(values: &[f64], q: f64) -> Option<DriftFound> {
    let centre = Centre::of(values, q).filter(|centre| centre.relative && centre.freedom > 0.0)?;
    Some(DriftFound { value: centre.value, error: centre.error })
}
