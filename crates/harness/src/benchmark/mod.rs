//! The benchmark trait: either the harness times its batches, or it times itself as a series.

pub mod card;
pub mod catalogue;
pub mod claims;
pub mod common_claims;
pub mod directory;
pub mod foreign;
pub mod lack;
pub mod partner;
pub mod requirements;
pub mod setting;

use std::borrow::Cow;

use oscost_sys::{CallError, folder::Folder, process::Child};

use crate::protocol::keeper::Keeper;
use card::{Bound, Card, Claim};

/// One row of the price list.
pub trait Benchmark: Sync {
    /// The facts; reading them runs nothing.
    fn card(&self) -> &'static Card;

    /// Acquires everything that the loop needs, in the process that will run it. Dropping the subject releases it.
    ///
    /// # Errors
    /// [`Unable::Unsupported`] where this machine lacks something, [`Unable::Failed`] where a call failed.
    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable>;

    /// Whether what is measured listens to system calls itself: an audit then counts as a tracer, because a process has one
    /// listener at most.
    fn listens(&self) -> bool {
        false
    }

    /// Whose its objects are where several make the operation at once.
    fn sharing(&self) -> Sharing {
        Sharing::Own
    }

    /// Claims about every operation on this machine, now: under clock source hpet, a vDSO clock makes a system call.
    fn claims(&self) -> Cow<'static, [Claim]> {
        Cow::Borrowed(self.card().claims)
    }
}

/// Whose the objects of an operation are where several processes or threads make it at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each set-up makes its own, or there is none.
    Own,
    /// Each set-up makes its own, and processes can also inherit one: what it is ("the open file").
    Inherited(&'static str),
    /// All set-ups take the same one: what it is.
    Always(&'static str),
}

/// The result of a set-up.
pub enum Subject {
    /// A loop of operations, timed by the harness.
    Batched(Box<dyn Batched>),
    /// Ticks, clock steps, workloads: the benchmark times itself.
    Series(Box<dyn Series>),
}

impl Subject {
    /// A loop of operations.
    pub fn batched(batched: impl Batched + 'static) -> Self {
        Self::Batched(Box::new(batched))
    }

    /// What times itself.
    pub fn series(series: impl Series + 'static) -> Self {
        Self::Series(Box::new(series))
    }
}

/// The outcome of a call inside a loop. A failure makes the batch void, and is named.
pub type Outcome = Result<(), CallError>;

/// Iterations are never more than this: an operation cannot cost less than a fraction of a cycle.
pub(crate) const MOST_ITERATIONS: u64 = 1 << 24;

/// A monomorphised loop of operations: one indirect call per batch, none per operation.
pub trait Batched {
    /// Runs the loop body `iterations` times, and nothing else: no allocation, no output, no clock.
    ///
    /// # Errors
    /// The first call that failed. The batch is void then.
    fn batch(&mut self, iterations: u64) -> Outcome;

    /// Iterations that a batch can have, where what is made ready for it is limited.
    fn most(&self) -> u64 {
        MOST_ITERATIONS
    }

    /// Brings partners into the state that the next batch needs. Not timed. Short batches may come before the next one, unless
    /// there are partners, the card says that a batch uses something up, or system calls are claimed (METHOD.md, Batch).
    ///
    /// # Errors
    /// The call that failed.
    fn arm(&mut self) -> Outcome {
        Ok(())
    }

    /// Puts partners to rest, so that they do not slow other members' batches. Not timed.
    ///
    /// # Errors
    /// The call that failed.
    fn park(&mut self) -> Outcome {
        Ok(())
    }

    /// What must be true of the object after all batches, and what was found: that it was operated on, and is as it was. Not
    /// timed; after the rounds of a launch and after the phases of an audit. It asks in another way than the batches do.
    ///
    /// # Errors
    /// The call that failed. The launch is void then.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(Vec::new())
    }

    /// What a reader of the figure should know of this launch, in words: where its file lies.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Partners whose switches, CPU and faults count as evidence.
    fn participants(&self) -> Vec<Participant> {
        Vec::new()
    }

    /// Share of the batches so far that ended with all participants on one CPU; `None` where placement decides it. It is
    /// the quantity `same_cpu_share` of a launch whose participants are not pinned: such a figure is a mixture.
    fn same_cpu_share(&self) -> Option<f64> {
        None
    }
}

/// A fact that must hold after the operations, and its observed value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PostCondition {
    /// Its name, in snake_case ("token_while_taken").
    pub name: &'static str,
    /// The required value.
    pub expected: Bound,
    /// The observed value.
    pub observed: f64,
}

impl PostCondition {
    /// A fact whose value must be within a bound.
    #[must_use]
    pub const fn new(name: &'static str, expected: Bound, observed: f64) -> Self {
        Self { name, expected, observed }
    }

    /// A fact whose value must be exactly this.
    #[must_use]
    pub const fn exactly(name: &'static str, expected: f64, observed: f64) -> Self {
        Self::new(name, Bound::Exactly(expected), observed)
    }

    /// Something that must be so, as 1, or must not, as 0.
    #[must_use]
    pub fn is(name: &'static str, expected: bool, observed: bool) -> Self {
        Self::exactly(name, u8::from(expected).into(), u8::from(observed).into())
    }

    /// Whether the observed value is the required one.
    #[must_use]
    pub fn holds(&self) -> bool {
        claims::expectation(self.expected).holds(self.observed)
    }
}

/// A measurement that times itself.
pub trait Series {
    /// One launch: yields every quantity of the card, once, to the sink.
    ///
    /// # Errors
    /// The first call that failed. The launch is void then.
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome;

    /// What comes right before a launch that is timed, and is no part of it. The card's `launch_ms` holds its time.
    ///
    /// # Errors
    /// The first call that failed. The launch is void then.
    fn settle(&mut self) -> Outcome {
        Ok(())
    }

    /// An audit counts the next launch as its phase `phase`. Whether the series brackets it itself
    /// ([`oscost_sys::system_call::marker`]), closer around its operations than a whole launch is.
    fn brackets(&mut self, _phase: usize) -> bool {
        false
    }

    /// Partners whose switches, CPU and faults count as evidence.
    fn participants(&self) -> Vec<Participant> {
        Vec::new()
    }
}

/// How long a series runs.
#[derive(Debug, Clone, Copy)]
pub struct SeriesPlan {
    /// Exactly so many observations (the audit's 100 and 200), or as many as the duration holds.
    pub observations: Option<u64>,
    /// How long the launch may take, in ns.
    pub duration_ns: u64,
    /// Seed of anything random in it.
    pub seed: u64,
}

/// Receives the findings of a series.
pub trait Sink {
    /// A quantity of the card.
    fn quantity(&mut self, name: &'static str, value: f64);
    /// One observation of the headline, for the distribution (and for `--raw`).
    fn observation(&mut self, value: f64);
    /// How many operations the launch made: counts are divided by it.
    fn operations(&mut self, count: u64);
    /// How many system calls of this name the series itself counted in this launch: an audit holds them against what it
    /// saw, to the last one.
    fn counted(&mut self, _name: &'static str, _calls: u64) {}
    /// Why the calls of this launch are not those of its operations: an audit then counts none.
    fn uncountable(&mut self, _why: String) {}
    /// A fact that must hold after the operations of this launch, and its observed value.
    fn post_condition(&mut self, _found: PostCondition) {}
    /// What participants used that lived only within the launch, so that nobody could look at them before and after, and
    /// how often they changed their CPU, where that was looked at.
    fn used(&mut self, _usage: &oscost_sys::usage::Usage, _migrations: Option<u64>) {}
    /// A remark on this launch for readers of the figure.
    fn say(&mut self, _words: String) {}
    /// The values of one participant in their order, ns, for pictures and files. `kept` ones stay in the result; no more
    /// than three thousand values of each.
    fn track(&mut self, _name: String, _values: Vec<f64>, _kept: bool) {}
}

/// A process or thread, other than the measuring thread, that takes part in the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Participant {
    /// A process, by pid.
    Process(i32),
    /// A thread of the measuring process, by tid.
    Thread(i32),
}

impl Participant {
    /// Its pid or tid.
    pub(crate) const fn id(self) -> i32 {
        match self {
            Self::Process(id) | Self::Thread(id) => id,
        }
    }
}

/// Why there is no subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Unable {
    /// This machine, kernel or user lacks something.
    Unsupported {
        /// The missing feature, with the name and value of the limit.
        why: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A call failed that should not.
    Failed(CallError),
}

impl From<CallError> for Unable {
    fn from(error: CallError) -> Self {
        lack::of_call(error)
    }
}

/// The context of a set-up: CPUs, and the place to declare objects that must not outlive the worker.
pub struct SetUp<'a> {
    /// CPU of the measuring thread.
    pub cpu: usize,
    /// CPU of the partner: another one for [`crate::Placement::CrossCpu`], else the same.
    pub partner_cpu: usize,
    /// All CPUs that may be used, in the order of preference.
    pub cpus: &'a [usize],
    /// kernel.sem of the host (semmsl, semmns, semopm, semmni), read before a private namespace reset it; `None` where it
    /// could not be read.
    pub host_system_v_limits: Option<[u64; 4]>,
    /// Where kernel objects that outlive a process are declared, for the janitor.
    pub keeper: &'a mut Keeper,
    /// The folder for measured files, if the user named one; see [`crate::Directory`].
    pub directory: Option<&'a Folder>,
}

impl SetUp<'_> {
    /// A name for a kernel object that nobody can predict: a slash and 128 random bits.
    ///
    /// # Errors
    /// The error of getrandom.
    pub fn unique_name(&self) -> Result<String, CallError> {
        oscost_sys::random::bits().map(|bits| format!("/oscost-{bits:032x}"))
    }

    /// Forks a partner of the measuring process: pinned to the partner's CPU (unless `pinned` is false), killed when the
    /// worker dies. `body` runs in the child and returns its exit code; it must end by itself when a call fails.
    ///
    /// # Errors
    /// The call that failed (fork, sched_setaffinity).
    pub fn fork_partner(&self, pinned: bool, body: impl FnOnce() -> i32) -> Result<Child, CallError> {
        let cpu = self.partner_cpu;
        Child::fork(move || {
            if pinned && oscost_sys::affinity::pin_to(cpu).is_err() {
                return 1;
            }
            body()
        })
    }
}
