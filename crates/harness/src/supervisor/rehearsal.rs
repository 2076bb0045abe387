//! Rehearses a run with a scripted clock: nothing is measured, and each job takes its planned time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use oscost_results::Circumstances;

use crate::benchmark::card::Card;
use crate::benchmark::catalogue::Choice;
use crate::protocol::core::Core;
use crate::protocol::message::{
    Audited, Calibration, ClockFacts, Job, Launched, Member, Report, Task, TaskFinding,
};
use crate::supervisor::engine::{Measured, measure_by};
use crate::supervisor::plan::{self, Options};
use crate::supervisor::workers::{Lost, Workers};

/// How a rehearsed run went.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rehearsal {
    /// When it ended after its start, ns.
    pub ended_ns: u64,
    /// The longest launch, ns.
    pub longest_ns: u64,
    /// What it yielded. Every launch found the same.
    pub measured: Measured,
}

/// Rehearses a run in which each job takes `stretch` times as long as planned. Launches all find the same, but no window of
/// theirs is quiet: whatever is measured on one CPU is launched as long as the run has time.
#[must_use]
pub fn rehearse(choices: &[Choice], options: &Options, stretch: f64) -> Rehearsal {
    let cards: BTreeMap<&str, &Card> =
        choices.iter().map(|choice| choice.card()).map(|card| (card.id, card)).collect();
    let takes = |job: &Job| {
        let cards: Vec<&Card> = job.ids.iter().filter_map(|id| cards.get(id.as_str()).copied()).collect();
        let planned = match job.task {
            Task::Launch(_) => plan::launch_ns(&cards, &options.effort),
            Task::Audit { .. } => cards.iter().copied().map(plan::audit_ns).sum(),
            _ => plan::CALIBRATION_NS,
        };
        (planned as f64 * stretch) as u64
    };
    let script = Script::new(&takes, &|job, _| Ok(all_well(job)));
    let measured = measure_by(&script, choices, &[], options, &mut |_| {});
    let launches = script.launches.borrow();
    let longest_ns = launches.iter().map(|launch| launch.end_ns - launch.start_ns).max().unwrap_or(0);
    Rehearsal { ended_ns: script.now_ns(), longest_ns, measured }
}

/// Workers by a script: what each job takes, and what it finds. The number is that of the launch, from 1; 0 for other jobs.
pub(crate) struct Script<'a> {
    now_ns: Cell<u64>,
    takes: &'a dyn Fn(&Job) -> u64,
    finds: &'a dyn Fn(&Job, u32) -> Result<Report, Lost>,
    /// When the user ends the run.
    pub(crate) interrupted_ns: u64,
    /// When a CPU quota begins to stop it.
    pub(crate) throttled_ns: u64,
    /// Launches that were made.
    pub(crate) launches: RefCell<Vec<Launch>>,
}

/// One launch of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Launch {
    pub(crate) ids: Vec<String>,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

impl<'a> Script<'a> {
    pub(crate) fn new(
        takes: &'a dyn Fn(&Job) -> u64,
        finds: &'a dyn Fn(&Job, u32) -> Result<Report, Lost>,
    ) -> Self {
        let now_ns = Cell::new(0);
        let never = u64::MAX;
        Self {
            now_ns,
            takes,
            finds,
            interrupted_ns: never,
            throttled_ns: never,
            launches: RefCell::default(),
        }
    }
}

impl Workers for Script<'_> {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn is_interrupted(&self) -> bool {
        self.now_ns() >= self.interrupted_ns
    }

    fn throttled_periods(&self) -> Option<u64> {
        // As if each ns were one.
        Some(self.now_ns().saturating_sub(self.throttled_ns))
    }

    fn run(&self, job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        let start_ns = self.now_ns();
        let takes_ns = (self.takes)(&job);
        let end_ns = start_ns + takes_ns.min(deadline_ns);
        self.now_ns.set(end_ns);
        let mut number = 0;
        if matches!(job.task, Task::Launch(_)) {
            let mut launches = self.launches.borrow_mut();
            launches.push(Launch { ids: job.ids.clone(), start_ns, end_ns });
            number = u32::try_from(launches.len()).unwrap_or(u32::MAX);
        }
        if self.is_interrupted() {
            return Err(Lost::Interrupted);
        }
        if takes_ns > deadline_ns {
            return Err(Lost::worker("the worker did not end", None).at_deadline());
        }
        (self.finds)(&job, number)
    }
}

/// The report of a job in which nothing goes wrong: every member costs 100 ns.
pub(crate) fn all_well(job: &Job) -> Report {
    let finding = match &job.task {
        Task::Clock | Task::Foreign(_) | Task::Percentiles { .. } => {
            TaskFinding::Clock(ClockFacts { step_ns: 10.0, pair_ns: 20.0 })
        }
        Task::Core { .. } => TaskFinding::Core(Core::default()),
        Task::Calibrate { .. } => {
            let calibration = Calibration { iterations: 200, iteration_ns: 100.0, works: false };
            TaskFinding::Calibration(job.ids.iter().map(|_| Member::Done(calibration)).collect())
        }
        Task::Audit { .. } => {
            TaskFinding::Audit(job.ids.iter().map(|_| Member::Done(Audited::default())).collect())
        }
        Task::Launch(plan) => {
            let all = |ids: &[String]| ids.iter().map(|_| Member::Done(costs(100.0))).collect();
            let references = plan.references.as_ref().map_or_else(Vec::new, |plan| all(&plan.ids));
            TaskFinding::Launch {
                members: all(&job.ids),
                pairs: Vec::new(),
                canaries: Vec::new(),
                references,
            }
        }
    };
    Report {
        isolation: "a script".to_owned(),
        circumstances: Circumstances::default(),
        void: None,
        wrong_clock: None,
        throttled: Some(false),
        steal_ns: None,
        awake: None,
        finding,
    }
}

/// A launch of an operation that costs so much.
pub(crate) fn costs(ns: f64) -> Launched {
    let mut launched = Launched::default();
    for name in ["floor", "typical", "max"] {
        launched.record.quantities.insert(name.to_owned(), ns);
    }
    launched
}
