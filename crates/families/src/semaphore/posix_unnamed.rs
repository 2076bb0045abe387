//! An unnamed POSIX semaphore in memory shared between processes.

use oscost_harness::{Batched, Benchmark, Card, Claim, Outcome, SetUp, Subject, Unable};
use oscost_sys::semaphore::Unnamed;

use super::handover::{self, Handover, Token};
use crate::claims;

/// `semaphore/posix_unnamed`
pub struct PosixUnnamed;

static CARD: Card = Card {
    id: "semaphore/posix_unnamed",
    title: "POSIX semaphore, unnamed, uncontended",
    operation: "one wait and one post",
    group: "semaphore",
    claims: &claims::exactly(0.0),
    baseline: Some("semaphore/posix_named"),
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
}

/// `semaphore/posix_unnamed/handover/same_cpu`
pub static SAME_CPU: Handover<Unnamed> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/posix_unnamed/handover/cross_cpu`
pub static CROSS_CPU: Handover<Unnamed> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = handover::same_cpu(
    "semaphore/posix_unnamed/handover/same_cpu",
    "hand-over by an unnamed POSIX semaphore",
    &HANDOVER_CLAIMS,
);
static HANDOVER_CROSS_CPU: Card = handover::cross_cpu(
    "semaphore/posix_unnamed/handover/cross_cpu",
    "hand-over by an unnamed POSIX semaphore",
    &handover::on_two_cpus(HANDOVER_CLAIMS),
);
const HANDOVER_CLAIMS: [Claim; 3] = handover::BY_FUTEX;

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
}
