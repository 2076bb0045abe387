//! CLOCK_TAI: wall time without leap seconds, which time-sensitive networks use.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/tai`
pub struct Tai;

static CARD: Card = Card {
    id: "clock/tai",
    title: "CLOCK_TAI",
    operation: "one clock_gettime(CLOCK_TAI)",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    ..Card::BATCHED
};

impl Benchmark for Tai {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Tai)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        claims::of_readings(1.0)
    }
}

impl Batched for Tai {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::Tai);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify(|| clock::read_ns(Clock::Tai))
    }
}
