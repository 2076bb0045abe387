//! Two results of version 1: judged by the rule that they were made for, in today's words. Everything else about that rule
//! is in `oscost_stats::version_one`.

use oscost_results::{Figure, LaunchRecord, Mark, RunResult};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};
use oscost_stats::quantile::{quantile, sorted};
use oscost_stats::version_one::{Change, Doubt, LEAST_MARGIN, Verdict as Judged, VersionOneSide, judge};

use super::asked::{Asked, Question};
use super::{Compared, Shift, Verdict};

/// Launches of a floor in passes are put together by their upper decile.
const UNDISTURBED: f64 = 0.9;
/// Speeds of two runs that differ by less are one speed: the empty loop's own 2 %.
const ONE_SPEED: f64 = 0.02;
/// Its intervals left out 2.5 % at each end.
const LEVEL: f64 = 0.95;

/// What version 1 said of two of its figures, held against today's threshold. Between machines their time is judged, whatever the
/// speed of their cores.
pub(super) fn ask(
    a: &Figure,
    b: &Figure,
    results: (&RunResult, &RunResult),
    judged: bool,
    between_machines: bool,
    threshold: f64,
) -> Asked {
    let name = &a.headline;
    let unit = |figure: &Figure| figure.quantities.get(name).map_or("", |quantity| &quantity.unit).to_owned();
    let mut row = Compared::blank(a.id.clone(), name, unit(a));
    for (shown, figure) in [(&mut row.a, a), (&mut row.b, b)] {
        if let Some(quantity) = figure.quantities.get(name) {
            *shown = quantity.estimate;
        }
    }
    if !judged {
        row.why = "another machine".to_owned();
    } else if unit(a) != unit(b) {
        row.why = "the units differ".to_owned();
    } else {
        verdict(a, b, results, between_machines, threshold, &mut row);
    }
    Asked { row, question: Question::Answered, kin: None }
}

/// A value of every launch that has one.
fn launches(figure: &Figure, value: impl Fn(&LaunchRecord) -> Option<f64>) -> Vec<f64> {
    figure.launches.iter().filter_map(value).collect()
}

fn verdict(
    a: &Figure,
    b: &Figure,
    results: (&RunResult, &RunResult),
    between_machines: bool,
    threshold: f64,
    row: &mut Compared,
) {
    let name = &a.headline;
    let plainly = |launch: &LaunchRecord| launch.quantities.get(name).copied();
    let in_passes = |launch: &LaunchRecord| Some(launch.quantities.get(name)? / launch.speed_ns()?);
    // The speed of the launches that make the figure: the fastest ones, as for the floor itself.
    let speed_of =
        |figure: &Figure| quantile(&sorted(launches(figure, LaunchRecord::speed_ns)), LOWER_QUARTILE);
    let speed = match (speed_of(a), speed_of(b)) {
        (Some(a), Some(b)) if name == "floor" && !between_machines => b / a - 1.0,
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
            row.verdict = Verdict::Within;
        } else {
            row.why = "a side is zero, so there is no ratio".to_owned();
        }
        return;
    };
    row.change = Some(Shift { change: change.change, low: change.low, high: change.high, level: LEVEL });
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
        Judged::CannotTell(Doubt::FewLaunches) => "fewer than 6 launches",
        Judged::CannotTell(Doubt::Noisy) => noisy(a, b),
        Judged::CannotTell(Doubt::WideInterval) => "an interval is wider than 1 % either way",
        Judged::CannotTell(Doubt::AcrossMargin) => {
            "the change is neither beyond version 1's margin nor within 2 %"
        }
        Judged::Same if is_within(&change, threshold) => return row.verdict = Verdict::Within,
        Judged::Same => "the same to version 1: within 2 %, or two steps of its clock",
        Judged::Slower | Judged::Faster => return row.verdict = beyond(&change, threshold, row),
    };
    if other_speed {
        row.why += "; ";
    }
    row.why += doubt;
}

/// What version 1 called a change is one today if it is beyond the threshold, too.
fn beyond(change: &Change, threshold: f64, row: &mut Compared) -> Verdict {
    row.changed = true;
    if change.low > threshold {
        Verdict::Slower
    } else if change.high < -threshold {
        Verdict::Faster
    } else if is_within(change, threshold) {
        Verdict::Within
    } else {
        Verdict::Unclear
    }
}

fn is_within(change: &Change, threshold: f64) -> bool {
    change.low > -threshold && change.high < threshold
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
    judge(&side(a, results.0, &of_a), &side(b, results.1, &of_b), q, least)
}

/// A side as version 1 judged it, with these values of its launches.
fn side<'l>(figure: &Figure, result: &RunResult, of: &'l [f64]) -> VersionOneSide<'l> {
    // A step of the clock counts where the harness timed batches of the operation; a series times its own way.
    let iterations = figure.launches.first().map_or(0, |launch| launch.iterations);
    let step = result.conditions.clock_step_ns.filter(|_| iterations > 0).unwrap_or(0.0);
    // In passes a step is as many passes as it has ns.
    let plain = launches(figure, |launch| launch.quantities.get(&figure.headline).copied());
    let unit = match (plain.first(), of.first()) {
        (Some(plain), Some(of)) if *of > 0.0 => plain / of,
        _ => 1.0,
    };
    let operations = iterations.saturating_mul(figure.operations_per_iteration).max(1);
    let noisy = figure.marks.contains(&Mark::Noisy);
    VersionOneSide { launches: of, step_ns: step / unit, operations, noisy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A step is told in the unit of the values: a batch of so many operations, and none of a series.
    #[test]
    fn a_step_of_the_clock_is_in_the_unit_of_the_launches() {
        let mut result = RunResult::begun(
            std::time::UNIX_EPOCH,
            Default::default(),
            Default::default(),
            Default::default(),
        );
        result.conditions.clock_step_ns = Some(20.0);
        let mut figure: Figure = serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 3,
            "call_path": "libc", "group": "", "status": "measured", "headline": "floor",
        }))
        .expect("a figure");
        let quantities = [("floor".to_owned(), 50.0)].into();
        figure.launches = vec![LaunchRecord { iterations: 7, quantities, ..LaunchRecord::default() }];
        let seen = |figure: &Figure, of: &[f64]| {
            let side = side(figure, &result, of);
            (side.step_ns, side.operations, side.noisy)
        };
        // In the unit itself, and in one of which the value is a half, or nothing.
        assert_eq!(seen(&figure, &[50.0]), (20.0, 21, false));
        assert_eq!(seen(&figure, &[0.5]), (0.2, 21, false));
        assert_eq!(seen(&figure, &[0.0]), (20.0, 21, false));
        let second = [("floor".to_owned(), 75.0)].into();
        figure.launches.push(LaunchRecord { iterations: 9, quantities: second, ..LaunchRecord::default() });
        assert_eq!(seen(&figure, &[0.5, 0.25]), (0.2, 21, false), "by the first launch");
        figure.marks.push(Mark::Noisy);
        figure.launches[0].iterations = 0;
        assert_eq!(seen(&figure, &[50.0]), (0.0, 1, true));
    }
}
