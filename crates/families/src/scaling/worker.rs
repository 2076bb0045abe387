//! One worker: it waits for orders in shared words, makes batches within a window that all keep, and leaves its counts.

use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{Batched, CallError, Outcome};
use oscost_sys::memory::SharedWords;
use oscost_sys::{clock, futex};

/// Words that all share.
pub mod word {
    /// Number of the order. It is waited for.
    pub const ORDER: usize = 0;
    /// What is to be done: see [`super::order`].
    pub const KIND: usize = 1;
    /// The first worker that it concerns, and the one after the last.
    pub const FROM: usize = 2;
    pub const TO: usize = 3;
    /// When the window begins and ends, ns.
    pub const START: usize = 4;
    pub const END: usize = 5;
    /// Iterations of a batch, and how long they take, ns.
    pub const ITERATIONS: usize = 6;
    pub const BATCH_NS: usize = 7;
    /// Workers that have done what they were told, or had nothing to do.
    pub const DONE: usize = 8;
    pub const READY: usize = 9;
    pub const WORKERS: usize = 10;
}

/// What a worker leaves, in words of its own.
pub mod left {
    /// Iterations that ended within the window.
    pub const MADE: usize = 0;
    /// Time within the window that belongs to no batch, ns.
    pub const UNTIMED: usize = 1;
    /// Error number of what failed, and 0 for none.
    pub const FAILED: usize = 2;
    /// What did not hold of its object afterwards.
    pub const BROKEN: usize = 3;
    pub const WORDS: usize = 4;
}

/// What a worker is told to do.
pub mod order {
    /// To find how many iterations fill a batch.
    pub const FILL: u64 = 1;
    /// Batches from the beginning of the window to its end.
    pub const WINDOW: u64 = 2;
    /// To get ready for a batch that is counted, to make it, and to put its partners to rest.
    pub const ARM: u64 = 3;
    pub const COUNT: u64 = 4;
    pub const PARK: u64 = 5;
    /// To look at its object.
    pub const VERIFY: u64 = 6;
    pub const LEAVE: u64 = 7;
}

/// A batch takes about so long, ns: little of a window, and long beside a reading of the clock.
const BATCH_NS: u64 = 20_000;
/// A batch has no more iterations, however long the clock stands.
const MOST_ITERATIONS: u64 = 1 << 24;

/// The words of a crowd.
pub struct Shared<'a> {
    pub words: &'a SharedWords,
}

impl Shared<'_> {
    pub fn word(&self, index: usize) -> &AtomicU64 {
        self.words.word(index)
    }

    pub fn get(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    pub fn set(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Release);
    }

    pub fn left(&self, worker: usize, what: usize) -> &AtomicU64 {
        self.words.word(word::WORKERS + worker * left::WORDS + what)
    }

    /// Gives the workers from `from` to before `to` an order; all others answer that they have nothing to do.
    pub fn tell(&self, kind: u64, from: usize, to: usize) -> Outcome {
        self.set(word::KIND, kind);
        self.set(word::FROM, from as u64);
        self.set(word::TO, to as u64);
        self.set(word::DONE, 0);
        self.word(word::ORDER).fetch_add(1, Ordering::AcqRel);
        futex::wake(self.word(word::ORDER), i32::MAX).map(drop)
    }

    /// Tells all workers to leave.
    pub fn dismiss(&self) -> Outcome {
        self.tell(order::LEAVE, 0, 0)
    }
}

/// The life of a worker that is set up and pinned. It returns when it is told to leave, or with the call that failed.
pub fn work(batched: &mut dyn Batched, shared: &Shared<'_>, worker: usize) -> Outcome {
    let mut seen = 0;
    shared.word(word::READY).fetch_add(1, Ordering::AcqRel);
    loop {
        while shared.get(word::ORDER) == seen {
            // Each order has a number of its own, and a launch has few.
            futex::wait(shared.word(word::ORDER), u32::try_from(seen).unwrap_or(0))?;
        }
        seen = shared.get(word::ORDER);
        let kind = shared.get(word::KIND);
        if kind == order::LEAVE {
            return Ok(());
        }
        let concerned = shared.get(word::FROM)..shared.get(word::TO);
        if concerned.contains(&(worker as u64)) {
            obey(kind, batched, shared, worker)?;
        }
        shared.word(word::DONE).fetch_add(1, Ordering::AcqRel);
    }
}

fn obey(kind: u64, batched: &mut dyn Batched, shared: &Shared<'_>, worker: usize) -> Outcome {
    match kind {
        order::FILL => fill(batched, shared),
        order::WINDOW => window(batched, shared, worker),
        order::ARM => batched.arm(),
        order::COUNT => batched.batch(shared.get(word::ITERATIONS)),
        order::PARK => batched.park(),
        _ => {
            let broken = batched.verify()?.iter().filter(|found| !found.holds()).count();
            shared.left(worker, left::BROKEN).store(broken as u64, Ordering::Release);
            Ok(())
        }
    }
}

/// Finds how many iterations fill a batch.
fn fill(batched: &mut dyn Batched, shared: &Shared<'_>) -> Outcome {
    let mut iterations = 1;
    let elapsed = loop {
        batched.arm()?;
        let start = clock::now_ns();
        batched.batch(iterations)?;
        let elapsed = clock::now_ns() - start;
        batched.park()?;
        if elapsed >= BATCH_NS || iterations >= MOST_ITERATIONS {
            break elapsed;
        }
        iterations *= 2;
    };
    shared.set(word::BATCH_NS, elapsed);
    shared.set(word::ITERATIONS, iterations);
    Ok(())
}

/// Batches within the window. What ends after it does not count: it began within it, but was not made there.
fn window(batched: &mut dyn Batched, shared: &Shared<'_>, worker: usize) -> Outcome {
    let iterations = shared.get(word::ITERATIONS);
    let (start, end) = (shared.get(word::START), shared.get(word::END));
    let (mut made, mut untimed) = (0, 0);
    batched.arm()?;
    while clock::now_ns() < start {
        std::hint::spin_loop();
    }
    loop {
        batched.batch(iterations)?;
        let ended = clock::now_ns();
        batched.park()?;
        if ended > end {
            break;
        }
        made += iterations;
        batched.arm()?;
        untimed += clock::now_ns() - ended;
    }
    shared.left(worker, left::MADE).store(made, Ordering::Release);
    shared.left(worker, left::UNTIMED).store(untimed.min(end - start), Ordering::Release);
    Ok(())
}

/// What a worker leaves when it fails; its exit code.
pub fn failed(shared: &Shared<'_>, worker: usize, error: CallError) -> i32 {
    let errno = u64::from(error.errno.unsigned_abs().max(1));
    shared.left(worker, left::FAILED).store(errno, Ordering::Release);
    1
}
