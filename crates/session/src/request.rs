//! The request: everything that a session is asked to do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use oscost_harness::{Choice, Effort, Foreign, IdleCpu, Place};
use oscost_results::{Check, Figure, Store};

/// What to measure, and how. [`Request::new`] has a default for all but the benchmarks.
#[non_exhaustive]
pub struct Request<'a> {
    /// The benchmarks.
    pub choices: &'a [Choice],
    /// Benchmarks that are launched once each, after all others. Single runs have no interval.
    pub single: &'a [Choice],
    /// What may be timed beside few figures, to show how far figures move from run to run; none of it becomes a figure.
    pub references: &'a [Choice],
    /// Other programs in the same rotation of launches.
    pub contestants: &'a [Foreign],
    /// What one of them takes here, ns, by what was measured before: where somebody knows better than its card.
    pub expects: Option<Expects>,
    /// Ids whose intervals come first where a run has an end and not all fit, the most telling first.
    pub first: &'a [String],
    /// The patterns that made the choice, for the result's plan.
    pub patterns: &'a [String],
    /// How much time is spent.
    pub effort: Effort,
    /// CPUs to use, in order of preference: "2", "3,1", "2-5". `None`: all that are allowed, the first one last.
    pub cpus: Option<String>,
    /// Seed of every random order; `None`: a random one.
    pub seed: Option<u64>,
    /// What the CPU of a partner does while it waits.
    pub idle_cpu: IdleCpu,
    /// The folder for measured files, if they are not in memory.
    pub directory: Option<Place>,
    /// A note to store with the result.
    pub note: Option<String>,
    /// Keep private facts with the result, too: the whole command line of the kernel, and the program's arguments.
    pub keep_private: bool,
    /// Keep every sample of every launch in the records that [`crate::Notice::Event`] shows.
    pub keep_samples: bool,
    /// Time operations one by one, when everything else is done.
    pub percentiles: bool,
    /// What the doctor found a moment ago: it looks again only at what files tell. `None`: it examines the machine.
    pub examined: Option<Vec<Check>>,
    /// Measure even if another run is measuring. The result then says so.
    pub beside_another: bool,
    /// Measure by few system calls, without isolation, counters, doctor and journal: for kernels with Linux's interface that are
    /// not Linux. There are no contestants, no percentiles, and no folder.
    pub plain: bool,
    /// Where the result goes.
    pub keep: Keep,
    /// Set this (from a signal handler, say) to end the measuring early. The result is then partial.
    pub stop: Arc<AtomicBool>,
}

/// What a benchmark takes on this machine, ns, by the figures that were measured and its id; `None` where they do not tell.
pub type Expects = fn(&[Figure], &str) -> Option<u64>;

/// Where a result goes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Keep {
    /// Into the user's store, where `oscost report @-1` finds it.
    #[default]
    User,
    /// Into this store.
    In(Store),
    /// Nowhere. A killed run is lost as well.
    Nothing,
}

impl<'a> Request<'a> {
    /// These benchmarks as `oscost run` measures them, and the result in the user's store.
    #[must_use]
    pub fn new(choices: &'a [Choice]) -> Self {
        Self {
            choices,
            single: &[],
            expects: None,
            first: &[],
            references: &[],
            contestants: &[],
            patterns: &[],
            effort: Effort::DEFAULT,
            cpus: None,
            seed: None,
            idle_cpu: IdleCpu::Both,
            directory: None,
            note: None,
            keep_private: false,
            keep_samples: false,
            percentiles: false,
            examined: None,
            beside_another: false,
            plain: false,
            keep: Keep::User,
            stop: Arc::default(),
        }
    }
}
