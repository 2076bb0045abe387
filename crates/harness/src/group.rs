//! A group and its members in the course of a run: who still takes part, and whether more launches would help.

use std::collections::BTreeMap;

use oscost_stats::order;

use crate::catalogue::Choice;
use crate::figure::{self, Outcome};
use crate::message::{Audited, Failure, Launched, Pair};
use crate::plan::{self, Options};

/// How many launches of one group may be void before the group is given up.
const MOST_VOID: u32 = 10;

/// One member of a group in the course of a run.
#[derive(Clone)]
pub(crate) struct MemberState {
    pub(crate) choice: Choice,
    pub(crate) outcome: Outcome,
    pub(crate) iterations: u64,
    pub(crate) audited: Option<Audited>,
    pub(crate) launched: Vec<Launched>,
    /// Launches in which a call of this member failed, with the first failure.
    pub(crate) failed_launches: u32,
    pub(crate) first_failure: Option<Failure>,
    pub(crate) throttled: bool,
}

pub(crate) struct GroupState {
    pub(crate) name: &'static str,
    pub(crate) members: Vec<MemberState>,
    pub(crate) canary_iterations: u64,
    pub(crate) canary_ns: f64,
    pub(crate) pairs: Vec<Vec<Pair>>,
    pub(crate) launches: u32,
    pub(crate) void: u32,
    pub(crate) void_reason: Option<String>,
    pub(crate) spent_ns: u64,
}

impl MemberState {
    /// A member of which nothing is known yet.
    pub(crate) fn new(choice: Choice) -> Self {
        Self {
            choice,
            outcome: Outcome::Running,
            iterations: 0,
            audited: None,
            launched: Vec::new(),
            failed_launches: 0,
            first_failure: None,
            throttled: false,
        }
    }
}

/// The groups of a choice, in a fixed random order: two launches of one group then lie a whole pass apart.
pub(crate) fn form(choices: &[Choice], options: &Options) -> Vec<GroupState> {
    let mut groups: Vec<GroupState> = plan::groups(choices)
        .into_iter()
        .map(|(name, positions)| GroupState {
            name,
            members: positions
                .into_iter()
                .map(|position| {
                    let choice = choices[position];
                    let outcome = match plan::lacking(&choice, options.cpus.len()) {
                        Some((why, remedy)) => Outcome::Unsupported { why, remedy },
                        None => Outcome::Running,
                    };
                    MemberState { outcome, ..MemberState::new(choice) }
                })
                .collect(),
            canary_iterations: 0,
            canary_ns: 0.0,
            pairs: Vec::new(),
            launches: 0,
            void: 0,
            void_reason: None,
            spent_ns: 0,
        })
        .collect();
    order::shuffle(&mut groups, &mut order::seeded(options.seed, 0));
    groups
}

/// Puts the launches that a guest made in several groups together: its figure is made of them all.
pub(crate) fn pool(groups: &mut [GroupState]) {
    let mut first: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for index in 0..groups.len() {
        for member in 0..groups[index].members.len() {
            let id = groups[index].members[member].choice.card().id;
            let Some(&(host, place)) = first.get(id) else {
                first.insert(id, (index, member));
                continue;
            };
            let guest = &mut groups[index].members[member];
            let (launched, failed) = (std::mem::take(&mut guest.launched), guest.failed_launches);
            let (outcome, failure) = (guest.outcome.clone(), guest.first_failure.take());
            let (throttled, audited) = (guest.throttled, guest.audited.take());
            let pooled = &mut groups[host].members[place];
            // One group in which it could be measured is enough.
            if pooled.launched.is_empty() && !launched.is_empty() {
                pooled.outcome = outcome;
            }
            pooled.launched.extend(launched);
            pooled.failed_launches += failed;
            pooled.first_failure = pooled.first_failure.take().or(failure);
            pooled.throttled |= throttled;
            pooled.audited = pooled.audited.take().or(audited);
        }
    }
    // Whichever group tells of it, tells the same.
    for (&id, &(host, place)) in &first {
        let pooled = {
            let member = &mut groups[host].members[place];
            member.launched.sort_by_key(|launched| launched.record.sequence);
            let mut told = false;
            for launched in &mut member.launched {
                if told {
                    launched.record.tracks.clear();
                }
                told |= !launched.record.tracks.is_empty();
            }
            member.clone()
        };
        for member in groups.iter_mut().skip(host + 1).flat_map(|group| &mut group.members) {
            if member.choice.card().id == id {
                *member = pooled.clone();
            }
        }
    }
}

impl GroupState {
    /// Members that still take part.
    pub(crate) fn active(&self) -> Vec<usize> {
        let running = |index: &usize| matches!(self.members[*index].outcome, Outcome::Running);
        (0..self.members.len()).filter(running).collect()
    }

    pub(crate) fn ids(&self, members: &[usize]) -> Vec<String> {
        members.iter().map(|&index| self.members[index].choice.card().id.to_owned()).collect()
    }

    /// A worker was lost: the member that was running has failed; if nobody was, nobody can be measured.
    pub(crate) fn lose(&mut self, active: &[usize], member: Option<usize>, what: &str) {
        let failure = Failure::new("worker", what);
        match member.and_then(|position| active.get(position)) {
            Some(&index) => self.members[index].outcome = Outcome::Failed(failure),
            None => {
                for &index in active {
                    self.members[index].outcome = Outcome::Failed(failure.clone());
                }
            }
        }
    }

    /// Planned launches.
    pub(crate) fn planned(&self, effort: &plan::Effort) -> u32 {
        plan::launches(self.members.iter().map(|member| member.choice.card()), effort)
    }

    /// Whether more launches may bring an interval within its aim: more are allowed, and void ones are made up for.
    pub(crate) fn wants_more(&self, effort: &plan::Effort) -> bool {
        let active = self.active();
        if active.is_empty() || self.launches >= effort.most_launches + self.void || self.void >= MOST_VOID {
            return false;
        }
        let budget = active.iter().filter_map(|&index| self.members[index].choice.card().budget_ms).min();
        if budget.is_some_and(|budget_ms| self.spent_ns >= budget_ms * 1_000_000) {
            return false;
        }
        self.launches - self.void < self.planned(effort)
            || active.iter().any(|&index| !figure::has_converged(&self.members[index]))
    }
}
