//! How far runs of one machine lie apart in what is judged: the spread of each figure over any number of runs.

use std::collections::BTreeMap;

use oscost_results::{Figure, RunResult, Status};
use oscost_stats::interval::Centre;

use super::asked::Class;
use super::null::is_disturbed;
use super::quantity::{common, launches, steadiest, unit};
use super::surroundings::{BILL, COUNT, NOTHING_IN_COMMON, incomparable};
use super::{is_bill, is_count};
use crate::named::Named;
use crate::words::{counted, distinct, grouped};

/// Each figure of two runs or more.
pub struct Spreads<'a> {
    /// How many runs are held against each other.
    pub runs: usize,
    /// Figures, in the order of the newest run.
    pub rows: Vec<FigureSpread>,
    /// Runs that are not held against any other: name, and why.
    pub left_out: Vec<(&'a str, &'static str)>,
}

/// How far runs of a figure lie apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureSpread {
    /// The id.
    pub id: String,
    /// What is judged.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// All participants are on one CPU.
    pub on_one_cpu: bool,
    /// Runs in which it was measured.
    pub runs: usize,
    /// The lowest of the runs.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Standard deviation of one run, as a share.
    pub deviation: f64,
    /// Others had a part of the core in one of the runs.
    pub disturbed: bool,
}

impl FigureSpread {
    /// Highest / lowest - 1.
    pub fn share(&self) -> f64 {
        self.high / self.low - 1.0
    }
}

/// The spread of what is judged over `runs`, oldest first; those that differ from the newest in machine or method are left
/// out, and those without a figure that another one has.
pub fn spread<'a>(runs: &'a [Named<'a>]) -> Spreads<'a> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let newest = runs.iter().rev().find(|named| no_prices(named.result).is_none());
    for named in runs {
        match no_prices(named.result).or_else(|| incomparable(named.result, newest?.result)) {
            Some(why) => left_out.push((named.name, why)),
            None => kept.push(*named),
        }
    }
    let mut known: BTreeMap<&str, Vec<&Figure>> = BTreeMap::new();
    let measured = |figure: &&Figure| figure.status == Status::Measured;
    for figure in kept.iter().flat_map(|run| &run.result.figures).filter(measured) {
        known.entry(&figure.id).or_default().push(figure);
    }
    let has_common = |named: &Named<'_>| {
        let mut figures = named.result.figures.iter().filter(measured);
        figures.any(|figure| known.get(&*figure.id).is_some_and(|all| all.len() > 1))
    };
    let (kept, alone): (Vec<Named<'a>>, Vec<Named<'a>>) = kept.into_iter().partition(has_common);
    left_out.extend(alone.iter().map(|named| (named.name, NOTHING_IN_COMMON)));
    let figures = kept.iter().rev().flat_map(|run| &run.result.figures);
    let ids = distinct(figures.map(|figure| figure.id.as_str()));
    let rows = ids.into_iter().filter_map(|id| one(known.get(id)?)).collect();
    Spreads { runs: kept.len(), rows, left_out }
}

/// Why a result has no prices that move from run to run.
fn no_prices(result: &RunResult) -> Option<&'static str> {
    match result {
        count if is_count(count) => Some(COUNT),
        bill if is_bill(bill) => Some(BILL),
        _ => None,
    }
}

/// "286 bills, 9 counts, 2 (no figure in common)": what was left out, by why it was.
pub fn left_out<'w>(whys: impl IntoIterator<Item = &'w str>) -> String {
    let told = grouped(whys, |why| *why).into_iter().map(|(why, all)| match why {
        BILL => counted(all.len(), "bill", "bills"),
        COUNT => counted(all.len(), "count", "counts"),
        why => format!("{} ({why})", all.len()),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// The spread of one id; `None` with one run, or where there is no ratio.
fn one(figures: &[&Figure]) -> Option<FigureSpread> {
    let revision = figures.last()?.revision;
    let figures: Vec<&Figure> =
        figures.iter().copied().filter(|figure| figure.revision == revision).collect();
    let named = common(&figures)?;
    let (quantity, q) = steadiest(&figures, &named);
    let estimate = |launches: Vec<f64>| Some(Centre::of(&launches, q)?.value);
    let values: Vec<f64> = launches(&figures, quantity).into_iter().filter_map(estimate).collect();
    if values.len() < 2 || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value.ln()).sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value.ln() - mean).powi(2)).sum();
    let first = figures.first()?;
    Some(FigureSpread {
        id: first.id.clone(),
        quantity: quantity.to_owned(),
        unit: unit(first, quantity),
        on_one_cpu: Class::of(first).is_one_cpu(),
        runs: values.len(),
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(0.0, f64::max),
        deviation: (square / (count - 1.0)).sqrt(),
        disturbed: figures.iter().any(|figure| is_disturbed(figure)),
    })
}
