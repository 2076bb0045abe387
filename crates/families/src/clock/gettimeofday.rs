//! gettimeofday, the clock of document 004 (and of 000): microseconds, and it can be set.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Tier,
    Unable,
};
use oscost_sys::clock;

use super::keeps_time;
use crate::claims;

/// `clock/gettimeofday`
pub struct Gettimeofday;

static CARD: Card = Card {
    id: "clock/gettimeofday",
    title: "gettimeofday",
    operation: "one gettimeofday",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    document: Some("004"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Gettimeofday {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Gettimeofday)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        claims::of_readings(1.0)
    }
}

impl Batched for Gettimeofday {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::gettimeofday_us();
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify(|| clock::gettimeofday_us() * 1000)
    }
}
