//! Rounds: one batch of every member and of the canary, in random order, with what happened around each batch.
//!
//! METHOD.md, Launch and Sample. Everything is allocated and touched before the first round; nothing is printed, drawn or
//! sent while rounds run.

use oscost_stats::order;
use oscost_sys::usage::{self, Usage, Whose};

use crate::{Batched, CallError, clock::Clock};

/// A batched member in a worker.
pub struct Runner<'a> {
    /// The loop.
    pub batched: &'a mut dyn Batched,
    /// Iterations of a batch.
    pub iterations: u64,
    /// Operations in an iteration.
    pub operations: u64,
    /// Why the member takes no further part.
    pub failed: Option<(&'static str, CallError)>,
}

/// The empty loop of pure cycles: tells slow-core phases, which neither steal time nor switches show.
#[inline(never)]
pub fn canary(iterations: u64) {
    for iteration in 0..iterations {
        oscost_sys::clock::keep(iteration);
    }
}

/// How long rounds go on.
#[derive(Debug, Clone, Copy)]
pub struct RoundPlan {
    /// Discarded time first.
    pub warm_up_ns: u64,
    /// Timed part for each member.
    pub member_ns: u64,
    /// Iterations of the canary's batch.
    pub canary_iterations: u64,
    /// Cost of a pair of clock readings.
    pub clock_pair_ns: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// What happened in the batches of one member.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    /// Cost of one operation in each round, ns: (t - o) / (n x operations). Never clamped.
    pub samples: Vec<f64>,
    /// The batch was preempted or had a page fault.
    pub disturbed: Vec<bool>,
    /// What the measuring thread used in all batches.
    pub used: Usage,
    /// Batches at the end of which the thread was on another CPU than at the start.
    pub migrations: u64,
}

/// What happened in all rounds.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// A member each; those that failed have no samples.
    pub members: Vec<Batches>,
    /// Cost of one iteration of the canary in each round, ns.
    pub canary: Vec<f64>,
    /// Batches that each member ran, the warm-up's included: what partners did is counted over all of them.
    pub batches_made: Vec<u64>,
}

impl Rounds {
    /// Empties every list, and keeps its memory.
    fn forget(&mut self) {
        self.canary.clear();
        for member in &mut self.members {
            member.samples.clear();
            member.disturbed.clear();
            member.used = Usage::default();
            member.migrations = 0;
        }
    }
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
/// rests on launches in which no call failed.
pub fn run(
    clock: &mut impl Clock,
    runners: &mut [Runner<'_>],
    plan: &RoundPlan,
    progress: &mut impl Progress,
) -> Rounds {
    let mut generator = order::seeded(plan.seed, 1);
    let canary_index = runners.len();
    let mut orders: Vec<usize> = (0..=canary_index).collect();
    let estimate = usize::try_from(plan.member_ns / 10_000).unwrap_or(MOST_ROUNDS).clamp(16, MOST_ROUNDS);
    let mut rounds = Rounds {
        members: runners
            .iter()
            .map(|_| Batches {
                samples: touched(estimate, 0.0),
                disturbed: touched(estimate, false),
                ..Batches::default()
            })
            .collect(),
        canary: touched(estimate, 0.0),
        batches_made: vec![0; runners.len()],
    };
    let start = clock.now_ns();
    let mut timed_from = None;
    let mut spent = 0u64;
    let members = u64::try_from(runners.len().max(1)).unwrap_or(1);
    loop {
        let now = clock.now_ns();
        match timed_from {
            // The warm-up is rounds like any other, whose samples are forgotten.
            None => {
                rounds.forget();
                spent = 0;
                if now.saturating_sub(start) >= plan.warm_up_ns {
                    timed_from = Some(now);
                }
            }
            Some(from) => {
                let enough = spent >= plan.member_ns * members || rounds.canary.len() >= MOST_ROUNDS;
                if enough || now.saturating_sub(from) >= MOST_WALL * plan.member_ns * members {
                    break;
                }
            }
        }
        order::shuffle(&mut orders, &mut generator);
        for &index in &orders {
            if index == canary_index {
                let before = clock.now_ns();
                canary(plan.canary_iterations);
                let after = clock.now_ns();
                let ns = elapsed(before, after) - plan.clock_pair_ns;
                rounds.canary.push(ns / plan.canary_iterations as f64);
                continue;
            }
            let runner = &mut runners[index];
            let kept = &mut rounds.members[index];
            if runner.failed.is_some() {
                continue;
            }
            progress.running(index);
            if let Err(error) = runner.batched.arm() {
                runner.failed = Some(("arm", error));
                continue;
            }
            let cpu = oscost_sys::affinity::current();
            let used = usage::own(Whose::Thread);
            let before = clock.now_ns();
            let outcome = runner.batched.batch(runner.iterations);
            let after = clock.now_ns();
            let used = usage::own(Whose::Thread).since(&used);
            let moved = oscost_sys::affinity::current() != cpu;
            let parked = runner.batched.park();
            if let Err(error) = outcome {
                runner.failed = Some(("batch", error));
                continue;
            }
            if let Err(error) = parked {
                runner.failed = Some(("park", error));
                continue;
            }
            spent += after.saturating_sub(before);
            rounds.batches_made[index] += 1;
            let ns = elapsed(before, after) - plan.clock_pair_ns;
            kept.samples.push(ns / (runner.iterations * runner.operations) as f64);
            kept.disturbed.push(used.involuntary_switches > 0 || used.faults() > 0);
            add(&mut kept.used, &used);
            kept.migrations += u64::from(moved);
        }
        if runners.iter().all(|runner| runner.failed.is_some()) {
            break;
        }
    }
    for (runner, kept) in runners.iter().zip(&mut rounds.members) {
        if runner.failed.is_some() {
            *kept = Batches::default();
        }
    }
    rounds
}

/// A vector whose memory has been touched: a page fault inside a round would be a disturbance of our own making.
fn touched<T: Copy>(length: usize, value: T) -> Vec<T> {
    let mut memory = vec![value; length];
    std::hint::black_box(&mut memory);
    memory
}

fn elapsed(before: u64, after: u64) -> f64 {
    // A clock that went backwards gives a negative sample, which is shown and not hidden.
    (after as i64).wrapping_sub(before as i64) as f64
}

fn add(sum: &mut Usage, more: &Usage) {
    sum.voluntary_switches += more.voluntary_switches;
    sum.involuntary_switches += more.involuntary_switches;
    sum.minor_faults += more.minor_faults;
    sum.major_faults += more.major_faults;
    sum.user_ns += more.user_ns;
    sum.system_ns += more.system_ns;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::clock::scripted::Scripted;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Nobody;
    impl Progress for Nobody {
        fn running(&mut self, _: usize) {}
    }

    /// A clock that operations of these tests advance.
    #[derive(Clone)]
    struct Shared(Rc<RefCell<Scripted>>);
    impl Clock for Shared {
        fn now_ns(&mut self) -> u64 {
            self.0.borrow_mut().now_ns()
        }
    }

    struct Costs {
        clock: Shared,
        ns: f64,
        fail_at: Option<u64>,
        done: u64,
    }
    impl Batched for Costs {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.done += iterations;
            self.clock.0.borrow_mut().true_ns += self.ns * iterations as f64;
            match self.fail_at {
                Some(at) if self.done >= at => Err(CallError::new("test", 5)),
                _ => Ok(()),
            }
        }
    }

    fn measured(step: f64, members: &mut [Costs], clock: &Shared) -> Rounds {
        let plan = RoundPlan {
            warm_up_ns: 1_000_000,
            member_ns: 2_000_000,
            canary_iterations: 100,
            clock_pair_ns: 20.0,
            seed: 3,
        };
        assert!(step > 0.0);
        let mut runners: Vec<Runner<'_>> = members
            .iter_mut()
            .map(|member| Runner { batched: member, iterations: 200, operations: 2, failed: None })
            .collect();
        run(&mut clock.clone(), &mut runners, &plan, &mut Nobody)
    }

    #[test]
    fn a_known_cost_is_found_exactly() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(1.0, 20.0))));
        let member = |ns| Costs { clock: clock.clone(), ns, fail_at: None, done: 0 };
        let rounds = measured(1.0, &mut [member(100.0), member(300.0)], &clock);
        for (batches, ns) in rounds.members.iter().zip([50.0, 150.0]) {
            assert!(batches.samples.len() > 10);
            assert!(batches.samples.iter().all(|sample| (sample - ns).abs() < 1e-9), "{:?}", batches.samples);
        }
        assert_eq!(rounds.canary.len(), rounds.members[0].samples.len());
    }

    #[test]
    fn a_spike_hits_one_round_and_stays() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(1.0, 20.0))));
        clock.0.borrow_mut().spikes = vec![(1000, 30_000.0)];
        let mut members = [Costs { clock: clock.clone(), ns: 100.0, fail_at: None, done: 0 }];
        let rounds = measured(1.0, &mut members, &clock);
        let high = rounds.members[0].samples.iter().filter(|&&sample| sample > 51.0).count();
        assert!(high <= 1, "{high} samples are high");
        assert!(
            rounds.members[0].samples.iter().filter(|&&sample| (sample - 50.0).abs() < 1e-9).count() > 10
        );
    }

    #[test]
    fn a_coarse_clock_errs_by_at_most_a_step_a_batch() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(100.0, 20.0))));
        let mut members = [Costs { clock: clock.clone(), ns: 100.0, fail_at: None, done: 0 }];
        let rounds = measured(100.0, &mut members, &clock);
        let worst = rounds.members[0].samples.iter().map(|sample| (sample - 50.0).abs()).fold(0.0, f64::max);
        assert!(worst <= 100.0 / 400.0 + 1e-9, "{worst}");
    }

    #[test]
    fn a_member_that_fails_has_no_samples_and_harms_nobody() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(1.0, 20.0))));
        let member = |fail_at| Costs { clock: clock.clone(), ns: 100.0, fail_at, done: 0 };
        let rounds = measured(1.0, &mut [member(Some(10_000)), member(None)], &clock);
        assert!(rounds.members[0].samples.is_empty());
        assert!(rounds.members[1].samples.iter().all(|sample| (sample - 50.0).abs() < 1e-9));
        assert!(rounds.members[1].samples.len() > 10);
    }

    #[test]
    fn when_all_fail_rounds_end() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(1.0, 20.0))));
        let mut members = [Costs { clock: clock.clone(), ns: 1.0, fail_at: Some(1), done: 0 }];
        assert!(measured(1.0, &mut members, &clock).members[0].samples.is_empty());
    }
}
