//! Turns launches into figures: states, marks, modes. METHOD.md, Figures.

pub(crate) mod circumstances;
mod evidence;
pub(crate) mod member;
mod pairs;
pub(crate) mod percentiles;
mod quantities;
pub(crate) mod quiet;
pub(crate) mod rebuild;
mod remarks;
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Evidence, Figure, Mark, Mode, Quantity, RemarkCode, Status, Verdict};
use oscost_stats::interval::MEDIAN;
use oscost_stats::modes::bimodal;
use oscost_stats::quantile::{quantile, sorted};
use serde_json::Map;

use crate::benchmark::card::{Card, OverLaunches, Placement};
use crate::benchmark::claims;
use crate::benchmark::foreign::Foreign;
use crate::figures::quiet::Best;
use crate::protocol::message::{Failure, Launched, batch_ns};
use member::{Fate, MemberState};

pub(crate) use pairs::paired;
use quantities::{estimate, judged, judged_windows, no_window_was_quiet, on_one_cpu, quantities};
pub(crate) use quantities::{has_converged, is_quiet_enough, of_near, values_of};

/// An interval of the headline wider than this either way has not converged.
const CONVERGED: f64 = 0.01;
/// Fewer clean rounds than this, and the figure is noisy.
const CLEAN: f64 = 0.2;
/// Of fewer launches than this nothing is said.
const FEW: usize = 3;
/// A core that is slower than this is in another phase.
const SLOWER: f64 = 0.02;

/// Quantity of a series that asked for real-time scheduling: 1 where it was granted to everybody, else 0.
const REAL_TIME: &str = "real_time";

/// What all members of a group share.
pub(crate) struct Context<'a> {
    /// Launches that were planned; 0 where that is not known.
    pub(crate) planned: u32,
    pub(crate) void_launches: u32,
    pub(crate) void_reason: Option<&'a str>,
    pub(crate) clock_step_ns: f64,
    pub(crate) interrupted: bool,
    /// A CPU quota stopped it meanwhile.
    pub(crate) stopped_by_quota: bool,
    /// A step of the chain is a cycle.
    pub(crate) cycles: bool,
    pub(crate) best: Best,
}

/// Whether a step of the clock is so much of a batch that launches agree on what is wrong: the fastest batch is one that ended just
/// before a step.
fn is_coarse(step_ns: f64) -> bool {
    step_ns > CONVERGED * batch_ns(step_ns) as f64
}

/// The figure of one member.
pub(crate) fn of_member(member: &MemberState, context: &Context<'_>) -> Figure {
    let card = member.choice.card();
    let mut figure = blank(card);
    let launched = &member.launched;
    figure.evidence = evidence::of_member(member, context);
    let unmeasured = |figure: &mut Figure, status, why: String, remedy: Option<String>| {
        figure.status = status;
        figure.why = Some(why);
        figure.remedy = remedy;
    };
    match &member.outcome {
        Fate::Unsupported { why, remedy } => {
            let remedy = (!remedy.is_empty()).then(|| remedy.clone());
            unmeasured(&mut figure, Status::Unsupported, why.clone(), remedy);
            return figure;
        }
        Fate::Failed(failure) => {
            unmeasured(&mut figure, Status::Failed, failure.to_string(), None);
            return figure;
        }
        Fate::Running if launched.is_empty() => {
            let why = match (&member.first_failure, context.void_reason, context.interrupted) {
                (Some(failure), ..) => failure.to_string(),
                (None, Some(reason), _) => {
                    format!("environment: every launch ({}) is void: {reason}", context.void_launches)
                }
                (None, None, _) if context.stopped_by_quota => {
                    "a CPU quota stopped the run before its first launch (oscost doctor)".to_owned()
                }
                (None, None, true) => "the run ended before its first launch".to_owned(),
                (None, None, false) => "the run's time was over before its first launch".to_owned(),
            };
            unmeasured(&mut figure, Status::Failed, why, None);
            return figure;
        }
        Fate::Running => {}
    }
    let withheld = circumstances::judge(&mut figure, launched, card.placement != Placement::Unpinned);
    if figure.evidence.verdict == Verdict::Contradicted {
        let broken = claims::contradiction(&figure.evidence.claims, &figure.evidence.system_calls);
        let why: Vec<String> =
            Some(broken).into_iter().filter(|why| !why.is_empty()).chain(withheld).collect();
        unmeasured(&mut figure, Status::Contradicted, why.join("; "), None);
        return figure;
    }
    figure.status = Status::Measured;
    let launched = &judged_windows(launched, &context.best);
    figure.quantities = quantities(card, launched);
    figure.judged = judged(card, launched).to_owned();
    if on_one_cpu(card) && no_window_was_quiet(launched) {
        figure.marks.push(Mark::BusySibling);
    }
    figure.launches = launched.iter().map(|launched| launched.record.clone()).collect();
    let is_coarse = card.quantities.is_empty() && is_coarse(context.clock_step_ns);
    if figure.evidence.clean_share.is_some_and(|share| share < CLEAN) || member.throttled || is_coarse {
        figure.marks.push(Mark::Noisy);
    }
    // A series that asks for real-time scheduling says whether it had it.
    if values_of(launched, REAL_TIME).contains(&0.0) {
        figure.marks.push(Mark::NotRealTime);
    }
    if let Some(modes) = modes(launched) {
        figure.marks.push(Mark::Bimodal);
        figure.modes = modes;
    }
    if !has_converged(member) {
        figure.marks.push(Mark::NotConverged);
    }
    if launched.len() < context.planned as usize {
        figure.marks.push(Mark::FewerLaunches);
    }
    figure.marks.extend(circumstances::marks(launched));
    remarks::add(&mut figure, member, context);
    figure
}

pub(crate) fn blank(card: &Card) -> Figure {
    Figure {
        id: card.id.to_owned(),
        revision: card.revision,
        family: card.family().to_owned(),
        title: card.title.to_owned(),
        operation: card.operation.to_owned(),
        heading: card.heading.to_owned(),
        operations_per_iteration: card.operations_per_iteration,
        call_path: card.call_path.name().to_owned(),
        group: card.group.to_owned(),
        placement: card.placement.name().to_owned(),
        document: card.document.map(str::to_owned),
        status: Status::Failed,
        marks: Vec::new(),
        headline: card.headline().to_owned(),
        judged: card.headline().to_owned(),
        quantities: BTreeMap::new(),
        modes: Vec::new(),
        parameters: card.parameters.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect(),
        traits: Some(card.traits.to_vec()),
        launches: Vec::new(),
        count: None,
        percentiles: None,
        evidence: Evidence::default(),
        why: None,
        remedy: None,
        remarks: Vec::new(),
        remark_codes: Vec::new(),
        unknown: Map::default(),
    }
}

/// Modes of the clean rounds of all launches, each launch weighing the same.
fn modes(launched: &[Launched]) -> Option<Vec<Mode>> {
    let pooled = sorted(launched.iter().flat_map(|launched| launched.clean_sketch.iter().copied()).collect());
    let modes = bimodal(&pooled)?;
    Some(modes.map(|mode| Mode { value: mode.value, share: mode.share, unknown: Map::default() }).to_vec())
}

/// How much slower the core ran in the launch in the middle of the slower half than in the fastest one, if that is
/// more than the canary's 2 %: a frequency that moves, moves every figure with it.
pub(crate) fn slowdown(launched: &[Launched]) -> Option<f64> {
    let speeds = sorted(launched.iter().filter_map(|launched| launched.record.chain_ns).collect());
    let (fastest, slow) = (*speeds.first()?, quantile(&speeds, 0.75)?);
    Some(slow / fastest - 1.0).filter(|slowdown| *slowdown > SLOWER)
}

/// The figure of a foreign contestant: what it printed, over launches. It claims nothing.
pub(crate) fn of_foreign(foreign: &Foreign, launched: &[Launched], failure: Option<&Failure>) -> Figure {
    let mut figure = blank(&Card::BATCHED);
    figure.id.clone_from(&foreign.id);
    figure.family = foreign.id.split('/').next().unwrap_or_default().to_owned();
    figure.title.clone_from(&foreign.title);
    figure.operation.clone_from(&foreign.operation);
    figure.call_path = "foreign".to_owned();
    figure.group.clone_from(&foreign.id);
    figure.placement = if foreign.cpus.len() == 1 { "one_cpu" } else { "unpinned" }.to_owned();
    figure.headline.clone_from(&foreign.headline.0);
    figure.judged.clone_from(&foreign.headline.0);
    figure.evidence.launches = u32::try_from(launched.len()).unwrap_or(u32::MAX);
    if launched.is_empty() {
        figure.why = Some(failure.map_or("no launch was made".to_owned(), ToString::to_string));
        return figure;
    }
    figure.status = Status::Measured;
    let names: BTreeSet<&String> =
        launched.iter().flat_map(|launched| launched.record.quantities.keys()).collect();
    for name in names {
        if let Some(estimate) = estimate(&values_of(launched, name), OverLaunches::Median, MEDIAN, usize::MAX)
        {
            // How long it ran is known whatever it measures.
            let unit = if name == "duration" { "ns".to_owned() } else { foreign.headline.1.clone() };
            figure.quantities.insert(name.clone(), Quantity { estimate, unit, unknown: Map::default() });
        }
    }
    figure.launches = launched.iter().map(|launched| launched.record.clone()).collect();
    if let Some(failure) = failure {
        figure.remarks.push(RemarkCode::ForeignFailed.with(&[&failure]));
    }
    figure
}
