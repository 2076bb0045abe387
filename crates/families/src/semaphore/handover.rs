//! Handing a token over: two processes in strict alternation by two semaphores, so that every operation waits.

use std::marker::PhantomData;

use oscost_harness::{
    Batched, Benchmark, Bound, CallPath, Card, Claim, Need, Outcome, Participant, Placement, SetUp, Subject,
    Unable,
};
use oscost_sys::process::Child;

use crate::partner::{self, uninterrupted};

/// A semaphore that two processes can share.
pub trait Token: Sized + 'static {
    /// A token of value `value`, shared with children that are forked from now on.
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable>;
    /// Takes the token, waiting for it.
    fn wait(&self) -> Outcome;
    /// Gives the token back.
    fn post(&self) -> Outcome;
}

/// A hand-over of two tokens of one kind.
pub struct Handover<T> {
    card: &'static Card,
    token: PhantomData<fn() -> T>,
}

impl<T> Handover<T> {
    /// The benchmark of `card`.
    pub const fn new(card: &'static Card) -> Self {
        Self { card, token: PhantomData }
    }
}

/// Card of a hand-over with both processes on one CPU. Each process waits and posts once a round trip of two hand-overs.
pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        title,
        operation: "one hand-over of the token to the other process, on one CPU",
        operations_per_iteration: 2,
        call_path: CallPath::Libc,
        blocks: true,
        placement: Placement::SameCpu,
        group: "semaphore/handover/same_cpu",
        claims,
        baseline: Some("semaphore/posix_named/handover/same_cpu"),
        document: Some("000"),
        ..Card::BATCHED
    }
}

/// Card of a hand-over from one CPU to another.
pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        operation: "one hand-over of the token to the other process, on another CPU",
        placement: Placement::CrossCpu,
        group: "semaphore/handover/cross_cpu",
        needs: &[Need::Cpus(2)],
        baseline: Some("semaphore/posix_named/handover/cross_cpu"),
        ..same_cpu(id, title, claims)
    }
}

/// Claims of a kind whose waits and posts are system calls always: two a hand-over, and one switch.
pub const fn in_the_kernel(names: &'static [&'static str]) -> [Claim; 3] {
    [
        Claim::SystemCalls(Bound::Between(1.9, 2.1)),
        Claim::CallsNamed(names, Bound::Between(1.9, 2.1)),
        Claim::Switches(Bound::Between(0.9, 1.3)),
    ]
}

/// Claims of a kind that enters the kernel only to sleep and to wake: once a hand-over where the woken side runs at once,
/// twice where it runs later. The audit sees the difference of a pass and one twice as long; each may go either way, so the
/// difference is 3 at most.
pub const BY_FUTEX: [Claim; 3] = [
    Claim::SystemCalls(Bound::AtMost(3.1)),
    Claim::CallsNamed(&["futex"], Bound::AtMost(3.1)),
    Claim::Switches(Bound::Between(0.9, 1.3)),
];

/// The same claims across two CPUs, where a side that is held up finds the token there already, and need not sleep.
pub const fn on_two_cpus(claims: [Claim; 3]) -> [Claim; 3] {
    let [all, named, _] = claims;
    [all, named, Claim::Switches(Bound::Between(0.3, 1.5))]
}

/// The subject. The partner is dropped, and so ended, before the tokens are removed.
struct Alternation<T> {
    partner: Child,
    there: T,
    back: T,
}

impl<T: Token> Benchmark for Handover<T> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let (there, back) = (T::make(cx, 0)?, T::make(cx, 0)?);
        let partner = partner::start(cx, true, || {
            loop {
                uninterrupted(|| there.wait())?;
                back.post()?;
            }
        })?;
        Ok(Subject::Batched(Box::new(Alternation { partner, there, back })))
    }
}

/// Between batches the partner sleeps in its wait: it needs no arming and no parking.
impl<T: Token> Batched for Alternation<T> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.there.post()?;
            uninterrupted(|| self.back.wait())?;
        }
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
