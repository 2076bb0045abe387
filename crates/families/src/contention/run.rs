//! One launch of a cell: workers start together, fight for the lock in two phases, and leave what they counted.
//!
//! The first phase is timed from outside and reads no clock in a worker; the second reads three a turn, for waits and
//! hand-overs. What is under the lock is a plain counter, who held it last, and a spin of the hold time.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{Benchmark, CallError, Card, Outcome, Series, SeriesPlan, SetUp, Sink, Subject, Unable};
use oscost_stats::fairness::jain_index;
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::usage::{self, Whose};
use oscost_sys::{affinity, clock, system_call};

use super::cell::{Cell, Workers};
use crate::lock::excluding::Lock;

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
        Ok(Subject::Series(Box::new(Fight { lock, cell: self.cell, cpus: cx.cpus.to_vec() })))
    }
}

struct Fight<L> {
    lock: L,
    cell: Cell,
    cpus: Vec<usize>,
}

/// Time of the first phase beyond the plan's, ns; the second takes as long.
const PHASE_NS: u64 = 20_000_000;
/// Turns of each worker that a phase lasts at least, so that long holds are not few.
const FEWEST_TURNS: u64 = 12;
/// Hand-overs that a worker keeps of the second phase.
const KEPT: usize = 256;
/// Whoever holds the lock for ever is ended after this, ns.
const PATIENCE_NS: u64 = 5_000_000_000;

/// Words that all share, a line each.
mod word {
    /// 0 wait, 1 and 2 the phases, 3 end.
    pub const PHASE: usize = 0;
    pub const READY: usize = 1;
    /// When the first phase was over.
    pub const OVER_AT: usize = 2;
    /// Under the lock: the plain counter, who held it last, when it was given back.
    pub const COUNTER: usize = 3;
    pub const OWNER: usize = 4;
    pub const RELEASED: usize = 5;
    pub const WORKERS: usize = 6;
}

/// What a worker leaves, in words of its own.
mod left {
    pub const TURNS: usize = 0;
    pub const CHANGES: usize = 1;
    pub const SWITCHES: usize = 2;
    pub const VOLUNTARY: usize = 3;
    pub const ALL_TURNS: usize = 4;
    pub const LONGEST_WAIT: usize = 5;
    pub const FAILED: usize = 6;
    pub const KEPT: usize = 7;
    pub const HANDOVERS: usize = 8;
}
const WORDS: usize = left::HANDOVERS + KEPT;

struct Shared<'a> {
    words: &'a SharedWords,
}

impl Shared<'_> {
    fn word(&self, index: usize) -> &AtomicU64 {
        self.words.word(index)
    }
    fn left(&self, worker: usize, what: usize) -> &AtomicU64 {
        self.words.word(word::WORKERS + worker * WORDS + what)
    }
    fn phase(&self) -> u64 {
        self.word(word::PHASE).load(Ordering::Acquire)
    }
}

/// Passes of the empty loop, which no compiler removes.
#[inline(never)]
fn spin(passes: u64) {
    for pass in 0..passes {
        clock::keep(pass);
    }
}

/// Passes that last `ns` on this CPU, and how long they really took, ns: the shortest of some tries.
fn calibrate(ns: u64) -> (u64, f64) {
    const TRIES: usize = 15;
    const PASSES: u64 = 100_000;
    let shortest = |passes: u64| {
        let once = |_| {
            let start = clock::now_ns();
            spin(passes);
            clock::now_ns() - start
        };
        (0..TRIES).map(once).min().unwrap_or(1).max(1)
    };
    // One length, less the clock: a difference of two lengths may be next to nothing where others disturb, and the hold
    // would be next to endless.
    let pair_ns = shortest(0) as f64;
    let pass_ns = (shortest(PASSES) as f64 - pair_ns).max(1.0) / PASSES as f64;
    let passes = (ns as f64 / pass_ns).round() as u64;
    if passes == 0 {
        return (0, 0.0);
    }
    (passes, (shortest(passes) as f64 - pair_ns).max(0.0))
}

/// What a worker is told.
struct Orders {
    worker: usize,
    cpu: usize,
    hold: u64,
    /// The same in ns.
    hold_ns: u64,
    think: u64,
    /// So many turns and no more, where operations are counted.
    turns: Option<u64>,
}

/// One turn: take the lock, count, hold it, give it back. Whether the owner changed.
#[inline(always)]
fn turn<L: Lock>(lock: &L, shared: &Shared<'_>, orders: &Orders) -> Result<bool, CallError> {
    lock.enter()?;
    let counter = shared.word(word::COUNTER);
    let before = counter.load(Ordering::Relaxed);
    let owner = shared.word(word::OWNER);
    let own = orders.worker as u64 + 1;
    let changed = owner.load(Ordering::Relaxed) != own;
    if changed {
        owner.store(own, Ordering::Relaxed);
    }
    spin(orders.hold);
    // A plain update: without a lock two of them lose one.
    counter.store(before + 1, Ordering::Relaxed);
    lock.leave()?;
    Ok(changed)
}

/// The life of a worker. It returns when the phases are over, or with the call that failed.
fn work<L: Lock>(lock: &L, shared: &Shared<'_>, orders: &Orders, whose: Whose) -> Outcome {
    affinity::pin_to(orders.cpu)?;
    let leave = |what: usize, value: u64| shared.left(orders.worker, what).store(value, Ordering::Release);
    shared.word(word::READY).fetch_add(1, Ordering::AcqRel);
    let mut spins = 0_u32;
    while shared.phase() == 0 {
        std::hint::spin_loop();
        spins += 1;
        if spins.is_multiple_of(1000) {
            // More workers than CPUs: the others must get ready too.
            system_call::sched_yield()?;
        }
    }
    let before = usage::own(whose);
    let (mut turns, mut changes, mut more, mut longest) = (0_u64, 0_u64, 0_u64, 0);
    while orders.turns.map_or_else(|| shared.phase() == 1, |most| turns < most) {
        let changed = turn(lock, shared, orders)?;
        if orders.turns.is_none() && shared.phase() != 1 {
            // It was waited for beyond the phase, perhaps for long: it is no part of the phase's throughput.
            more = 1;
            // Who starved through the end of the phase waited at least since then.
            let since = clock::now_ns().saturating_sub(shared.word(word::OVER_AT).load(Ordering::Acquire));
            longest = since.saturating_sub(orders.hold_ns);
            break;
        }
        changes += u64::from(changed);
        turns += 1;
        spin(orders.think);
    }
    let used = usage::own(whose).since(&before);
    leave(left::TURNS, turns);
    leave(left::CHANGES, changes);
    leave(left::SWITCHES, used.switches());
    leave(left::VOLUNTARY, used.voluntary_switches);
    let mut kept = 0;
    while orders.turns.is_none() && shared.phase() < 3 {
        let wanted = clock::now_ns();
        lock.enter()?;
        let got = clock::now_ns();
        let counter = shared.word(word::COUNTER);
        let before = counter.load(Ordering::Relaxed);
        let owner = shared.word(word::OWNER);
        let own = orders.worker as u64 + 1;
        let released = shared.word(word::RELEASED).load(Ordering::Relaxed);
        // A hand-over: another worker gave it back while this one waited.
        if owner.load(Ordering::Relaxed) != own && released > wanted && kept < KEPT {
            shared
                .left(orders.worker, left::HANDOVERS + kept)
                .store(got.saturating_sub(released), Ordering::Release);
            kept += 1;
        }
        owner.store(own, Ordering::Relaxed);
        spin(orders.hold);
        counter.store(before + 1, Ordering::Relaxed);
        shared.word(word::RELEASED).store(clock::now_ns(), Ordering::Relaxed);
        lock.leave()?;
        longest = longest.max(got - wanted);
        more += 1;
        spin(orders.think);
    }
    leave(left::KEPT, kept as u64);
    leave(left::LONGEST_WAIT, longest);
    leave(left::ALL_TURNS, turns + more);
    Ok(())
}

impl<L: Lock> Series for Fight<L> {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let workers = self.cell.workers as usize;
        let own_cpu = self.cpus.first().copied().unwrap_or(0);
        let (hold, hold_ns) = calibrate(u64::from(self.cell.hold_us) * 1000);
        let think = hold * u64::from(self.cell.think_us()) / u64::from(self.cell.hold_us.max(1));
        let alone_ns = self.alone()?;
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
        self.tell(&shared, start, alone_ns, hold_ns, sink);
        Ok(())
    }
}

impl<L: Lock> Fight<L> {
    /// A turn that nobody contests, without hold: part of the ideal, ns.
    fn alone(&self) -> Result<f64, CallError> {
        const TURNS: u32 = 500;
        let mut least = u64::MAX;
        for _ in 0..3 {
            let start = clock::now_ns();
            for _ in 0..TURNS {
                self.lock.enter()?;
                self.lock.leave()?;
            }
            least = least.min(clock::now_ns() - start);
        }
        Ok(least as f64 / f64::from(TURNS))
    }

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
        let start = clock::now_ns();
        shared.word(word::PHASE).store(1, Ordering::Release);
        if !counted {
            clock::sleep_until(start + phase_ns)?;
            shared.word(word::OVER_AT).store(clock::now_ns(), Ordering::Release);
            shared.word(word::PHASE).store(2, Ordering::Release);
            clock::sleep_until(start + 2 * phase_ns)?;
        }
        shared.word(word::PHASE).store(3, Ordering::Release);
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
            let child = Child::fork(|| {
                let result = self
                    .lock
                    .own()
                    .and_then(|own| work(own.as_ref().unwrap_or(&self.lock), shared, orders, Whose::Thread));
                match result {
                    Ok(()) => 0,
                    Err(error) => {
                        shared
                            .left(orders.worker, left::FAILED)
                            .store(u64::from(error.errno.unsigned_abs()), Ordering::Release);
                        1
                    }
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
                let started = std::thread::Builder::new()
                    .spawn_scoped(scope, || work(&self.lock, shared, orders, Whose::Thread));
                match started {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        // Those that wait for the start must not wait for ever.
                        shared.word(word::PHASE).store(3, Ordering::Release);
                        return Err(CallError::new("pthread_create", error.raw_os_error().unwrap_or(0)));
                    }
                }
            }
            let start = self.conduct(shared, phase_ns, counted, &mut || true);
            shared.word(word::PHASE).store(3, Ordering::Release);
            for thread in threads {
                thread.join().map_err(|_| CallError::no_answer("a contending thread"))??;
            }
            start
        })
    }

    /// Puts what the workers left into quantities.
    fn tell(&self, shared: &Shared<'_>, start: u64, alone_ns: f64, hold_ns: f64, sink: &mut dyn Sink) {
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
        // Nobody could do better than one turn after the other, nor than all workers at once between their thoughts.
        let think_ns = hold_ns * f64::from(self.cell.think_us()) / f64::from(self.cell.hold_us.max(1));
        let serial = if L::EXCLUDES {
            hold_ns + alone_ns
        } else {
            (hold_ns + alone_ns) / f64::from(self.cell.workers)
        };
        let ideal = serial.max((hold_ns + think_ns + alone_ns) / f64::from(self.cell.workers));
        sink.operations(turns);
        sink.quantity("time_per_operation", time_ns);
        sink.quantity("ideal_share", (ideal / time_ns).min(1.0));
        sink.quantity("switches_per_operation", per_turn(sum(left::SWITCHES)));
        sink.quantity("blocked_share", per_turn(sum(left::VOLUNTARY)).min(1.0));
        let shares: Vec<f64> = all(left::TURNS).iter().map(|&turns| turns as f64).collect();
        if let Some(fairness) = jain_index(&shares) {
            sink.quantity("fairness", fairness);
        }
        sink.quantity("hold", hold_ns);
        sink.quantity("workers_per_cpu", f64::from(self.cell.workers) / self.cpus.len().max(1) as f64);
        if L::EXCLUDES {
            sink.quantity("owner_change_share", per_turn(sum(left::CHANGES)));
            let counter = shared.word(word::COUNTER).load(Ordering::Acquire);
            let made = sum(left::ALL_TURNS).max(turns);
            sink.quantity("lost_updates", made.saturating_sub(counter) as f64);
        }
        let longest = all(left::LONGEST_WAIT).into_iter().max().unwrap_or(0);
        if longest > 0 {
            sink.quantity("longest_wait", longest as f64);
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
        if L::EXCLUDES
            && let (Some(p50), Some(p99)) = (quantile(&handovers, 0.5), quantile(&handovers, 0.99))
        {
            sink.quantity("handover_p50", p50);
            sink.quantity("handover_p99", p99);
        }
    }
}
