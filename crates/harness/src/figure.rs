//! Figures out of launches: estimates, marks, modes, evidence and its verdict. METHOD.md, Figures and Intervals.

use std::collections::BTreeMap;

use oscost_results::{Estimate, Evidence, Figure, Mark, Mode, PairedValue, Quantity, Status, Verdict};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN, over_launches};
use oscost_stats::modes::bimodal;
use oscost_stats::quantile::{median, quantile, sorted};
use serde_json::Map;

use crate::card::{CallPath, Card, OverLaunches, Placement};
use crate::claims;
use crate::foreign::Foreign;
use crate::group::MemberState;
use crate::message::{Failure, Launched, PAIRED, Pair};

/// An interval of the headline wider than this either way has not converged.
const CONVERGED: f64 = 0.01;
/// Fewer clean rounds than this, and the figure is noisy.
const CLEAN: f64 = 0.2;
/// With fewer launches at full speed than this, pairs of all launches count.
const FEW: usize = 3;
/// The empty loop is worth a bracket from this share of the floor on.
const LOOP_SHARE: f64 = 0.001;
/// A core that is slower than this is in another phase.
const SLOWER: f64 = 0.02;
/// The paired ratio and the floors' ratio should agree to this.
const RATIOS_AGREE: f64 = 0.02;

/// Quantity of a series that asked for real-time scheduling: 1 where it was granted to everybody, else 0.
const REAL_TIME: &str = "real_time";

/// What became of a member before its launches are looked at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Running,
    Unsupported { why: String, remedy: String },
    Failed(Failure),
}

/// What all members of a group share.
pub(crate) struct Context<'a> {
    pub(crate) void_launches: u32,
    pub(crate) void_reason: Option<&'a str>,
    pub(crate) canary_ns: f64,
    pub(crate) clock_step_ns: f64,
    pub(crate) seccomp_mode: Option<u32>,
    pub(crate) tracer_pid: Option<u32>,
    pub(crate) interrupted: bool,
}

/// How the launches of a quantity are put together: the batched ones are fixed, a series names its own.
fn rule(card: &Card, name: &str) -> Option<(&'static str, OverLaunches, f64)> {
    if card.quantities.is_empty() {
        return match name {
            "floor" => Some(("ns", OverLaunches::Median, LOWER_QUARTILE)),
            "max" => Some(("ns", OverLaunches::Max, MEDIAN)),
            "p5" | "typical" | "batch_p99" | "mean" => Some(("ns", OverLaunches::Median, MEDIAN)),
            "same_cpu_share" => Some(("share", OverLaunches::Median, MEDIAN)),
            _ => None,
        };
    }
    let quantity = card.quantities.iter().find(|quantity| quantity.name == name)?;
    Some((quantity.unit, quantity.over_launches, MEDIAN))
}

fn estimate(values: &[f64], over: OverLaunches, q: f64) -> Option<Estimate> {
    match over {
        OverLaunches::Median => over_launches(values, q).map(|interval| Estimate {
            value: interval.value,
            low: interval.low,
            high: interval.high,
            extremes: interval.extremes,
        }),
        OverLaunches::Max | OverLaunches::Sum => {
            let ordered = sorted(values.to_vec());
            let (low, high) = (*ordered.first()?, *ordered.last()?);
            let value = if over == OverLaunches::Max { high } else { values.iter().sum() };
            Some(Estimate { value, low, high, extremes: true })
        }
    }
}

fn values_of(launched: &[Launched], name: &str) -> Vec<f64> {
    launched.iter().filter_map(|launched| launched.record.quantities.get(name).copied()).collect()
}

fn quantities(card: &Card, launched: &[Launched]) -> BTreeMap<String, Quantity> {
    let mut names: Vec<&String> =
        launched.iter().flat_map(|launched| launched.record.quantities.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| {
            let (unit, over, q) = rule(card, name)?;
            let estimate = estimate(&values_of(launched, name), over, q)?;
            Some((name.clone(), Quantity { estimate, unit: unit.to_owned(), unknown: Map::default() }))
        })
        .collect()
}

/// Half width of the headline's interval, as a share of the estimate.
fn half_width(card: &Card, launched: &[Launched]) -> Option<f64> {
    let (_, over, q) = rule(card, card.headline())?;
    let estimate = estimate(&values_of(launched, card.headline()), over, q)?;
    if estimate.extremes && over == OverLaunches::Median {
        return None;
    }
    if estimate.value == 0.0 {
        return Some(if estimate.low == estimate.high { 0.0 } else { f64::INFINITY });
    }
    Some((estimate.high - estimate.low) / 2.0 / estimate.value.abs())
}

/// Whether more launches of this member would be for nothing.
pub(crate) fn has_converged(member: &MemberState) -> bool {
    half_width(member.choice.card(), &member.launched).is_some_and(|width| width <= CONVERGED)
}

fn middle(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    median(&sorted(values?))
}

/// The figure of one member.
pub(crate) fn of_member(member: &MemberState, context: &Context<'_>) -> Figure {
    let card = member.choice.card();
    let mut figure = blank(card);
    let launched = &member.launched;
    figure.evidence = evidence(member, context);
    let unmeasured = |figure: &mut Figure, status, why: String, remedy: Option<String>| {
        figure.status = status;
        figure.why = Some(why);
        figure.remedy = remedy;
    };
    match &member.outcome {
        Outcome::Unsupported { why, remedy } => {
            let remedy = (!remedy.is_empty()).then(|| remedy.clone());
            unmeasured(&mut figure, Status::Unsupported, why.clone(), remedy);
            return figure;
        }
        Outcome::Failed(failure) => {
            unmeasured(&mut figure, Status::Failed, failure.to_string(), None);
            return figure;
        }
        Outcome::Running if launched.is_empty() => {
            let why = match (&member.first_failure, context.void_reason, context.interrupted) {
                (Some(failure), ..) => failure.to_string(),
                (None, Some(reason), _) => {
                    format!("environment: every launch ({}) is void: {reason}", context.void_launches)
                }
                (None, None, true) => "the run ended before its first launch".to_owned(),
                (None, None, false) => "no launch was made".to_owned(),
            };
            unmeasured(&mut figure, Status::Failed, why, None);
            return figure;
        }
        Outcome::Running => {}
    }
    let moved = figure.evidence.migrations.unwrap_or(0) > 0 && card.placement != Placement::Unpinned;
    if figure.evidence.verdict == Verdict::Contradicted || moved {
        let mut why = claims::contradiction(&figure.evidence.claims, &figure.evidence.system_calls);
        if moved {
            figure.evidence.verdict = Verdict::Contradicted;
            if !why.is_empty() {
                why.push_str("; ");
            }
            why.push_str("a pinned participant changed its CPU");
        }
        unmeasured(&mut figure, Status::Contradicted, why, None);
        return figure;
    }
    figure.status = Status::Measured;
    figure.quantities = quantities(card, launched);
    figure.quantities.extend(in_passes(launched));
    figure.launches = launched.iter().map(|launched| launched.record.clone()).collect();
    if figure.evidence.clean_share.is_some_and(|share| share < CLEAN) || member.throttled {
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
    remark(&mut figure, member, context);
    figure
}

fn blank(card: &Card) -> Figure {
    Figure {
        id: card.id.to_owned(),
        family: card.family().to_owned(),
        title: card.title.to_owned(),
        operation: card.operation.to_owned(),
        operations_per_iteration: card.operations_per_iteration,
        call_path: card.call_path.name().to_owned(),
        group: card.group.to_owned(),
        placement: card.placement.name().to_owned(),
        document: card.document.map(str::to_owned),
        status: Status::Failed,
        marks: Vec::new(),
        headline: card.headline().to_owned(),
        quantities: BTreeMap::new(),
        modes: Vec::new(),
        parameters: BTreeMap::new(),
        launches: Vec::new(),
        evidence: Evidence::default(),
        why: None,
        remedy: None,
        remarks: Vec::new(),
        unknown: Map::default(),
    }
}

fn evidence(member: &MemberState, context: &Context<'_>) -> Evidence {
    let records = || member.launched.iter().map(|launched| &launched.record);
    let audited = member.audited.clone().unwrap_or_default();
    let any = !member.launched.is_empty();
    let mut evidence = Evidence {
        audit_method: audited.method,
        audit_missing: audited.missing,
        system_calls: audited.system_calls,
        switches: if any { middle(records().map(|record| record.switches)) } else { None },
        voluntary_switches: if any {
            middle(records().map(|record| record.voluntary_switches))
        } else {
            None
        },
        migrations: records()
            .try_fold(0_u64, |sum, record| Some(sum.saturating_add(record.migrations?)))
            .filter(|_| any),
        faults: if any { middle(records().map(|record| record.faults)) } else { None },
        fast_share: if any { middle(records().map(|record| record.fast_share)) } else { None },
        clean_share: if any { middle(records().map(|record| record.clean_share)) } else { None },
        launches: u32::try_from(member.launched.len()).unwrap_or(u32::MAX),
        void_launches: context.void_launches,
        void_batches: u64::from(member.failed_launches),
        seccomp_mode: context.seccomp_mode,
        tracer_pid: context.tracer_pid,
        claims: audited.claims,
        ..Evidence::default()
    };
    let mut stated = std::mem::take(&mut evidence.claims);
    claims::observe_launches(&mut stated, &evidence);
    evidence.verdict = claims::verdict(&stated);
    evidence.claims = stated;
    evidence
}

/// Modes of the clean rounds of all launches, each launch weighing the same.
fn modes(launched: &[Launched]) -> Option<Vec<Mode>> {
    let pooled = sorted(launched.iter().flat_map(|launched| launched.clean_sketch.iter().copied()).collect());
    let modes = bimodal(&pooled)?;
    Some(modes.map(|mode| Mode { value: mode.value, share: mode.share, unknown: Map::default() }).to_vec())
}

/// A sibling on the core slows the empty loop more than anything else, so that it lowers a launch's floor in passes: the
/// upper decile over launches is a launch without one, as long as a tenth of them had none.
const UNDISTURBED: f64 = 0.9;

/// The floor in passes of the empty loop: what stays of it when the whole machine runs at another frequency.
fn in_passes(launched: &[Launched]) -> Option<(String, Quantity)> {
    let passes = |launched: &Launched| {
        let canary_ns = launched.record.canary_ns.filter(|&ns| ns > 0.0)?;
        Some(launched.record.quantities.get("floor")? / canary_ns)
    };
    let passes: Vec<f64> = launched.iter().filter_map(passes).collect();
    let estimate = estimate(&passes, OverLaunches::Median, UNDISTURBED)?;
    let quantity = Quantity { estimate, unit: "ratio".to_owned(), unknown: Map::default() };
    Some(("floor_in_passes".to_owned(), quantity))
}

/// How much slower the core ran in the launch in the middle of the slower half than in the fastest one, if that is
/// more than the canary's 2 %: a frequency that moves, moves every figure with it.
pub(crate) fn slowdown(launched: &[Launched]) -> Option<f64> {
    let speeds = sorted(launched.iter().filter_map(|launched| launched.record.canary_ns).collect());
    let (fastest, slow) = (*speeds.first()?, quantile(&speeds, 0.75)?);
    Some(slow / fastest - 1.0).filter(|slowdown| *slowdown > SLOWER)
}

/// What is noteworthy, in plain words.
fn remark(figure: &mut Figure, member: &MemberState, context: &Context<'_>) {
    let card = member.choice.card();
    let mut say = |words: String| figure.remarks.push(words);
    let calls: f64 = figure.evidence.system_calls.values().sum();
    if figure.evidence.audit_method.is_some() && calls == 0.0 && card.call_path == CallPath::Vdso {
        say("answered without entering the kernel".to_owned());
    }
    if let Some(failure) = &member.first_failure {
        say(format!("{} launches were thrown away: {failure}", member.failed_launches));
    }
    if context.void_launches > 0
        && let Some(reason) = context.void_reason
    {
        say(format!("{} launches were void: {reason}", context.void_launches));
    }
    if member.throttled {
        say("a CPU quota stopped launches".to_owned());
    }
    let floor = figure.quantities.get("floor").map(|quantity| quantity.estimate);
    let per_operation = context.canary_ns / card.operations_per_iteration.max(1) as f64;
    if let Some(floor) = floor
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
            say(format!(
                "one step of the clock is {:.0} % of a batch: the operation is too long for a batch of many",
                resolution * 100.0
            ));
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

/// Ratios and differences of one group. A side that was withheld leaves the row, with the reason.
pub(crate) fn paired(
    figures: &[Figure],
    members: &[MemberState],
    pairs: &[Vec<Pair>],
) -> (Vec<PairedValue>, Vec<PairedValue>) {
    let (mut ratios, mut differences) = (Vec::new(), Vec::new());
    let figure = |id: &str| figures.iter().find(|figure| figure.id == id);
    let over = |of: &str, to: &str, quantity: &str, value: fn(&Pair) -> Option<f64>| {
        let of_these = || {
            pairs.iter().flatten().filter(|pair| pair.of == of && pair.to == to && pair.quantity == quantity)
        };
        let mut values: Vec<f64> =
            of_these().filter(|pair| pair.fast_share >= CLEAN).filter_map(value).collect();
        if values.len() < FEW {
            values = of_these().filter_map(value).collect();
        }
        estimate(&values, OverLaunches::Median, MEDIAN)
    };
    let value =
        |of: &str, to: &str, quantity: &str, unit: &str, estimate: Option<Estimate>, why: Option<String>| {
            PairedValue {
                of: of.to_owned(),
                to: to.to_owned(),
                quantity: quantity.to_owned(),
                unit: unit.to_owned(),
                value: estimate.map(|estimate| estimate.value),
                low: estimate.map(|estimate| estimate.low),
                high: estimate.map(|estimate| estimate.high),
                why,
                unknown: Map::default(),
            }
        };
    for member in members {
        let card = member.choice.card();
        let withheld = |to: &str| -> Option<String> {
            [card.id, to].into_iter().find_map(|id| {
                let status = figure(id)?.status;
                (status != Status::Measured).then(|| format!("{id} was not measured"))
            })
        };
        let floor = |id: &str| Some(figure(id)?.quantities.get("floor")?.estimate.value);
        if let Some(to) = card.baseline.filter(|&to| to != card.id && figure(to).is_some()) {
            match withheld(to) {
                Some(why) => ratios.push(value(card.id, to, PAIRED, "ratio", None, Some(why))),
                None if !card.quantities.is_empty() => {
                    for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                        let ratio = over(card.id, to, quantity.name, |pair| pair.ratio);
                        ratios.push(value(card.id, to, quantity.name, "ratio", ratio, None));
                    }
                }
                None => {
                    let paired = over(card.id, to, PAIRED, |pair| pair.ratio);
                    let floors = match (floor(card.id), floor(to)) {
                        (Some(of), Some(to)) if to != 0.0 => Some(of / to),
                        _ => None,
                    };
                    let warning = match (paired, floors) {
                        (Some(paired), Some(floors))
                            if (floors / paired.value - 1.0).abs() > RATIOS_AGREE =>
                        {
                            Some(format!("{floors:.3}x of the floors, one side is often in a slower mode"))
                        }
                        _ => None,
                    };
                    ratios.push(value(card.id, to, PAIRED, "ratio", paired, warning));
                    let floors = floors.map(|ratio| Estimate {
                        value: ratio,
                        low: ratio,
                        high: ratio,
                        extremes: true,
                    });
                    ratios.push(value(card.id, to, "floor", "ratio", floors, None));
                }
            }
        }
        if let Some(to) = card.subtract.filter(|to| figure(to).is_some()) {
            match withheld(to) {
                Some(why) => differences.push(value(card.id, to, PAIRED, "ns", None, Some(why))),
                None if !card.quantities.is_empty() => {
                    for quantity in card.quantities.iter().filter(|quantity| quantity.paired) {
                        let difference = over(card.id, to, quantity.name, |pair| pair.difference);
                        differences.push(value(card.id, to, quantity.name, quantity.unit, difference, None));
                    }
                }
                None => {
                    let difference = over(card.id, to, PAIRED, |pair| pair.difference);
                    differences.push(value(card.id, to, PAIRED, "ns", difference, None));
                }
            }
        }
    }
    (ratios, differences)
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
    figure.evidence.launches = u32::try_from(launched.len()).unwrap_or(u32::MAX);
    if launched.is_empty() {
        figure.why = Some(failure.map_or("no launch was made".to_owned(), ToString::to_string));
        return figure;
    }
    figure.status = Status::Measured;
    let mut names: Vec<&String> =
        launched.iter().flat_map(|launched| launched.record.quantities.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        if let Some(estimate) = estimate(&values_of(launched, name), OverLaunches::Median, MEDIAN) {
            // How long it ran is known whatever it measures.
            let unit = if name == "duration" { "ns".to_owned() } else { foreign.headline.1.clone() };
            figure.quantities.insert(name.clone(), Quantity { estimate, unit, unknown: Map::default() });
        }
    }
    figure.launches = launched.iter().map(|launched| launched.record.clone()).collect();
    if let Some(failure) = failure {
        figure.remarks.push(format!("launches failed: {failure}"));
    }
    figure
}
