//! One figure of two results: its evidence, its verdict, or why it has none.

use oscost_results::{Expectation, Figure, LaunchRecord, Mark, RunResult, Status};
use oscost_stats::compare::{Change, Doubt, LEAST_MARGIN, Side, Verdict as Judged, judge};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};
use oscost_stats::quantile::{quantile, sorted};

use super::surroundings::ONE_SPEED;
use super::{Comparison, Evident, OneSided, Row, Shift, Verdict};
use crate::story::headline;
use crate::words::plain;

/// Launches of a floor in passes are put together by their upper decile: METHOD.md, Figures.
const UNDISTURBED: f64 = 0.9;
/// Counts an operation that differ by less are the same: an audit of 100 operations resolves no more.
const ONE_COUNT: f64 = 0.005;
/// The same where bounds are claimed: who waits for whom, and so how often, differs from audit to audit.
const ONE_BOUNDED_COUNT: f64 = 0.5;

/// What a side has of a figure, in words.
pub(super) fn state(figure: &Figure) -> String {
    let why = figure.why.as_deref().map_or(String::new(), |why| format!(": {}", plain(why, true)));
    match figure.status {
        Status::Measured => "measured".to_owned(),
        Status::Unsupported => format!("unsupported{why}"),
        Status::Failed => format!("failed{why}"),
        Status::Contradicted => format!("withheld{why}"),
    }
}

/// By how much an empty loop took longer in B, from the launches in which the core was fastest; `None` where a side does
/// not say.
pub(super) fn speed(a: &RunResult, b: &RunResult) -> Option<f64> {
    let of = |result: &RunResult| {
        let speeds = result.figures.iter().flat_map(|figure| &figure.launches);
        let speeds = sorted(speeds.filter_map(|launch| launch.canary_ns).filter(|ns| *ns > 0.0).collect());
        quantile(&speeds, LOWER_QUARTILE)
    };
    Some(of(b)? / of(a)? - 1.0)
}

/// Puts what is to be said of a figure into the comparison.
pub(super) fn compare(
    a: &Figure,
    b: Option<&Figure>,
    results: (&RunResult, &RunResult),
    judged: bool,
    into: &mut Comparison<'_>,
) {
    let b = match b {
        Some(b) if a.status == Status::Measured && b.status == Status::Measured => b,
        // Withheld twice is no news, whatever the reason.
        Some(b) if a.status != Status::Measured && b.status != Status::Measured => {
            return into.neither.push(OneSided { id: a.id.clone(), a: state(a), b: state(b) });
        }
        other => {
            let b = other.map_or("not there".to_owned(), state);
            return into.one_sided.push(OneSided { id: a.id.clone(), a: state(a), b });
        }
    };
    into.evidence.extend(evidence(a, b));
    let name = headline(a);
    let (Some(of_a), Some(of_b)) = (a.quantities.get(name), b.quantities.get(name)) else {
        let lacks = || format!("without the quantity {}", plain(name, true));
        return into.one_sided.push(OneSided { id: a.id.clone(), a: lacks(), b: lacks() });
    };
    let typical = |figure: &Figure| Some(figure.quantities.get("typical")?.estimate.value);
    let mut row = Row {
        id: a.id.clone(),
        unit: of_a.unit.clone(),
        a: of_a.estimate,
        b: of_b.estimate,
        change: None,
        verdict: Verdict::CannotTell,
        why: String::new(),
        typical: typical(a).zip(typical(b)).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a - 1.0),
    };
    if !judged {
        row.why = "another machine".to_owned();
    } else if of_a.unit != of_b.unit {
        row.why = "the units differ".to_owned();
    } else {
        verdict(a, b, results, &mut row);
    }
    into.rows.push(row);
}

/// The headline of every launch.
fn launches(figure: &Figure, value: impl Fn(&LaunchRecord) -> Option<f64>) -> Vec<f64> {
    figure.launches.iter().filter_map(value).collect()
}

fn verdict(a: &Figure, b: &Figure, results: (&RunResult, &RunResult), row: &mut Row) {
    let name = headline(a);
    let plainly = |launch: &LaunchRecord| launch.quantities.get(name).copied();
    let in_passes =
        |launch: &LaunchRecord| Some(launch.quantities.get(name)? / launch.canary_ns.filter(|ns| *ns > 0.0)?);
    // The speed of the launches that make the figure: the fastest ones, as for the floor itself.
    let speed_of = |figure: &Figure| {
        quantile(&sorted(launches(figure, |launch| launch.canary_ns.filter(|ns| *ns > 0.0))), LOWER_QUARTILE)
    };
    let speed = match (speed_of(a), speed_of(b)) {
        (Some(a), Some(b)) if name == "floor" => b / a - 1.0,
        _ => 0.0,
    };
    let own = if name == "floor" { LOWER_QUARTILE } else { MEDIAN };
    // A change must be one beyond what the core's speed explains.
    let in_ns = || decide(a, b, results, &plainly, own, LEAST_MARGIN + speed.abs());
    let other_speed = speed.abs() > ONE_SPEED;
    let judged = if other_speed {
        row.why = format!("in passes of the empty loop, which took {:+.1} %", speed * 100.0);
        decide(a, b, results, &in_passes, UNDISTURBED, speed.abs() / 2.0)
    } else {
        in_ns()
    };
    let Some(change) = judged else {
        // Counts and shares may be zero on both sides, and then are the same whatever the ratio.
        let (of_a, of_b) = (launches(a, plainly), launches(b, plainly));
        if !of_a.is_empty() && of_a.iter().chain(&of_b).all(|value| *value == of_a[0]) {
            row.verdict = Verdict::Same;
        } else {
            row.why = "there is no ratio of zero".to_owned();
        }
        return;
    };
    row.change =
        Some(Shift { change: change.change, low: change.low, high: change.high, margin: change.margin });
    // What does not follow the core's speed (a memory, a timer) changes in passes although it costs what it did.
    let only_in_passes = match change.verdict {
        Judged::Slower => other_speed && !in_ns().is_some_and(|in_ns| in_ns.low > LEAST_MARGIN),
        Judged::Faster => other_speed && !in_ns().is_some_and(|in_ns| in_ns.high < -LEAST_MARGIN),
        Judged::Same | Judged::CannotTell(_) => false,
    };
    if only_in_passes {
        row.why += "; in ns it is no change";
        return;
    }
    let doubt = match change.verdict {
        Judged::Slower => return row.verdict = Verdict::Slower,
        Judged::Faster => return row.verdict = Verdict::Faster,
        Judged::Same => return row.verdict = Verdict::Same,
        Judged::CannotTell(doubt) => doubt,
    };
    let doubt = match doubt {
        Doubt::FewLaunches => "fewer than 6 launches",
        Doubt::Noisy => noisy(a, b),
        Doubt::WideInterval => "an interval is wider than 1 % either way",
        Doubt::AcrossMargin => "the interval of the change is neither beyond the margin nor within 2 %",
    };
    if other_speed {
        row.why += "; ";
    }
    row.why += doubt;
}

fn noisy(a: &Figure, b: &Figure) -> &'static str {
    let is = |figure: &Figure| figure.marks.contains(&Mark::Noisy);
    match (is(a), is(b)) {
        (true, true) => "noisy in both",
        (true, false) => "noisy in the first",
        _ => "noisy in the second",
    }
}

fn decide(
    a: &Figure,
    b: &Figure,
    results: (&RunResult, &RunResult),
    value: &dyn Fn(&LaunchRecord) -> Option<f64>,
    q: f64,
    least: f64,
) -> Option<Change> {
    let (of_a, of_b) = (launches(a, value), launches(b, value));
    // A step of the clock counts where the harness timed batches of the operation; a series times its own way.
    let side = |figure: &Figure, result: &RunResult, unit_ns: f64| -> (f64, u64) {
        let iterations = figure.launches.first().map_or(0, |launch| launch.iterations);
        let step = result.conditions.clock_step_ns.filter(|_| iterations > 0).unwrap_or(0.0);
        (step / unit_ns, iterations.saturating_mul(figure.operations_per_iteration).max(1))
    };
    let unit = |of: &[f64], figure: &Figure| {
        // In passes a step is as many passes as it has ns.
        let plain = launches(figure, |launch| launch.quantities.get(headline(figure)).copied());
        match (plain.first(), of.first()) {
            (Some(plain), Some(of)) if *of > 0.0 => plain / of,
            _ => 1.0,
        }
    };
    let (step_a, operations_a) = side(a, results.0, unit(&of_a, a));
    let (step_b, operations_b) = side(b, results.1, unit(&of_b, b));
    let noisy = |figure: &Figure| figure.marks.contains(&Mark::Noisy);
    judge(
        &Side { launches: &of_a, step_ns: step_a, operations: operations_a, noisy: noisy(a) },
        &Side { launches: &of_b, step_ns: step_b, operations: operations_b, noisy: noisy(b) },
        q,
        least,
    )
}

/// Counts of the two audits that differ.
fn evidence(a: &Figure, b: &Figure) -> Vec<Evident> {
    if a.evidence.audit_method.is_none() || b.evidence.audit_method.is_none() {
        return Vec::new();
    }
    let (of_a, of_b) = (&a.evidence.system_calls, &b.evidence.system_calls);
    let mut names: Vec<&String> = of_a.keys().chain(of_b.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let bounded = |figure: &Figure| {
        figure.evidence.claims.iter().any(|claim| matches!(claim.expected, Expectation::Between { .. }))
    };
    let one = if bounded(a) || bounded(b) { ONE_BOUNDED_COUNT } else { ONE_COUNT };
    let count =
        |calls: &std::collections::BTreeMap<String, f64>, name: &str| calls.get(name).copied().unwrap_or(0.0);
    names
        .into_iter()
        .map(|name| (name, count(of_a, name), count(of_b, name)))
        .filter(|(_, a, b)| (a - b).abs() > one)
        .map(|(name, of_a, of_b)| Evident {
            id: a.id.clone(),
            what: format!("calls of {}", plain(name, true)),
            a: of_a,
            b: of_b,
        })
        .collect()
}
