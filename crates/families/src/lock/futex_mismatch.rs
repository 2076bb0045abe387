//! A futex wait that returns at once because the word has changed: the price of a lost race.

use std::sync::atomic::AtomicU64;

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Unable};
use oscost_sys::futex;

use super::excluding;
use super::futex_wake::wakes_a_sleeper;
use crate::claims;

/// `lock/futex_mismatch`
pub struct WaitMismatch;

static CARD: Card = Card {
    group: "lock/kernel",
    baseline: Some("lock/futex_wake"),
    operation: "one FUTEX_WAIT on a shared word that finds another value and returns",
    ..excluding::uncontended(
        "lock/futex_mismatch",
        "futex wait that does not sleep",
        &claims::named(&["futex"], 1.0),
    )
};

impl Benchmark for WaitMismatch {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Word(AtomicU64::new(1)))))
    }
}

struct Word(AtomicU64);

impl Batched for Word {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            futex::wait(&self.0, 0)?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let slept = f64::from(u8::from(futex::wait(&self.0, 0)?));
        Ok(vec![PostCondition::exactly("sleeps", 0.0, slept), wakes_a_sleeper()?])
    }
}
