//! What a run found of the cells: figures, and cells held against one another launch by launch.

use oscost_results::quantity;
use std::collections::BTreeMap;

use oscost_families::record_database::Cell;
use oscost_results::{Estimate, Figure, Status};

use super::cell::{Runs, id};
use super::model::Point;
use crate::found::{Answer, Found};
use crate::measured::Measured;

/// The figure of a cell: of its launches where it was repeated, else of its single run.
pub(super) fn figure<'a>(found: &'a Found<'_>, cell: &Cell) -> Option<&'a Figure> {
    found.figure(&id(cell, Runs::Repeated)).or_else(|| found.figure(&id(cell, Runs::Single)))
}

/// A quantity of it, with its id.
pub(super) fn quantity(found: &Found<'_>, cell: &Cell, name: &str) -> Option<(String, Estimate)> {
    let figure = figure(found, cell)?;
    Some((figure.id.clone(), figure.quantities.get(name)?.estimate))
}

/// The same over the launches of a cell that was repeated.
pub(super) fn repeated(found: &Found<'_>, cell: &Cell, name: &'static str) -> Option<Answer<'static>> {
    let id = id(cell, Runs::Repeated);
    found.measured(&id, name).map(|measured| (id, name, Some(measured)))
}

/// The same of its single run, where that is all there is.
pub(super) fn single(found: &Found<'_>, cell: &Cell, name: &str) -> Option<f64> {
    let repeated = found.measured(&id(cell, Runs::Repeated), name).is_some();
    value(found, cell, name).filter(|_| !repeated)
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

/// What two cells make together, launch by launch.
fn each(
    found: &Found<'_>,
    (of, to): (&Cell, &Cell),
    runs: Runs,
    (name, with): (&str, fn(f64, f64) -> f64),
) -> Option<Vec<f64>> {
    let launches = |cell: &Cell| -> Option<BTreeMap<u32, f64>> {
        let records = found.figure(&id(cell, runs))?.launches.iter();
        Some(records.filter_map(|launch| Some((launch.sequence, *launch.quantities.get(name)?))).collect())
    };
    let (of, to) = (launches(of)?, launches(to)?);
    Some(of.iter().filter_map(|(sequence, of)| Some(with(*of, *to.get(sequence)?))).collect())
}

/// The same over the launches in which they ran side by side.
pub(super) fn side_by_side(
    found: &Found<'_>,
    cells: (&Cell, &Cell),
    with: (&str, fn(f64, f64) -> f64),
) -> Option<Measured> {
    Measured::of_runs(&each(found, cells, Runs::Repeated, with)?)
}

/// The same; else of their single runs, whose bounds are the value.
pub(super) fn together(
    found: &Found<'_>,
    cells: (&Cell, &Cell),
    with: (&str, fn(f64, f64) -> f64),
) -> Option<Estimate> {
    let repeated = side_by_side(found, cells, with);
    // A run that was ended early has one launch of what was to be repeated.
    let single = |runs| match each(found, cells, runs, with)?[..] {
        [value] if value.is_finite() => Some(Estimate { value, low: value, high: value, extremes: true }),
        _ => None,
    };
    let singles = || [Runs::Repeated, Runs::Single].into_iter().find_map(single);
    repeated.map(Measured::estimate).or_else(singles)
}

/// One divided by the other.
pub(super) fn ratio(found: &Found<'_>, of: &Cell, to: &Cell, name: &str) -> Option<Estimate> {
    together(found, (of, to), (name, |of, to| of / to))
}

/// Counts and CPU time of each launch of a cell that was repeated.
pub(super) fn points(found: &Found<'_>, cell: &Cell) -> Vec<Point> {
    let launches = found.figure(&id(cell, Runs::Repeated)).map_or(&[][..], |figure| &figure.launches);
    launches.iter().filter_map(|launch| point_of(cell, |name| launch.quantities.get(name).copied())).collect()
}

/// Counts and CPU time of a cell.
pub(super) fn point(found: &Found<'_>, cell: &Cell) -> Option<Point> {
    point_of(cell, |name| value(found, cell, name))
}

fn point_of(cell: &Cell, of: impl Fn(&str) -> Option<f64>) -> Option<Point> {
    Some(Point {
        visits: of("visits")?,
        lock_calls: of(quantity::LOCK_CALLS)?,
        operations: of("operations")?,
        cpu_ns: of("cpu").filter(|cpu| *cpu > 0.0)?,
        nrec: cell.records,
    })
}
