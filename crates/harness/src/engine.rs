//! The engine: calibrates, audits, rotates launches through all groups, and puts figures together. METHOD.md, Launches.

use std::collections::BTreeMap;

use oscost_results::{Figure, PairedValue};
use oscost_sys::clock;

use crate::catalogue::Choice;
use crate::event::{Event, Record};
use crate::figure::{self, Outcome};
use crate::foreign::{Contestant, Foreign};
use crate::group::{self, GroupState};
use crate::message::{
    Audited, Calibration, ClockFacts, Failure, Finding, Job, LaunchPlan, Member, Report, Task,
};
use crate::plan::Options;
use crate::supervise::{Lost, Supervisor};
use crate::{IdleCpu, Placement, clock::batch_ns};

const SECOND: u64 = 1_000_000_000;
/// Operations of the first phase of an audit; the second makes twice as many.
pub const AUDIT_OPERATIONS: u64 = 100;

/// What a run yielded.
#[derive(Debug)]
pub struct Measured {
    /// A figure for every choice, in order; contestants follow.
    pub figures: Vec<Figure>,
    /// Paired ratios.
    pub ratios: Vec<PairedValue>,
    /// Paired differences.
    pub differences: Vec<PairedValue>,
    /// The run ended before its plan did.
    pub partial: bool,
    /// Launches of all groups.
    pub launches: u32,
    /// The clock that timed.
    pub clock: Option<ClockFacts>,
    /// How workers were isolated.
    pub isolation: Option<String>,
    /// Seccomp mode of the timed processes.
    pub seccomp_mode: Option<u32>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Measures `choices`, and `contestants` in the same rotation of launches.
///
/// It must be called from the main thread: workers die with the thread that started them.
pub fn measure(
    supervisor: &Supervisor,
    choices: &[Choice],
    contestants: &[Foreign],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    let mut engine = Engine {
        supervisor,
        options,
        start_ns: clock::now_ns(),
        clock: None,
        isolation: None,
        awake: None,
        seccomp_mode: None,
        tracer_pid: None,
        sequence: 0,
        interrupted: false,
        warnings: Vec::new(),
    };
    engine.run(choices, contestants, emit)
}

struct Engine<'a> {
    supervisor: &'a Supervisor,
    options: &'a Options,
    start_ns: u64,
    clock: Option<ClockFacts>,
    isolation: Option<String>,
    awake: Option<String>,
    seccomp_mode: Option<u32>,
    tracer_pid: Option<u32>,
    sequence: u32,
    interrupted: bool,
    warnings: Vec<String>,
}

impl Engine<'_> {
    fn run(
        &mut self,
        choices: &[Choice],
        contestants: &[Foreign],
        emit: &mut dyn FnMut(&Event<'_>),
    ) -> Measured {
        let mut groups = group::form(choices, self.options);
        let mut contestants: Vec<Contestant<'_>> = contestants.iter().map(Contestant::new).collect();
        emit(&Event::Planned {
            figures: choices.len() + contestants.len(),
            groups: groups.len() + contestants.len(),
            launches: self.options.effort.launches,
        });
        emit(&Event::Phase("clock"));
        self.find_clock();
        emit(&Event::Phase("calibration"));
        for group in &mut groups {
            self.calibrate(group);
        }
        emit(&Event::Phase("audit"));
        let mut audited: BTreeMap<&'static str, Audited> = BTreeMap::new();
        for group in &mut groups {
            // A guest of several groups is audited once.
            for member in &mut group.members {
                member.audited = audited.get(member.choice.card().id).cloned();
            }
            self.audit(group, emit);
            let found = group.members.iter();
            audited
                .extend(found.filter_map(|member| Some((member.choice.card().id, member.audited.clone()?))));
        }
        let complete = self.rotate(&mut groups, &mut contestants, emit);
        self.finish(choices, groups, &contestants, !complete)
    }

    fn now(&self) -> u64 {
        clock::now_ns() - self.start_ns
    }

    /// Time until the hard deadline.
    fn left(&self) -> u64 {
        self.options.effort.deadline_ns.saturating_sub(self.now())
    }

    fn over(&self) -> bool {
        self.interrupted || self.supervisor.is_interrupted() || self.left() == 0
    }

    fn job(&self, ids: Vec<String>, task: Task, stream: u64) -> Job {
        let seed = self.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream);
        Job {
            ids,
            task,
            cpus: self.options.cpus.clone(),
            seed,
            isolate: true,
            directory: self.options.directory.clone(),
        }
    }

    /// A job of members of a group: those that are spread have an order of CPUs of their own.
    fn job_of(&self, group: &GroupState, members: &[usize], task: Task, stream: u64) -> Job {
        let mut job = self.job(group.ids(members), task, stream);
        let first = group.members.first().map(|member| member.choice.card().placement);
        if first == Some(Placement::Spread) && !self.options.spread_cpus.is_empty() {
            job.cpus.clone_from(&self.options.spread_cpus);
        }
        job
    }

    /// Runs a job; remembers how the worker was isolated and watched.
    fn work(&mut self, job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        let report = self.supervisor.run(job, deadline_ns.min(self.left().max(1)));
        match &report {
            Ok(report) => {
                self.isolation.get_or_insert_with(|| report.isolation.clone());
                self.awake = self.awake.take().or_else(|| report.awake.clone());
                if !matches!(report.finding, Finding::Audit(_)) {
                    self.seccomp_mode = report.seccomp_mode;
                    self.tracer_pid = report.tracer_pid;
                }
            }
            Err(Lost::Interrupted) => self.interrupted = true,
            Err(Lost::Worker { .. }) => {}
        }
        report
    }

    fn find_clock(&mut self) {
        let job = self.job(Vec::new(), Task::Clock, 0);
        match self.work(job, 10 * SECOND) {
            Ok(Report { finding: Finding::Clock(facts), .. }) => self.clock = Some(facts),
            Ok(Report { finding: Finding::Foreign(output), .. }) => self.warnings.push(output.stderr),
            Err(Lost::Worker { what, .. }) => {
                self.warnings
                    .push(format!("the clock's step could not be measured ({what}): 10 ns is assumed"));
            }
            Ok(_) | Err(Lost::Interrupted) => {}
        }
    }

    /// The clock that batches are timed by; where it could not be measured, a step that makes batches no shorter.
    fn clock_facts(&self) -> ClockFacts {
        self.clock.unwrap_or(ClockFacts { step_ns: 10.0, pair_ns: 0.0 })
    }

    /// Finds iterations for every member. A worker that dies names who was running: that member has failed, and the
    /// others are tried again without it.
    fn calibrate(&mut self, group: &mut GroupState) {
        let batch_ns = batch_ns(self.clock_facts().step_ns);
        while !self.over() {
            let active = group.active();
            if active.is_empty() {
                return;
            }
            let job = self.job_of(group, &active, Task::Calibrate { batch_ns }, 1);
            match self.work(job, 10 * SECOND) {
                Ok(Report {
                    finding: Finding::Calibration { members, canary_iterations, canary_ns },
                    ..
                }) => {
                    group.canary_iterations = canary_iterations;
                    group.canary_ns = canary_ns;
                    for (&index, member) in active.iter().zip(members) {
                        match member {
                            Member::Done(Calibration { iterations, .. }) => {
                                group.members[index].iterations = iterations;
                            }
                            Member::Unsupported { why, remedy } => {
                                group.members[index].outcome = Outcome::Unsupported { why, remedy };
                            }
                            Member::Failed(failure) => {
                                group.members[index].outcome = Outcome::Failed(failure);
                            }
                        }
                    }
                    return;
                }
                Ok(_) => return group.lose(&active, None, "the worker reported something else"),
                Err(Lost::Interrupted) => return,
                Err(Lost::Worker { what, member }) => group.lose(&active, member, &what),
            }
        }
    }

    fn audit(&mut self, group: &mut GroupState, emit: &mut dyn FnMut(&Event<'_>)) {
        for index in group.active() {
            if self.over() {
                return;
            }
            if group.members[index].audited.is_some() {
                continue;
            }
            let job = self.job_of(group, &[index], Task::Audit { operations: AUDIT_OPERATIONS }, 2);
            let audited = match self.work(job, 10 * SECOND) {
                Ok(Report { finding: Finding::Audit(mut members), .. }) if members.len() == 1 => {
                    members.remove(0)
                }
                Ok(_) => Member::Failed(Failure::new("audit", "the worker reported something else")),
                Err(Lost::Interrupted) => return,
                // Evidence that could not be had is no evidence; the figure is measured all the same.
                Err(Lost::Worker { what, .. }) => {
                    Member::Done(Audited { missing: Some(what), ..Audited::default() })
                }
            };
            let member = &mut group.members[index];
            match audited {
                Member::Done(audited) => {
                    let id = member.choice.card().id.to_owned();
                    emit(&Event::Found(&Record::Audited { id, audited: audited.clone() }));
                    member.audited = Some(audited);
                }
                Member::Unsupported { why, remedy } => member.outcome = Outcome::Unsupported { why, remedy },
                Member::Failed(failure) => member.outcome = Outcome::Failed(failure),
            }
        }
    }

    /// Passes over all groups until the plan is done, then over what has not converged while there is time. Whether the
    /// plan was done.
    fn rotate(
        &mut self,
        groups: &mut [GroupState],
        contestants: &mut [Contestant<'_>],
        emit: &mut dyn FnMut(&Event<'_>),
    ) -> bool {
        let effort = self.options.effort;
        for pass in 1..=effort.launches {
            for group in groups.iter_mut() {
                if self.over() {
                    return false;
                }
                if pass > group.planned(&effort) {
                    continue;
                }
                let left_ns = effort.target_ns.saturating_sub(self.now());
                emit(&Event::Launching { pass, group: group.name, left_ns });
                self.launch(group, emit);
            }
            for contestant in contestants.iter_mut() {
                if self.over() {
                    return false;
                }
                let left_ns = effort.target_ns.saturating_sub(self.now());
                emit(&Event::Launching { pass, group: &contestant.foreign.id, left_ns });
                self.launch_foreign(contestant);
            }
        }
        let mut pass = effort.launches;
        loop {
            pass += 1;
            let mut launched = false;
            for group in groups.iter_mut() {
                if self.interrupted || self.supervisor.is_interrupted() {
                    return false;
                }
                let time = group.spent_ns / u64::from(group.launches.max(1));
                let fits = self.now() + time <= effort.target_ns;
                if fits && group.wants_more(&effort) {
                    let left_ns = effort.target_ns.saturating_sub(self.now());
                    emit(&Event::Launching { pass, group: group.name, left_ns });
                    self.launch(group, emit);
                    launched = true;
                }
            }
            if !launched {
                return true;
            }
        }
    }

    fn launch(&mut self, group: &mut GroupState, emit: &mut dyn FnMut(&Event<'_>)) {
        let active = group.active();
        if active.is_empty() {
            return;
        }
        let effort = self.options.effort;
        let plan = LaunchPlan {
            iterations: active.iter().map(|&index| group.members[index].iterations).collect(),
            canary_iterations: group.canary_iterations,
            canary_ns: group.canary_ns,
            clock_pair_ns: self.clock_facts().pair_ns,
            warm_up_ns: effort.warm_up_ns,
            member_ns: effort.member_ns,
            keep_samples: self.options.keep_samples,
            idle_poll: self.options.idle_cpu == IdleCpu::Poll,
        };
        let own_ms: u64 = active.iter().map(|&index| group.members[index].choice.card().launch_ms).sum();
        let usual = effort.warm_up_ns + effort.member_ns * active.len() as u64 + own_ms * 1_000_000;
        self.sequence += 1;
        let job = self.job_of(group, &active, Task::Launch(plan), u64::from(self.sequence) << 8);
        let before = self.now();
        let report = self.work(job, 3 * SECOND + 10 * usual);
        group.spent_ns += self.now() - before;
        group.launches += 1;
        match report {
            Ok(Report { finding: Finding::Launch { members, pairs }, void, throttled, steal_ns, .. }) => {
                if let Some(reason) = void {
                    group.void += 1;
                    emit(&Event::Warning(format!("{}: a launch is void: {reason}", group.name)));
                    group.void_reason = Some(reason);
                    return;
                }
                let mut told: Vec<usize> = Vec::new();
                for (&index, member) in active.iter().zip(members) {
                    let state = &mut group.members[index];
                    state.throttled |= throttled;
                    match member {
                        Member::Done(mut launched) => {
                            launched.record.sequence = self.sequence;
                            launched.record.start_ns = before;
                            launched.record.steal_ns = steal_ns;
                            // One picture is enough, and every launch's would fill the file.
                            if !state.launched.is_empty() {
                                launched.record.tracks.clear();
                            }
                            state.launched.push(launched);
                            told.push(index);
                        }
                        Member::Unsupported { why, remedy } => {
                            state.outcome = Outcome::Unsupported { why, remedy };
                        }
                        Member::Failed(failure) => {
                            state.failed_launches += 1;
                            state.first_failure.get_or_insert(failure);
                        }
                    }
                }
                let members = told
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
                let canary_ns = group.canary_ns;
                let record =
                    Record::Launched { sequence: self.sequence, canary_ns, members, pairs: pairs.clone() };
                emit(&Event::Found(&record));
                group.pairs.push(pairs);
            }
            Ok(_) => group.lose(&active, None, "the worker reported something else"),
            Err(Lost::Interrupted) => {}
            // The run's own deadline is nobody's failure.
            Err(Lost::Worker { .. }) if self.left() == 0 => {}
            Err(Lost::Worker { what, member }) => group.lose(&active, member, &what),
        }
    }

    fn launch_foreign(&mut self, contestant: &mut Contestant<'_>) {
        if contestant.has_given_up() {
            return;
        }
        self.sequence += 1;
        let job =
            self.job(Vec::new(), Task::Foreign(contestant.foreign.plan()), u64::from(self.sequence) << 8);
        let start_ns = self.now();
        let report = self.work(job, contestant.foreign.deadline_ns + 3 * SECOND);
        contestant.take(report, self.sequence, start_ns);
    }

    fn finish(
        &mut self,
        choices: &[Choice],
        groups: Vec<GroupState>,
        contestants: &[Contestant<'_>],
        partial: bool,
    ) -> Measured {
        let facts = self.clock_facts();
        let mut figures: Vec<Figure> = Vec::new();
        let (mut ratios, mut differences) = (Vec::new(), Vec::new());
        self.warn_of_speed(&groups);
        let mut groups = groups;
        group::pool(&mut groups);
        for group in groups {
            let context = figure::Context {
                void_launches: group.void,
                void_reason: group.void_reason.as_deref(),
                canary_ns: group.canary_ns,
                clock_step_ns: facts.step_ns,
                seccomp_mode: self.seccomp_mode,
                tracer_pid: self.tracer_pid,
                interrupted: partial,
            };
            let made: Vec<Figure> =
                group.members.iter().map(|member| figure::of_member(member, &context)).collect();
            let (more_ratios, more_differences) = figure::paired(&made, &group.members, &group.pairs);
            ratios.extend(more_ratios);
            differences.extend(more_differences);
            let known = |made: &Figure| figures.iter().any(|figure: &Figure| figure.id == made.id);
            let new: Vec<Figure> = made.into_iter().filter(|made| !known(made)).collect();
            figures.extend(new);
        }
        let position = |id: &str| choices.iter().position(|choice| choice.card().id == id);
        figures.sort_by_key(|figure| position(&figure.id));
        ratios.sort_by_key(|pair| position(&pair.of));
        differences.sort_by_key(|pair| position(&pair.of));
        figures.extend(contestants.iter().map(Contestant::figure));
        self.warn_of_placement();
        Measured {
            figures,
            ratios,
            differences,
            partial,
            launches: self.sequence,
            clock: self.clock,
            isolation: self.isolation.take(),
            seccomp_mode: self.seccomp_mode,
            warnings: std::mem::take(&mut self.warnings),
        }
    }

    /// A core whose speed moved during the run moved every figure: that is said once, not beside each of them.
    fn warn_of_speed(&mut self, groups: &[GroupState]) {
        let slowed: Vec<(&str, f64)> = groups
            .iter()
            .filter_map(|group| {
                let slowdowns = group.members.iter().filter_map(|member| figure::slowdown(&member.launched));
                Some((group.name, slowdowns.reduce(f64::max)?))
            })
            .collect();
        let Some(most) = slowed.iter().map(|group| group.1).reduce(f64::max) else { return };
        self.warnings.push(format!(
            "the core ran up to {:.0} % slower in some launches than in others, in {} of {} groups (its frequency, or a \
             busy sibling): floors hold as far as full speed was reached, typical does not",
            most * 100.0,
            slowed.len(),
            groups.len()
        ));
    }

    fn warn_of_placement(&mut self) {
        if let Some(how) = self.awake.take() {
            self.warnings.push(format!("idle CPUs were kept awake (--idle-cpu poll): {how}"));
        }
    }
}
