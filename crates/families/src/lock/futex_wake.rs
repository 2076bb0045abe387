//! The futex system call that wakes nobody: the price of asking.

use std::sync::atomic::AtomicU64;

use oscost_harness::{Batched, Benchmark, Card, Outcome, SetUp, Subject, Unable};
use oscost_sys::futex;

use super::excluding;
use crate::claims;

/// `lock/futex_wake`
pub struct WakeNobody;

static CARD: Card = Card {
    group: "lock/kernel",
    baseline: None,
    operation: "one FUTEX_WAKE on a word that nobody waits for",
    ..excluding::uncontended(
        "lock/futex_wake",
        "futex wake without a waiter",
        &claims::named(&["futex"], 1.0),
    )
};

impl Benchmark for WakeNobody {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Word(AtomicU64::new(0)))))
    }
}

struct Word(AtomicU64);

impl Batched for Word {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            futex::wake(&self.0, 1)?;
        }
        Ok(())
    }
}
