//! CLOCK_REALTIME_COARSE: the wall time of the last timer tick, read from memory.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/realtime_coarse`
pub struct RealtimeCoarse;

static CARD: Card = Card {
    id: "clock/realtime_coarse",
    title: "CLOCK_REALTIME_COARSE",
    operation: "one clock_gettime(CLOCK_REALTIME_COARSE)",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    remark: "cheap because it returns the time of the last timer tick, as clock/step/monotonic_coarse shows",
    ..Card::BATCHED
};

impl Benchmark for RealtimeCoarse {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(RealtimeCoarse)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        Cow::Owned(claims::never_blocks(claims::calls_of_a_coarse_reading()).to_vec())
    }
}

impl Batched for RealtimeCoarse {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::RealtimeCoarse);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_coarse(|| clock::read_ns(Clock::RealtimeCoarse))
    }
}
