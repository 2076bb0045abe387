//! Calibration: how long a batch must be, and how many iterations fill it. METHOD.md, Batch.

use oscost_sys::cpu_time;
use oscost_sys::usage::{self, Whose};

use crate::benchmark::card::{Card, Placement};
use crate::benchmark::{Batched, Benchmark, Outcome, Participant, Subject};
use crate::protocol::message::{Calibration, ClockFacts, Failure, IdleCpu, Member, TaskFinding};
use crate::worker::Worker;
use crate::worker::clock::{self, Clock, Monotonic};
use crate::worker::rounds::Progress;

/// Finds the facts of the real clock. A clock without a regular step counts as one of 1 us: batches get long, not wrong.
pub(crate) fn clock() -> TaskFinding {
    clock::warm_up();
    TaskFinding::Clock(clock::facts(&mut Monotonic).unwrap_or(ClockFacts { step_ns: 1000.0, pair_ns: 0.0 }))
}

/// Cycles are told where participants work for this share of the time: what sleeps, or waits for a timer, follows no core.
const WORKS: f64 = 0.99;
/// Length of a try that finds it out, ns, so that reading the clocks is next to nothing; and how many tries there are.
const WORK_NS: f64 = 300_000.0;
const WORK_TRIES: u32 = 3;

/// Calibrates every member of a group.
pub(crate) fn group(
    worker: &mut Worker<'_>,
    members: &[Option<&'static dyn Benchmark>],
    batch_ns: u64,
    idle_cpu: IdleCpu,
) -> TaskFinding {
    let ready: Vec<_> =
        members.iter().enumerate().map(|(index, member)| worker.set_up(index, *member)).collect();
    worker.settle();
    // Without it batches are only too short.
    let _awake = worker.is_to_stay_awake(members, idle_cpu).then(|| worker.keep_awake(members));
    let mut progress = worker.progress();
    clock::warm_up();
    let calibrated = ready
        .into_iter()
        .enumerate()
        .map(|(index, member)| match member {
            Member::Done(ready) => {
                progress.running(index);
                match ready.subject {
                    Subject::Series(_) => Member::Done(Calibration::default()),
                    Subject::Batched(mut batched) => {
                        let card = ready.benchmark.card();
                        match member_of_rounds(&mut Monotonic, &mut *batched, card, batch_ns, spent) {
                            Ok(calibration) => Member::Done(calibration),
                            Err(error) => Member::Failed(Failure::new("calibration", error)),
                        }
                    }
                }
            }
            other => other.map(|_| Calibration::default()),
        })
        .collect();
    TaskFinding::Calibration(calibrated)
}

/// Length of a batch, and whether it is told in cycles.
fn member_of_rounds(
    clock: &mut impl Clock,
    batched: &mut dyn Batched,
    card: &Card,
    batch_ns: u64,
    spent: impl Fn(&dyn Batched) -> Option<u64>,
) -> Result<Calibration, oscost_sys::CallError> {
    let mut found = iterations(clock, batched, batch_ns)?;
    found.iterations = found.iterations.max(card.least_iterations());
    if matches!(card.placement, Placement::OneCpu | Placement::SameCpu) {
        let long = (WORK_NS / found.iteration_ns.max(0.01)) as u64;
        let iterations = long.clamp(found.iterations, batched.most().max(found.iterations));
        // A disturbance makes the share smaller, so the best try counts.
        for _ in 0..WORK_TRIES {
            if found.works {
                break;
            }
            found.works =
                share_of_work(clock, batched, iterations, &spent)?.is_some_and(|share| share >= WORKS);
        }
    }
    Ok(found)
}

/// CPU time of all participants of a batch by its length; `None` where somebody's is not told.
fn share_of_work(
    clock: &mut impl Clock,
    batched: &mut dyn Batched,
    iterations: u64,
    spent: impl Fn(&dyn Batched) -> Option<u64>,
) -> Result<Option<f64>, oscost_sys::CallError> {
    batched.arm()?;
    let before = spent(batched);
    let start = clock.now_ns();
    let outcome = batched.batch(iterations);
    let elapsed = clock.now_ns().saturating_sub(start);
    let after = spent(batched);
    batched.park()?;
    outcome?;
    let worked = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    Ok(worked.filter(|_| elapsed > 0).map(|worked| worked as f64 / elapsed as f64))
}

/// CPU time until now of this process with the threads and children that it had, and of all partners, ns.
fn spent(batched: &dyn Batched) -> Option<u64> {
    let ended = usage::own(Whose::Children).ok()?;
    let own = cpu_time::of_this_process().ok()? + ended.user_ns + ended.system_ns;
    batched.participants().into_iter().try_fold(own, |sum, participant| match participant {
        Participant::Process(pid) => Some(sum + cpu_time::of_process(pid).ok()?),
        Participant::Thread(_) => Some(sum),
    })
}

/// Doubles the iterations until a batch takes half of `batch_ns`, or has the most that it can, then fits them to it. The
/// fastest of a few tries counts: an interrupted try would make batches too short.
pub fn iterations(
    clock: &mut impl Clock,
    batched: &mut dyn Batched,
    batch_ns: u64,
) -> Result<Calibration, oscost_sys::CallError> {
    let most = batched.most();
    let mut timed = |iterations: u64, tries: u32| -> Result<u64, oscost_sys::CallError> {
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
        if ns >= batch_ns / 2 || count >= most {
            let ns = timed(count, 5)?.max(1);
            let iteration_ns = ns as f64 / count as f64;
            // An operation longer than a batch is a batch of one.
            let fitted = (batch_ns as f64 / iteration_ns).round().clamp(1.0, most as f64);
            return Ok(Calibration { iterations: fitted as u64, iteration_ns, works: false });
        }
        count = (2 * count).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::MOST_ITERATIONS;
    use crate::worker::clock::scripted::Shared;

    /// A known cost; `slow` tells which batches take 50 us longer.
    struct Costs {
        clock: Shared,
        ns: f64,
        slow: fn(u64) -> bool,
        batches: u64,
    }

    impl Batched for Costs {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.batches += 1;
            let more = if (self.slow)(self.batches) { 50_000.0 } else { 0.0 };
            self.clock.pass(self.ns * iterations as f64 + more);
            Ok(())
        }
    }

    fn found(ns: f64, slow: fn(u64) -> bool) -> Calibration {
        let clock = Shared::new(10.0, 20.0);
        let mut costs = Costs { clock: clock.clone(), ns, slow, batches: 0 };
        iterations(&mut clock.clone(), &mut costs, 20_000).expect("no failure")
    }

    #[test]
    fn a_batch_is_filled_whatever_the_cost() {
        for cost in [0.25, 5.0, 104.0, 2500.0, 19_000.0] {
            let filled = found(cost, |_| false).iterations as f64 * cost;
            assert!((19_000.0..=20_100.0).contains(&filled), "cost {cost}: {filled} ns");
        }
    }

    #[test]
    fn an_operation_longer_than_a_batch_is_a_batch_of_one() {
        assert_eq!(found(5e6, |_| false).iterations, 1);
    }

    #[test]
    fn the_fastest_try_counts() {
        // One try of three is not disturbed, and of the five that decide it is neither the first nor the last.
        let calibration = found(100.0, |batch| !batch.is_multiple_of(3));
        assert_eq!(calibration.iterations, found(100.0, |_| false).iterations);
        assert_eq!(calibration.iterations, 200);
        assert!((calibration.iteration_ns - 100.15).abs() < 0.1, "{}", calibration.iteration_ns);
    }

    #[test]
    fn every_try_of_the_five_that_decide_may_be_the_one_that_is_not_disturbed() {
        // 100 ns: the batch of 128 is the first that takes half of 20 us; 24 batches come before the five.
        for good in 25..30 {
            let clock = Shared::new(10.0, 20.0);
            let mut batches = 0;
            let mut disturbed = DisturbedBut { clock: clock.clone(), batches: &mut batches, good };
            let found = iterations(&mut clock.clone(), &mut disturbed, 20_000).expect("no failure");
            assert_eq!((found.iterations, batches), (200, 29), "the undisturbed one is batch {good}");
        }
    }

    /// 100 ns an operation; from batch 25 on all but one take 50 us longer.
    struct DisturbedBut<'a> {
        clock: Shared,
        batches: &'a mut u64,
        good: u64,
    }

    impl Batched for DisturbedBut<'_> {
        fn batch(&mut self, iterations: u64) -> Outcome {
            *self.batches += 1;
            let more = if *self.batches >= 25 && *self.batches != self.good { 50_000.0 } else { 0.0 };
            self.clock.pass(100.0 * iterations as f64 + more);
            Ok(())
        }
    }

    #[test]
    fn what_costs_nothing_ends() {
        assert_eq!(found(0.0, |_| false).iterations, MOST_ITERATIONS);
    }

    /// As of pages on a clock that steps by ms.
    #[test]
    fn no_batch_has_more_than_is_made_ready_for_one() {
        struct Limited(Costs);
        impl Batched for Limited {
            fn batch(&mut self, iterations: u64) -> Outcome {
                assert!(iterations <= 1000, "{iterations} of 1000");
                self.0.batch(iterations)
            }
            fn most(&self) -> u64 {
                1000
            }
        }
        for (ns, batch_ns, filled) in [(100.0, 40_000_000, 1000), (100.0, 20_000, 200), (60_000.0, 20_000, 1)]
        {
            let clock = Shared::new(1.0, 0.0);
            let mut limited = Limited(Costs { clock: clock.clone(), ns, slow: |_| false, batches: 0 });
            let found =
                member_of_rounds(&mut clock.clone(), &mut limited, &Card::BATCHED, batch_ns, |_| None);
            assert_eq!(found.expect("no failure").iterations, filled, "{ns} ns in {batch_ns}");
        }
    }

    #[test]
    fn the_share_of_work_is_told_of_all_participants() {
        let clock = Shared::new(1.0, 0.0);
        let share = |idle_ns: f64, told: bool| {
            let mut costs = Costs { clock: clock.clone(), ns: 100.0 + idle_ns, slow: |_| false, batches: 0 };
            let worked = std::cell::Cell::new(0);
            let spent = |_: &dyn Batched| {
                // Before and after ten operations of 100 ns of work.
                let spent = worked.get();
                worked.set(spent + 1000);
                told.then_some(spent)
            };
            share_of_work(&mut clock.clone(), &mut costs, 10, spent).expect("no failure")
        };
        assert_eq!(share(0.0, true), Some(1.0));
        assert_eq!(share(100.0, true), Some(0.5));
        assert_eq!(share(0.0, false), None, "somebody's time is not told");
        let mut instant = Costs { clock: clock.clone(), ns: 0.0, slow: |_| false, batches: 0 };
        let share = share_of_work(&mut clock.clone(), &mut instant, 10, |_| Some(5)).expect("no failure");
        assert_eq!(share, None, "no time, no share of it");
    }

    /// A loop beside these participants.
    struct Beside(Vec<Participant>);

    impl Batched for Beside {
        fn batch(&mut self, _: u64) -> Outcome {
            Ok(())
        }

        fn participants(&self) -> Vec<Participant> {
            self.0.clone()
        }
    }

    #[test]
    fn what_is_spent_is_the_time_of_the_process_and_of_other_ones() {
        let pid = i32::try_from(std::process::id()).expect("a pid");
        let of = |participants: &[Participant]| spent(&Beside(participants.to_vec()));
        let (Some(alone), Some(twice)) = (of(&[]), of(&[Participant::Process(pid)])) else {
            return println!("SKIP what_is_spent: the kernel does not say");
        };
        let thread = of(&[Participant::Thread(pid)]).expect("told");
        let later = of(&[]).expect("told");
        assert!(alone > 0 && later >= thread && thread >= alone, "a thread's time is the process' already");
        assert!(twice >= alone + cpu_time::of_this_process().expect("told").min(alone) / 2);
        assert_eq!(of(&[Participant::Process((1 << 22) + 1)]), None, "no process has such a number");
    }

    #[test]
    fn steady_work_on_one_cpu_is_given_in_cycles() {
        // Of what an operation of 100 ns takes, so much is work; in the tries before `try_` somebody took half of it.
        let works = |share: f64, placement: Placement, disturbed: u32| {
            let clock = Shared::new(1.0, 0.0);
            let mut costs = Costs { clock: clock.clone(), ns: 100.0, slow: |_| false, batches: 0 };
            let (readings, worked) = (std::cell::Cell::new(0_u32), std::cell::Cell::new(0.0));
            let last = std::cell::Cell::new(0.0);
            let spent = |_: &dyn Batched| {
                let now = clock.0.borrow().true_ns;
                let passed = now - last.replace(now);
                // Every second reading is after a batch.
                if readings.replace(readings.get() + 1) % 2 == 1 {
                    let share = if readings.get() <= 2 * disturbed { share / 2.0 } else { share };
                    worked.set(worked.get() + passed * share);
                }
                Some(worked.get() as u64)
            };
            let card = Card { placement, ..Card::BATCHED };
            member_of_rounds(&mut clock.clone(), &mut costs, &card, 20_000, spent).expect("no failure").works
        };
        assert!(works(1.0, Placement::OneCpu, 0) && works(0.9901, Placement::SameCpu, 0));
        assert!(!works(0.98, Placement::OneCpu, 0) && !works(1.0, Placement::CrossCpu, 0));
        assert!(
            works(1.0, Placement::OneCpu, 2) && !works(1.0, Placement::OneCpu, 3),
            "the best of three tries"
        );
    }

    #[test]
    fn a_batch_of_those_who_wait_for_each_other_holds_enough_of_them() {
        let iterations = |blocks: bool, placement: Placement| {
            let clock = Shared::new(10.0, 20.0);
            let mut costs = Costs { clock: clock.clone(), ns: 5e6, slow: |_| false, batches: 0 };
            let card = Card { blocks, placement, ..Card::BATCHED };
            let found = member_of_rounds(&mut clock.clone(), &mut costs, &card, 20_000, |_| None);
            found.expect("no failure").iterations
        };
        assert_eq!(iterations(false, Placement::OneCpu), 1);
        assert_eq!([Placement::SameCpu, Placement::CrossCpu].map(|it| iterations(true, it)), [16, 8]);
    }

    #[test]
    fn a_failure_is_told() {
        struct Fails;
        impl Batched for Fails {
            fn batch(&mut self, _: u64) -> Outcome {
                Err(oscost_sys::CallError::new("test", 5))
            }
        }
        let failure = iterations(&mut Shared::new(10.0, 20.0), &mut Fails, 20_000);
        assert_eq!(failure, Err(oscost_sys::CallError::new("test", 5)));
    }

    #[test]
    fn a_warm_up_is_as_long_as_it_says() {
        let before = Monotonic.now_ns();
        clock::warm_up();
        assert!(Monotonic.now_ns() - before >= 20_000_000);
    }

    /// How often a batch is tried whose 128 iterations take so long, and of how many it is in the end.
    fn tried(ns_of_128: u64) -> (u64, u64) {
        let clock = Shared::new(1.0, 0.0);
        let ns = ns_of_128 as f64 / 128.0;
        let mut costs = Costs { clock: clock.clone(), ns, slow: |_| false, batches: 0 };
        let found = iterations(&mut clock.clone(), &mut costs, 20_000).expect("no failure");
        (costs.batches, found.iterations)
    }

    #[test]
    fn half_a_batch_is_long_enough_to_be_measured() {
        assert_eq!(tried(10_000), (3 * 8 + 5, 256));
        assert_eq!(tried(9_999), (3 * 9 + 5, 256), "a nanosecond less is doubled once more");
    }

    /// The iterations of the tries by which it is found out whether an operation of so many ns works all the time.
    fn tries(ns: f64, batch_ns: u64) -> Vec<u64> {
        struct Noted(Costs, Vec<u64>);
        impl Batched for Noted {
            fn batch(&mut self, iterations: u64) -> Outcome {
                self.1.push(iterations);
                self.0.batch(iterations)
            }
        }
        let clock = Shared::new(1.0, 0.0);
        let mut noted = Noted(Costs { clock: clock.clone(), ns, slow: |_| false, batches: 0 }, Vec::new());
        let found = member_of_rounds(&mut clock.clone(), &mut noted, &Card::BATCHED, batch_ns, |_| None);
        assert!(!found.expect("no failure").works, "nobody says what it used");
        noted.1.split_off(noted.1.len() - 3)
    }

    #[test]
    fn work_is_looked_for_in_three_tries_of_a_third_of_a_millisecond_or_of_a_batch() {
        assert_eq!(tries(100.0, 20_000), [3_000; 3]);
        assert_eq!(tries(5e6, 20_000), [1; 3], "an operation that is longer");
        assert_eq!(tries(100.0, 1_000_000), [10_000; 3], "a batch that is longer");
        assert_eq!(tries(0.0, 20_000), [MOST_ITERATIONS; 3]);
    }
}
