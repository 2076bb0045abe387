//! CPU time of the process: a system call everywhere, whatever the vDSO answers.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/process_cputime`
pub struct ProcessCputime;

static CARD: Card = Card {
    id: "clock/process_cputime",
    title: "CLOCK_PROCESS_CPUTIME_ID",
    operation: "one clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
    heading: super::READING,
    call_path: CallPath::Libc,
    group: "clock",
    claims: &claims::named(&["clock_gettime"], 1.0),
    baseline: Some("clock/monotonic"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for ProcessCputime {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(ProcessCputime)))
    }
}

impl Batched for ProcessCputime {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::ProcessCpuTime);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_counter(|| clock::read_ns(Clock::ProcessCpuTime))
    }
}
