//! One contending worker: its orders, its turns, and the shared words in which it leaves its counts.
//!
//! The first phase is timed from outside and reads no clock in a worker; the second reads three a turn, for waits and
//! hand-overs. What is under the lock is a plain counter, who held it last, and a spin of the hold time.

use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{CallError, Outcome};
use oscost_sys::memory::SharedWords;
use oscost_sys::usage::{self, Whose};
use oscost_sys::{affinity, clock, futex, system_call};

use crate::lock::excluding::Lock;

/// Hand-overs that a worker keeps of the second phase.
pub const KEPT: usize = 256;
/// Words that all share, a line each.
pub mod word {
    /// 0 wait, 1 and 2 the phases, 3 end.
    pub const PHASE: usize = 0;
    pub const READY: usize = 1;
    /// When the first phase was over.
    pub const OVER_AT: usize = 2;
    /// Under the lock: the plain counter, who held it last, when it was given back.
    pub const COUNTER: usize = 3;
    pub const OWNER: usize = 4;
    pub const RELEASED: usize = 5;
    /// Workers that have made their counted turns.
    pub const DONE: usize = 6;
    pub const WORKERS: usize = 7;
}

/// What a worker leaves, in words of its own.
pub mod left {
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
pub const WORDS: usize = left::HANDOVERS + KEPT;

pub struct Shared<'a> {
    pub words: &'a SharedWords,
}

impl Shared<'_> {
    pub fn word(&self, index: usize) -> &AtomicU64 {
        self.words.word(index)
    }
    pub fn left(&self, worker: usize, what: usize) -> &AtomicU64 {
        self.words.word(word::WORKERS + worker * WORDS + what)
    }
    pub fn phase(&self) -> u64 {
        self.word(word::PHASE).load(Ordering::Acquire)
    }
}

/// Passes of the empty loop, which no compiler removes.
#[inline(never)]
pub fn spin(passes: u64) {
    for pass in 0..passes {
        clock::keep(pass);
    }
}

/// Passes that last `ns` on this CPU, and how long they really took, ns: the shortest of some tries.
pub fn calibrate(ns: u64) -> (u64, f64) {
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
pub struct Orders {
    pub worker: usize,
    pub cpu: usize,
    pub hold: u64,
    /// The same in ns.
    pub hold_ns: u64,
    pub think: u64,
    /// So many turns and no more, where operations are counted.
    pub turns: Option<u64>,
}

/// One turn: take the lock, count, hold it, give it back. Whether the owner changed.
#[inline(always)]
pub fn turn<L: Lock>(lock: &L, shared: &Shared<'_>, orders: &Orders) -> Result<bool, CallError> {
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
pub fn work<L: Lock>(lock: &L, shared: &Shared<'_>, orders: &Orders, whose: Whose) -> Outcome {
    affinity::pin_to(orders.cpu)?;
    let leave = |what: usize, value: u64| shared.left(orders.worker, what).store(value, Ordering::Release);
    shared.word(word::READY).fetch_add(1, Ordering::AcqRel);
    // Where calls are counted, who waits for the start sleeps.
    while orders.turns.is_some() && shared.phase() == 0 {
        futex::wait(shared.word(word::PHASE), 0)?;
    }
    let mut spins = 0_u32;
    while shared.phase() == 0 {
        std::hint::spin_loop();
        spins += 1;
        if spins.is_multiple_of(1000) {
            // More workers than CPUs: the others must get ready too.
            system_call::sched_yield()?;
        }
    }
    let before = usage::own(whose)?;
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
    let used = usage::own(whose)?.since(&before);
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
    if orders.turns.is_some() {
        // One call each that the counted turns end with, before any that belongs to the end of a worker.
        shared.word(word::DONE).fetch_add(1, Ordering::AcqRel);
        while shared.phase() < 3 {
            futex::wait(shared.word(word::PHASE), 1)?;
        }
    }
    leave(left::KEPT, kept as u64);
    leave(left::LONGEST_WAIT, longest);
    leave(left::ALL_TURNS, turns + more);
    Ok(())
}
