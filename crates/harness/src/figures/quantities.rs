//! Combines launches into quantities, chooses the judged one, and says if more launches would help. METHOD.md, Figures.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Estimate, Quantity, near, quantity};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN, over_launches_stopped};
use oscost_stats::quantile::{median, quantile, sorted};
use serde_json::Map;

use super::member::MemberState;
use crate::benchmark::card::{Card, OverLaunches, Placement};
use crate::figures::quiet::Best;
use crate::protocol::message::Launched;

use super::CONVERGED;

/// Cycles are judged from so many launches on. Quiet launches repeat better than the floor of all, however few they are.
const FEW_WITH_CYCLES: usize = 4;
/// Where the scatter in cycles is this much wider than in ns, an operation does not follow the core.
const FOLLOWS: f64 = 0.005;

/// Median over quiet windows of the window's median, in ns and in steps of the chain.
const QUIET: &str = "quiet";
const CYCLES: &str = "cycles";

/// How the launches of a quantity are put together: the batched ones are fixed, a series names its own.
fn rule(card: &Card, name: &str) -> Option<(&'static str, OverLaunches, f64)> {
    if card.quantities.is_empty() {
        return match name {
            "floor" => Some(("ns", OverLaunches::Median, LOWER_QUARTILE)),
            // A host that moves the CPUs apart makes slow launches, and never fast ones.
            "typical" if card.wakes_another_cpu() => Some(("ns", OverLaunches::Median, LOWER_QUARTILE)),
            "max" => Some(("ns", OverLaunches::Max, MEDIAN)),
            QUIET | "p5" | "typical" | "batch_p99" | "mean" => Some(("ns", OverLaunches::Median, MEDIAN)),
            CYCLES => Some(("cycles", OverLaunches::Median, MEDIAN)),
            quantity::ASLEEP | quantity::ASLEEP_ADDS | quantity::UNSLEPT => {
                Some(("ns", OverLaunches::Median, MEDIAN))
            }
            "same_cpu_share" => Some(("share", OverLaunches::Median, MEDIAN)),
            _ => None,
        };
    }
    let quantity = card.quantities.iter().find(|quantity| quantity.name == name)?;
    Some((quantity.unit, quantity.over_launches, MEDIAN))
}

/// Of values in the order of their launches, of which the first `planned` were made in any case.
pub(super) fn estimate(values: &[f64], over: OverLaunches, q: f64, planned: usize) -> Option<Estimate> {
    match over {
        OverLaunches::Median => over_launches_stopped(values, q, planned).map(|interval| Estimate {
            value: interval.value,
            low: interval.low,
            high: interval.high,
            extremes: interval.extremes,
        }),
        OverLaunches::Max => {
            let ordered = sorted(values.to_vec());
            let (low, high) = (*ordered.first()?, *ordered.last()?);
            Some(Estimate { value: high, low, high, extremes: true })
        }
        // What was counted in all is known: the counts of single launches are no bounds of it.
        OverLaunches::Sum => {
            let value = values.iter().copied().reduce(|sum, value| sum + value)?;
            Some(Estimate { value, low: value, high: value, extremes: true })
        }
    }
}

/// What `of` finds in those launches whose CPUs were near to each other, where an operation has two.
pub(crate) fn of_near<T>(launched: &[Launched], of: impl Fn(&Launched) -> Option<T>) -> Vec<T> {
    let hops: Vec<Option<f64>> = launched.iter().map(|launched| launched.record.hop_ns).collect();
    let near = launched.iter().zip(near(&hops)).filter(|(_, near)| *near);
    near.filter_map(|(launched, _)| of(launched)).collect()
}

/// The values of a quantity in those launches.
pub(crate) fn values_of(launched: &[Launched], name: &str) -> Vec<f64> {
    of_near(launched, |launched| launched.record.quantities.get(name).copied())
}

/// The same, those of planned launches first, and how many these are.
fn planned_first(launched: &[Launched], name: &str) -> (Vec<f64>, usize) {
    let value = |launched: &Launched| Some((launched.extra, *launched.record.quantities.get(name)?));
    let (extra, planned): (Vec<_>, Vec<_>) =
        of_near(launched, value).into_iter().partition(|(extra, _)| *extra);
    let count = planned.len();
    (planned.into_iter().chain(extra).map(|(_, value)| value).collect(), count)
}

pub(super) fn quantities(card: &Card, launched: &[Launched]) -> BTreeMap<String, Quantity> {
    let names: BTreeSet<&String> =
        launched.iter().flat_map(|launched| launched.record.quantities.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let (unit, over, q) = rule(card, name)?;
            let (values, planned) = planned_first(launched, name);
            let mut estimate = estimate(&values, over, q, planned)?;
            // What was below zero in no launch has no bound there: no time, no count, no rate of peaks.
            if values.iter().all(|value| *value >= 0.0) {
                estimate.low = estimate.low.max(0.0);
            }
            // A share has an end that no interval passes.
            if unit == "share" && estimate.value <= 1.0 {
                estimate.high = estimate.high.min(1.0);
            }
            Some((name.clone(), Quantity { estimate, unit: unit.to_owned(), unknown: Map::default() }))
        })
        .collect()
}

/// Half width of the headline's interval, as a share of the estimate.
fn half_width(card: &Card, launched: &[Launched]) -> Option<f64> {
    let (_, over, q) = rule(card, card.headline())?;
    let (values, planned) = planned_first(launched, card.headline());
    let estimate = estimate(&values, over, q, planned)?;
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
    let width = half_width(member.choice.card(), &member.launched);
    width.is_some_and(|width| width <= CONVERGED)
}

/// Whether more launches of this member would find no window that its figure still needs.
pub(crate) fn is_quiet_enough(member: &MemberState, best: &Best) -> bool {
    !on_one_cpu(member.choice.card()) || best.enough(member.launched.iter().map(|launched| &launched.windows))
}

/// Batches of an operation all of whose participants are on one CPU: what a sibling of its core does, it feels.
pub(super) fn on_one_cpu(card: &Card) -> bool {
    card.quantities.is_empty() && matches!(card.placement, Placement::OneCpu | Placement::SameCpu)
}

/// The launches with what their quiet windows say.
pub(super) fn judged_windows(launched: &[Launched], best: &Best) -> Vec<Launched> {
    let one = |launched: &Launched| {
        let mut launched = launched.clone();
        if !launched.windows.throughput.is_empty() {
            let judged = best.judge(&launched.windows);
            let record = &mut launched.record;
            (record.windows, record.quiet_windows) = (Some(judged.windows), Some(judged.quiet));
            let found = [(QUIET, judged.ns), (CYCLES, judged.cycles)];
            let found = found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            record.quantities.extend(found);
        }
        launched
    };
    launched.iter().map(one).collect()
}

pub(super) fn no_window_was_quiet(launched: &[Launched]) -> bool {
    let mut looked = launched.iter().filter_map(|launched| launched.record.quiet_windows).peekable();
    looked.peek().is_some() && looked.all(|quiet| quiet == 0)
}

/// The quantity that compare judges: what repeats best for this kind of id. METHOD.md, Quiet windows.
pub(super) fn judged(card: &Card, launched: &[Launched]) -> &'static str {
    if !card.quantities.is_empty() {
        card.headline()
    } else if !on_one_cpu(card) {
        "typical"
    } else if values_of(launched, CYCLES).len() >= FEW_WITH_CYCLES && follows_core(launched) {
        CYCLES
    } else {
        "floor"
    }
}

/// Whether the cost in ns goes with that of the chain: over launches it scatters no more in cycles than in ns.
fn follows_core(launched: &[Launched]) -> bool {
    let scatter = |name: &str| {
        let values = sorted(values_of(launched, name));
        Some((quantile(&values, 0.75)? - quantile(&values, 0.25)?) / median(&values)?)
    };
    scatter(CYCLES).zip(scatter(QUIET)).is_some_and(|(cycles, ns)| cycles <= ns + FOLLOWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::synthetic;

    /// Every second launch is one between far CPUs, and the first ten were planned.
    #[test]
    fn planned_values_are_counted_among_those_that_count() {
        let launch = |index: i32| {
            let mut launched = synthetic::launched(&[("typical", 100.0 + f64::from(index % 7))]);
            launched.record.hop_ns = Some(if index % 2 == 0 { 100.0 } else { 200.0 });
            launched.extra = index >= 10;
            launched
        };
        let launches: Vec<Launched> = (0..20).map(launch).collect();
        let (values, planned) = planned_first(&launches, "typical");
        assert_eq!((values.len(), planned), (10, 5));
        let card = Card { placement: Placement::CrossCpu, ..Card::BATCHED };
        let told = quantities(&card, &launches)["typical"].estimate;
        let of = |planned| over_launches_stopped(&values, MEDIAN, planned).expect("values");
        assert_eq!((told.low, told.high), (of(5).low, of(5).high));
        assert!(told.high > of(10).high, "{told:?}");
    }

    /// Of a guest of two groups, one group may still make up for void launches when the other one makes more.
    #[test]
    fn planned_values_come_first() {
        let launch = |extra, value| Launched { extra, ..synthetic::launched(&[("cost", value)]) };
        let launches = [launch(true, 3.0), launch(false, 1.0), launch(true, 4.0), launch(false, 2.0)];
        assert_eq!(planned_first(&launches, "cost"), (vec![1.0, 2.0, 3.0, 4.0], 2));
    }
}
