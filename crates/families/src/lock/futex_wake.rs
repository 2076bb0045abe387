//! A futex wake without a waiter: the price of asking.

use std::sync::atomic::AtomicU64;

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Unable};
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::{clock, futex, system_call};

use super::excluding;
use crate::claims;

/// `lock/futex_wake`
pub struct WakeNobody;

static CARD: Card = Card {
    group: "lock/kernel",
    baseline: None,
    operation: "one FUTEX_WAKE on a shared word that nobody waits for",
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

/// Wakes a sleeper in a process of its own: one, by the call that the batches make.
pub fn wakes_a_sleeper() -> Result<PostCondition, CallError> {
    const PATIENCE_NS: u64 = 1_000_000_000;
    let words = SharedWords::new(1)?;
    let sleeper = Child::fork(|| i32::from(!futex::wait(words.word(0), 0).is_ok_and(|slept| slept)))?;
    let until = clock::now_ns() + PATIENCE_NS;
    let mut woken = 0;
    while woken == 0 && !sleeper.has_ended() && clock::now_ns() < until {
        system_call::sched_yield()?;
        woken = futex::wake(words.word(0), 1)?;
    }
    Ok(PostCondition::exactly("sleepers_woken", 1.0, woken.into()))
}

impl Batched for Word {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            futex::wake(&self.0, 1)?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(vec![wakes_a_sleeper()?])
    }
}
