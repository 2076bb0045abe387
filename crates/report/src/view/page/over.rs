//! Figures over runs for a page: which moved, and how far.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Estimate, Outline, RunResult, Status};

use crate::blocks::history::{Course, History};
use crate::named::Named;
use crate::numbers;
use crate::view::history::STILL;
use crate::view::story::headline;
use crate::words::{counted, plain};

/// A run as far as a history cares.
pub(super) struct Run {
    name: String,
    started: String,
    /// Kernel, processor, and version of the program.
    pub place: String,
    /// Id, revision, estimate, unit.
    figures: Vec<(String, u32, Estimate, String)>,
}

impl Run {
    /// A result in outline.
    pub fn of(named: &Named<'_>) -> Self {
        let result = named.result;
        let measured = result.figures.iter().filter(|figure| figure.status == Status::Measured);
        let quoted = measured.filter_map(|figure| {
            let quantity = figure.quantities.get(headline(figure))?;
            Some((figure.id.clone(), figure.revision, quantity.estimate, quantity.unit.clone()))
        });
        let place = [&result.machine.cpu_model, &result.conditions.kernel, &result.tool.version];
        Self {
            name: plain(named.name, true),
            started: plain(&result.started, true),
            place: place.map(|text| plain(text, true)).join(", "),
            figures: quoted.collect(),
        }
    }

    /// A run that was read in outline.
    pub fn outlined(name: &str, run: &Outline) -> Self {
        let quoted = run.figures.iter().filter_map(|figure| {
            let (estimate, unit) = figure.quoted()?;
            Some((figure.id.clone(), figure.revision, estimate, unit.to_owned()))
        });
        let place = [&run.machine.cpu_model, &run.conditions.kernel, &run.tool.version];
        Self {
            name: plain(name, true),
            started: plain(&run.started, true),
            place: place.map(|text| plain(text, true)).join(", "),
            figures: quoted.collect(),
        }
    }
}

/// The history of `runs`, of which `newest` has its receipts on the page.
pub(super) fn history(runs: &[Run], newest: &RunResult) -> History {
    let mut order: Vec<&str> = Vec::new();
    let mut known: BTreeMap<&str, (u32, &str, Vec<Option<Estimate>>)> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (id, revision, estimate, unit) in &run.figures {
            let entry = known.entry(id).or_insert_with(|| {
                order.push(id);
                (0, unit, vec![None; runs.len()])
            });
            // Another revision is another method: the newest is shown, and nothing beside it.
            if *revision > entry.0 {
                (entry.0, entry.1) = (*revision, unit);
                entry.2.fill(None);
            }
            let is_number =
                estimate.value.is_finite() && estimate.low.is_finite() && estimate.high.is_finite();
            if *revision == entry.0 && is_number {
                entry.2[index] = Some(*estimate);
            }
        }
    }
    let receipts: BTreeSet<&str> = newest.figures.iter().map(|figure| figure.id.as_str()).collect();
    let mut figures: Vec<(f64, Course)> = order
        .iter()
        .filter_map(|id| {
            let (_, unit, estimates) = known.get(id)?;
            course(id, unit, estimates, receipts.contains(id))
        })
        .collect();
    figures.sort_by(|one, other| other.0.total_cmp(&one.0));
    let moved = figures.iter().filter(|(moved, _)| *moved > STILL).count();
    let finding = match figures.first() {
        Some((by, first)) if moved > 0 => format!(
            "{moved} of {} moved by more than {}, most of all {} by {}",
            counted(figures.len(), "figure", "figures"),
            numbers::percent(STILL),
            first.id,
            numbers::percent(*by)
        ),
        Some(_) => format!(
            "none of {} moved by more than {}",
            counted(figures.len(), "figure", "figures"),
            numbers::percent(STILL)
        ),
        None => "no figure was measured in two runs".to_owned(),
    };
    let runs = runs.iter().map(|run| (run.name.clone(), format!("{}, {}", run.started, run.place)));
    History {
        finding,
        runs: runs.collect(),
        figures: figures.into_iter().map(|(_, course)| course).collect(),
    }
}

/// One figure, and by what share it moved in all.
fn course(id: &str, unit: &str, estimates: &[Option<Estimate>], has_receipt: bool) -> Option<(f64, Course)> {
    let values: Vec<f64> = estimates.iter().flatten().map(|estimate| estimate.value).collect();
    if values.len() < 2 {
        return None;
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let unit = plain(unit, true);
    let last = estimates.iter().flatten().last()?;
    let moved = if low > 0.0 { high / low - 1.0 } else { 0.0 };
    let interval = numbers::interval(last, &unit, true);
    Some((
        if moved.is_finite() { moved } else { 0.0 },
        Course {
            id: plain(id, true),
            has_receipt,
            values: estimates.iter().map(|it| it.map(|it| [it.low, it.value, it.high])).collect(),
            last: format!("{} {interval}", numbers::quantity(last.value, &unit)).trim_end().to_owned(),
            range: numbers::range(low, high, &unit),
        },
    ))
}
