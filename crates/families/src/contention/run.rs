//! One launch of a cell: workers start together, fight for the lock in two phases, and their counts become quantities.

use oscost_harness::quantity;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use oscost_harness::{
    Benchmark, Bound, CallError, Card, Outcome, PostCondition, Series, SeriesPlan, SetUp, Sink, Subject,
    Unable,
};
use oscost_stats::fairness::jain_index;
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::system_call::{self, marker};
use oscost_sys::usage::Whose;
use oscost_sys::{clock, futex};

use super::cell::{Cell, Workers};
use super::worker::{KEPT, Orders, Shared, WORDS, calibrate, left, word, work};
use crate::lock::excluding::{self, Lock};

/// A benchmark of one cell.
pub struct Contended<L> {
    card: &'static Card,
    cell: Cell,
    lock: PhantomData<fn() -> L>,
}

impl<L> Contended<L> {
    /// The benchmark of `card`, which says what `cell` holds.
    pub fn new(card: &'static Card, cell: Cell) -> Self {
        Self { card, cell, lock: PhantomData }
    }
}

impl<L: Lock> Benchmark for Contended<L> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let lock = L::make(cx)?;
        Ok(Subject::Series(Box::new(Fight {
            lock: Box::new(lock),
            excludes: L::EXCLUDES,
            locks: L::LOCKS,
            phase: None,
            cell: self.cell,
            cpus: cx.cpus.to_vec(),
        })))
    }
}

/// What of a launch is code of its lock. All else is there once, and not once for each lock.
trait Contested: Sync {
    /// A turn that nobody contests, without hold: part of the ideal, ns.
    fn alone(&self) -> Result<f64, CallError>;
    /// The life of a contending process.
    fn process(&self, shared: &Shared<'_>, orders: &Orders) -> Outcome;
    /// The life of a contending thread.
    fn thread(&self, shared: &Shared<'_>, orders: &Orders) -> Outcome;
    /// See [`excluding::verify`].
    fn verified(&self) -> Result<Vec<PostCondition>, CallError>;
}

impl<L: Lock> Contested for L {
    fn alone(&self) -> Result<f64, CallError> {
        const TURNS: u32 = 500;
        let mut least = u64::MAX;
        for _ in 0..3 {
            let start = clock::now_ns();
            for _ in 0..TURNS {
                self.enter()?;
                self.leave()?;
            }
            least = least.min(clock::now_ns() - start);
        }
        Ok(least as f64 / f64::from(TURNS))
    }

    fn process(&self, shared: &Shared<'_>, orders: &Orders) -> Outcome {
        let own = self.own()?;
        work(own.as_ref().unwrap_or(self), shared, orders, Whose::Thread)
    }

    fn thread(&self, shared: &Shared<'_>, orders: &Orders) -> Outcome {
        work(self, shared, orders, Whose::Thread)
    }

    fn verified(&self) -> Result<Vec<PostCondition>, CallError> {
        excluding::verify(self)
    }
}

struct Fight {
    lock: Box<dyn Contested>,
    /// See [`Lock::EXCLUDES`].
    excludes: bool,
    /// See [`Lock::LOCKS`].
    locks: bool,
    /// The phase of an audit that counts.
    phase: Option<usize>,
    cell: Cell,
    cpus: Vec<usize>,
}

/// Time of the first phase beyond the plan's, ns; the second takes as long.
const PHASE_NS: u64 = 20_000_000;
/// Turns of each worker that a phase lasts at least, so that long holds are not few.
const FEWEST_TURNS: u64 = 12;
/// A worker that never gives the lock back is killed after this time, ns.
const PATIENCE_NS: u64 = 5_000_000_000;

impl Series for Fight {
    fn brackets(&mut self, phase: usize) -> bool {
        self.phase = Some(phase);
        true
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let workers = self.cell.workers as usize;
        let own_cpu = self.cpus.first().copied().unwrap_or(0);
        let (hold, hold_ns) = calibrate(u64::from(self.cell.hold_us) * 1000);
        let think = hold * u64::from(self.cell.think_us()) / u64::from(self.cell.hold_us.max(1));
        let alone_ns = self.lock.alone()?;
        let words = SharedWords::new(word::WORKERS + workers * WORDS)?;
        let shared = Shared { words: &words };
        let orders: Vec<Orders> = (0..workers)
            .map(|worker| Orders {
                worker,
                cpu: self.cpus.get(worker % self.cpus.len().max(1)).copied().unwrap_or(own_cpu),
                hold,
                hold_ns: hold_ns as u64,
                think,
                turns: plan
                    .observations
                    .map(|all| all / workers as u64 + u64::from((worker as u64) < all % workers as u64)),
            })
            .collect();
        let turn_ns =
            (hold_ns * f64::from(self.cell.workers) * if self.cell.thinks { 3.0 } else { 1.0 }) as u64;
        let phase_ns = (PHASE_NS + plan.duration_ns / 4).max(FEWEST_TURNS * turn_ns);
        let counted = plan.observations.is_some();
        let start = match self.cell.of {
            Workers::Processes => self.processes(&shared, &orders, phase_ns, counted)?,
            Workers::Threads => self.threads(&shared, &orders, phase_ns, counted)?,
        };
        self.tell(&shared, start, alone_ns, hold_ns, counted, sink);
        self.lock.verified()?.into_iter().for_each(|found| sink.post_condition(found));
        Ok(())
    }
}

impl Fight {
    /// Starts the phases once all are ready, and ends them: when the first one began.
    fn conduct(
        &self,
        shared: &Shared<'_>,
        phase_ns: u64,
        counted: bool,
        alive: &mut dyn FnMut() -> bool,
    ) -> Result<u64, CallError> {
        let patience = clock::now_ns() + PATIENCE_NS;
        while shared.word(word::READY).load(Ordering::Acquire) < u64::from(self.cell.workers) {
            if !alive() || clock::now_ns() > patience {
                return Err(CallError::no_answer("start of the workers"));
            }
            system_call::sched_yield()?;
        }
        if counted {
            return self.bracket(shared, patience, alive);
        }
        let start = clock::now_ns();
        shared.word(word::PHASE).store(1, Ordering::Release);
        clock::sleep_until(start + phase_ns)?;
        shared.word(word::OVER_AT).store(clock::now_ns(), Ordering::Release);
        shared.word(word::PHASE).store(2, Ordering::Release);
        clock::sleep_until(start + 2 * phase_ns)?;
        shared.word(word::PHASE).store(3, Ordering::Release);
        Ok(start)
    }

    /// Brackets the counted turns: all workers sleep before them and after them, and nobody else calls meanwhile but once to
    /// wake them. What the brackets themselves make is the same in every phase, and cancels.
    fn bracket(
        &self,
        shared: &Shared<'_>,
        patience: u64,
        alive: &mut dyn FnMut() -> bool,
    ) -> Result<u64, CallError> {
        let everybody = i32::try_from(self.cell.workers).unwrap_or(i32::MAX);
        let wake = |phase: u64| {
            shared.word(word::PHASE).store(phase, Ordering::Release);
            futex::wake(shared.word(word::PHASE), everybody)
        };
        self.phase.into_iter().for_each(marker);
        let start = clock::now_ns();
        wake(1)?;
        // No look at the workers: it would be a call.
        while shared.word(word::DONE).load(Ordering::Acquire) < u64::from(self.cell.workers) {
            if clock::now_ns() > patience {
                let lives = alive();
                wake(3)?;
                return Err(CallError::no_answer(if lives {
                    "a contending worker"
                } else {
                    "a worker, which died,"
                }));
            }
            std::hint::spin_loop();
        }
        self.phase.into_iter().for_each(|_| marker(0));
        wake(3)?;
        Ok(start)
    }

    fn processes(
        &self,
        shared: &Shared<'_>,
        orders: &[Orders],
        phase_ns: u64,
        counted: bool,
    ) -> Result<u64, CallError> {
        let mut children: Vec<Child> = Vec::with_capacity(orders.len());
        for orders in orders {
            let child = Child::fork(|| match self.lock.process(shared, orders) {
                Ok(()) => 0,
                Err(error) => {
                    shared
                        .left(orders.worker, left::FAILED)
                        .store(u64::from(error.errno.unsigned_abs()), Ordering::Release);
                    1
                }
            });
            // The limit counts all processes of the user, not only these.
            children.push(child.map_err(|error| match error.symbol() {
                Some("EAGAIN") => CallError::new("fork, of which RLIMIT_NPROC allows no more,", error.errno),
                _ => error,
            })?);
        }
        let start =
            self.conduct(shared, phase_ns, counted, &mut || !children.iter().any(Child::has_ended))?;
        let patience = clock::now_ns() + PATIENCE_NS;
        for (worker, child) in children.into_iter().enumerate() {
            let left = patience.saturating_sub(clock::now_ns()).max(1);
            let ended = child.wait_at_most(left).map_err(|_| CallError::no_answer("a contending worker"))?;
            match shared.left(worker, left::FAILED).load(Ordering::Acquire) {
                0 if ended.code == Some(0) => {}
                0 => return Err(CallError::no_answer("a contending worker, which died,")),
                errno => {
                    return Err(CallError::new(
                        "a call of a contending worker",
                        i32::try_from(errno).unwrap_or(0),
                    ));
                }
            }
        }
        Ok(start)
    }

    fn threads(
        &self,
        shared: &Shared<'_>,
        orders: &[Orders],
        phase_ns: u64,
        counted: bool,
    ) -> Result<u64, CallError> {
        std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(orders.len());
            for orders in orders {
                let started =
                    std::thread::Builder::new().spawn_scoped(scope, || self.lock.thread(shared, orders));
                match started {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        dismiss(shared)?;
                        return Err(CallError::new("pthread_create", error.raw_os_error().unwrap_or(0)));
                    }
                }
            }
            let alive = &mut || !threads.iter().any(std::thread::ScopedJoinHandle::is_finished);
            let start = self.conduct(shared, phase_ns, counted, alive);
            if start.is_err() {
                dismiss(shared)?;
            }
            for thread in threads {
                thread.join().map_err(|_| CallError::no_answer("a contending thread"))??;
            }
            start
        })
    }

    /// Puts what the workers left into quantities.
    fn tell(
        &self,
        shared: &Shared<'_>,
        start: u64,
        alone_ns: f64,
        hold_ns: f64,
        counted: bool,
        sink: &mut dyn Sink,
    ) {
        let workers = self.cell.workers as usize;
        let all = |what: usize| -> Vec<u64> {
            (0..workers).map(|worker| shared.left(worker, what).load(Ordering::Acquire)).collect()
        };
        let sum = |what: usize| all(what).iter().sum::<u64>();
        let turns = sum(left::TURNS);
        let per_turn = |count: u64| count as f64 / turns.max(1) as f64;
        // Counted turns have no phase: what they took is not told, only that they were made.
        let over = shared.word(word::OVER_AT).load(Ordering::Acquire).max(start + 1);
        let time_ns = (over - start) as f64 / turns.max(1) as f64;
        // Nobody could do better than one turn after the other, nor than all at once who have a CPU: holds and thoughts take its time.
        let at_once = self.cell.workers.min(u32::try_from(self.cpus.len()).unwrap_or(u32::MAX)).max(1);
        let think_ns = hold_ns * f64::from(self.cell.think_us()) / f64::from(self.cell.hold_us.max(1));
        let serial = if self.excludes { hold_ns + alone_ns } else { 0.0 };
        let ideal = serial.max((hold_ns + think_ns + alone_ns) / f64::from(at_once));
        sink.operations(turns);
        sink.quantity(quantity::TIME_PER_OPERATION, time_ns);
        sink.quantity(quantity::IDEAL_SHARE, (ideal / time_ns).min(1.0));
        sink.quantity(quantity::SWITCHES_PER_OPERATION, per_turn(sum(left::SWITCHES)));
        sink.quantity(quantity::BLOCKED_SHARE, per_turn(sum(left::VOLUNTARY)).min(1.0));
        let shares: Vec<f64> = all(left::TURNS).iter().map(|&turns| turns as f64).collect();
        if let Some(fairness) = jain_index(&shares) {
            sink.quantity(quantity::FAIRNESS, fairness);
        }
        sink.quantity(quantity::HOLD, hold_ns);
        sink.quantity(
            quantity::WORKERS_PER_CPU,
            f64::from(self.cell.workers) / self.cpus.len().max(1) as f64,
        );
        if self.excludes {
            sink.quantity(quantity::OWNER_CHANGE_SHARE, per_turn(sum(left::CHANGES)));
            let counter = shared.word(word::COUNTER).load(Ordering::Acquire);
            let made = sum(left::ALL_TURNS).max(turns);
            let lost = made.saturating_sub(counter) as f64;
            sink.quantity(quantity::LOST_UPDATES, lost);
            if self.locks {
                sink.post_condition(PostCondition::exactly(quantity::LOST_UPDATES, 0.0, lost));
            } else if !counted && workers > 1 {
                // The control must lose some, or the zeros of the others say nothing. An audit's few turns need not meet, and
                // one alone meets nobody.
                sink.post_condition(PostCondition::new(quantity::LOST_UPDATES, Bound::AtLeast(1.0), lost));
            }
        }
        let longest = all(left::LONGEST_WAIT).into_iter().max().unwrap_or(0);
        if longest > 0 {
            sink.quantity(quantity::LONGEST_WAIT, longest as f64);
        }
        let mut handovers = Vec::new();
        for (worker, kept) in all(left::KEPT).into_iter().enumerate() {
            for index in 0..usize::try_from(kept).unwrap_or(0).min(KEPT) {
                let ns = shared.left(worker, left::HANDOVERS + index).load(Ordering::Acquire) as f64;
                handovers.push(ns);
                sink.observation(ns.max(1.0));
            }
        }
        let handovers = sorted(handovers);
        if self.excludes
            && let (Some(p50), Some(p99)) = (quantile(&handovers, 0.5), quantile(&handovers, 0.99))
        {
            sink.quantity(quantity::HANDOVER_P50, p50);
            sink.quantity(quantity::HANDOVER_P99, p99);
        }
    }
}

/// Ends the phases before their time. Who waits for the start must not wait for ever: where calls are counted, asleep.
fn dismiss(shared: &Shared<'_>) -> Outcome {
    shared.word(word::PHASE).store(3, Ordering::Release);
    futex::wake(shared.word(word::PHASE), i32::MAX).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::locks::{Nothing, Raw};
    use crate::seen::{Seen, with_set_up};

    /// Threads that want a lock, the first on the first of these CPUs.
    fn fight(lock: Box<dyn Contested>, locks: bool, workers: u32, cpus: Vec<usize>) -> Fight {
        let cell = Cell { workers, of: Workers::Threads, hold_us: 0, thinks: false };
        Fight { lock, excludes: true, locks, phase: None, cell, cpus }
    }

    #[test]
    fn one_alone_need_not_lose_an_update() {
        for (workers, asked) in [(1, false), (2, true)] {
            let words = SharedWords::new(word::WORKERS + workers as usize * WORDS).expect("memory");
            let mut seen = Seen::default();
            let fight = fight(Box::new(Nothing), false, workers, vec![0]);
            fight.tell(&Shared { words: &words }, 0, 1.0, 0.0, false, &mut seen);
            assert_eq!(seen.is_broken(quantity::LOST_UPDATES), asked, "{workers}: {:?}", seen.conditions);
        }
    }

    /// Four turns that take 3 us of a CPU each, on two of them: 1.5 us each at best, also where nobody is kept out.
    #[test]
    fn the_ideal_is_what_so_many_cpus_can_do() {
        for (excludes, thinks, ideal) in
            [(true, false, 0.5), (true, true, 0.75), (false, false, 0.25), (false, true, 0.75)]
        {
            let words = SharedWords::new(word::WORKERS + 4 * WORDS).expect("memory");
            let mut seen = Seen::default();
            let cell = Cell { workers: 4, of: Workers::Threads, hold_us: 1, thinks };
            let fight = Fight { cell, excludes, ..fight(Box::new(Nothing), true, 4, vec![0, 1]) };
            let shared = Shared { words: &words };
            shared.word(word::OVER_AT).store(2000, Ordering::Release);
            shared.left(0, left::TURNS).store(1, Ordering::Release);
            fight.tell(&shared, 0, 0.0, 1000.0, false, &mut seen);
            assert_eq!(seen.quantities.get(quantity::IDEAL_SHARE), Some(&ideal), "{excludes} {thinks}");
        }
    }

    /// The first sleeps until the start, which never comes: the second cannot be pinned.
    #[test]
    fn a_thread_that_fails_is_not_waited_for() {
        let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0];
        let lock = with_set_up(&[cpu], Raw::make).expect("memory");
        let mut fight = fight(Box::new(lock), true, 2, vec![cpu, usize::MAX]);
        let plan = SeriesPlan { observations: Some(4), duration_ns: 0, seed: 1 };
        let failed = fight.launch(&plan, &mut Seen::default()).expect_err("no machine has so many CPUs");
        assert_eq!(failed.call, "sched_setaffinity");
    }
}
