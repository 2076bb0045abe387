//! The result of a session: its head before measuring, and the parts that are added afterwards.

use std::time::SystemTime;

use oscost_harness::{Measured, Options, Place};
use oscost_results::{Check, Conditions, Plan, RemarkCode, RunResult, telling_parameters};

use crate::{Request, machine};

/// A result of this program on this machine, as it is now, without figures and private facts, and partial. It measures the
/// clock's step: some ms.
#[must_use]
pub fn without_figures() -> RunResult {
    let mut result = with_private_facts();
    let whole = result.conditions.command_line.as_deref();
    result.conditions.command_line = whole.map(telling_parameters);
    result
}

/// The same with the whole command line of the kernel.
fn with_private_facts() -> RunResult {
    RunResult::begun(SystemTime::now(), machine::tool(), machine::machine(), machine::conditions())
}

/// The seed of a run that was given none.
pub(crate) fn random_seed() -> u64 {
    oscost_sys::random::bits().map_or(1, |bits| u64::try_from(bits & 0xffff_ffff).unwrap_or(1))
}

/// What must be known of the build, whose script says where loops begin: the flag that aligns them reaches no dependant.
pub(crate) fn of_the_build(loops: &str) -> Option<String> {
    (loops != "aligned").then(|| RemarkCode::OtherLoops.with(&[]))
}

/// The result before anything was measured: also the head of the journal.
pub(crate) fn head(
    request: &Request<'_>,
    options: &Options,
    doctor: Vec<Check>,
    warnings: Vec<String>,
) -> RunResult {
    let mut result = if request.keep_private { with_private_facts() } else { without_figures() };
    if request.keep_private {
        result.machine.host = machine::host();
    }
    let kind = request.directory.as_ref().map(Place::kind);
    result.conditions.file_system = kind.map(|kind| kind.unwrap_or_else(|error| error.to_string()));
    result.conditions.cpu_option.clone_from(&request.cpus);
    result.conditions.idle_cpu = Some(options.idle_cpu.name().to_owned());
    result.note.clone_from(&request.note);
    result.plan = Plan {
        seed: options.seed,
        launches: options.effort.launches,
        launch_ns: options.effort.member_ns,
        effort: options.effort.level.name().to_owned(),
        patterns: request.patterns.to_vec(),
        cpus: options.cpus.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect(),
        directory: request.directory.as_ref().map(|place| place.path().to_string_lossy().into_owned()),
        ..Plan::default()
    };
    if request.keep_private {
        let arguments = std::env::args_os().skip(1);
        result.plan.arguments = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    }
    result.doctor = doctor;
    result.warnings = warnings;
    result
}

/// Adds what was measured, and what befell the run: how long it slept, and its conditions before and now.
pub(crate) fn complete(
    result: &mut RunResult,
    measured: Measured,
    slept_ns: u64,
    [before, now]: [&Conditions; 2],
) {
    result.partial = measured.partial;
    result.machine.core = measured.core.or(result.machine.core);
    result.figures = measured.figures;
    result.ratios = measured.ratios;
    result.differences = measured.differences;
    result.references = measured.references;
    result.warnings.extend(measured.warnings);
    result.warnings.extend(slept(slept_ns));
    result.warnings.extend(changed(before, now));
    result.add_codes();
    result.conditions.isolation = measured.isolation;
    result.conditions.kept_awake = measured.kept_awake.and_then(Result::ok);
    if let Some(clock) = measured.clock {
        result.conditions.clock_step_ns = Some(clock.step_ns);
        result.conditions.clock_pair_ns = Some(clock.pair_ns);
    }
}

/// That the run stood still, if it did.
fn slept(ns: u64) -> Option<String> {
    (ns > 0).then(|| RemarkCode::Slept.with(&[&format!("{:.0}", ns as f64 / 1e9)]))
}

/// What an administrator or a daemon changed while figures were measured, of what moves all of them.
fn changed(before: &Conditions, after: &Conditions) -> Vec<String> {
    let quota = |it: &Conditions| {
        it.cpu_quota_known.then(|| it.cpu_quota.map_or("none".into(), |cpus| cpus.to_string()))
    };
    let all = [
        ("the clock source", before.clock_source.clone(), after.clock_source.clone()),
        ("the frequency governor", before.governor.clone(), after.governor.clone()),
        ("the CPU quota", quota(before), quota(after)),
    ];
    let differs = |(what, before, after): (&str, Option<String>, Option<String>)| {
        let (before, after) = (before?, after?);
        (before != after).then(|| RemarkCode::Changed.with(&[&what, &before, &after]))
    };
    all.into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_while_it_is_measured_is_said() {
        let of = |clock: &str, cpu_quota| Conditions {
            clock_source: Some(clock.to_owned()),
            cpu_quota_known: true,
            cpu_quota,
            ..Conditions::default()
        };
        let said = changed(&of("tsc", None), &of("hpet", Some(0.5)));
        assert!(said[0].contains("the clock source changed from tsc to hpet"), "{said:?}");
        assert!(said.len() == 2 && said[1].contains("the CPU quota changed from none to 0.5"), "{said:?}");
        assert!(changed(&of("tsc", None), &of("tsc", None)).is_empty());
        let unknown = Conditions::default();
        assert!(changed(&of("tsc", None), &unknown).is_empty(), "what cannot be read has not changed");
    }

    #[test]
    fn what_befell_a_run_stands_in_its_result_with_its_code() {
        let mut result = without_figures();
        let measured = Measured {
            figures: Vec::new(),
            ratios: Vec::new(),
            differences: Vec::new(),
            references: Vec::new(),
            partial: false,
            start_ns: 0,
            launches: 0,
            wrong_clock: None,
            clock: None,
            core: None,
            isolation: None,
            kept_awake: None,
            warnings: vec!["of the engine".to_owned()],
        };
        let of = |clock: &str| Conditions { clock_source: Some(clock.to_owned()), ..Conditions::default() };
        complete(&mut result, measured, 44_950_000_000, [&of("tsc"), &of("kvm-clock")]);
        assert_eq!(result.warning_codes, ["", "W013", "W012"]);
        assert!(result.warnings[1].contains("stopped for 45 s"), "{:?}", result.warnings);
    }
}
