//! The time stamp counter, unordered (x86-64: RDTSC).

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::clock;

use super::keeps_time;
use crate::claims;

/// `clock/tsc`
pub struct Tsc;

static CARD: Card = Card {
    id: "clock/tsc",
    title: "time stamp counter",
    operation: "one reading of the time stamp counter",
    heading: super::READING.heading,
    call_path: CallPath::Instruction,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Tsc {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Tsc)))
    }
}

impl Batched for Tsc {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            clock::keep(clock::tsc());
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_counter(clock::tsc)
    }
}
