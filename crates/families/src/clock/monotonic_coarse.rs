//! CLOCK_MONOTONIC_COARSE: the time of the last timer tick, read from memory.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Tier,
    Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/monotonic_coarse`
pub struct MonotonicCoarse;

static CARD: Card = Card {
    id: "clock/monotonic_coarse",
    title: "CLOCK_MONOTONIC_COARSE",
    operation: "one clock_gettime(CLOCK_MONOTONIC_COARSE)",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    remark: "cheap because it returns the time of the last timer tick: see clock/step/monotonic_coarse",
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for MonotonicCoarse {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(MonotonicCoarse)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        Cow::Owned(claims::never_blocks(claims::calls_of_a_coarse_reading()).to_vec())
    }
}

impl Batched for MonotonicCoarse {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::MonotonicCoarse);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_coarse(|| clock::read_ns(Clock::MonotonicCoarse))
    }
}
