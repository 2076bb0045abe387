//! The cost of timing a batch: two readings of the clock that times all batches.

use std::borrow::Cow;

use oscost_harness::{Batched, Benchmark, CallPath, Card, Claim, Outcome, SetUp, Subject, Unable};
use oscost_sys::clock::{keep, now_ns};

use crate::claims;

/// `instrument/clock_pair`
pub struct ClockPair;

static CARD: Card = Card {
    id: "instrument/clock_pair",
    title: "a pair of clock readings",
    operation: "two readings of CLOCK_MONOTONIC, one right after the other",
    call_path: CallPath::Vdso,
    group: "instrument",
    claims: &claims::exactly(0.0),
    remark: "the cost of timing a batch: half of it falls inside the batch",
    ..Card::BATCHED
};

impl Benchmark for ClockPair {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(ClockPair)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        claims::of_readings(2.0)
    }
}

impl Batched for ClockPair {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            keep(now_ns());
            keep(now_ns());
        }
        Ok(())
    }
}
