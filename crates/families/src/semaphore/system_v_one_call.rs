//! A System V semaphore with both operations in one semop: half the kernel entries.

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Unable};
use oscost_sys::semaphore::SystemV;

use super::handover;
use super::system_v::system_v_set;
use crate::claims;

/// `semaphore/system_v_one_call`
pub struct SystemVOneCall;

static CARD: Card = Card {
    id: "semaphore/system_v_one_call",
    title: "System V semaphore, wait and post in one call",
    operation: "one wait and one post, in one semop without SEM_UNDO",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::named(&["semop", "semtimedop"], 1.0),
    baseline: Some("semaphore/posix_named"),
    ..Card::BATCHED
};

impl Benchmark for SystemVOneCall {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(system_v_set(cx, 1, 2)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(SystemV);

impl Batched for Cycle {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.wait_and_post()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        handover::verify(&self.0)
    }
}
