//! gettimeofday by a forced kernel entry.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `clock/gettimeofday_syscall`
pub struct GettimeofdaySyscall;

static CARD: Card = Card {
    id: "clock/gettimeofday_syscall",
    title: "gettimeofday, as a system call",
    operation: "one gettimeofday, made as a system call",
    heading: super::READING,
    call_path: CallPath::Inline,
    group: "clock",
    claims: &claims::named(&["gettimeofday"], 1.0),
    baseline: Some("clock/monotonic"),
    ..Card::BATCHED
};

impl Benchmark for GettimeofdaySyscall {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(GettimeofdaySyscall)))
    }
}

impl Batched for GettimeofdaySyscall {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::gettimeofday()?;
        }
        Ok(())
    }
}
