//! sched_yield of a process that has its CPU to itself.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Tier, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `syscall/sched_yield`
pub struct SchedYield;

static CARD: Card = Card {
    id: "syscall/sched_yield",
    title: "sched_yield",
    operation: "one sched_yield",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["sched_yield"], 1.0),
    baseline: Some("syscall/invalid"),
    remark: "no other process wants the CPU here; context_switch/yield has a partner",
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for SchedYield {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(SchedYield)))
    }
}

impl Batched for SchedYield {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::sched_yield()?;
        }
        Ok(())
    }
}
