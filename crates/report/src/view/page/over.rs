//! Figures over runs for a page: which moved, and how far.

use std::collections::BTreeMap;

use oscost_results::{Estimate, Figure, Outline, Status};
use oscost_stats::sorting::SmallSort;

use crate::blocks::history::{Course, History};
use crate::judge::percent;
use crate::named::Named;
use crate::numbers;
use crate::view::history::STILL;
use crate::view::story::headline;
use crate::words::{counted, plain};

/// A run as far as a history cares.
pub(super) struct Run {
    name: String,
    started: String,
    /// Processor and kernel.
    pub system: String,
    /// Version of the program.
    version: String,
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
        Self::new(named.name, &result.started, place, quoted.collect())
    }

    /// A run that was read in outline.
    pub fn outlined(name: &str, run: &Outline) -> Self {
        let quoted = run.figures.iter().filter_map(|figure| {
            let (estimate, unit) = figure.quoted()?;
            Some((figure.id.clone(), figure.revision, estimate, unit.to_owned()))
        });
        let place = [&run.machine.cpu_model, &run.conditions.kernel, &run.tool.version];
        Self::new(name, &run.started, place, quoted.collect())
    }

    fn new(
        name: &str,
        started: &str,
        place: [&String; 3],
        figures: Vec<(String, u32, Estimate, String)>,
    ) -> Self {
        let [processor, kernel, version] = place.map(|text| plain(text, true));
        let system = format!("{processor}, {kernel}");
        Self { name: plain(name, true), started: plain(started, true), system, version, figures }
    }
}

/// The history of `runs`; `receipts` are the figures that have theirs on the page.
pub(super) fn history(runs: &[Run], receipts: &[Figure]) -> History {
    let mut revisions: BTreeMap<&str, u32> = BTreeMap::new();
    for (id, revision, ..) in runs.iter().flat_map(|run| &run.figures) {
        let latest = revisions.entry(id).or_default();
        *latest = (*latest).max(*revision);
    }
    // Instructions and times of one id are two figures.
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut known: BTreeMap<(&str, &str), Vec<Option<Estimate>>> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (id, revision, estimate, unit) in &run.figures {
            // Another revision is another method: the newest is shown, and nothing beside it.
            if revisions.get(id.as_str()) != Some(revision) {
                continue;
            }
            let key = (id.as_str(), unit.as_str());
            let estimates = known.entry(key).or_insert_with(|| {
                order.push(key);
                vec![None; runs.len()]
            });
            if estimate.value.is_finite() && estimate.low.is_finite() && estimate.high.is_finite() {
                estimates[index] = Some(*estimate);
            }
        }
    }
    let of = |key: &(&str, &str)| {
        let (id, unit) = *key;
        // The receipt of a figure without a number says why it has none, whatever it was in other runs.
        let has_receipt = receipts.iter().any(|it| {
            it.id == id && it.quantities.get(headline(it)).is_none_or(|quantity| quantity.unit == unit)
        });
        course(id, unit, known.get(key)?, has_receipt)
    };
    let mut figures: Vec<(Moved, Course)> = order.iter().filter_map(of).collect();
    figures.small_sort_by(|(one, _), (other, _)| {
        let beyond = |moved: &Moved| if moved.beyond > STILL { moved.beyond } else { 0.0 };
        beyond(other).total_cmp(&beyond(one)).then(other.in_all.total_cmp(&one.in_all))
    });
    let finding = finding(&figures);
    let place = |run: &Run| format!("{}, {}, {}", run.started, run.system, run.version);
    let runs = runs.iter().map(|run| (run.name.clone(), place(run))).collect();
    History { finding, runs, figures: figures.into_iter().map(|(_, course)| course).collect() }
}

/// How far a figure moved, as shares.
struct Moved {
    /// From its lowest value to its highest.
    in_all: f64,
    /// From the lowest upper end of an interval to the highest lower end: what no interval explains.
    beyond: f64,
    /// The largest change from one run to the next that has it, where it makes most of the whole: number of the later
    /// run, and the change.
    step: Option<(usize, f64)>,
}

/// The largest step, unless the figure moved on and on.
fn step(estimates: &[Option<Estimate>], in_all: f64) -> Option<(usize, f64)> {
    let values: Vec<(usize, f64)> =
        estimates.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_ref()?.value))).collect();
    let steps = values.windows(2).map(|pair| (pair[1].0 + 1, pair[1].1 / pair[0].1));
    let far = |ratio: f64| ratio.ln().abs();
    let (run, ratio) = steps.max_by(|one, other| far(one.1).total_cmp(&far(other.1)))?;
    (far(ratio) > in_all.ln_1p() / 2.0).then_some((run, ratio - 1.0))
}

/// What moved, in a sentence.
fn finding(figures: &[(Moved, Course)]) -> String {
    let all = counted(figures.len(), "figure", "figures");
    let still = numbers::percent(STILL);
    let most = |count: usize, (moved, course): &(Moved, Course)| {
        let name = if count == 1 { "" } else { "most of all " };
        let how = match moved.step {
            Some((run, change)) => format!(", {} at run {run}", percent(change)),
            None => format!(" (in all by {})", numbers::percent(moved.in_all)),
        };
        format!("{name}{}{how}", course.id)
    };
    let beyond = figures.iter().filter(|(moved, _)| moved.beyond > STILL).count();
    let scattered = figures.iter().filter(|(moved, _)| moved.in_all > STILL).count();
    match figures.first() {
        Some(first) if beyond > 0 => {
            let most = most(beyond, first);
            format!("{beyond} of {all} moved by more than {still} beyond the intervals: {most}")
        }
        Some(_) if scattered > 0 => format!(
            "none of {all} moved beyond the intervals by more than {still}; {scattered} scatter by more"
        ),
        Some(_) => format!("none of {all} moved by more than {still}"),
        None => "no figure was measured in two runs".to_owned(),
    }
}

/// One figure, and how far it moved.
fn course(
    id: &str,
    unit: &str,
    estimates: &[Option<Estimate>],
    has_receipt: bool,
) -> Option<(Moved, Course)> {
    let values: Vec<f64> = estimates.iter().flatten().map(|estimate| estimate.value).collect();
    if values.len() < 2 {
        return None;
    }
    let (low, high) = numbers::ends(values.iter().copied());
    let unit = plain(unit, true);
    let last = estimates.iter().flatten().last()?;
    let ends = |pick: fn(f64, f64) -> f64, from: f64, end: fn(&Estimate) -> f64| {
        estimates.iter().flatten().map(end).fold(from, pick)
    };
    let beyond = ends(f64::max, f64::NEG_INFINITY, |it| it.low) / ends(f64::min, f64::INFINITY, |it| it.high);
    let share = |ratio: f64| if low > 0.0 && ratio.is_finite() { (ratio - 1.0).max(0.0) } else { 0.0 };
    let interval = numbers::interval(last, &unit, true);
    let interval = if interval.contains("..") { format!("({interval})") } else { interval };
    let in_all = share(high / low);
    Some((
        Moved { in_all, beyond: share(beyond), step: step(estimates, in_all) },
        Course {
            id: plain(id, true),
            has_receipt,
            values: estimates.iter().map(|it| it.map(|it| [it.low, it.value, it.high])).collect(),
            last: format!("{} {interval}", numbers::quantity(last.value, &unit)).trim_end().to_owned(),
            range: numbers::range(low, high, &unit),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(id: &str, values: &[[f64; 3]]) -> (Moved, Course) {
        let estimate = |[low, value, high]: [f64; 3]| Some(Estimate { value, low, high, extremes: false });
        let estimates: Vec<_> = values.iter().map(|it| estimate(*it)).collect();
        course(id, "ns", &estimates, false).expect("two runs")
    }

    #[test]
    fn what_moved_beyond_its_intervals_is_told_before_what_scatters() {
        let step = moved("step", &[[99.0, 100.0, 101.0], [129.0, 130.0, 131.0]]);
        let wide = moved("wide", &[[50.0, 100.0, 150.0], [60.0, 150.0, 250.0]]);
        let still = moved("still", &[[99.0, 100.0, 101.0], [99.5, 100.5, 101.5]]);
        assert_eq!((wide.0.beyond, still.0.beyond), (0.0, 0.0));
        assert!((step.0.beyond - (129.0 / 101.0 - 1.0)).abs() < 1e-12, "{}", step.0.beyond);
        let told = finding(&[step, moved("wide", &[[50.0, 100.0, 150.0], [60.0, 150.0, 250.0]])]);
        assert_eq!(
            told,
            "1 of 2 figures moved by more than 2 % beyond the intervals: step, +30.0 % at run 2"
        );
        let walk = [100.0, 110.0, 121.0, 133.0].map(|value| [value - 1.0, value, value + 1.0]);
        let told = finding(&[moved("walk", &walk)]);
        assert!(told.ends_with(": walk (in all by 33.0 %)"), "{told}");
        let told = finding(&[wide]);
        assert_eq!(told, "none of 1 figure moved beyond the intervals by more than 2 %; 1 scatter by more");
        assert_eq!(finding(&[still]), "none of 1 figure moved by more than 2 %");
        assert_eq!(finding(&[]), "no figure was measured in two runs");
    }
}
