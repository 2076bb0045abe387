//! The result of a session: its head before measuring, and the parts that are added afterwards.

use std::time::SystemTime;

use oscost_harness::{Measured, Options, Place};
use oscost_results::{Check, Plan, RemarkCode, RunResult, telling_parameters};

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

/// Adds what was measured.
pub(crate) fn complete(result: &mut RunResult, measured: Measured) {
    result.partial = measured.partial;
    result.machine.core = measured.core.or(result.machine.core);
    result.figures = measured.figures;
    result.ratios = measured.ratios;
    result.differences = measured.differences;
    result.witnesses = measured.witnesses;
    result.warnings.extend(measured.warnings);
    result.add_codes();
    result.conditions.isolation = measured.isolation;
    result.conditions.kept_awake = measured.kept_awake;
    if let Some(clock) = measured.clock {
        result.conditions.clock_step_ns = Some(clock.step_ns);
        result.conditions.clock_pair_ns = Some(clock.pair_ns);
    }
}
