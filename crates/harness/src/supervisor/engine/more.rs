//! A later part of a run, measured by options of its own: what is launched once, when figures with intervals are done.

use oscost_results::RemarkCode;

use super::{Measured, measure_after};
use crate::benchmark::catalogue::Choice;
use crate::protocol::record;
use crate::supervisor::event::Event;
use crate::supervisor::plan::Options;
use crate::supervisor::workers::{Supervisor, Workers};

/// Measures `choices` in the run that has `measured` others: its launches count on. The times of `options` begin now. Ratios and
/// differences remain those of the others: of a single launch they have no interval.
///
/// It must be called from the main thread, like [`crate::measure`].
pub fn measure_more(
    supervisor: &Supervisor,
    measured: Measured,
    choices: &[Choice],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    more_by(supervisor, measured, choices, options, emit)
}

/// The same with whatever made the launches before.
pub(super) fn more_by(
    workers: &dyn Workers,
    mut measured: Measured,
    choices: &[Choice],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    let since_ns = workers.now_ns().saturating_sub(measured.start_ns);
    let more = measure_after((measured.launches, since_ns), workers, choices, &[], options, emit);
    measured.figures.extend(more.figures);
    measured.references.extend(more.references);
    measured.partial |= more.partial;
    measured.launches = more.launches;
    measured.wrong_clock = measured.wrong_clock.or(more.wrong_clock);
    measured.clock = measured.clock.or(more.clock);
    measured.core = more.core.or(measured.core);
    measured.isolation = measured.isolation.or(more.isolation);
    record::add_awake(&mut measured.kept_awake, more.kept_awake.as_ref());
    for words in more.warnings {
        // The first look at the clock and the core is the run's: series are told in no cycles.
        let is_of_looks = matches!(
            RemarkCode::of(&words),
            Some(RemarkCode::NoCycles | RemarkCode::NoKernelEntry | RemarkCode::ClockStepAssumed)
        );
        if !is_of_looks && !measured.warnings.contains(&words) {
            measured.warnings.push(words);
        }
    }
    if matches!(measured.kept_awake, Some(Err(_))) {
        measured.warnings.retain(|words| RemarkCode::of(words) != Some(RemarkCode::KeptAwake));
    }
    measured
}
