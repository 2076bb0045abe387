//! Rounds: one batch of every member and of every canary, in random order, with what happened around each batch.
//!
//! METHOD.md, Launch and Sample. Everything is allocated and touched before the first round; nothing is printed, drawn or
//! sent while rounds run.

use oscost_stats::order;
use oscost_sys::CallError;
use oscost_sys::usage::{self, Usage, Whose};

use super::clock::Clock;
use crate::benchmark::Batched;

/// A loop that takes part in rounds: a member, or a canary.
pub struct Runner<'a> {
    /// The loop.
    pub batched: &'a mut dyn Batched,
    /// Iterations of a batch.
    pub iterations: u64,
    /// Operations in an iteration.
    pub operations: u64,
    /// Rehearsals of 1, 2, ... iterations before each batch.
    rehearsals: u64,
    /// Why it takes no further part.
    pub failed: Option<(&'static str, CallError)>,
}

/// A loop of some ns is as fast as its branches are predicted. Who comes to it from other code may find a slow way through it, and
/// keep to it until the end of the batch: a getcpu then costs 3.6 ns instead of 2.1. So such a batch follows short ones, which
/// come to it in the same way, by a reading of the clock. METHOD.md, Batch.
const REHEARSALS: u64 = 8;
/// Of so many iterations is a batch of 20 us whose operation takes less than 39 ns.
const MANY_ITERATIONS: u64 = 512;

impl<'a> Runner<'a> {
    /// One that has not failed.
    pub fn new(batched: &'a mut dyn Batched, iterations: u64, operations: u64) -> Self {
        let (iterations, operations) = (iterations.max(1), operations.max(1));
        Self { batched, iterations, operations, rehearsals: 0, failed: None }
    }

    /// The same, rehearsed if its batches have many iterations: for batches that leave things as they find them.
    #[must_use]
    pub fn rehearsed(self) -> Self {
        let rehearsals = if self.iterations < MANY_ITERATIONS { 0 } else { REHEARSALS };
        Self { rehearsals, ..self }
    }

    /// Operations of a batch.
    #[must_use]
    pub fn batch_operations(&self) -> u64 {
        self.iterations.saturating_mul(self.operations)
    }
}

/// How long rounds go on.
#[derive(Debug, Clone, Copy)]
pub struct RoundPlan {
    /// Discarded time first.
    pub warm_up_ns: u64,
    /// Timed part for each member.
    pub member_ns: u64,
    /// Cost of a pair of clock readings.
    pub clock_pair_ns: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// What one batch was, and what happened around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Between the two readings of the clock, ns. Negative where the clock went backwards: shown, not hidden.
    pub elapsed_ns: i64,
    /// What the measuring thread used meanwhile.
    pub used: Result<Usage, CallError>,
    /// It was on another CPU at the end than at the start; `None` where that was not told.
    pub moved: Option<bool>,
}

/// One batch of a runner: its partners are woken, the batch is timed, they are put to rest.
///
/// # Errors
/// The call that failed, and whether it was in "arm", "batch" or "park".
pub fn one_batch(
    clock: &mut impl Clock,
    runner: &mut Runner<'_>,
) -> Result<Sample, (&'static str, CallError)> {
    runner.batched.arm().map_err(|error| ("arm", error))?;
    let cpu = oscost_sys::affinity::current();
    let used = usage::own(Whose::Thread);
    for iterations in 1..=runner.rehearsals {
        std::hint::black_box(clock.now_ns());
        runner.batched.batch(iterations).map_err(|error| ("batch", error))?;
        std::hint::black_box(clock.now_ns());
    }
    let before = clock.now_ns();
    let outcome = runner.batched.batch(runner.iterations);
    let after = clock.now_ns();
    let used = used.and_then(|earlier| Ok(usage::own(Whose::Thread)?.since(&earlier)));
    let moved = cpu.zip(oscost_sys::affinity::current()).map(|(from, to)| from != to);
    let parked = runner.batched.park();
    outcome.map_err(|error| ("batch", error))?;
    parked.map_err(|error| ("park", error))?;
    Ok(Sample { elapsed_ns: after.wrapping_sub(before) as i64, used, moved })
}

/// What happened in the batches of one runner.
#[derive(Debug, Clone)]
pub struct Batches {
    /// Cost of one operation in each round, ns: (t - o) / (n x operations). Never clamped.
    pub samples: Vec<f64>,
    /// The batch was preempted or had a page fault; means nothing where `used` is an error.
    pub disturbed: Vec<bool>,
    /// How often the measuring thread slept in each batch; means nothing where `used` is an error.
    pub sleeps: Vec<u64>,
    /// What the measuring thread used in all batches; an error where a batch's usage could not be read.
    pub used: Result<Usage, CallError>,
    /// Batches at the end of which the thread was on another CPU than at the start; `None` where the CPU of one of them
    /// was not told.
    pub migrations: Option<u64>,
    /// Batches that were run, the warm-up's included: what partners did is counted over all of them.
    pub made: u64,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            disturbed: Vec::new(),
            sleeps: Vec::new(),
            used: Ok(Usage::default()),
            migrations: Some(0),
            made: 0,
        }
    }
}

impl Batches {
    fn with_room(rounds: usize) -> Self {
        Self {
            samples: touched(rounds, 0.0),
            disturbed: touched(rounds, false),
            sleeps: touched(rounds, 0),
            ..Self::default()
        }
    }

    /// Empties every list, and keeps its memory.
    fn forget(&mut self) {
        self.samples.clear();
        self.disturbed.clear();
        self.sleeps.clear();
        self.used = Ok(Usage::default());
        self.migrations = Some(0);
    }

    /// The rounds of these alone, with what was used in all.
    #[must_use]
    pub fn only(&self, keep: &[bool]) -> Self {
        Self {
            samples: kept(&self.samples, keep),
            disturbed: kept(&self.disturbed, keep),
            sleeps: kept(&self.sleeps, keep),
            ..*self
        }
    }

    fn take(&mut self, sample: &Sample, operations: u64, clock_pair_ns: f64) {
        self.samples.push((sample.elapsed_ns as f64 - clock_pair_ns) / operations as f64);
        let disturbs = |used: Usage| used.involuntary_switches > 0 || used.faults() > 0;
        self.disturbed.push(sample.used.is_ok_and(disturbs));
        self.sleeps.push(sample.used.map_or(0, |used| used.voluntary_switches));
        match (&mut self.used, sample.used) {
            (Ok(sum), Ok(used)) => sum.add(&used),
            (Ok(_), Err(error)) => self.used = Err(error),
            (Err(_), _) => {}
        }
        let both = self.migrations.zip(sample.moved);
        self.migrations = both.map(|(migrations, moved)| migrations + u64::from(moved));
    }
}

/// What happened in all rounds.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// One a member; those that failed have no samples. Those that did not have one sample a round.
    pub members: Vec<Batches>,
    /// One a canary, in the order in which they were given.
    pub canaries: Vec<Batches>,
}

/// Word that tells the supervisor who is running, should the worker die.
pub trait Progress {
    /// Member `index` is about to run.
    fn running(&mut self, index: usize);
}

/// Runs rounds until every member has had its time. At most this many: a launch's samples must fit its memory.
const MOST_ROUNDS: usize = 100_000;

/// Waking and parking partners may cost more than the batches; a launch takes no longer than so many times its timed part.
const MOST_WALL: u64 = 6;

/// Warms up, then measures. A member whose call fails takes no further part, and its samples are thrown away: a figure
/// rests on launches in which no call failed. Time is counted for members alone; canaries come on top.
pub fn run<'a>(
    clock: &mut impl Clock,
    members: &mut [Runner<'a>],
    canaries: &mut [Runner<'a>],
    plan: &RoundPlan,
    progress: &mut impl Progress,
) -> Rounds {
    let mut generator = order::seeded(plan.seed, 1);
    let count = members.len();
    let mut orders: Vec<usize> = (0..count + canaries.len()).collect();
    let estimate = usize::try_from(plan.member_ns / 10_000).unwrap_or(MOST_ROUNDS).clamp(16, MOST_ROUNDS);
    let room = |runners: &[Runner<'_>]| runners.iter().map(|_| Batches::with_room(estimate)).collect();
    let mut rounds = Rounds { members: room(members), canaries: room(canaries) };
    let start = clock.now_ns();
    let mut timed_from = None;
    let mut spent = 0u64;
    let mut made = 0;
    loop {
        let now = clock.now_ns();
        match timed_from {
            // The warm-up is rounds like any other, whose samples are forgotten.
            None => {
                rounds.members.iter_mut().chain(&mut rounds.canaries).for_each(Batches::forget);
                (spent, made) = (0, 0);
                if now.saturating_sub(start) >= plan.warm_up_ns {
                    timed_from = Some(now);
                }
            }
            Some(from) => {
                let running = members.iter().filter(|member| member.failed.is_none()).count() as u64;
                let timed = plan.member_ns.saturating_mul(running);
                let wall = now.saturating_sub(from);
                if spent >= timed || made >= MOST_ROUNDS || wall >= MOST_WALL.saturating_mul(timed) {
                    break;
                }
            }
        }
        made += 1;
        order::shuffle(&mut orders, &mut generator);
        for &index in &orders {
            let canary = index.checked_sub(count);
            let (runner, kept) = match canary {
                None => (&mut members[index], &mut rounds.members[index]),
                Some(canary) => (&mut canaries[canary], &mut rounds.canaries[canary]),
            };
            if runner.failed.is_some() {
                continue;
            }
            if canary.is_none() {
                progress.running(index);
            }
            match one_batch(clock, runner) {
                Ok(sample) => {
                    kept.made += 1;
                    kept.take(&sample, runner.batch_operations(), plan.clock_pair_ns);
                    if canary.is_none() {
                        spent = spent.saturating_add(u64::try_from(sample.elapsed_ns).unwrap_or(0));
                    }
                }
                Err(failure) => runner.failed = Some(failure),
            }
        }
        if members.iter().all(|member| member.failed.is_some()) {
            break;
        }
    }
    let all = members.iter().chain(&*canaries).zip(rounds.members.iter_mut().chain(&mut rounds.canaries));
    for (runner, kept) in all {
        if runner.failed.is_some() {
            *kept = Batches::default();
        }
    }
    rounds
}

/// Those of `values` that are to be kept.
pub(super) fn kept<T: Copy>(values: &[T], keep: &[bool]) -> Vec<T> {
    values.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value).collect()
}

/// A vector whose memory has been touched: a page fault inside a round would be a disturbance of our own making.
fn touched<T: Copy>(length: usize, value: T) -> Vec<T> {
    let mut memory = vec![value; length];
    std::hint::black_box(&mut memory);
    memory
}

#[cfg(test)]
mod tests;
