//! CLOCK_REALTIME: the clock that can be set.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Tier,
    Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/realtime`
pub struct Realtime;

static CARD: Card = Card {
    id: "clock/realtime",
    title: "CLOCK_REALTIME",
    operation: "one clock_gettime(CLOCK_REALTIME)",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Realtime {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Realtime)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        claims::of_readings(1.0)
    }
}

impl Batched for Realtime {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::Realtime);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify(|| clock::read_ns(Clock::Realtime))
    }
}
