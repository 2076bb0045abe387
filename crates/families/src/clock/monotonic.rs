//! CLOCK_MONOTONIC through the vDSO: the clock of document 003, and of every figure.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Tier,
    Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/monotonic`
pub struct Monotonic;

static CARD: Card = Card {
    id: "clock/monotonic",
    title: "CLOCK_MONOTONIC",
    operation: "one clock_gettime(CLOCK_MONOTONIC)",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    document: Some("003"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Monotonic {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Monotonic)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        claims::of_readings(1.0)
    }
}

impl Batched for Monotonic {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::Monotonic);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify(|| clock::read_ns(Clock::Monotonic))
    }
}
