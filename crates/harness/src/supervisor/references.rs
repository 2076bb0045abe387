//! References: operations that are timed after the figures of launches where a run has few, and show how far figures move from run
//! to run. METHOD.md, Drift.

use std::collections::BTreeMap;

use oscost_results::{Reference, quantity};
use oscost_stats::null::FEWEST_FIGURES;
use oscost_stats::references::FEWEST_OUTSIDE;

use super::group::GroupState;
use super::plan::{self, Options};
use crate::benchmark::card::{Bound, Card, Claim, Placement};
use crate::benchmark::catalogue::Choice;
use crate::benchmark::{Benchmark, requirements};
use crate::figures::{member::Fate, member::MemberState, of_near, values_of};
use crate::protocol::message::{IdleCpu, LaunchPlan, Launched, Member, ReferencePlan};

/// So many that enter the kernel are timed: on one CPU, and across CPUs, where each takes longer.
const INSIDE: usize = 8;
const INSIDE_ACROSS: usize = 6;
/// They have this part of a launch's time.
const PART: u64 = 12;
/// Setting them up takes as long as so many of them more, by measurement.
const MORE: u64 = 4;
/// A plan of fewer launches has no intervals.
const FEWEST_LAUNCHES: u32 = 6;

/// The references of one kind of figures.
pub(crate) struct References {
    pub(crate) group: GroupState,
    across: bool,
    member_ns: u64,
}

/// Figures whose runs drift alike: `Some(true)` of those that wake another CPU, `Some(false)` of those on one CPU.
fn is_across(card: &Card) -> Option<bool> {
    match card.placement {
        Placement::OneCpu | Placement::SameCpu if card.quantities.is_empty() => Some(false),
        _ if card.wakes_another_cpu() => Some(true),
        _ => None,
    }
}

/// Whether an operation enters the kernel, by what is claimed of it on this machine.
fn enters(benchmark: &dyn Benchmark) -> bool {
    let calls = |claim: &Claim| match claim {
        Claim::SystemCalls(Bound::Exactly(least) | Bound::AtLeast(least) | Bound::Between(least, _)) => {
            *least > 0.5
        }
        _ => false,
    };
    // Who wakes a sleeper has asked the kernel to.
    benchmark.card().wakes_another_cpu() || benchmark.claims().iter().any(calls)
}

/// Chooses references for each kind of which a run has figures, and too few, and says in the group whose launches time them.
pub(crate) fn form(groups: &mut [GroupState], options: &Options) -> Vec<References> {
    let cards = |group: &GroupState| -> Vec<&'static Card> {
        group.members.iter().map(|member| member.choice.card()).collect()
    };
    let measured: BTreeMap<&str, Option<bool>> =
        groups.iter().flat_map(cards).map(|card| (card.id, is_across(card))).collect();
    let mut chosen: Vec<References> = Vec::new();
    if options.effort.launches < FEWEST_LAUNCHES {
        return chosen;
    }
    for across in [false, true] {
        let figures = measured.values().filter(|kind| **kind == Some(across)).count();
        let hosts = |group: &GroupState| {
            let plain = |member: &MemberState| {
                let card = member.choice.card();
                member.outcome == Fate::Running && card.cpus.is_empty() && card.changes_process.is_none()
            };
            group.members.iter().all(plain)
                && cards(group).into_iter().any(|card| is_across(card) == Some(across))
        };
        let Some(host) = groups.iter().position(hosts).filter(|_| figures < FEWEST_FIGURES) else { continue };
        let known = |choice: &Choice| {
            measured.contains_key(choice.card().id) || requirements::lacking(choice, &options.cpus).is_some()
        };
        let of = |inside: bool, most: usize| {
            let kind = Some(across && inside);
            let fit = move |choice: &&Choice| {
                is_across(choice.card()) == kind && enters(choice.benchmark) == inside
            };
            options.references.iter().filter(fit).filter(|choice| !known(choice)).take(most)
        };
        // Those in user space speak for both kinds.
        let (inside, outside) =
            (if across { INSIDE_ACROSS } else { INSIDE }, if chosen.is_empty() { FEWEST_OUTSIDE } else { 0 });
        let members: Vec<MemberState> =
            of(true, inside).chain(of(false, outside)).map(|choice| MemberState::new(*choice)).collect();
        if members.is_empty() {
            continue;
        }
        let launch_ns = plan::launch_ns(&cards(&groups[host]), &options.effort);
        let member_ns = launch_ns / PART / (members.len() as u64 + MORE);
        groups[host].references = Some(chosen.len());
        chosen.push(References { group: GroupState::new("references", members), across, member_ns });
    }
    chosen
}

impl References {
    /// What a launch is to do with them, besides its own plan.
    pub(crate) fn plan(&self, launch: &LaunchPlan) -> Option<Box<ReferencePlan>> {
        let active = self.group.active();
        let of = |index: &usize| &self.group.members[*index];
        let idle_cpu = match launch.idle_cpu {
            // The price that is judged is the one of a CPU that is awake.
            IdleCpu::Both if self.across => IdleCpu::Poll,
            other => other,
        };
        (!active.is_empty()).then(|| {
            Box::new(ReferencePlan {
                ids: self.group.ids(&active),
                launch: LaunchPlan {
                    iterations: active.iter().map(|index| of(index).iterations).collect(),
                    works: active.iter().map(|index| of(index).works).collect(),
                    warm_up_ns: 0,
                    member_ns: self.member_ns,
                    keep_samples: false,
                    idle_cpu,
                    references: None,
                    ..launch.clone()
                },
            })
        })
    }

    /// Takes what a launch yielded of them. One that failed there has no value of it.
    pub(crate) fn take(&mut self, found: Vec<Member<Launched>>) {
        for (index, found) in self.group.active().into_iter().zip(found) {
            if let Member::Done(launched) = found {
                let record = launched.record;
                self.group.members[index].launched.push(Launched { record, ..Launched::default() });
            }
        }
    }

    /// What a result keeps of them. Cycles only where a step of the chain is one.
    pub(crate) fn results(&self, cycles: bool) -> Vec<Reference> {
        let of = |member: &MemberState| {
            let card = member.choice.card();
            let mut launches = BTreeMap::new();
            if card.wakes_another_cpu() {
                launches.insert(quantity::TYPICAL.to_owned(), values_of(&member.launched, quantity::TYPICAL));
            } else {
                // The floor of a launch by the chain of the same one; in none where one of them has no chain.
                let in_cycles = of_near(&member.launched, |Launched { record, .. }| {
                    let floor = record.quantities.get("floor")?;
                    Some(record.chain_ns.filter(|ns| *ns > 0.0).map(|chain| floor / chain))
                });
                let in_cycles: Option<Vec<f64>> = in_cycles.into_iter().collect();
                launches.extend(in_cycles.filter(|_| cycles).map(|values| ("cycles".to_owned(), values)));
                launches.insert("floor".to_owned(), values_of(&member.launched, "floor"));
            }
            Reference {
                id: card.id.to_owned(),
                revision: card.revision,
                placement: card.placement.name().to_owned(),
                enters_kernel: enters(member.choice.benchmark),
                launches,
                ..Reference::default()
            }
        };
        self.group.members.iter().filter(|member| !member.launched.is_empty()).map(of).collect()
    }
}
