//! CPU time of the thread: a system call everywhere, whatever the vDSO answers.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock::{self, Clock};

use super::keeps_time;
use crate::claims;

/// `clock/thread_cputime`
pub struct ThreadCputime;

static CARD: Card = Card {
    id: "clock/thread_cputime",
    title: "CLOCK_THREAD_CPUTIME_ID",
    operation: "one clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
    heading: super::READING,
    call_path: CallPath::Libc,
    group: "clock",
    claims: &claims::named(&["clock_gettime"], 1.0),
    baseline: Some("clock/monotonic"),
    ..Card::BATCHED
};

impl Benchmark for ThreadCputime {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(ThreadCputime)))
    }
}

impl Batched for ThreadCputime {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let _ = clock::read(Clock::ThreadCpuTime);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        keeps_time::verify_counter(|| clock::read_ns(Clock::ThreadCpuTime))
    }
}
