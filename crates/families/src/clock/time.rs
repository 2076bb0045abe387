//! time: the seconds since 1970, read from memory.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock;

use super::keeps_time;
use crate::claims;

/// `clock/time`
pub struct Time;

static CARD: Card = Card {
    id: "clock/time",
    title: "time",
    operation: "one time(NULL): whole seconds since 1970",
    heading: super::READING,
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    remark: "cheap because it returns the second of the last timer tick: no clock is read",
    ..Card::BATCHED
};

impl Benchmark for Time {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Time)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        if cfg!(target_env = "musl") {
            // Its time reads CLOCK_REALTIME.
            return claims::of_readings(1.0);
        }
        Cow::Owned(claims::never_blocks(claims::calls_of_a_coarse_reading()).to_vec())
    }
}

impl Batched for Time {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::seconds();
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_seconds(clock::seconds)
    }
}
