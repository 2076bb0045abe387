//! CLOCK_MONOTONIC by a forced kernel entry: what the vDSO saves.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Tier, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `clock/monotonic_syscall`
pub struct MonotonicSyscall;

static CARD: Card = Card {
    id: "clock/monotonic_syscall",
    title: "CLOCK_MONOTONIC, as a system call",
    operation: "one clock_gettime(CLOCK_MONOTONIC), made as a system call",
    heading: super::READING,
    call_path: CallPath::Inline,
    group: "clock",
    claims: &claims::named(&["clock_gettime"], 1.0),
    baseline: Some("clock/monotonic"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for MonotonicSyscall {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(MonotonicSyscall)))
    }
}

impl Batched for MonotonicSyscall {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::clock_gettime_monotonic()?;
        }
        Ok(())
    }
}
