//! Calibration: how long a batch must be, and how many iterations fill it. METHOD.md, Batch.

use oscost_stats::quantile::{quantile, sorted};

use crate::benchmark::{Batched, Benchmark, Outcome, Subject};
use crate::clock::{self, Clock, Monotonic};
use crate::message::{Calibration, ClockFacts, Failure, Finding, Member};
use crate::rounds::{Progress, canary};
use crate::worker::Worker;

/// Finds the facts of the real clock. A clock without a regular step counts as one of 1 us: batches get long, not wrong.
pub(crate) fn clock() -> Finding {
    let warm_until = Monotonic.now_ns() + WARM_UP_NS;
    while Monotonic.now_ns() < warm_until {}
    Finding::Clock(clock::facts(&mut Monotonic).unwrap_or(ClockFacts { step_ns: 1000.0, pair_ns: 0.0 }))
}

/// Discarded time before a calibration, ns.
const WARM_UP_NS: u64 = 20_000_000;
/// Iterations are never more than this: an operation cannot cost less than a fraction of a cycle.
const MOST_ITERATIONS: u64 = 1 << 24;

/// Calibrates every member of a group, and the canary.
pub(crate) fn group(
    worker: &mut Worker<'_>,
    members: &[Option<&'static dyn Benchmark>],
    batch_ns: u64,
) -> Finding {
    let ready: Vec<_> =
        members.iter().enumerate().map(|(index, member)| worker.set_up(index, *member)).collect();
    worker.settle();
    let mut progress = worker.progress();
    let warm_until = Monotonic.now_ns() + WARM_UP_NS;
    while Monotonic.now_ns() < warm_until {
        canary(10_000);
    }
    let members = ready
        .into_iter()
        .enumerate()
        .map(|(index, member)| match member {
            Member::Done(ready) => {
                progress.running(index);
                match ready.subject {
                    Subject::Series(_) => Member::Done(Calibration { iterations: 0, iteration_ns: 0.0 }),
                    Subject::Batched(mut batched) => {
                        match iterations(&mut Monotonic, &mut *batched, batch_ns) {
                            Ok(calibration) => Member::Done(calibration),
                            Err(error) => Member::Failed(Failure::new("calibration", error)),
                        }
                    }
                }
            }
            other => other.map(|_| Calibration { iterations: 0, iteration_ns: 0.0 }),
        })
        .collect();
    let (canary_iterations, canary_ns) = canary_speed(&mut Monotonic, batch_ns);
    Finding::Calibration { members, canary_iterations, canary_ns }
}

/// Doubles the iterations until a batch takes half of `batch_ns`, then fits them to it. The fastest of a few tries
/// counts: an interrupted try would make batches too short.
pub fn iterations(
    clock: &mut impl Clock,
    batched: &mut dyn Batched,
    batch_ns: u64,
) -> Result<Calibration, crate::CallError> {
    let mut timed = |iterations: u64, tries: u32| -> Result<u64, crate::CallError> {
        let mut best = u64::MAX;
        for _ in 0..tries {
            batched.arm()?;
            let before = clock.now_ns();
            let outcome: Outcome = batched.batch(iterations);
            let after = clock.now_ns();
            batched.park()?;
            outcome?;
            best = best.min(after.saturating_sub(before));
        }
        Ok(best)
    };
    let mut count = 1u64;
    loop {
        let ns = timed(count, 3)?;
        if ns >= batch_ns / 2 || count >= MOST_ITERATIONS {
            let ns = timed(count, 5)?.max(1);
            let iteration_ns = ns as f64 / count as f64;
            // An operation longer than a batch is a batch of one.
            let fitted = (batch_ns as f64 / iteration_ns).round().clamp(1.0, MOST_ITERATIONS as f64);
            return Ok(Calibration { iterations: fitted as u64, iteration_ns });
        }
        count *= 2;
    }
}

/// Iterations of the canary that fill a batch, and the 1st percentile of what one costs.
fn canary_speed(clock: &mut impl Clock, batch_ns: u64) -> (u64, f64) {
    let mut timed = |iterations: u64| {
        let before = clock.now_ns();
        canary(iterations);
        clock.now_ns().saturating_sub(before)
    };
    let mut count = 1u64;
    while timed(count) < batch_ns / 2 && count < MOST_ITERATIONS {
        count *= 2;
    }
    let costs = sorted((0..200).map(|_| timed(count) as f64 / count as f64).collect());
    let cost = quantile(&costs, 0.01).unwrap_or(0.0);
    let fitted = if cost > 0.0 { (batch_ns as f64 / cost) as u64 } else { count };
    (fitted.clamp(1, MOST_ITERATIONS), cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::scripted::Scripted;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone)]
    struct Shared(Rc<RefCell<Scripted>>);
    impl Clock for Shared {
        fn now_ns(&mut self) -> u64 {
            self.0.borrow_mut().now_ns()
        }
    }
    struct Costs(Shared, f64);
    impl Batched for Costs {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.0.0.borrow_mut().true_ns += self.1 * iterations as f64;
            Ok(())
        }
    }

    #[test]
    fn a_batch_is_filled_whatever_the_cost() {
        for cost in [0.25, 5.0, 104.0, 2500.0, 19_000.0] {
            let mut clock = Shared(Rc::new(RefCell::new(Scripted::new(10.0, 20.0))));
            let calibration =
                iterations(&mut clock.clone(), &mut Costs(clock.clone(), cost), 20_000).expect("no failure");
            let filled = calibration.iterations as f64 * cost;
            assert!((10_000.0..40_000.0).contains(&filled), "cost {cost}: {filled} ns");
            assert!(clock.now_ns() > 0);
        }
    }

    #[test]
    fn an_operation_longer_than_a_batch_is_a_batch_of_one() {
        let mut clock = Shared(Rc::new(RefCell::new(Scripted::new(10.0, 20.0))));
        let calibration =
            iterations(&mut clock.clone(), &mut Costs(clock.clone(), 5e6), 20_000).expect("no failure");
        assert_eq!(calibration.iterations, 1);
        assert!(clock.now_ns() > 0);
    }

    #[test]
    fn a_spike_does_not_shorten_batches() {
        let clock = Shared(Rc::new(RefCell::new(Scripted::new(10.0, 20.0))));
        clock.0.borrow_mut().spikes = vec![(4, 50_000.0), (20, 50_000.0)];
        let calibration =
            iterations(&mut clock.clone(), &mut Costs(clock.clone(), 100.0), 20_000).expect("no failure");
        assert!((150..=210).contains(&calibration.iterations), "{}", calibration.iterations);
    }
}
