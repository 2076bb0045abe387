//! What a benchmark needs from the machine, checked before its set-up.

use super::card::{Need, Placement};
use super::catalogue::Choice;

/// What a benchmark needs and these CPUs do not give, with what to do about it.
#[must_use]
pub fn lacking(choice: &Choice, cpus: &[usize]) -> Option<(String, String)> {
    let card = choice.card();
    if let Some(cpu) = card.cpus.iter().find(|cpu| !cpus.contains(cpu)) {
        return Some((
            format!("runs on CPU {cpu}, which may not be used"),
            "name CPUs that may be used, or allow this one (taskset, cpuset, --cpu)".to_owned(),
        ));
    }
    let cpus = cpus.len();
    let least = card.needs.iter().map(|need| match need {
        Need::Cpus(count) => usize::try_from(*count).unwrap_or(usize::MAX),
    });
    let least = least.max().unwrap_or(1).max(if card.placement == Placement::CrossCpu { 2 } else { 1 });
    (cpus < least).then(|| {
        let plural = if cpus == 1 { "CPU" } else { "CPUs" };
        (
            format!("needs {least} CPUs, and {cpus} {plural} may be used"),
            "give the process more CPUs (taskset, cpuset, --cpu)".to_owned(),
        )
    })
}
