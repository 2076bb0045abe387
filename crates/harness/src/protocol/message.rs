//! Messages between supervisor and worker: one JSON object each way, before and after measuring.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Circumstances, LaunchRecord};
use serde::{Deserialize, Serialize};

use super::core::Core;
use super::timed::{SinglesPlan, Timed};

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
    /// Why it cannot, where it was tried.
    pub refused: Option<String>,
    /// Descriptor of the folder where files go that are measured; none: into memory.
    pub directory: Option<i32>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Find the true step and the pair cost of the clock.
    Clock,
    /// Find out about the core: what canaries cost there, and whether a step of their chain is a cycle.
    Core { batch_ns: u64, pair_ns: f64 },
    /// Find how many iterations fill a batch of so many ns.
    Calibrate { batch_ns: u64, idle_cpu: IdleCpu },
    /// One launch.
    Launch(LaunchPlan),
    /// Count system calls over twice so many operations, early, and again behind operation `late`.
    Audit { operations: u64, late: u64 },
    /// Run a program that is not ours.
    Foreign(ForeignPlan),
    /// Time operations one by one.
    Percentiles { plan: SinglesPlan, idle_cpu: IdleCpu },
}

/// What an idle CPU does while another one works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum IdleCpu {
    /// What the system makes it do: usually it halts, and waking it costs.
    Halt,
    /// It is kept awake.
    Poll,
    /// The CPU of a partner that sleeps in between: first the one, then the other. Any other CPU: [`IdleCpu::Halt`].
    Both,
}

impl IdleCpu {
    /// Name in results and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Halt => "halt",
            Self::Poll => "poll",
            Self::Both => "both",
        }
    }
}

/// One launch of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchPlan {
    /// Iterations of a batch, a number a member (0: a series).
    pub iterations: Vec<u64>,
    /// Whether each member is told in cycles: its participants work all the time.
    pub works: Vec<bool>,
    /// The canaries of every round.
    pub core: Core,
    /// Cost of a pair of clock readings, ns.
    pub clock_pair_ns: f64,
    /// Discarded time before the first round, ns.
    pub warm_up_ns: u64,
    /// Timed part for each member, ns.
    pub member_ns: u64,
    /// Send every sample, not only the summary.
    pub keep_samples: bool,
    /// What idle CPUs do.
    pub idle_cpu: IdleCpu,
    /// What is timed after the figures, and is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) references: Option<Box<ReferencePlan>>,
}

/// References of a launch: their ids, and how they are launched once its figures are done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReferencePlan {
    pub(crate) ids: Vec<String>,
    pub(crate) launch: LaunchPlan,
}

/// A program that is not ours, in our rotation of launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignPlan {
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    /// Added to the environment.
    pub environment: BTreeMap<String, String>,
    /// The environment is otherwise the caller's; else it is empty, but for PATH.
    pub inherits: bool,
    /// What is kept of each of its two streams, bytes; what comes after is read and thrown away.
    pub most_output: usize,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<usize>,
    /// How long it may run, ns.
    pub deadline_ns: u64,
    /// Where what it writes to /tmp and /var/tmp goes.
    pub contained: Contained,
}

/// Where what a program writes to /tmp and /var/tmp goes. Who is contained starts in /tmp and reads there what lies there; what
/// he writes vanishes with him.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contained {
    /// Where it always goes.
    No,
    /// Contained where namespaces and an overlay are granted.
    WherePossible,
    /// Contained, or not run: it writes names that others use, too.
    Always,
}

/// Where a CPU is first left to sleep and then kept awake, the first part takes this part of the time of the second, and the second
/// begins with so many ns that are discarded.
pub(crate) const ASLEEP_PART: u64 = 4;
pub(crate) const SETTLING_NS: u64 = 10_000_000;
/// Operations of the first phase of an audit; the second makes twice as many.
pub const AUDIT_OPERATIONS: u64 = 100;
/// Operations of an audit are late from this one on: what begins to be wrong later is left to the price of its calls.
pub const LATE_OPERATIONS: u64 = 10_000;
/// The default scheduling policy.
pub(crate) const DEFAULT_POLICY: &str = "other";

/// What a worker found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How the worker was isolated, in words.
    pub isolation: String,
    /// How the worker was run, before and after.
    pub circumstances: Circumstances,
    /// Why the launch does not count, if the environment changed under it (affinity, cpuset, suspend).
    pub void: Option<String>,
    /// How the clock that times was wrong meanwhile, if it was: then the run stops.
    pub wrong_clock: Option<String>,
    /// Whether a cgroup's quota stopped it meanwhile; absent where that is not known.
    pub throttled: Option<bool>,
    /// Time stolen by the host on its CPUs, ns; absent where /proc/stat does not say.
    pub steal_ns: Option<u64>,
    /// How idle CPUs were kept awake, or why they were not, in words; absent where nobody asked for it.
    #[serde(default)]
    pub awake: Option<Result<String, String>>,
    /// The finding.
    pub finding: TaskFinding,
}

/// The finding of each task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TaskFinding {
    /// Of [`Task::Clock`].
    Clock(ClockFacts),
    /// Of [`Task::Core`].
    Core(Core),
    /// Of [`Task::Calibrate`]: a calibration a member, in order.
    Calibration(Vec<Member<Calibration>>),
    /// Of [`Task::Launch`].
    Launch {
        /// A table a member, in order.
        members: Vec<Member<Launched>>,
        /// Paired comparisons of members.
        pairs: Vec<Pair>,
        /// Every sample of the canaries by name ("chain", "throughput", "entry"), if samples are asked for.
        canaries: Vec<(String, Vec<f64>)>,
        /// A table a reference, in order.
        #[serde(default)]
        references: Vec<Member<Launched>>,
    },
    /// Of [`Task::Audit`].
    Audit(Vec<Member<Audited>>),
    /// Of [`Task::Foreign`].
    Foreign(ForeignOutput),
    /// Of [`Task::Percentiles`].
    Percentiles(Member<Timed>),
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
    /// "set-up", "warm-up", "batch", "verification", "launch", "audit", "environment", "worker".
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
#[non_exhaustive]
pub struct ClockFacts {
    /// True step q, ns.
    pub step_ns: f64,
    /// Cost o of a pair of readings, ns.
    pub pair_ns: f64,
}

/// Length of a batch for a clock of step `step_ns`: 1000 steps, between 20 and 100 us, but no fewer than ten: a batch that
/// begins and ends within one step takes no time. Longer batches are worse: they hold timer ticks and preemptions.
#[must_use]
pub(crate) fn batch_ns(step_ns: f64) -> u64 {
    (1000.0 * step_ns).clamp(20_000.0, f64::max(100_000.0, 10.0 * step_ns)) as u64
}

/// Iterations that fill a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Iterations of a batch (0: a series).
    pub iterations: u64,
    /// What an iteration seemed to cost, ns.
    pub iteration_ns: f64,
    /// Its participants, all on one CPU, worked for at least 99 % of the time.
    pub works: bool,
}

/// Medians of windows of rounds, of one member and of the canaries beside it: whether a window was quiet is judged when
/// the best of all launches is known. Costs but the first are in steps of the chain of the same round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Windows {
    /// One operation, ns.
    pub ns: Vec<f32>,
    /// One operation; empty where it is not told in cycles.
    pub steps: Vec<f32>,
    /// One instruction of the throughput loop.
    pub throughput: Vec<f32>,
    /// One bare kernel entry; empty where none was made.
    pub entry: Vec<f32>,
}

/// What one launch of one member yielded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// The table, with what happened around it.
    pub record: LaunchRecord,
    /// Evenly spaced quantiles of the clean rounds, from which modes are found over all launches.
    pub clean_sketch: Vec<f64>,
    /// Medians of windows of its rounds.
    #[serde(default)]
    pub windows: Windows,
    /// Every sample in order of rounds, if asked for.
    pub samples: Vec<f64>,
    /// The values of single participants by name, if samples are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<(String, Vec<f64>)>,
    /// What was found of the object after its operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_conditions: Vec<CheckedClaim>,
    /// What a reader of the figure should know of this launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// It is none of the planned ones, which are made in any case: it was made because those before it were not enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extra: bool,
}

/// A paired comparison within the rounds of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// A hop between the two CPUs of the launch, ns, where its operations have two: only launches between near ones count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_ns: Option<f64>,
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
    /// Calls per operation that come one after the other: of all participants on one CPU, or of the one who makes the most
    /// where they have CPUs of their own. Absent of a series.
    #[serde(default)]
    pub calls_in_turn: Option<f64>,
    /// Claims of the benchmark as of now; those about system calls carry what was observed.
    pub claims: Vec<CheckedClaim>,
}

/// How a foreign program ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ForeignOutput {
    /// Its standard output, cut where it was too long.
    pub stdout: String,
    /// Its standard error, cut where it was too long.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_a_thousand_steps_within_bounds() {
        assert_eq!(batch_ns(1.0), 20_000);
        assert_eq!([batch_ns(19.9), batch_ns(20.0), batch_ns(20.1)], [20_000, 20_000, 20_100]);
        assert_eq!(batch_ns(42.0), 42_000);
        assert_eq!([batch_ns(99.9), batch_ns(100.0), batch_ns(100.1)], [99_900, 100_000, 100_000]);
        assert_eq!([batch_ns(10_000.0), batch_ns(10_001.0)], [100_000, 100_010]);
        assert_eq!(batch_ns(4_000_000.0), 40_000_000);
    }
}
