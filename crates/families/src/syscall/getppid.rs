//! getppid: the cheapest system call that does something.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Tier, Unable, claims};
use oscost_sys::system_call;

/// `syscall/getppid`
pub struct Getppid;

static CARD: Card = Card {
    id: "syscall/getppid",
    title: "getppid",
    operation: "one getppid",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["getppid"], 1.0),
    baseline: Some("syscall/invalid"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Getppid {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Getppid)))
    }
}

impl Batched for Getppid {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::getppid();
        }
        Ok(())
    }
}
