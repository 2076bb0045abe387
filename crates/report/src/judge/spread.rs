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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Launches that agree on this floor.
    fn figure(revision: u32, floor: f64, marks: &[&str]) -> Figure {
        let launch = json!({
            "sequence": 0, "start_ns": 0, "cpu": 0, "iterations": 1, "rounds": 1, "quantities": {"floor": floor},
        });
        serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured", "headline": "floor", "revision": revision,
            "placement": "same_cpu", "marks": marks, "launches": vec![launch; 6],
            "quantities": {"floor": {"value": floor, "low": floor, "high": floor, "unit": "passes"}},
        }))
        .expect("a figure")
    }

    fn of(figures: &[Figure]) -> Option<FigureSpread> {
        one(&figures.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_spread_is_of_the_newest_method_and_has_the_deviation_of_one_run() {
        let old = figure(1, 9.0, &["shared"]);
        let runs = [old.clone(), figure(2, 1.02, &[]), figure(2, 1.0, &[]), old, figure(2, 1.03, &[])];
        let found = of(&runs).expect("three runs");
        let logs = [1.02_f64, 1.0, 1.03].map(f64::ln);
        let mean = logs.iter().sum::<f64>() / 3.0;
        let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        assert!(
            (found.deviation - deviation).abs() < 1e-12 && (found.share() - 0.03).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(
            (&*found.id, &*found.quantity, &*found.unit, found.on_one_cpu, found.runs, found.disturbed),
            ("a", "floor", "passes", true, 3, false)
        );
        assert_eq!((found.low, found.high), (1.0, 1.03));
        let busy = [figure(2, 1.0, &[]), figure(2, 1.0, &["busy_sibling"])];
        assert!(of(&busy).expect("two runs").disturbed, "in one of them is enough");
        let apart = Figure { placement: "cross_cpu".to_owned(), ..figure(2, 1.0, &[]) };
        assert!(!of(&[apart.clone(), apart]).expect("two runs").on_one_cpu);
    }

    #[test]
    fn one_run_and_nothing_have_no_spread() {
        assert!(of(&[figure(1, 1.0, &[])]).is_none() && of(&[]).is_none());
        assert!(of(&[figure(1, 1.0, &[]), figure(2, 1.0, &[])]).is_none(), "one of each method");
        assert!(of(&[figure(1, 1.0, &[]), figure(1, 0.0, &[])]).is_none());
        let little = of(&[figure(1, 1e-9, &[]), figure(1, 2e-9, &[])]).map(|it| (it.low, it.high));
        assert_eq!(little, Some((1e-9, 2e-9)));
        assert!(of(&[figure(1, 1.0, &[]), figure(1, 1.0, &[])]).is_some_and(|it| it.share() == 0.0));
    }

    #[test]
    fn what_is_left_out_is_counted_by_its_reason() {
        assert_eq!(
            left_out([BILL, "of another machine", BILL, COUNT]),
            "2 bills, 1 (of another machine), 1 count"
        );
        assert_eq!(left_out([]), "");
    }

    /// What is said of a figure is that of its first run; its id is enough to keep a run.
    #[test]
    fn a_run_is_kept_for_any_figure_that_another_one_has() {
        let apart = Figure { placement: "cross_cpu".to_owned(), ..figure(1, 1.0, &[]) };
        assert!(of(&[figure(1, 1.0, &[]), apart.clone()]).is_some_and(|it| it.on_one_cpu));
        assert!(of(&[apart, figure(1, 1.0, &[])]).is_some_and(|it| !it.on_one_cpu));
        let run = |ids: &[&str]| {
            let begun = std::time::UNIX_EPOCH;
            let result = RunResult::begun(begun, Default::default(), Default::default(), Default::default());
            let figures =
                ids.iter().map(|id| Figure { id: (*id).to_owned(), ..figure(1, 1.0, &[]) }).collect();
            RunResult { figures, ..result }
        };
        let runs = [run(&["a", "b"]), run(&["x"]), run(&["a", "c"]), run(&["b", "d"])];
        let named: Vec<Named<'_>> =
            runs.iter().zip(["1", "2", "3", "4"]).map(|(result, name)| Named { name, result }).collect();
        let found = spread(&named);
        assert_eq!((found.runs, found.left_out), (3, vec![("2", NOTHING_IN_COMMON)]));
        let rows: Vec<(&str, usize)> = found.rows.iter().map(|row| (&*row.id, row.runs)).collect();
        assert_eq!(rows, [("b", 2), ("a", 2)], "in the order of the newest run");
    }
}
