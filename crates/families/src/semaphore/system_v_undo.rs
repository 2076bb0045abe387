//! A System V semaphore whose token the kernel gives back if its owner dies.

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Unable};
use oscost_sys::semaphore::SystemV;

use super::handover;
use super::system_v::system_v_set;
use crate::claims;

/// `semaphore/system_v_undo`
pub struct SystemVUndo;

static CARD: Card = Card {
    id: "semaphore/system_v_undo",
    title: "System V semaphore with SEM_UNDO",
    operation: "one wait and one post, both with SEM_UNDO",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::named(&["semop", "semtimedop"], 2.0),
    baseline: Some("semaphore/posix_named"),
    ..Card::BATCHED
};

impl Benchmark for SystemVUndo {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(system_v_set(cx, 1, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(SystemV);

impl Batched for Cycle {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.wait_undo()?;
            self.0.post_undo()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        handover::verify(&self.0)
    }
}
