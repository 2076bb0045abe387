//! The time stamp counter after all earlier instructions (x86-64: RDTSCP).

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock;

use super::keeps_time;
use crate::claims;

/// `clock/tscp`
pub struct Tscp;

static CARD: Card = Card {
    id: "clock/tscp",
    title: "time stamp counter, ordered",
    operation: "one reading of the time stamp counter after all earlier instructions",
    heading: super::READING.heading,
    call_path: CallPath::Instruction,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    ..Card::BATCHED
};

impl Benchmark for Tscp {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Tscp)))
    }
}

impl Batched for Tscp {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            clock::keep(clock::tscp());
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_counter(clock::tscp)
    }
}
