//! The rotation: launches of all groups in turn, the planned ones until the time is over, then more where they help.
//! METHOD.md, Launches.

use oscost_stats::interval::FEWEST_LAUNCHES;
use oscost_stats::sorting::SmallSort;

use crate::benchmark::card::Card;
use crate::figures::circumstances;
use crate::figures::member::Fate;
use crate::figures::quiet::Seen;
use crate::protocol::message::{LaunchPlan, Launched, Member, Report, Task, TaskFinding};
use crate::protocol::record::{Befell, Record};
use crate::supervisor::event::Event;
use crate::supervisor::foreign::Contestant;
use crate::supervisor::group::GroupState;
use crate::supervisor::plan;
use crate::supervisor::workers::Lost;

use super::{Engine, MILLISECOND, SECOND};

/// A launch whose batches take more than this many times what its rounds should is one of a slow machine.
const SLOW: u64 = 10;

/// Launches that somebody shared are made again at once, for this part of a run's time at most.
const SHARED_PART: u64 = 8;

impl Engine<'_> {
    /// Passes over all groups until the plan is done or its time is over, then over what has not converged while there is
    /// time. Whether nothing ended the run before.
    pub(super) fn rotate(
        &mut self,
        groups: &mut [GroupState],
        contestants: &mut [Contestant<'_>],
        emit: &mut dyn FnMut(&Event<'_>),
    ) -> bool {
        let effort = self.options.effort;
        let is_alone = groups.len() == 1;
        if effort.end_ns < u64::MAX && effort.launches == 1 {
            // What is launched once is told whole or not at all: as much of it as fits.
            groups.small_sort_by_key(|group| self.expected_ns(group));
        }
        for pass in 1..=effort.launches {
            for aside in [false, true] {
                let takes_part = self.affordable(groups, pass, aside);
                for (group, takes_part) in groups.iter_mut().zip(takes_part) {
                    if self.over() {
                        return false;
                    }
                    if pass > group.planned(&effort) || !takes_part || group.has_given_up() {
                        continue;
                    }
                    // Whatever calibrations and audits took: a figure has one launch, if there is time at all.
                    if pass > 1 && self.now() >= self.until_ns {
                        return true;
                    }
                    let expected_ns = self.expected_ns(group);
                    if self.now().saturating_add(expected_ns) > effort.end_ns {
                        if group.launches == 0 {
                            group.leave_out(expected_ns, effort.end_ns.saturating_sub(self.now()), false);
                        }
                        continue;
                    }
                    // One launch, if there is time at all: not one of a machine on which its batches take many times what all of it should.
                    let is_slow = group.least_batches_ns() > SLOW * self.usual_ns(group);
                    if pass == 1 && is_slow && !is_alone && expected_ns > self.planned_left() {
                        group.leave_out(expected_ns, self.planned_left(), true);
                        continue;
                    }
                    emit(&self.launching(pass, group.name));
                    self.launch(group, false, emit);
                }
            }
            for contestant in contestants.iter_mut() {
                if self.over() {
                    return false;
                }
                emit(&self.launching(pass, &contestant.foreign.id));
                self.launch_foreign(contestant);
            }
        }
        let mut pass = effort.launches;
        loop {
            pass += 1;
            let mut launched = false;
            for group in groups.iter_mut() {
                if self.interrupted || self.workers.is_interrupted() {
                    return false;
                }
                let until_ns = effort.target_ns.min(effort.end_ns);
                let fits = group.launches > 0 && self.now() + self.expected_ns(group) <= until_ns;
                if fits && group.wants_more(&effort, &self.best) {
                    emit(&self.launching(pass, group.name));
                    // Void ones are made up for in any case.
                    let extra = group.launches - group.void >= group.planned(&effort);
                    self.launch(group, extra, emit);
                    launched = true;
                }
            }
            if !launched {
                return true;
            }
        }
    }

    /// Which groups take part in a pass of a run that has said when it ends: of those that something rests on (`Options::first`), or
    /// of those `aside`, which come after them. Where the launches of all their intervals do not fit, those that come first have
    /// theirs, then those that take the least: few groups with an interval say more than many without one.
    fn affordable(&self, groups: &[GroupState], pass: u32, aside: bool) -> Vec<bool> {
        let ranks: Vec<usize> = groups.iter().map(|group| self.rank(group)).collect();
        let is_aside = |index: &usize| self.is_aside(ranks[*index]);
        let mut takes_part: Vec<bool> = (0..groups.len()).map(|index| is_aside(&index) == aside).collect();
        if self.options.effort.end_ns == u64::MAX || (pass == 1 && !aside) {
            return takes_part;
        }
        let needs: Vec<u64> = groups.iter().map(|group| self.needs_ns(group)).collect();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.small_sort_by_key(|&index| (ranks[index], needs[index]));
        let (those_aside, first): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_aside);
        let mut left_ns = self.planned_left();
        let fits = |index: usize, left_ns: &mut u64| {
            let fits = needs[index] <= *left_ns;
            *left_ns -= if fits { needs[index] } else { 0 };
            fits
        };
        let turn = if aside {
            for index in first {
                fits(index, &mut left_ns);
            }
            those_aside
        } else {
            first
        };
        // A single launch says little of the next one, several say more. What comes first runs no such risk.
        let risks = aside || self.options.first.is_empty();
        let doubted = left_ns + if risks { left_ns / u64::from(pass.max(2) - 1) } else { 0 };
        if turn.iter().map(|&index| needs[index]).sum::<u64>() > doubted {
            for index in turn {
                takes_part[index] = fits(index, &mut left_ns);
            }
        }
        takes_part
    }

    /// The place of a group among those whose intervals come first; beyond all of them where nothing rests on it.
    fn rank(&self, group: &GroupState) -> usize {
        let first = &self.options.first;
        let own = |index: &usize| group.members[*index].choice.card().id;
        let places =
            group.active().iter().map(own).filter_map(|id| first.iter().position(|it| it == id)).min();
        match places {
            Some(place) => place,
            None if first.is_empty() || self.options.effort.end_ns == u64::MAX => 0,
            None => first.len() + 1,
        }
    }

    /// Whether nothing rests on groups of this rank, and others come first.
    fn is_aside(&self, rank: usize) -> bool {
        rank > self.options.first.len()
    }

    /// What the launches take that a group lacks for its interval, ns.
    fn needs_ns(&self, group: &GroupState) -> u64 {
        if group.has_given_up() {
            return 0;
        }
        let fewest = group.planned(&self.options.effort).min(FEWEST_LAUNCHES as u32);
        u64::from((fewest + group.void).saturating_sub(group.launches)) * self.expected_ns(group)
    }

    /// Tells of groups that never had their turn, because all the time went to those that come first.
    pub(super) fn leave_out_aside(&self, groups: &mut [GroupState]) {
        let never = |group: &&mut GroupState| group.launches == 0 && self.is_aside(self.rank(group));
        for group in groups.iter_mut().filter(never) {
            group.leave_out(self.needs_ns(group), self.planned_left(), false);
        }
    }

    /// What the next launch of a group takes, ns: what its others took; else what is expected of its members here, or what their
    /// cards say of this machine if it is as slow as it was.
    fn expected_ns(&self, group: &GroupState) -> u64 {
        if group.launches > 0 {
            return group.spent_ns / u64::from(group.launches);
        }
        let active = group.active();
        let known =
            |index: &usize| self.options.expected_ns.get(group.members[*index].choice.card().id).copied();
        if let Some(known) = active.iter().map(known).sum::<Option<u64>>() {
            return known;
        }
        let cards: Vec<&Card> = active.iter().map(|&index| group.members[index].choice.card()).collect();
        let slowness = self.slowness_of(cards.iter().map(|card| card.launch_ms).sum());
        (plan::launch_ns(&cards, &self.options.effort) as f64 * slowness) as u64 + group.least_batches_ns()
    }

    /// What warm-up and timed part of a launch should take, ns.
    fn usual_ns(&self, group: &GroupState) -> u64 {
        let effort = &self.options.effort;
        effort.warm_up_ns + effort.member_ns * group.active().len() as u64
    }

    /// How many times as long as its card says a launch takes here: no less than any that was a tenth as long, or than the longest.
    fn slowness_of(&self, own_ms: u64) -> f64 {
        let longest = self.slowness.last_key_value().map_or(0, |(&ms, _)| ms);
        // What much shorter ones took was mostly the starting of a worker.
        let telling = own_ms.min(longest) / 10;
        self.slowness.range(telling..).fold(1.0, |most, (_, &slowness)| most.max(slowness))
    }

    /// Learns from a launch how slow this machine is.
    fn learn_slowness(&mut self, own_ms: u64, took: u64) {
        /// Shorter ones are mostly the starting of a worker.
        const TELLING_MS: u64 = 20;
        if own_ms >= TELLING_MS {
            let seen = self.slowness.entry(own_ms).or_default();
            *seen = seen.max(took as f64 / (own_ms * MILLISECOND) as f64);
        }
    }

    /// Time until the run ends by plan, ns.
    fn planned_left(&self) -> u64 {
        self.until_ns.saturating_sub(self.now())
    }

    fn launching<'a>(&self, pass: u32, group: &'a str) -> Event<'a> {
        Event::Launching { pass, group, left_ns: self.planned_left(), most_ns: self.most_left() }
    }

    /// One launch; an `extra` one is made because those before it were not enough.
    fn launch(&mut self, group: &mut GroupState, extra: bool, emit: &mut dyn FnMut(&Event<'_>)) {
        let active = group.active();
        if active.is_empty() {
            return;
        }
        let effort = self.options.effort;
        let mut plan = LaunchPlan {
            iterations: active.iter().map(|&index| group.members[index].iterations).collect(),
            works: active.iter().map(|&index| group.members[index].works).collect(),
            core: self.core.clone(),
            clock_pair_ns: self.clock_facts().pair_ns,
            warm_up_ns: effort.warm_up_ns,
            member_ns: effort.member_ns,
            keep_samples: self.options.keep_samples,
            idle_cpu: self.options.idle_cpu,
            references: None,
        };
        let references = group.references.and_then(|index| self.references.get(index));
        plan.references = references.and_then(|references| references.plan(&plan));
        let own_ms: u64 = active.iter().map(|&index| group.members[index].choice.card().launch_ms).sum();
        let usual = self.usual_ns(group) + group.least_batches_ns();
        self.sequence += 1;
        let job = self.job_of(group, &active, Task::Launch(plan), u64::from(self.sequence) << 8);
        let before = self.now();
        // What stops at a time takes little longer anywhere. What stops at a number may take many times as long where each system
        // call is emulated or answered by a process, and hangs all the same only behind a hundred times.
        let report = self.work(job, 3 * SECOND + 10 * usual + 100 * own_ms * MILLISECOND);
        let took = self.now() - before;
        group.spent_ns += took;
        group.launches += 1;
        self.learn_slowness(own_ms, took);
        match report {
            Ok(Report {
                finding: TaskFinding::Launch { members, pairs, canaries, references },
                void,
                throttled,
                steal_ns,
                circumstances,
                awake,
                ..
            }) => {
                // Where nobody was timed, nothing was to be stopped: the worker may have been refused its CPU before it looked.
                let is_timed = members.iter().any(|member| matches!(member, Member::Done(_)));
                self.quota_unknown |= throttled.is_none() && is_timed;
                // Where there is no time to make up for it, a shared launch counts, and is marked.
                let shared = group.voided_by_sharing(&members);
                let affordable =
                    took <= self.planned_left() && self.shared_ns + took <= effort.target_ns / SHARED_PART;
                // What failed in it is found, whoever shared it: another launch might not come that far.
                let failed = members.iter().any(|member| matches!(member, Member::Failed(_)));
                let again = void.is_none();
                if let Some(reason) = void.or(shared.filter(|_| affordable && !failed)) {
                    group.void += 1;
                    emit(&Event::Warning(format!("{}: a launch is void: {reason}", group.name)));
                    befell(group, &active, Befell::Void(reason.clone()), emit);
                    group.void_reason = Some(reason);
                    if again {
                        self.shared_ns += took;
                        self.launch(group, extra, emit);
                    }
                    return;
                }
                group.void_before = group.void;
                if let Some(of) = group.references.and_then(|index| self.references.get_mut(index)) {
                    of.take(references);
                }
                let mut told: Vec<usize> = Vec::new();
                // The canaries are the same beside every member.
                self.seen.extend(members.iter().find_map(|member| match member {
                    Member::Done(launched) => Seen::of(launched),
                    _ => None,
                }));
                self.best = self.known.with(&self.seen);
                if throttled == Some(true) {
                    befell(group, &active, Befell::Throttled, emit);
                }
                let mut unmeasured: Vec<(usize, Befell)> = Vec::new();
                for (&index, member) in active.iter().zip(members) {
                    let state = &mut group.members[index];
                    state.throttled |= throttled == Some(true);
                    match member {
                        Member::Done(mut launched) => {
                            launched.record.sequence = self.sequence;
                            launched.record.start_ns = self.since_ns + before;
                            launched.record.steal_ns = steal_ns;
                            launched.extra = extra;
                            let tracer_pid = launched.record.circumstances.tracer_pid;
                            launched.record.circumstances =
                                circumstances::with_partners(&circumstances, tracer_pid);
                            // One picture is enough, and every launch's would fill the file.
                            if !state.launched.is_empty() {
                                launched.record.tracks.clear();
                            }
                            state.launched.push(launched);
                            told.push(index);
                        }
                        Member::Unsupported { why, remedy } => {
                            state.outcome = Fate::Unsupported { why: why.clone(), remedy: remedy.clone() };
                            unmeasured.push((index, Befell::Unsupported { why, remedy }));
                        }
                        Member::Failed(failure) => {
                            state.failed_launches += 1;
                            state.first_failure.get_or_insert_with(|| failure.clone());
                            unmeasured.push((index, Befell::Failed(failure)));
                        }
                    }
                }
                for (index, what) in unmeasured {
                    befell(group, &[index], what, emit);
                }
                let mut members: Vec<(String, Launched)> = told
                    .iter()
                    .filter_map(|&index| {
                        let state = &mut group.members[index];
                        let launched = state.launched.last_mut()?;
                        let told = launched.clone();
                        // Samples are for the record alone: a long run would fill the memory with them.
                        launched.samples = Vec::new();
                        launched.tracks = Vec::new();
                        Some((state.choice.card().id.to_owned(), told))
                    })
                    .collect();
                members.extend(canaries.into_iter().map(|(name, samples)| {
                    (format!("canary/{name}"), Launched { samples, ..Launched::default() })
                }));
                let record =
                    Record::Launched { sequence: self.sequence, members, pairs: pairs.clone(), awake };
                emit(&Event::Found(&record));
                group.pairs.push(pairs);
            }
            Ok(_) => {
                let (lost, failure) = group.lose(&active, None, "the worker reported something else");
                befell(group, &lost, Befell::Lost(failure), emit);
            }
            Err(Lost::Interrupted) => {}
            // The run's own deadline is nobody's failure, nor is the end that it has said.
            Err(Lost::Worker { .. }) if self.left() == 0 => {}
            Err(Lost::Worker { .. }) if self.has_ended() => group.leave_out_after(took),
            // Nobody is measured with a reference that ends the worker: the launch is made again without them.
            Err(Lost::Worker { what, member: Some(member), .. }) if member >= active.len() => {
                group.references = None;
                group.void += 1;
                let reason = format!("a reference ended it ({what})");
                befell(group, &active, Befell::Void(reason.clone()), emit);
                group.void_reason = Some(reason);
            }
            Err(Lost::Worker { what, member, .. }) => {
                let (lost, failure) = group.lose(&active, member, &what);
                befell(group, &lost, Befell::Lost(failure), emit);
                // There may be no time for another launch: the others have theirs now.
                if group.members.iter().all(|member| member.launched.is_empty()) && !self.over() {
                    self.launch(group, extra, emit);
                }
            }
        }
    }

    fn launch_foreign(&mut self, contestant: &mut Contestant<'_>) {
        if contestant.has_given_up() {
            return;
        }
        self.sequence += 1;
        let task = Task::Foreign(contestant.foreign.plan());
        let mut job = self.job(Vec::new(), task, u64::from(self.sequence) << 8);
        // A worker that is pinned pins the program, too: none of them means all.
        job.cpus.clone_from(&contestant.foreign.cpus);
        let start_ns = self.now();
        let report = self.work(job, contestant.foreign.deadline_ns + 3 * SECOND);
        contestant.take(report, self.sequence, self.since_ns + start_ns);
    }
}

/// Tells what befell members in a launch besides what it measured of them: it must outlive a kill, too.
fn befell(group: &GroupState, members: &[usize], what: Befell, emit: &mut dyn FnMut(&Event<'_>)) {
    let launches = members.iter().map(|&index| group.members[index].launched.len()).collect();
    emit(&Event::Found(&Record::Befell { ids: group.ids(members), what, launches }));
}
