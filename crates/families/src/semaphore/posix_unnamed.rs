//! An unnamed POSIX semaphore in memory shared between processes.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::semaphore::Unnamed;

use super::handover::{self, Handover, Token};
use crate::claims;

/// `semaphore/posix_unnamed`
pub struct PosixUnnamed;

static CARD: Card = Card {
    id: "semaphore/posix_unnamed",
    title: "POSIX semaphore, unnamed, uncontended",
    operation: "one wait and one post",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::exactly(0.0),
    baseline: Some("semaphore/posix_named"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for PosixUnnamed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(Unnamed::make(cx, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(Unnamed);

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

/// `semaphore/posix_unnamed/handover/same_cpu`
pub static SAME_CPU: Handover<Unnamed> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/posix_unnamed/handover/cross_cpu`
pub static CROSS_CPU: Handover<Unnamed> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = handover::same_cpu(
    "semaphore/posix_unnamed/handover/same_cpu",
    "hand-over by an unnamed POSIX semaphore",
    &handover::BY_FUTEX,
);
static HANDOVER_CROSS_CPU: Card = handover::cross_cpu(
    "semaphore/posix_unnamed/handover/cross_cpu",
    "hand-over by an unnamed POSIX semaphore",
    &handover::BY_FUTEX_ON_TWO_CPUS,
);

impl Token for Unnamed {
    fn make(_: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        Ok(Unnamed::new(value)?)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        Unnamed::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        Unnamed::post(self)
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        Unnamed::value(self).map(|value| Some(value.into()))
    }
}
