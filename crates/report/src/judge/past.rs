//! Learns the drift of a machine: from past runs of the store.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Figure, PairedValue, RunResult, Status};
use oscost_stats::drift::{Drift, DriftFound, usual};
use oscost_stats::interval::{Centre, MEDIAN};
use oscost_stats::quantile::{median, sorted};
use oscost_stats::references::ReferenceDrift;

use super::asked::Class;
use super::null::{is_disturbed, with_a_null};
use super::quantity::{launches, quantile_of};
use super::{other_cpu, references, surroundings};
use crate::named::Named;

/// Placement under which drift of pairs is looked up.
const PAIR: &str = "paired";
/// Placement under which it is looked up of figures whose other CPU was kept awake.
const AWAKE: &str = "awake";
/// Placement under which it is looked up of figures whose class has a null: nothing is usual beside one.
const BESIDE_A_NULL: &str = "beside a null";
/// Differences around two results that make another machine's drift of it: none of these does.
const HARMLESS: [&str; 7] =
    ["kernel", "kernel version", "command line", "mitigations", "boot", "oscost", "build"];

/// Runs that are good to learn from, in cells of one set of surroundings each, oldest first.
pub(super) struct Learning<'a> {
    cells: Vec<Vec<&'a RunResult>>,
    /// Classes of figures of which there are enough for a null of the compared results.
    classes: BTreeSet<Class>,
    /// What references told of the compared results, by class.
    told: BTreeMap<Class, ReferenceDrift>,
    /// What is usual here for a placement and a quantity, and whether figures were disturbed.
    usual: BTreeMap<(String, String, bool), Drift>,
}

impl<'a> Learning<'a> {
    /// Sorts out which past runs say something of the machine of `a` and `b`: those made there, under conditions like
    /// theirs, and not the compared ones themselves.
    pub(super) fn new(
        past: &'a [RunResult],
        a: &[Named<'a>],
        b: &[Named<'a>],
        between_machines: bool,
    ) -> Self {
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
        let (classes, told) = match (a, b) {
            // Between two machines everything moves, and that is what was asked about.
            ([a], [b]) if !between_machines => {
                (with_a_null(a.result, b.result), references::of(a.result, b.result))
            }
            _ => Default::default(),
        };
        Self { cells, classes, told, usual: BTreeMap::new() }
    }

    /// The class of a figure. What stands beside few others across CPUs and wakes nobody stays on one CPU.
    pub(super) fn class(&self, figure: &Figure) -> Class {
        let own = Class::of(figure);
        if other_cpu::wakes_nobody(figure) && !self.classes.contains(&own) { Class::one_cpu() } else { own }
    }

    /// The drift of a quantity of a figure: what is usual for such figures on such a machine, on this one where past runs
    /// show it, and of this figure as far as they do.
    ///
    /// Where the class has a null of its own ([`null`](super::null)), that says more than any past, and little is added to it.
    ///
    /// `figures` are all those that are compared, of one id: where one of them was disturbed, they move as disturbed ones do.
    pub(super) fn drift(&mut self, figures: &[&Figure], quantity: &str) -> Drift {
        if self.has_a_null(figures) { Drift::with_a_null() } else { self.found(figures, quantity) }
    }

    /// What past runs show of a figure beside the null of its class: it may have states of its own.
    pub(super) fn own(&mut self, figures: &[&Figure], quantity: &str) -> Drift {
        if self.has_a_null(figures) { self.found(figures, quantity) } else { Drift::NONE }
    }

    fn has_a_null(&self, figures: &[&Figure]) -> bool {
        figures.first().is_some_and(|figure| self.classes.contains(&self.class(figure)))
    }

    /// What past runs show of a figure beside what is usual, which is nothing where its class has a null.
    fn found(&mut self, figures: &[&Figure], quantity: &str) -> Drift {
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
        let placement = if other_cpu::is_awake(figures) { AWAKE } else { &figure.placement };
        let key = |placement: &str| (placement.to_owned(), quantity.to_owned(), disturbed);
        if self.has_a_null(figures) {
            self.usual.insert(key(BESIDE_A_NULL), Drift::NONE);
            return self.learn(key(BESIDE_A_NULL), &figure.id, figure.revision, ids, found);
        }
        let learnt = self.learn(key(placement), &figure.id, figure.revision, ids, found);
        self.told.get(&self.class(figure)).map_or(learnt, |told| told.drift(learnt))
    }

    /// By how much all that enters the kernel moved, as a logarithm, where references say so.
    pub(super) fn shift(&self) -> Option<f64> {
        self.told
            .iter()
            .filter(|(class, told)| class.is_one_cpu() && told.shift != 0.0)
            .map(|(_, told)| told.shift)
            .next()
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
        self.learn(key, &own, 1, |_| vec![], found)
    }

    /// Drift of `id`, by what `found` finds of ids in a run: its revision, and where it was.
    fn learn<'i>(
        &mut self,
        key: (String, String, bool),
        id: &str,
        revision: u32,
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
                let names: BTreeSet<&str> = self.cells.iter().flatten().flat_map(|run| ids(run)).collect();
                // The figure in the middle: one that moves much says nothing of the others.
                let table = usual(&key.0, &key.1, key.2);
                let shares = names.iter().map(|id| table.learnt(&series(id, None)).share()).collect();
                median(&sorted(shares)).map_or(table, Drift::usual)
            }
        };
        let own = class.learnt(&series(id, Some(revision)));
        self.usual.insert(key, class);
        own
    }
}

/// Where a run found a figure, if that has a logarithm.
fn located(values: &[f64], q: f64) -> Option<DriftFound> {
    let centre = Centre::of(values, q).filter(|centre| centre.relative && centre.freedom > 0.0)?;
    Some(DriftFound { value: centre.value, error: centre.error })
}

/// The same pair in a result.
pub(super) fn find<'a>(result: &'a RunResult, pair: &PairedValue) -> Option<&'a PairedValue> {
    let mut all = result.ratios.iter().chain(&result.differences);
    let same = |other: &&PairedValue| {
        (&other.of, &other.to, &other.quantity, &other.unit)
            == (&pair.of, &pair.to, &pair.quantity, &pair.unit)
    };
    all.find(same).filter(|pair| !pair.launches.is_empty())
}

#[cfg(test)]
mod tests;
