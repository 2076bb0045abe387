//! Two sides measured in alternating launches, A B B A: the rounds are paired, so a drift of the machine cancels.

use oscost_results::{Estimate, Figure, Mark, RunResult, Status};
use oscost_stats::interval::{MEDIAN, over_launches, over_launches_outside};

use super::{Comparison, Row, Rules, Shift, Verdict, compare};
use crate::Named;
use crate::story::headline;

/// Probability left out at each end of the interval of a change: one figure in a hundred that did not change is called
/// slower or faster.
const OUTSIDE: f64 = 0.005;
/// What is left of a drift that is no straight line within a round: no smaller change is called one.
const LEAST: f64 = 0.005;
/// A change whose whole interval is smaller is none.
const SAME: f64 = 0.02;

/// Compares sides of which launch 2k and 2k + 1 belong to round k; neither may be empty. Surroundings and evidence are
/// those of the first launches; every figure is judged by the rounds in which it was measured four times.
#[must_use]
pub fn compare_live<'a>(a: &[Named<'a>], b: &[Named<'a>], rules: Rules) -> Comparison<'a> {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else {
        unreachable!("neither side is empty");
    };
    let mut comparison = compare(first_a, first_b, rules);
    // One launch a side could tell nothing; the rounds do.
    comparison.warnings.retain(|warning| !warning.starts_with("an empty loop took"));
    comparison.warnings.push(
        "1 figure in 100 that did not change is called slower or faster (99 % intervals over rounds of A B B A)".to_owned(),
    );
    for row in &mut comparison.rows {
        judge(row, a, b);
    }
    let size = |row: &Row| row.change.map_or(-1.0, |change| change.change.abs());
    comparison.rows.sort_by(|one, other| size(other).total_cmp(&size(one)));
    comparison
}

fn figure<'a>(result: &'a RunResult, id: &str) -> Option<&'a Figure> {
    result.figures.iter().find(|figure| figure.id == id && figure.status == Status::Measured)
}

fn judge(row: &mut Row, a: &[Named<'_>], b: &[Named<'_>]) {
    let value = |named: &Named<'_>| -> Option<f64> {
        let figure = figure(named.result, &row.id)?;
        let launch = figure.launches.first()?;
        launch.quantities.get(headline(figure)).copied()
    };
    let values = |side: &[Named<'_>]| side.iter().map(value).collect::<Vec<Option<f64>>>();
    let (of_a, of_b) = (values(a), values(b));
    let rounds: Vec<[f64; 4]> = of_a
        .chunks_exact(2)
        .zip(of_b.chunks_exact(2))
        .filter_map(|(a, b)| Some([a[0]?, a[1]?, b[0]?, b[1]?]))
        .collect();
    let side = |of: &[Option<f64>]| {
        let known: Vec<f64> = of.iter().flatten().copied().collect();
        over_launches(&known, MEDIAN).map(|it| Estimate {
            value: it.value,
            low: it.low,
            high: it.high,
            extremes: it.extremes,
        })
    };
    if let (Some(a), Some(b)) = (side(&of_a), side(&of_b)) {
        (row.a, row.b) = (a, b);
    }
    row.typical = None;
    (row.change, row.verdict, row.why) = (None, Verdict::CannotTell, String::new());
    if rounds.iter().flatten().all(|value| *value == rounds[0][0]) && !rounds.is_empty() {
        row.verdict = Verdict::Same;
        return;
    }
    if rounds.iter().flatten().any(|value| *value <= 0.0) {
        row.why = "there is no ratio of zero".to_owned();
        return;
    }
    let ratios: Vec<f64> = rounds.iter().map(|[a1, a2, b1, b2]| (b1 * b2 / (a1 * a2)).sqrt()).collect();
    let Some(ratio) = over_launches_outside(&ratios, MEDIAN, OUTSIDE) else {
        row.why = "no round has it on both sides".to_owned();
        return;
    };
    let steps = |side: &[Named<'_>]| {
        let named = side.first()?;
        let figure = figure(named.result, &row.id)?;
        let iterations = figure.launches.first().map_or(0, |launch| launch.iterations);
        let step = named.result.conditions.clock_step_ns.filter(|_| iterations > 0)?;
        let operations = iterations.saturating_mul(figure.operations_per_iteration).max(1) as f64;
        Some(2.0 * step / (operations * row.a.value))
    };
    let margin = LEAST.max(steps(a).unwrap_or(0.0)).max(steps(b).unwrap_or(0.0));
    let (change, low, high) = (ratio.value - 1.0, ratio.low - 1.0, ratio.high - 1.0);
    row.change = Some(Shift { change, low, high, margin });
    (row.verdict, row.why) = if ratio.extremes {
        (Verdict::CannotTell, format!("{} rounds, at least 6 are needed", ratios.len()))
    } else if low > margin {
        (Verdict::Slower, String::new())
    } else if high < -margin {
        (Verdict::Faster, String::new())
    } else if low > -SAME && high < SAME {
        (Verdict::Same, String::new())
    } else {
        (Verdict::CannotTell, "the interval of the change holds both none and more than 2 %".to_owned())
    };
    let noisy = |side: &[Named<'_>]| {
        let marked = |named: &&Named<'_>| {
            figure(named.result, &row.id).is_some_and(|it| it.marks.contains(&Mark::Noisy))
        };
        side.iter().filter(marked).count()
    };
    let noisy = noisy(a) + noisy(b);
    if noisy > 0 && row.why.is_empty() && row.verdict != Verdict::Same {
        row.why = format!("{noisy} of {} launches noisy", a.len() + b.len());
    }
}
