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
    /// How long it takes to make ready for a batch, ns.
    pub const ARM_NS: usize = 8;
    /// Workers that have done what they were told, or had nothing to do.
    pub const DONE: usize = 9;
    pub const READY: usize = 10;
    pub const WORKERS: usize = 11;
}

/// What a worker leaves, in words of its own.
pub mod left {
    /// Iterations that ended within the window.
    pub const MADE: usize = 0;
    /// Time within the window that belongs to no batch, ns.
    pub const UNTIMED: usize = 1;
    /// Error number of what failed, more than any system has where that was no call, and 0 for none.
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
/// What failed was no call: it has words, which stay with the worker, and no error number of the system's.
const NO_CALL: u64 = u64::MAX;

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
        order::FILL => fill(batched, shared, clock::now_ns),
        order::WINDOW => window(batched, shared, worker, clock::now_ns),
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

/// Finds how many iterations fill a batch, from those on that it holds at least, and how long it takes to make ready for one.
fn fill(batched: &mut dyn Batched, shared: &Shared<'_>, now: impl Fn() -> u64) -> Outcome {
    let mut iterations = shared.get(word::ITERATIONS);
    let elapsed = loop {
        batched.arm()?;
        let start = now();
        batched.batch(iterations)?;
        let elapsed = now() - start;
        batched.park()?;
        if elapsed >= BATCH_NS || iterations >= batched.most() {
            break elapsed;
        }
        iterations = (2 * iterations).min(batched.most());
    };
    // After a batch of that length, as in a window: the first one may make ready for all of them.
    let start = now();
    batched.arm()?;
    let armed = now() - start;
    batched.park()?;
    shared.set(word::BATCH_NS, elapsed);
    shared.set(word::ARM_NS, armed);
    shared.set(word::ITERATIONS, iterations);
    Ok(())
}

/// Batches within the window. What ends after it does not count: it began within it, but was not made there. Making ready is
/// no part of a batch: what of it lies within the window is no time of the batches.
fn window(batched: &mut dyn Batched, shared: &Shared<'_>, worker: usize, now: impl Fn() -> u64) -> Outcome {
    let iterations = shared.get(word::ITERATIONS);
    let (start, end) = (shared.get(word::START), shared.get(word::END));
    let (mut made, mut untimed) = (0, 0);
    let mut ended = now();
    loop {
        batched.arm()?;
        let mut armed = now();
        untimed += armed.min(end).saturating_sub(ended.max(start));
        while armed < start {
            std::hint::spin_loop();
            armed = now();
        }
        if armed >= end {
            batched.park()?;
            break;
        }
        batched.batch(iterations)?;
        ended = now();
        batched.park()?;
        if ended > end {
            break;
        }
        made += iterations;
    }
    shared.left(worker, left::MADE).store(made, Ordering::Release);
    shared.left(worker, left::UNTIMED).store(untimed, Ordering::Release);
    Ok(())
}

/// What a worker leaves when it fails; its exit code.
pub fn failed(shared: &Shared<'_>, worker: usize, error: CallError) -> i32 {
    let errno = u64::try_from(error.errno).ok().filter(|&errno| errno > 0).unwrap_or(NO_CALL);
    shared.left(worker, left::FAILED).store(errno, Ordering::Release);
    1
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Iterations of 2 ns, and so long to make ready for a batch, by a scripted clock.
    struct Scripted {
        clock: Rc<Cell<u64>>,
        arm_ns: u64,
        most: u64,
    }

    impl Scripted {
        fn pass(&self, ns: u64) {
            self.clock.set(self.clock.get() + ns);
        }
    }

    impl Batched for Scripted {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.pass(2 * iterations);
            Ok(())
        }

        fn arm(&mut self) -> Outcome {
            self.pass(self.arm_ns);
            Ok(())
        }

        fn most(&self) -> u64 {
            self.most
        }
    }

    /// What a worker made in a window from 1 ms to `end_ns`, and ns of it that were its batches'.
    fn made_in(arm_ns: u64, iterations: u64, end_ns: u64) -> (u64, u64) {
        let words = SharedWords::new(word::WORKERS + left::WORDS).expect("mmap");
        let shared = Shared { words: &words };
        let start_ns = 1_000_000;
        shared.set(word::START, start_ns);
        shared.set(word::END, end_ns);
        shared.set(word::ITERATIONS, iterations);
        let clock = Rc::new(Cell::new(start_ns - 1000));
        let mut scripted = Scripted { clock: Rc::clone(&clock), arm_ns, most: 1 << 24 };
        let now = || {
            // A clock that stands would be waited for without end.
            clock.set(clock.get() + 1);
            clock.get()
        };
        window(&mut scripted, &shared, 0, now).expect("nothing fails");
        let left = |what| shared.left(0, what).load(Ordering::Acquire);
        (left(left::MADE), end_ns - start_ns - left(left::UNTIMED))
    }

    /// All of what makes ready lies beside the batches: what is before the window, and behind it, is not taken from it.
    #[test]
    fn what_makes_ready_takes_no_more_of_a_window_than_lies_in_it() {
        // Six batches, each made ready for 1.57 ms. The first time begins before the window, the last one ends behind it.
        let (made, timed_ns) = made_in(1_570_000, 10_000, 11_000_000);
        assert_eq!(made, 60_000);
        assert!((120_000..120_100).contains(&timed_ns), "{timed_ns} ns for six batches of 20000");
        // Beyond the whole window: no time was left, and none is made up.
        assert_eq!(made_in(20_000_000, 10_000, 11_000_000), (0, 0));
        // Nothing to make ready: batches have it all, and the one that the end cuts counts for nothing.
        let (made, timed_ns) = made_in(0, 10_000, 1_050_000);
        assert_eq!(made, 20_000);
        assert!((49_900..=50_000).contains(&timed_ns), "{timed_ns}");
    }

    #[test]
    fn a_batch_is_filled_from_its_least_iterations_on_beside_what_makes_ready() {
        let filled = |least: u64, most: u64| {
            let words = SharedWords::new(word::WORKERS + left::WORDS).expect("mmap");
            let shared = Shared { words: &words };
            shared.set(word::ITERATIONS, least);
            let clock = Rc::new(Cell::new(0));
            let mut scripted = Scripted { clock: Rc::clone(&clock), arm_ns: 1_570_000, most };
            fill(&mut scripted, &shared, || clock.get()).expect("nothing fails");
            [word::ITERATIONS, word::BATCH_NS, word::ARM_NS].map(|word| shared.get(word))
        };
        assert_eq!(filled(1, 1 << 24), [16_384, 32_768, 1_570_000]);
        assert_eq!(filled(100_000, 1 << 24), [100_000, 200_000, 1_570_000]);
        assert_eq!(filled(1, 5000), [5000, 10_000, 1_570_000], "no more are made ready");
    }
}
