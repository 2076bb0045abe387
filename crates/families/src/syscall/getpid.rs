//! getpid by inline assembly: no wrapper, no cache of libc.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Tier, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `syscall/getpid`
pub struct Getpid;

static CARD: Card = Card {
    id: "syscall/getpid",
    title: "getpid",
    operation: "one getpid",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["getpid"], 1.0),
    baseline: Some("syscall/invalid"),
    document: Some("003"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Getpid {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Getpid)))
    }
}

impl Batched for Getpid {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::getpid();
        }
        Ok(())
    }
}
