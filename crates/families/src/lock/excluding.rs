//! Benchmarks that all locks share: uncontended lock and unlock, and hand-over in a ring.

use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, CallError, CallPath, Card, Claim, Need, Outcome, Participant, Placement, PostCondition, SetUp,
    Subject, Unable,
};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;

use crate::claims;
use crate::partner::{self, Turns, uninterrupted};
use crate::row::{Row, row};
use crate::semaphore::handover::{self, Token};

/// Something that one worker at a time may hold.
pub trait Lock: Sized + Sync + 'static {
    /// Whether it keeps everybody else out; readers let one another in.
    const EXCLUDES: bool = true;
    /// Whether it does anything: the control does not.
    const LOCKS: bool = true;
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
    /// Whether somebody else could take it now, asked in another way than by taking it so; `None` where nobody says.
    fn is_free(&self) -> Result<Option<bool>, CallError>;
}

/// Takes a lock that is free and gives it back, and looks at it in between; many times.
pub fn verify<L: Lock>(lock: &L) -> Result<Vec<PostCondition>, CallError> {
    claims::looked_at_often(|| look_once(lock))
}

fn look_once<L: Lock>(lock: &L) -> Result<Vec<PostCondition>, CallError> {
    let mut found = Vec::new();
    let mut look = |name, expected: bool| -> Outcome {
        let free = lock.is_free()?;
        found.extend(free.map(|free| PostCondition::is(name, expected, free)));
        Ok(())
    };
    look("free_at_rest", true)?;
    // A look takes some locks and gives them back. Where that did not work, taking it would wait for ever.
    look("free_after_a_look", true)?;
    if lock.is_free()?.unwrap_or(true) {
        uninterrupted(|| lock.enter())?;
        look("free_while_held", !L::LOCKS)?;
        lock.leave()?;
        look("free_afterwards", true)?;
    }
    Ok(found)
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

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        Ok(self.0.there()?.map(|there| there > 0))
    }
}

/// Card of taking and giving back what nobody else wants.
pub const fn uncontended(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        title,
        operation: "one uncontended lock and unlock",
        group: "lock",
        claims,
        baseline: Some("lock/shared_mutex"),
        ..Card::BATCHED
    }
}

/// Taking and giving back.
pub const fn free<L: Lock>(card: &'static Card) -> Row {
    row(card, |cx| Ok(Subject::batched(Cycle(L::make(cx)?))))
}

struct Cycle<L>(L);

impl<L: Lock> Batched for Cycle<L> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.enter()?;
            self.0.leave()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        verify(&self.0)
    }
}

/// Card of a hand-over in a ring with both processes on one CPU. Each iteration is a step of each process: two hand-overs.
pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        // The first one left the partner's last step of each batch outside of it.
        revision: 2,
        title,
        operation: "one hand-over of a lock to the next process, on one CPU",
        heading: "one hand-over, on one CPU",
        operations_per_iteration: 2,
        call_path: CallPath::Libc,
        blocks: true,
        placement: Placement::SameCpu,
        group: "lock/handover/same_cpu",
        claims,
        baseline: Some("lock/shared_mutex/handover/same_cpu"),
        ..Card::BATCHED
    }
}

/// Card of a hand-over in a ring from one CPU to another.
pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        // The second one was measured while the CPUs slept, whatever the host made of that.
        revision: 3,
        operation: "one hand-over of a lock to the next process, on another CPU",
        heading: "one hand-over, on another CPU",
        placement: Placement::CrossCpu,
        group: "lock/handover/cross_cpu",
        needs: &[Need::Cpus(2)],
        baseline: Some("lock/shared_mutex/handover/cross_cpu"),
        ..same_cpu(id, title, claims)
    }
}

/// Cards of tokens handed over, beside the locks.
pub mod token {
    use super::{Card, Claim, handover};

    /// On one CPU.
    pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
        Card {
            group: "lock/handover/same_cpu",
            baseline: Some("lock/shared_mutex/handover/same_cpu"),
            document: None,
            ..handover::same_cpu(id, title, claims)
        }
    }

    /// From one CPU to another.
    pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
        Card {
            group: "lock/handover/cross_cpu",
            baseline: Some("lock/shared_mutex/handover/cross_cpu"),
            document: None,
            ..handover::cross_cpu(id, title, claims)
        }
    }
}

/// Of a hand-over in a ring of locks that enter the kernel only to sleep and to wake: a step takes one lock and gives one back.
pub const RING: [Claim; 3] = handover::BY_FUTEX;

/// The same across CPUs, where a side that is late finds its lock free and does not sleep.
pub const RING_CROSS: [Claim; 3] = handover::BY_FUTEX_ON_TWO_CPUS;

/// A hand-over of locks that only their holder may give back: three of them in a ring, of which each process holds one, or two
/// while it hands over. Each always waits for the other: strict alternation without a token.
///
/// Between batches we hold two, the partner holds the third and sleeps in its wait for the older one of ours. A step of ours
/// gives that one back and takes the third, which the partner gives back as soon as it has ours. So a batch ends in the state
/// in which it began, and n iterations hold n whole cycles.
pub const fn ring<L: Lock>(card: &'static Card) -> Row {
    row(card, |cx| place::<L>(cx).map(Subject::batched))
}

/// Our place in the ring. The partner is dropped, and so ended, before the locks are.
struct Place<L> {
    partner: Child,
    locks: [L; 3],
    /// The lock that we have held for longer; we hold the one after it, too.
    older: usize,
    turns: Turns,
}

/// The place after this one.
#[inline(always)]
fn after(place: usize) -> usize {
    if place == 2 { 0 } else { place + 1 }
}

fn place<L: Lock>(cx: &mut SetUp<'_>) -> Result<Place<L>, Unable> {
    let locks = [L::make(cx)?, L::make(cx)?, L::make(cx)?];
    let (turns, holds) = (Turns::new()?, SharedWords::new(1)?);
    locks[0].enter()?;
    locks[1].enter()?;
    let (ring, ready, mut count) = (&locks, &holds, turns.of_partner());
    let partner = partner::start(cx, true, move || {
        let own = [ring[0].own()?, ring[1].own()?, ring[2].own()?];
        let side = |place: usize| own[place].as_ref().unwrap_or(&ring[place]);
        let mut held = 2;
        side(held).enter()?;
        ready.word(0).store(1, Ordering::Release);
        loop {
            let next = after(held);
            uninterrupted(|| side(next).enter())?;
            count.turn();
            side(held).leave()?;
            held = next;
        }
    })?;
    // The partner must hold its lock before we want it. One that has failed never will.
    while holds.word(0).load(Ordering::Acquire) == 0 {
        if partner.has_ended() {
            return Err(CallError::gone("the first lock of a partner").into());
        }
        std::thread::yield_now();
    }
    Ok(Place { partner, locks, older: 0, turns })
}

impl<L: Lock> Batched for Place<L> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let newer = after(self.older);
            self.locks[self.older].leave()?;
            uninterrupted(|| self.locks[after(newer)].enter())?;
            self.older = newer;
        }
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let mut free = 0_u32;
        for lock in &self.locks {
            free += u32::from(lock.is_free()?.unwrap_or(false));
        }
        Ok(vec![self.turns.verify(), PostCondition::exactly("free_locks_of_the_ring", 0.0, free.into())])
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::with_set_up;
    use oscost_sys::affinity;

    /// Turns of the partner at the end of batches of 1, 2 and 8 iterations.
    fn turns_of<L: Lock>(cpus: &[usize], partner_cpu: usize) -> Vec<u64> {
        let placed = with_set_up(&[cpus[0], partner_cpu], place::<L>);
        let Ok(mut place) = placed else { panic!("a ring") };
        let mut turns = |iterations| {
            place.batch(iterations).expect("a batch");
            place.turns.verify().observed as u64
        };
        [1, 2, 8].into_iter().map(&mut turns).collect()
    }

    /// A lock that its partner cannot open, as where it may have no more descriptors.
    struct Unopened;

    impl Lock for Unopened {
        fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
            Ok(Self)
        }
        fn own(&self) -> Result<Option<Self>, CallError> {
            Err(CallError::new("open", 24))
        }
        fn enter(&self) -> Outcome {
            Ok(())
        }
        fn leave(&self) -> Outcome {
            Ok(())
        }
        fn is_free(&self) -> Result<Option<bool>, CallError> {
            Ok(None)
        }
    }

    #[test]
    fn a_partner_that_fails_is_not_waited_for() {
        let cpu = affinity::allowed().expect("an affinity")[0];
        let refused = with_set_up(&[cpu], place::<Unopened>).err();
        assert_eq!(refused, Some(Unable::Failed(CallError::gone("the first lock of a partner"))));
    }

    /// At the end of a batch the partner has made as many turns as we have: the last one is not left for later.
    #[test]
    fn a_batch_holds_whole_cycles() {
        use crate::lock::locks::{Inheriting, Raw, Shared, Writing};
        use crate::record_lock::locks::{OfProcess, Whole};
        let cpus = affinity::allowed().expect("an affinity");
        affinity::pin_to(cpus[0]).expect("pinned");
        for partner_cpu in [cpus[0], cpus[cpus.len() - 1]] {
            assert_eq!(turns_of::<Raw>(&cpus, partner_cpu), [1, 3, 11]);
            assert_eq!(turns_of::<Shared>(&cpus, partner_cpu), [1, 3, 11]);
            assert_eq!(turns_of::<Inheriting>(&cpus, partner_cpu), [1, 3, 11]);
            assert_eq!(turns_of::<Writing>(&cpus, partner_cpu), [1, 3, 11]);
            assert_eq!(turns_of::<OfProcess>(&cpus, partner_cpu), [1, 3, 11]);
            assert_eq!(turns_of::<Whole>(&cpus, partner_cpu), [1, 3, 11]);
        }
    }
}
