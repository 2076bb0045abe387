//! An eventfd used as a semaphore (EFD_SEMAPHORE): a read takes a token, a write gives it back.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::semaphore::EventFd;

use super::handover::{self, Handover, Token};
use crate::{claims, lack};

/// `semaphore/eventfd`
pub struct EventFdToken;

static CARD: Card = Card {
    id: "semaphore/eventfd",
    title: "eventfd as a semaphore, uncontended",
    operation: "one wait (read of 8 bytes, EFD_SEMAPHORE) and one post (write of 8 bytes)",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::named(&["read", "write"], 2.0),
    baseline: Some("semaphore/posix_named"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for EventFdToken {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(EventFd::make(cx, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(EventFd);

impl Batched for Cycle {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.wait()?;
            self.0.post()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        handover::verify(&self.0)
    }
}

/// `semaphore/eventfd/handover/same_cpu`
pub static SAME_CPU: Handover<EventFd> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/eventfd/handover/cross_cpu`
pub static CROSS_CPU: Handover<EventFd> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = Card {
    tier: Tier::Core,
    operation: "one hand-over of the token (8 bytes, EFD_SEMAPHORE) to the other process, on one CPU",
    ..handover::same_cpu("semaphore/eventfd/handover/same_cpu", "hand-over by eventfd", &HANDOVER_CLAIMS)
};
static HANDOVER_CROSS_CPU: Card = Card {
    tier: Tier::Core,
    operation: "one hand-over of the token (8 bytes, EFD_SEMAPHORE) to the other process, on another CPU",
    ..handover::cross_cpu(
        "semaphore/eventfd/handover/cross_cpu",
        "hand-over by eventfd",
        &handover::on_two_cpus(HANDOVER_CLAIMS),
    )
};
const HANDOVER_CLAIMS: [Claim; 3] = handover::in_the_kernel(&["read", "write"]);

impl Token for EventFd {
    // fs/eventfd.c: eventfd_write wakes under the wait queue's lock, and eventfd_read takes it.
    const WAKES_UNDER_A_LOCK: bool = true;

    fn make(_: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        EventFd::new(value).map_err(lack::of_descriptors)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        EventFd::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        EventFd::post(self)
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        Ok(EventFd::value(self).map(u64::from))
    }
}
