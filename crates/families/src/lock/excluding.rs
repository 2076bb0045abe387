//! What every lock is to the benchmarks of this family: taken and given back by one process, and handed over in a ring.

use std::marker::PhantomData;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Need, Outcome, Participant, Placement,
    SetUp, Subject, Tier, Unable,
};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;

use crate::partner::{self, uninterrupted};
use crate::semaphore::handover::{self, Token};

/// Something that one worker at a time may hold.
pub trait Lock: Sized + Sync + 'static {
    /// Whether it keeps everybody else out; readers let one another in.
    const EXCLUDES: bool = true;
    /// A lock that nobody holds, shared with children that are forked from now on and with threads.
    fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable>;
    /// The view that another worker must have of it, where it cannot share this one: an open file description is inherited,
    /// and so are its locks.
    fn own(&self) -> Result<Option<Self>, CallError> {
        Ok(None)
    }
    /// Takes it, waiting for it.
    fn enter(&self) -> Outcome;
    /// Gives it back.
    fn leave(&self) -> Outcome;
}

/// A token as a lock: there while nobody holds it.
pub struct Held<T>(T);

impl<T: Token + Sync> Lock for Held<T> {
    fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable> {
        T::make(cx, 1).map(Self)
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        uninterrupted(|| self.0.wait())
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.post()
    }
}

/// Card of taking and giving back what nobody else wants.
pub const fn uncontended(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        title,
        operation: "one lock and one unlock that nobody contests",
        group: "lock",
        claims,
        baseline: Some("lock/shared_mutex"),
        tier: Tier::Family,
        ..Card::BATCHED
    }
}

/// Taking and giving back.
pub struct Uncontended<L> {
    card: &'static Card,
    lock: PhantomData<fn() -> L>,
}

impl<L> Uncontended<L> {
    /// The benchmark of `card`.
    pub const fn new(card: &'static Card) -> Self {
        Self { card, lock: PhantomData }
    }
}

struct Cycle<L>(L);

impl<L: Lock> Benchmark for Uncontended<L> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(L::make(cx)?))))
    }
}

impl<L: Lock> Batched for Cycle<L> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.enter()?;
            self.0.leave()?;
        }
        Ok(())
    }
}

/// Card of a hand-over in a ring with both processes on one CPU. Each iteration is a step of each process: two hand-overs.
pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        title,
        operation: "one hand-over of a lock to the other process, on one CPU",
        operations_per_iteration: 2,
        call_path: CallPath::Libc,
        blocks: true,
        placement: Placement::SameCpu,
        group: "lock/handover/same_cpu",
        claims,
        baseline: Some("lock/shared_mutex/handover/same_cpu"),
        tier: Tier::Family,
        ..Card::BATCHED
    }
}

/// Card of a hand-over in a ring from one CPU to another.
pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        operation: "one hand-over of a lock to the other process, on another CPU",
        placement: Placement::CrossCpu,
        group: "lock/handover/cross_cpu",
        needs: &[Need::Cpus(2)],
        baseline: Some("lock/shared_mutex/handover/cross_cpu"),
        ..same_cpu(id, title, claims)
    }
}

/// Card of a token handed over on one CPU, beside the locks.
pub const fn token_same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "lock/handover/same_cpu",
        baseline: Some("lock/shared_mutex/handover/same_cpu"),
        tier: Tier::Family,
        document: None,
        ..handover::same_cpu(id, title, claims)
    }
}

/// Card of a token handed over from one CPU to another, beside the locks.
pub const fn token_cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "lock/handover/cross_cpu",
        baseline: Some("lock/shared_mutex/handover/cross_cpu"),
        tier: Tier::Family,
        document: None,
        ..handover::cross_cpu(id, title, claims)
    }
}

/// A step waits once and wakes once; where the other side is late on its own CPU, the wait may find the lock free.
pub const RING: [Claim; 2] =
    [Claim::SystemCalls(Bound::AtMost(4.1)), Claim::Switches(Bound::Between(0.3, 1.6))];

/// Across CPUs the kernel may let who waits spin while the holder runs (priority inheritance), and then nobody sleeps.
pub const RING_CROSS: [Claim; 2] =
    [Claim::SystemCalls(Bound::AtMost(4.1)), Claim::Switches(Bound::AtMost(1.6))];

/// A hand-over of locks that only their holder may give back: three of them in a ring. Each process takes the next one and
/// then gives back its own, so that each always waits for the other: strict alternation without a token.
pub struct Ring<L> {
    card: &'static Card,
    lock: PhantomData<fn() -> L>,
}

impl<L> Ring<L> {
    /// The benchmark of `card`.
    pub const fn new(card: &'static Card) -> Self {
        Self { card, lock: PhantomData }
    }
}

/// Our place in the ring. The partner is dropped, and so ended, before the locks are.
struct Place<L> {
    partner: Child,
    locks: [L; 3],
    held: usize,
}

/// Takes the next lock of the ring and gives back the one that is held.
#[inline(always)]
fn step<L: Lock>(locks: &[L; 3], held: &mut usize) -> Outcome {
    let next = if *held == 2 { 0 } else { *held + 1 };
    uninterrupted(|| locks[next].enter())?;
    locks[*held].leave()?;
    *held = next;
    Ok(())
}

impl<L: Lock> Benchmark for Ring<L> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let locks = [L::make(cx)?, L::make(cx)?, L::make(cx)?];
        let holds = SharedWords::new(1)?;
        locks[0].enter()?;
        let (ring, ready) = (&locks, &holds);
        let partner = partner::start(cx, true, move || {
            let own = [ring[0].own()?, ring[1].own()?, ring[2].own()?];
            let side = |index: usize| own[index].as_ref().unwrap_or(&ring[index]);
            side(1).enter()?;
            ready.word(0).store(1, std::sync::atomic::Ordering::Release);
            let mut held = 1;
            loop {
                let next = if held == 2 { 0 } else { held + 1 };
                uninterrupted(|| side(next).enter())?;
                side(held).leave()?;
                held = next;
            }
        })?;
        // The partner must hold its lock before we want it.
        while holds.word(0).load(std::sync::atomic::Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        Ok(Subject::Batched(Box::new(Place { partner, locks, held: 0 })))
    }
}

/// Between batches the partner sleeps, waiting for the lock that we hold.
impl<L: Lock> Batched for Place<L> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            step(&self.locks, &mut self.held)?;
        }
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
