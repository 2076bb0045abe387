//! Tests the instrument on this machine: known costs, exact counts of system calls, and two equal runs.

use oscost_harness::{
    Catalogue, Effort, Event, IdleCpu, Measured, Options, Supervisor, Tier, measure, preferred,
};
use oscost_report::Named;
use oscost_report::compare::{Comparison, Rules, Verdict as Said, compare};
use oscost_results::{Check, RunResult, Status, Verdict, quantity};
use oscost_session::doctor::{Finding, duration, percent, to_count_calls};

const SECOND: u64 = 1_000_000_000;
/// Each of the two runs ends well within half a minute.
const EFFORT: Effort =
    Effort { most_launches: 20, target_ns: 14 * SECOND, deadline_ns: 28 * SECOND, ..Effort::DEFAULT };
/// A known cost is found again to this.
const SLOPE: f64 = 0.02;
/// One CPU, no waiting: what a machine can be judged by.
const IDS: [&str; 9] = [
    "instrument/empty_loop",
    "instrument/known_cost/calls_1",
    "instrument/known_cost/calls_2",
    "instrument/known_cost/calls_4",
    "clock/monotonic",
    "syscall/getppid",
    "syscall/read0_devzero",
    "semaphore/posix_named",
    "semaphore/system_v",
];

/// Tries the instrument in two runs of under half a minute each. The caller must be the main thread, and nobody else should
/// be measuring.
pub fn verify(
    supervisor: &Supervisor,
    catalogue: &Catalogue,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Vec<Check> {
    let ids = IDS.map(str::to_owned);
    let Ok(choices) = catalogue.select(&ids, Tier::Family) else {
        return vec![
            Finding::unknown("the catalogue lacks what is needed", "everything").named("known_cost"),
        ];
    };
    let cpus = preferred(oscost_sys::affinity::allowed().unwrap_or_default());
    let mut run = |seed| {
        let options = Options {
            effort: EFFORT,
            seed,
            cpus: cpus.clone(),
            spread_cpus: Vec::new(),
            core: None,
            idle_cpu: IdleCpu::Halt,
            references: Vec::new(),
            keep_samples: false,
            expected_ns: std::collections::BTreeMap::new(),
            first: Vec::new(),
        };
        measure(supervisor, &choices, &[], &options, emit)
    };
    let (first, second) = (run(1), run(2));
    judged(first, second)
}

fn judged(first: Measured, second: Measured) -> Vec<Check> {
    // Nothing that a wrong clock timed can be judged, as no run keeps it.
    if let Some(why) = first.wrong_clock.as_ref().or(second.wrong_clock.as_ref()) {
        let says = oscost_session::Error::WrongClock(why.clone()).to_string();
        return vec![Finding::disturbs(says, "every figure").named("clock_rate")];
    }
    let clock = clock(&first);
    let (first, second) = (result(first), result(second));
    let comparison = compare(
        &Named { name: "first", result: &first },
        &Named { name: "second", result: &second },
        Rules::default(),
    );
    vec![
        known_cost(&[&first, &second]).named("known_cost"),
        audit(&first).named("audit"),
        clock.named("clock_step"),
        twice(&comparison).named("same_again"),
    ]
}

/// A measurement as a result that can be compared.
fn result(measured: Measured) -> RunResult {
    let mut result = oscost_session::without_figures();
    result.conditions.clock_step_ns = measured.clock.map(|clock| clock.step_ns);
    result.partial = measured.partial;
    result.figures = measured.figures;
    result
}

fn floor(result: &RunResult, id: &str) -> Option<f64> {
    let figure = result.figures.iter().find(|figure| figure.id == id && figure.status == Status::Measured)?;
    Some(figure.quantities.get(quantity::FLOOR)?.estimate.value)
}

/// Two calls more must cost twice what one call more costs.
fn known_cost(results: &[&RunResult]) -> Finding {
    const MATTERS: &str = "differences between figures, and figures that are a small part of another";
    let slopes: Vec<f64> = results
        .iter()
        .filter_map(|result| {
            let at = |calls: u32| floor(result, &format!("instrument/known_cost/calls_{calls}"));
            let (one, two, four) = (at(1)?, at(2)?, at(4)?);
            Some((four - two) / 2.0 / (two - one))
        })
        .collect();
    if slopes.len() < results.len() {
        return Finding::unknown("a known cost could not be measured", MATTERS);
    }
    let each: Vec<String> = slopes.iter().map(|slope| format!("{slope:.3}")).collect();
    let says =
        format!("2 more calls cost {} times as much as twice 1 more call (1 is right)", each.join(" and "));
    if slopes.iter().all(|slope| (slope - 1.0).abs() <= SLOPE) {
        Finding::fine(says)
    } else {
        Finding::disturbs(says, MATTERS).remedy("stop other work, and try again")
    }
}

/// The audit must count what is known to be called.
fn audit(result: &RunResult) -> Finding {
    const MATTERS: &str = "no figure is checked: verdicts of the evidence are \"unchecked\"";
    let mut counted = Vec::new();
    let mut method = None;
    for calls in [1, 2, 4] {
        let id = format!("instrument/known_cost/calls_{calls}");
        let Some(figure) = result.figures.iter().find(|figure| figure.id == id) else { continue };
        let Some(by) = &figure.evidence.audit_method else {
            let why = figure.evidence.audit_missing.clone().unwrap_or_default();
            return Finding::disturbs(format!("system calls cannot be counted here: {why}"), MATTERS)
                .remedy(to_count_calls());
        };
        method = Some(by.clone());
        let total: f64 = figure.evidence.system_calls.values().sum();
        counted.push((f64::from(calls), total, figure.evidence.verdict));
    }
    let each: Vec<String> = counted.iter().map(|(_, total, _)| format!("{total:.2}")).collect();
    let says = format!(
        "of 1, 2 and 4 system calls, {} were counted by {}",
        each.join(", "),
        method.unwrap_or_default()
    );
    let exact = |&(calls, total, verdict): &(f64, f64, Verdict)| {
        (calls - total).abs() < 1e-9 && verdict == Verdict::Checked
    };
    if counted.len() == 3 && counted.iter().all(exact) {
        Finding::fine(says)
    } else {
        Finding::disturbs(says, "counts are wrong: figures may be withheld, or called checked, in error")
    }
}

fn clock(measured: &Measured) -> Finding {
    match measured.clock {
        Some(clock) => Finding::fine(format!(
            "true step {}, a pair of readings {}",
            duration(clock.step_ns),
            duration(clock.pair_ns)
        )),
        None => Finding::unknown(
            "the clock's step was not found: 10 ns is assumed",
            "the resolution of short batches",
        ),
    }
}

/// Nothing changed between the runs: a verdict of change is a false alarm, and the widths say how small a change is seen.
fn twice(comparison: &Comparison<'_>) -> Finding {
    const MATTERS: &str = "compare of stored results";
    let total = comparison.rows.len();
    let alarms: Vec<&str> =
        comparison.of(Said::Slower).chain(comparison.of(Said::Faster)).map(|row| row.id.as_str()).collect();
    let judged = comparison.of(Said::Within).count();
    // Half an interval, where the verdict rests on two one-sided tests: so much more than the threshold is a change.
    let widths: Vec<f64> = comparison
        .rows
        .iter()
        .filter_map(|row| row.change)
        .map(|shift| comparison.threshold + (shift.high - shift.low) / 2.0)
        .filter(|width| width.is_finite())
        .collect();
    let speed = comparison
        .core_speed
        .map_or(String::new(), |_| "; the core's speed differed between the runs".to_owned());
    let threshold = percent(comparison.threshold);
    if !alarms.is_empty() {
        return Finding::disturbs(
            format!(
                "two equal runs differ by more than {threshold} in {} of {total} figures: {}{speed}",
                alarms.len(),
                alarms.join(", ")
            ),
            MATTERS,
        )
        .remedy("compare by --live, which alternates launches, or on a quieter machine");
    }
    let (Some(least), true) = (widths.iter().copied().reduce(f64::max), judged > 0) else {
        return Finding::disturbs(format!("none of {total} figures could be judged{speed}"), MATTERS)
            .remedy("compare by --live, which alternates launches, or on a quieter machine");
    };
    let says = format!(
        "no false alarm in {total} figures, {judged} within {threshold}; on this machine oscost sees changes of {} and \
         more{speed}",
        percent(least)
    );
    if judged * 2 >= total { Finding::fine(says) } else { Finding::disturbs(says, MATTERS).remedy("--live") }
}

#[cfg(test)]
mod tests {
    use oscost_results::{CheckState, Estimate, Figure, LaunchRecord, Quantity};

    use super::*;

    fn figure(id: &str, floor: f64, calls: f64) -> Figure {
        let text = serde_json::json!({
            "id": id, "family": "x", "title": "", "operation": "", "operations_per_iteration": 1, "call_path": "",
            "group": "", "placement": "one_cpu", "status": "measured", "headline": "floor"
        });
        let mut figure: Figure = serde_json::from_value(text).expect("a figure");
        let estimate = Estimate { value: floor, low: floor, high: floor, extremes: false };
        figure
            .quantities
            .insert("floor".into(), Quantity { estimate, unit: "ns".into(), unknown: Default::default() });
        let launch = LaunchRecord {
            iterations: 100_000,
            canary_ns: Some(0.3),
            quantities: [("floor".to_owned(), floor)].into(),
            ..LaunchRecord::default()
        };
        figure.launches = vec![launch; 10];
        figure.evidence.audit_method = Some("seccomp user notification".into());
        figure.evidence.system_calls.insert("getppid".into(), calls);
        figure.evidence.verdict = Verdict::Checked;
        figure
    }

    /// Floors of the three known costs; the audit counts what is right.
    fn measured(floors: [f64; 3]) -> Measured {
        let ids = ["calls_1", "calls_2", "calls_4"].map(|calls| format!("instrument/known_cost/{calls}"));
        let figures = ids.iter().zip(floors).zip([1.0, 2.0, 4.0]);
        Measured {
            figures: figures.map(|((id, floor), calls)| figure(id, floor, calls)).collect(),
            ratios: Vec::new(),
            differences: Vec::new(),
            references: Vec::new(),
            partial: false,
            start_ns: 0,
            launches: 10,
            core: None,
            wrong_clock: None,
            clock: None,
            isolation: None,
            kept_awake: None,
            warnings: Vec::new(),
        }
    }

    fn state(checks: &[Check], name: &str) -> CheckState {
        checks.iter().find(|check| check.check == name).expect("the check").state
    }

    #[test]
    fn a_good_instrument_is_fine_and_says_what_it_sees() {
        let checks = judged(measured([105.0, 206.0, 408.0]), measured([105.1, 206.2, 408.4]));
        assert_eq!(state(&checks, "known_cost"), CheckState::Fine, "{checks:?}");
        assert_eq!(state(&checks, "audit"), CheckState::Fine);
        assert_eq!(state(&checks, "same_again"), CheckState::Fine);
        // The threshold, and half of the 90 % interval of the largest change: launches that are all alike have no error, so
        // it is Student's t times the usual drift of two runs. 1.6973 is exceeded by one in twenty, with 30 degrees of freedom.
        let drift = oscost_stats::drift::usual("one_cpu", "floor", false).share();
        let half = 408.4 / 408.0 * (1.6973 * drift * 2.0_f64.sqrt()).sinh();
        let says = format!("oscost sees changes of {} and more", percent(Rules::default().threshold + half));
        assert!(checks[3].says.contains(&says), "{says}: {}", checks[3].says);
        assert_eq!(state(&checks, "clock_step"), CheckState::Unknown);
    }

    #[test]
    fn a_slope_that_is_off_and_a_false_alarm_disturb() {
        let checks = judged(measured([105.0, 206.0, 480.0]), measured([105.0, 206.0, 408.0]));
        assert_eq!(state(&checks, "known_cost"), CheckState::Disturbs);
        assert_eq!(state(&checks, "same_again"), CheckState::Disturbs);
        assert!(
            checks[3].says.contains("1 of 3 figures: instrument/known_cost/calls_4"),
            "{}",
            checks[3].says
        );
    }

    #[test]
    fn a_wrong_clock_of_either_run_disturbs_and_nothing_else_is_judged() {
        for at in 0..2 {
            let mut runs = [measured([105.0, 206.0, 408.0]), measured([105.0, 206.0, 408.0])];
            runs[at].wrong_clock = Some("it runs at half its rate".to_owned());
            let [first, second] = runs;
            let checks = judged(first, second);
            assert_eq!((checks.len(), state(&checks, "clock_rate")), (1, CheckState::Disturbs), "{checks:?}");
            assert!(checks[0].says.starts_with("it runs at half its rate: no figure can be trusted"));
        }
    }

    #[test]
    fn a_wrong_count_disturbs() {
        let mut wrong = measured([105.0, 206.0, 408.0]);
        wrong.figures[1].evidence.system_calls.insert("getpid".into(), 1.0);
        assert_eq!(state(&judged(wrong, measured([105.0, 206.0, 408.0])), "audit"), CheckState::Disturbs);
        let mut blind = measured([105.0, 206.0, 408.0]);
        blind.figures[0].evidence.audit_method = None;
        let checks = judged(blind, measured([105.0, 206.0, 408.0]));
        assert!(checks[1].says.contains("cannot be counted"), "{}", checks[1].says);
    }
}
