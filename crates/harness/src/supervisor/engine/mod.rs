//! The engine: calibrates, audits, rotates launches through all groups, and puts figures together. METHOD.md, Launches.

mod ending;
mod more;
mod rotation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use oscost_results::{CoreConstants, Figure, PairedValue, Reference, RemarkCode};

use crate::benchmark::card::Placement;
use crate::benchmark::catalogue::Choice;
use crate::benchmark::claims;
use crate::benchmark::foreign::Foreign;
use crate::figures::member::Fate;
use crate::figures::quiet::{Best, Seen};
use crate::protocol::core::Core;
use crate::protocol::message::{
    AUDIT_OPERATIONS, Audited, Calibration, ClockFacts, Failure, Job, LATE_OPERATIONS, Member, Report, Task,
    TaskFinding, batch_ns,
};
use crate::protocol::record::{self, Record};
use crate::supervisor::event::Event;
use crate::supervisor::foreign::Contestant;
use crate::supervisor::group::{self, GroupState};
use crate::supervisor::plan::{self, Options};
use crate::supervisor::references::{self, References};
use crate::supervisor::workers::{Lost, Supervisor, Workers};
use crate::worker::environment::Environment;

pub use more::measure_more;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;

/// What a run yielded.
#[derive(Debug, Default)]
pub struct Measured {
    /// A figure for every choice, in order; contestants follow.
    pub figures: Vec<Figure>,
    /// Paired ratios.
    pub ratios: Vec<PairedValue>,
    /// Paired differences.
    pub differences: Vec<PairedValue>,
    /// What was timed beside few figures, and is none.
    pub references: Vec<Reference>,
    /// The run ended before its plan did.
    pub partial: bool,
    /// When the run began, by the clock of whatever made its launches, ns.
    pub start_ns: u64,
    /// Launches of all groups.
    pub launches: u32,
    /// How the clock that times was wrong, if it was: then every figure has failed.
    pub wrong_clock: Option<String>,
    /// The clock that timed.
    pub clock: Option<ClockFacts>,
    /// The best that the machine's cores are known to do now.
    pub core: Option<CoreConstants>,
    /// How workers were isolated.
    pub isolation: Option<String>,
    /// How idle CPUs were kept awake where they were, or why they were not in some launch, in words.
    pub kept_awake: Option<Result<String, String>>,
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
    measure_by(supervisor, choices, contestants, options, emit)
}

/// The same with whatever makes the launches and tells the time.
pub(crate) fn measure_by(
    workers: &dyn Workers,
    choices: &[Choice],
    contestants: &[Foreign],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    measure_after((0, 0), workers, choices, contestants, options, emit)
}

/// The same in a run in which so many launches were made before, and which has begun so long before, ns.
fn measure_after(
    (sequence, since_ns): (u32, u64),
    workers: &dyn Workers,
    choices: &[Choice],
    contestants: &[Foreign],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    let effort = &options.effort;
    // Nobody knows what a program that is not ours takes: beside one, the plan is made whole.
    let until_ns = if contestants.is_empty() {
        effort.target_ns.max(plan::estimate_ns(choices, effort))
    } else {
        effort.deadline_ns
    };
    let mut engine = Engine {
        workers,
        options,
        start_ns: workers.now_ns(),
        since_ns,
        until_ns: until_ns.min(effort.deadline_ns).min(effort.end_ns),
        slowness: BTreeMap::new(),
        clock: None,
        core: Core::default(),
        known: Best::default(),
        seen: Vec::new(),
        best: Best::default(),
        references: Vec::new(),
        isolation: None,
        awake: None,
        sequence,
        shared_ns: 0,
        began: Environment::read(&options.cpus),
        throttled_periods: workers.throttled_periods(),
        wrong_clock: None,
        quota_unknown: false,
        interrupted: false,
        warnings: Vec::new(),
    };
    engine.run(choices, contestants, emit)
}

struct Engine<'a> {
    workers: &'a dyn Workers,
    options: &'a Options,
    start_ns: u64,
    /// So long before that the run had begun, of which this may be a later part, ns.
    since_ns: u64,
    /// No planned launch begins later than this after the start, ns.
    until_ns: u64,
    /// How many times as long as their cards say launches took here at most, by what the cards say, ms.
    slowness: BTreeMap<u64, f64>,
    clock: Option<ClockFacts>,
    core: Core,
    /// What was known of the machine's best, what launches saw, and what is known now.
    known: Best,
    seen: Vec<Seen>,
    best: Best,
    references: Vec<References>,
    isolation: Option<String>,
    /// How idle CPUs were kept awake, or why not in some launch.
    awake: Option<Result<String, String>>,
    /// Number of the last launch of the run.
    sequence: u32,
    /// Time of launches that were void because somebody shared them.
    shared_ns: u64,
    /// As it was at the start, every source of time among it.
    began: Environment,
    /// Periods in which a CPU quota had stopped it until then; `None` where that is not known.
    throttled_periods: Option<u64>,
    wrong_clock: Option<String>,
    /// Whether quotas stopped a launch was not to be read.
    quota_unknown: bool,
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
        let mut references = references::form(&mut groups, self.options);
        let mut contestants: Vec<Contestant<'_>> = contestants.iter().map(Contestant::new).collect();
        emit(&Event::Planned {
            figures: choices.len() + contestants.len(),
            groups: groups.len() + contestants.len(),
            launches: self.options.effort.launches,
        });
        emit(&Event::Phase("clock"));
        self.find_clock();
        self.find_core();
        self.known = Best::known(self.options.core.as_ref(), oscost_sys::processor::model().as_deref());
        self.best = self.known;
        emit(&Event::Phase("calibration"));
        for group in &mut groups {
            self.calibrate(group);
        }
        for references in &mut references {
            self.calibrate(&mut references.group);
        }
        self.references = references;
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
        if complete {
            self.leave_out_aside(&mut groups);
        }
        self.finish(choices, groups, &contestants, !complete)
    }

    fn now(&self) -> u64 {
        self.workers.now_ns() - self.start_ns
    }

    /// Time until the hard deadline.
    fn left(&self) -> u64 {
        self.options.effort.deadline_ns.saturating_sub(self.now())
    }

    /// Time until nothing of the run goes on, whatever its plan was.
    fn most_left(&self) -> u64 {
        self.left().min(self.options.effort.end_ns.saturating_sub(self.now()))
    }

    /// Whether the run is at the end that it has said.
    fn has_ended(&self) -> bool {
        self.now() >= self.options.effort.end_ns
    }

    fn over(&self) -> bool {
        self.interrupted || self.workers.is_interrupted() || self.left() == 0
    }

    fn job(&self, ids: Vec<String>, task: Task, stream: u64) -> Job {
        let seed = self.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream);
        Job {
            ids,
            task,
            cpus: self.options.cpus.clone(),
            seed,
            isolate: true,
            // These two are the supervisor's.
            refused: None,
            directory: None,
        }
    }

    /// A job of members of a group: those that are spread have an order of CPUs of their own, and some name theirs.
    fn job_of(&self, group: &GroupState, members: &[usize], task: Task, stream: u64) -> Job {
        let mut job = self.job(group.ids(members), task, stream);
        let card = group.members.first().map(|member| member.choice.card());
        if let Some(card) = card.filter(|card| !card.cpus.is_empty()) {
            job.cpus = card.cpus.to_vec();
        } else if card.is_some_and(|card| card.placement == Placement::Spread)
            && !self.options.spread_cpus.is_empty()
        {
            job.cpus.clone_from(&self.options.spread_cpus);
        }
        job
    }

    /// Runs a job; remembers how the worker was isolated and watched. Whatever was expected of it, it does not overrun the run.
    fn work(&mut self, job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        let throttled_periods = self.workers.throttled_periods();
        let mut report = self.workers.run(job, deadline_ns.min(self.most_left().max(1)));
        match &mut report {
            Ok(report) => {
                self.isolation.get_or_insert_with(|| report.isolation.clone());
                record::add_awake(&mut self.awake, report.awake.as_ref());
                if let Some(wrong_clock) = &report.wrong_clock {
                    self.wrong_clock = Some(wrong_clock.clone());
                    self.interrupted = true;
                    // What was timed by it is not even looked at.
                    return Err(Lost::Interrupted);
                }
            }
            Err(Lost::Interrupted) => self.interrupted = true,
            // Who crashed did so whatever stopped it before.
            Err(Lost::Worker { what, late: true, .. }) if self.was_throttled_since(throttled_periods) => {
                *what = format!("a CPU quota stops this run (oscost doctor): {what}");
            }
            Err(Lost::Worker { .. }) => {}
        }
        report
    }

    /// Whether a CPU quota stopped this run at any time.
    fn is_stopped_by_quota(&self) -> bool {
        self.was_throttled_since(self.throttled_periods)
    }

    /// Whether a CPU quota has stopped it since so many periods had been stopped.
    fn was_throttled_since(&self, before: Option<u64>) -> bool {
        self.workers.throttled_periods().zip(before).is_some_and(|(now, before)| now > before)
    }

    fn find_clock(&mut self) {
        let job = self.job(Vec::new(), Task::Clock, 0);
        match self.work(job, 10 * SECOND) {
            Ok(Report { finding: TaskFinding::Clock(facts), .. }) => self.clock = Some(facts),
            Ok(Report { finding: TaskFinding::Foreign(output), .. }) => self.warnings.push(output.stderr),
            Err(Lost::Worker { what, .. }) => {
                self.warnings.push(RemarkCode::ClockStepAssumed.with(&[&what]));
            }
            Ok(_) | Err(Lost::Interrupted) => {}
        }
    }

    /// Finds out about the core. Where that fails, canaries run all the same, and nothing is told in cycles.
    fn find_core(&mut self) {
        let ClockFacts { step_ns, pair_ns } = self.clock_facts();
        let job = self.job(Vec::new(), Task::Core { batch_ns: batch_ns(step_ns), pair_ns }, 3);
        let what = match self.work(job, 10 * SECOND) {
            Ok(Report { finding: TaskFinding::Core(core), .. }) => {
                self.core = core;
                let chain_ns = self.core.chain_ns.filter(|_| self.core.no_cycles.is_none());
                if let Some(wrong_clock) = chain_ns.and_then(crate::worker::clock_rate::wrong_by_core) {
                    self.wrong_clock = Some(wrong_clock);
                    self.interrupted = true;
                }
                return;
            }
            Ok(Report { finding: TaskFinding::Foreign(output), .. }) => output.stderr,
            Err(Lost::Worker { what, .. }) => what,
            Ok(_) => "the worker reported something else".to_owned(),
            Err(Lost::Interrupted) => return,
        };
        let why = format!("nothing is known of the core: {what}");
        self.core = Core { no_cycles: Some(why.clone()), no_entry: Some(why), ..Core::default() };
    }

    /// The clock that batches are timed by; where it could not be measured, a step that makes batches no shorter.
    fn clock_facts(&self) -> ClockFacts {
        self.clock.unwrap_or(ClockFacts { step_ns: 10.0, pair_ns: 0.0 })
    }

    /// Finds iterations for every member. A worker that dies names who was running: that member has failed, and the
    /// others are tried again without it.
    fn calibrate(&mut self, group: &mut GroupState) {
        let batch_ns = batch_ns(self.clock_facts().step_ns);
        while !self.over() && !self.has_ended() {
            let active = group.active();
            if active.is_empty() {
                return;
            }
            let idle_cpu = self.options.idle_cpu;
            let job = self.job_of(group, &active, Task::Calibrate { batch_ns, idle_cpu }, 1);
            match self.work(job, 10 * SECOND) {
                Ok(Report { finding: TaskFinding::Calibration(members), .. }) => {
                    for (&index, member) in active.iter().zip(members) {
                        match member {
                            Member::Done(Calibration { iterations, iteration_ns, works }) => {
                                group.members[index].iterations = iterations;
                                group.members[index].batch_ns = (iterations as f64 * iteration_ns) as u64;
                                group.members[index].works = works;
                            }
                            Member::Unsupported { why, remedy } => {
                                group.members[index].outcome = Fate::Unsupported { why, remedy };
                            }
                            Member::Failed(failure) => {
                                group.members[index].outcome = Fate::Failed(failure);
                            }
                        }
                    }
                    return;
                }
                Ok(_) => {
                    group.lose(&active, None, "the worker reported something else");
                    return;
                }
                Err(Lost::Interrupted) => return,
                Err(Lost::Worker { .. }) if self.has_ended() => return,
                Err(Lost::Worker { what, member, .. }) => {
                    group.lose(&active, member, &what);
                }
            }
        }
    }

    fn audit(&mut self, group: &mut GroupState, emit: &mut dyn FnMut(&Event<'_>)) {
        for index in group.active() {
            if self.over() || self.has_ended() {
                return;
            }
            if group.members[index].audited.is_some() {
                continue;
            }
            let job = self.job_of(
                group,
                &[index],
                Task::Audit { operations: AUDIT_OPERATIONS, late: LATE_OPERATIONS },
                2,
            );
            let audited = match self.work(job, 10 * SECOND) {
                Ok(Report { finding: TaskFinding::Audit(mut members), .. }) if members.len() == 1 => {
                    members.remove(0)
                }
                Ok(_) => Member::Failed(Failure::new("audit", "the worker reported something else")),
                Err(Lost::Interrupted) => return,
                // Evidence that could not be had is no evidence; the figure is measured all the same, and what launches count
                // is held against its claims.
                Err(Lost::Worker { what, .. }) => {
                    let claims = group.members[index].choice.benchmark.claims();
                    let claims = claims.iter().map(claims::stated).collect();
                    Member::Done(Audited { missing: Some(what), claims, ..Audited::default() })
                }
            };
            let member = &mut group.members[index];
            match audited {
                Member::Done(audited) => {
                    let id = member.choice.card().id.to_owned();
                    emit(&Event::Found(&Record::Audited { id, audited: audited.clone() }));
                    member.audited = Some(audited);
                }
                Member::Unsupported { why, remedy } => member.outcome = Fate::Unsupported { why, remedy },
                Member::Failed(failure) => member.outcome = Fate::Failed(failure),
            }
        }
    }
}
