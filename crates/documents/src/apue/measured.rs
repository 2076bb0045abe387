//! What a run found of the cells: figures, and cells held against one another launch by launch.

use oscost_results::quantity;
use std::collections::BTreeMap;

use oscost_families::record_database::{Cell, Locking};
use oscost_recorddb::Layout;
use oscost_results::{Estimate, Figure, Status};

use super::cell::{Runs, id};
use super::model::{Model, Point};
use super::plan::ApuePlan;
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

/// The model of each launch of several cells: of one child, with advisory locks or none.
pub(super) struct Fits {
    /// Each cell, and its counts and CPU time in each launch.
    pub cells: Vec<(Cell, Vec<Point>)>,
    /// By the place of the launch.
    models: Vec<(usize, Model)>,
}

impl Fits {
    /// Of the cells that ran in two launches and more.
    pub fn of_repeated(found: &Found<'_>, plan: &ApuePlan) -> Self {
        let cells = modelled(plan).map(|cell| (cell, points(found, &cell)));
        Self::of(cells.filter(|(_, points)| points.len() > 1).collect())
    }

    /// Of the single runs.
    pub fn of_single(found: &Found<'_>, plan: &ApuePlan) -> Self {
        Self::of(modelled(plan).filter_map(|cell| Some((cell, vec![point(found, &cell)?]))).collect())
    }

    fn of(cells: Vec<(Cell, Vec<Point>)>) -> Self {
        let launches = cells.iter().map(|(_, points)| points.len()).min().unwrap_or(0);
        let fit = |launch: usize| {
            let points: Vec<Point> = cells.iter().map(|(_, points)| points[launch]).collect();
            Some((launch, Model::fit(&points)?))
        };
        Self { models: (0..launches).filter_map(fit).collect(), cells }
    }

    /// Whether it could be off: as many prices as cells fit whatever these cost.
    pub fn can_be_off(&self) -> bool {
        !self.models.is_empty() && self.models.iter().all(|(_, model)| model.prices() < self.cells.len())
    }

    /// One price in each launch.
    pub fn prices(&self, price: impl Fn(&Model) -> f64) -> Vec<f64> {
        self.models.iter().map(|(_, model)| price(model)).collect()
    }

    /// What `with` makes of the CPU time by the model and the measured one of a cell, ns, in each launch.
    pub fn each(&self, points: &[Point], with: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let of_launch = |(launch, model): &(usize, Model)| {
            points.get(*launch).map(|point| with(model.cpu_ns(point), point.cpu_ns))
        };
        self.models.iter().filter_map(of_launch).collect()
    }

    /// How many times the measured CPU time of a cell its time by the model is, in each launch.
    pub fn off(&self, points: &[Point]) -> Vec<f64> {
        self.each(points, |by_model, cpu| by_model / cpu)
    }
}

fn modelled(plan: &ApuePlan) -> impl Iterator<Item = Cell> {
    // Layout fast visits one record whatever nrec is: what it costs is a matter of caches.
    let is_one = |cell: &Cell| cell.processes == 1 && cell.locking != Locking::Mandatory;
    plan.each_cell().into_iter().filter(move |cell| is_one(cell) && cell.layout == Layout::Book)
}
