//! Remarks about a figure, in plain words.

use oscost_results::{Estimate, Figure, Quantity, RemarkCode};
use serde_json::Map;

use super::member::MemberState;
use crate::benchmark::card::CallPath;

use super::{CONVERGED, Context};

/// The empty loop is worth a bracket from this share of the floor on.
const LOOP_SHARE: f64 = 0.001;

/// Adds what is noteworthy, and what is left without the empty loop.
pub(super) fn add(figure: &mut Figure, member: &MemberState, context: &Context<'_>) {
    let card = member.choice.card();
    let mut say = |words: String| figure.remarks.push(words);
    let calls: f64 = figure.evidence.system_calls.values().sum();
    if figure.evidence.audit_method.is_some() && calls == 0.0 && card.call_path == CallPath::Vdso {
        say(RemarkCode::KernelNotEntered.with(&[]));
    }
    if let Some(failure) = &member.first_failure {
        say(RemarkCode::LaunchesThrownAway.with(&[&member.failed_launches, failure]));
    }
    if context.void_launches > 0
        && let Some(reason) = context.void_reason
    {
        say(RemarkCode::LaunchesVoid.with(&[&context.void_launches, &reason]));
    }
    if member.throttled {
        say(RemarkCode::Throttled.with(&[]));
    }
    let floor = figure.quantities.get("floor").map(|quantity| quantity.estimate);
    // Counting down and jumping back: one cycle a pass.
    let cycle = member.launched.iter().filter_map(|launched| launched.record.chain_ns).reduce(f64::min);
    let per_operation = cycle.unwrap_or(0.0) / card.operations_per_iteration.max(1) as f64;
    if let Some(floor) = floor
        && context.cycles
        && member.iterations > 0
        && card.family() != "instrument"
        && per_operation >= LOOP_SHARE * floor.value
    {
        // A bracket: how much of the loop overlaps with the operation cannot be known.
        let less = |value: f64| value - per_operation;
        let estimate = Estimate {
            value: less(floor.value),
            low: less(floor.low),
            high: less(floor.high),
            extremes: floor.extremes,
        };
        figure.quantities.insert(
            "floor_less_loop".to_owned(),
            Quantity { estimate, unit: "ns".to_owned(), unknown: Map::default() },
        );
    }
    if let Some(floor) = floor {
        let operations = member.iterations.saturating_mul(card.operations_per_iteration).max(1) as f64;
        let resolution = context.clock_step_ns / operations / floor.value;
        if member.iterations > 0 && resolution > CONVERGED {
            say(RemarkCode::ClockStepTooLong.with(&[&format_args!("{:.0}", resolution * 100.0)]));
        }
    }
    let mut said: Vec<&String> = Vec::new();
    for words in member.launched.iter().flat_map(|launched| &launched.remarks) {
        if !said.contains(&words) {
            said.push(words);
            say(words.clone());
        }
    }
    if !card.remark.is_empty() {
        say(card.remark.to_owned());
    }
}
