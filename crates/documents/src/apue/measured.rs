//! What a run found of the cells: figures, and cells held against one another launch by launch.

use oscost_results::quantity;
use std::collections::BTreeMap;

use oscost_families::record_database::Cell;
use oscost_results::{Estimate, Figure, Status};
use oscost_stats::interval::over_launches;

use super::cell::{Runs, id};
use super::model::Point;
use crate::found::Found;

/// The figure of a cell: of its launches where it was repeated, else of its single run.
pub(super) fn figure<'a>(found: &'a Found<'_>, cell: &Cell) -> Option<&'a Figure> {
    found.figure(&id(cell, Runs::Repeated)).or_else(|| found.figure(&id(cell, Runs::Single)))
}

/// A quantity of it, with its id.
pub(super) fn quantity(found: &Found<'_>, cell: &Cell, name: &str) -> Option<(String, Estimate)> {
    let figure = figure(found, cell)?;
    Some((figure.id.clone(), figure.quantities.get(name)?.estimate))
}

/// Its value alone.
pub(super) fn value(found: &Found<'_>, cell: &Cell, name: &str) -> Option<f64> {
    quantity(found, cell, name).map(|(_, estimate)| estimate.value)
}

/// Why a cell has no figure, in words that say what to do, where the run says so.
pub(super) fn unsupported(found: &Found<'_>, cell: &Cell) -> Option<String> {
    let of = |runs| found.figures.iter().find(move |figure| figure.id == id(cell, runs));
    let figure = of(Runs::Repeated).or_else(|| of(Runs::Single))?;
    (figure.status != Status::Measured).then(|| {
        let why = figure.why.clone().unwrap_or_default();
        figure.remedy.as_ref().map_or(why.clone(), |remedy| format!("{why}; {remedy}"))
    })
}

/// What two cells of one launch make together, over their launches.
pub(super) fn together(
    found: &Found<'_>,
    (of, to): (&Cell, &Cell),
    (name, with): (&str, fn(f64, f64) -> f64),
) -> Option<Estimate> {
    let launches = |cell: &Cell, runs| -> Option<BTreeMap<u32, f64>> {
        let records = found.figure(&id(cell, runs))?.launches.iter();
        Some(records.filter_map(|launch| Some((launch.sequence, *launch.quantities.get(name)?))).collect())
    };
    let paired = |runs| -> Option<Estimate> {
        let (of, to) = (launches(of, runs)?, launches(to, runs)?);
        let values: Vec<f64> =
            of.iter().filter_map(|(sequence, of)| Some(with(*of, *to.get(sequence)?))).collect();
        let interval = over_launches(&values, 0.5)?;
        let estimate = Estimate {
            value: interval.value,
            low: interval.low,
            high: interval.high,
            extremes: interval.extremes,
        };
        [estimate.value, estimate.low, estimate.high]
            .iter()
            .all(|bound| bound.is_finite())
            .then_some(estimate)
    };
    paired(Runs::Repeated).or_else(|| paired(Runs::Single))
}

/// One divided by the other.
pub(super) fn ratio(found: &Found<'_>, of: &Cell, to: &Cell, name: &str) -> Option<Estimate> {
    together(found, (of, to), (name, |of, to| of / to))
}

/// User or system time of all launches, ns, from which on it is more than a few samples of the timer.
const SAMPLED_FROM_NS: f64 = 5e8;

/// Whether such a time of both cells is made of enough samples to be told.
pub(super) fn is_sampled(found: &Found<'_>, cells: [&Cell; 2], name: &str) -> bool {
    let sampled = |cell: &Cell| Some(value(found, cell, name)? * figure(found, cell)?.launches.len() as f64);
    cells.into_iter().all(|cell| sampled(cell).is_some_and(|ns| ns >= SAMPLED_FROM_NS))
}

/// Counts and CPU time of a cell.
pub(super) fn point(found: &Found<'_>, cell: &Cell) -> Option<Point> {
    let of = |name| value(found, cell, name);
    Some(Point {
        visits: of("visits")?,
        lock_calls: of(quantity::LOCK_CALLS)?,
        operations: of("operations")?,
        cpu_ns: of("cpu").filter(|cpu| *cpu > 0.0)?,
        nrec: cell.records,
    })
}
