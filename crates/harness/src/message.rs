//! What supervisor and worker say to each other: one JSON object each way, before and after the measuring.

use std::collections::BTreeMap;
use std::path::PathBuf;

use oscost_results::{CheckedClaim, LaunchRecord};
use serde::{Deserialize, Serialize};

/// What a worker is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Ids of the members of the group, or none where the task needs none.
    pub ids: Vec<String>,
    /// What to do with them.
    pub task: Task,
    /// CPUs to use, in order of preference: the measuring thread takes the first, its partner the second.
    pub cpus: Vec<usize>,
    /// Seed of every random order in this job.
    pub seed: u64,
    /// Whether to enter private namespaces.
    pub isolate: bool,
    /// Where files go that are measured; none: into memory.
    pub directory: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Find the true step and the pair cost of the clock.
    Clock,
    /// Find how many iterations fill a batch of so many ns.
    Calibrate { batch_ns: u64 },
    /// One launch.
    Launch(LaunchPlan),
    /// Count system calls over `operations` and twice as many.
    Audit { operations: u64 },
    /// Run a program that is not ours.
    Foreign(ForeignPlan),
}

/// One launch of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// Iterations of a batch, a number a member (0: a series).
    pub iterations: Vec<u64>,
    /// Iterations of the canary's batch.
    pub canary_iterations: u64,
    /// Cost of one iteration of the canary as calibrated, ns: its 1st percentile there.
    pub canary_ns: f64,
    /// Cost of a pair of clock readings, ns.
    pub clock_pair_ns: f64,
    /// Discarded time before the first round, ns.
    pub warm_up_ns: u64,
    /// Timed part for each member, ns.
    pub member_ns: u64,
    /// Send every sample, not only the summary.
    pub keep_samples: bool,
    /// Keep the partner's CPU awake by a thread of the lowest class.
    pub idle_poll: bool,
}

/// A program that is not ours, in our rotation of launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignPlan {
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    /// Added to an otherwise empty environment (PATH is kept).
    pub environment: BTreeMap<String, String>,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<usize>,
    /// How long it may run, ns.
    pub deadline_ns: u64,
    /// What it writes to /tmp and /var/tmp vanishes with it, and it starts in /tmp.
    pub contained: bool,
}

/// What a worker found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How the worker was isolated, in words.
    pub isolation: String,
    /// Seccomp mode of the worker while it timed.
    pub seccomp_mode: Option<u32>,
    /// Its tracer (0: none).
    pub tracer_pid: Option<u32>,
    /// Why the launch does not count, if the environment changed under it (affinity, cpuset, suspend).
    pub void: Option<String>,
    /// The cgroup's quota stopped it meanwhile.
    pub throttled: bool,
    /// Time stolen by the host on its CPUs, ns; absent where /proc/stat does not say.
    pub steal_ns: Option<u64>,
    /// How idle CPUs were kept awake, in words.
    #[serde(default)]
    pub awake: Option<String>,
    /// The finding.
    pub finding: Finding,
}

/// The finding of each task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Finding {
    /// Of [`Task::Clock`].
    Clock(ClockFacts),
    /// Of [`Task::Calibrate`].
    Calibration {
        /// A calibration a member, in order.
        members: Vec<Member<Calibration>>,
        /// Iterations of the canary's batch.
        canary_iterations: u64,
        /// 1st percentile of the canary's cost of one iteration, ns.
        canary_ns: f64,
    },
    /// Of [`Task::Launch`].
    Launch {
        /// A table a member, in order.
        members: Vec<Member<Launched>>,
        /// Paired comparisons of members.
        pairs: Vec<Pair>,
    },
    /// Of [`Task::Audit`].
    Audit(Vec<Member<Audited>>),
    /// Of [`Task::Foreign`].
    Foreign(ForeignOutput),
}

/// What became of one member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Member<T> {
    /// It worked.
    Done(T),
    /// This machine lacks something.
    Unsupported { why: String, remedy: String },
    /// A call failed.
    Failed(Failure),
}

impl<T> Member<T> {
    /// The same member without what it yielded.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Member<U> {
        match self {
            Self::Done(value) => Member::Done(with(value)),
            Self::Unsupported { why, remedy } => Member::Unsupported { why, remedy },
            Self::Failed(failure) => Member::Failed(failure),
        }
    }
}

/// A failure, and where it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// "set-up", "warm-up", "batch", "launch", "audit", "environment", "worker".
    pub phase: String,
    /// What happened, with the call and its error where a call failed.
    pub what: String,
}

impl Failure {
    /// A failure of `phase`.
    #[must_use]
    pub fn new(phase: &str, what: impl std::fmt::Display) -> Self {
        Self { phase: phase.to_owned(), what: what.to_string() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.phase, self.what)
    }
}

/// What is known of the clock that times batches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// True step q, ns.
    pub step_ns: f64,
    /// Cost o of a pair of readings, ns.
    pub pair_ns: f64,
}

/// Iterations that fill a batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Iterations of a batch (0: a series).
    pub iterations: u64,
    /// What an iteration seemed to cost, ns.
    pub iteration_ns: f64,
}

/// What one launch of one member yielded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// The table, with what happened around it.
    pub record: LaunchRecord,
    /// Evenly spaced quantiles of the clean rounds, from which modes are found over all launches.
    pub clean_sketch: Vec<f64>,
    /// Every sample in order of rounds, if asked for.
    pub samples: Vec<f64>,
    /// The values of single participants by name, if samples are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<(String, Vec<f64>)>,
    /// What a reader of the figure should know of this launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A paired comparison within the rounds of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Id that is divided, or from which is subtracted.
    pub of: String,
    /// Id that divides, or is subtracted.
    pub to: String,
    /// What is compared: "paired" for rounds of batches, else a quantity of a series.
    #[serde(default = "rounds")]
    pub quantity: String,
    /// Median over fast rounds of the ratio; of a series the ratio of the two launches.
    pub ratio: Option<f64>,
    /// Median over fast rounds of the difference, ns.
    pub difference: Option<f64>,
    /// Share of fast rounds: a launch with hardly any was disturbed in the others too.
    pub fast_share: f64,
}

/// Name of what is compared between batches.
pub(crate) const PAIRED: &str = "paired";

fn rounds() -> String {
    PAIRED.to_owned()
}

/// What the audit counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    /// "seccomp user notification" or "ptrace"; absent where neither works.
    pub method: Option<String>,
    /// Why there is none.
    pub missing: Option<String>,
    /// Calls per operation by name.
    pub system_calls: BTreeMap<String, f64>,
    /// Claims of the benchmark as of now; those about system calls carry what was observed.
    pub claims: Vec<CheckedClaim>,
}

/// How a foreign program ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ForeignOutput {
    /// Its standard output, at most 1 MiB.
    pub stdout: String,
    /// Its standard error, at most 1 MiB.
    pub stderr: String,
    /// Exit code, or `None`.
    pub code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// The deadline ended it.
    pub timed_out: bool,
    /// How long it ran, ns.
    pub duration_ns: u64,
}
