//! Paired ratios and differences of both sides: made from the same rounds, they vary less than their figures.

use oscost_results::{Figure, PairedValue, RunResult, Status};
use oscost_stats::interval::MEDIAN;

use super::figure::{Asked, Question, Sides};
use super::past::Learning;
use super::{Compared, Rules};
use crate::named::Named;

/// Everything that was paired in all results of both sides, was asked about, and is of figures that may be held against
/// each other.
pub(super) fn ask(sides: &Sides<'_>, learning: &mut Learning<'_>, rules: Rules<'_>) -> Vec<Asked> {
    let Some(first) = sides.a.first() else { return Vec::new() };
    if sides.mixed_methods().is_some() {
        return Vec::new();
    }
    let pairs = first.result.ratios.iter().chain(&first.result.differences);
    let pairs = pairs.filter(|pair| rules.asks(&pair.of));
    pairs.filter_map(|pair| one(pair, sides, learning)).collect()
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

fn one(pair: &PairedValue, sides: &Sides<'_>, learning: &mut Learning<'_>) -> Option<Asked> {
    let figure = |named: &Named<'_>, id: &str| -> Option<(u32, bool)> {
        let figure = named.result.figures.iter().find(|figure: &&Figure| figure.id == *id)?;
        Some((figure.revision, figure.status == Status::Measured))
    };
    let comparable = |id: &str| {
        let mut all = sides.a.iter().chain(sides.b).map(|named| figure(named, id));
        let first = all.next().flatten();
        first.is_some_and(|(_, measured)| measured) && all.all(|other| other == first)
    };
    if !comparable(&pair.of) || !comparable(&pair.to) {
        return None;
    }
    let launches = |side: &[Named<'_>]| -> Option<Vec<Vec<f64>>> {
        side.iter().map(|named| Some(find(named.result, pair)?.launches.clone())).collect()
    };
    let (a, b) = (launches(sides.a)?, launches(sides.b)?);
    let drift = learning.drift_of_pair(pair);
    // What may be negative has no ratio, and a difference of nothing is no price.
    let change = sides.change(&a, &b, MEDIAN, 0.0, drift)?;
    let what = if pair.quantity == "paired" { String::new() } else { format!(" ({})", pair.quantity) };
    let joined = if pair.unit == "ratio" { "to" } else { "less" };
    let mut row =
        Compared::blank(format!("{} {joined} {}{what}", pair.of, pair.to), &pair.quantity, pair.unit.clone());
    row.a = sides.estimate(sides.a, &a, MEDIAN, drift);
    row.b = sides.estimate(sides.b, &b, MEDIAN, drift);
    Some(Asked {
        row,
        question: Question::Open { change, beside: None, hold: sides.hold(), neighbour: None },
    })
}
