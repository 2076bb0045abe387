//! A barrier on the other threads' CPUs, asked for by a process that has none: the price of asking.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Unable};
use oscost_sys::system_call::{self, Membarrier};

use crate::{claims, lack};

/// `syscall/membarrier`
pub struct MembarrierAlone;

static CARD: Card = Card {
    id: "syscall/membarrier",
    title: "membarrier of a process with one thread",
    operation: "one private expedited membarrier where no other thread runs",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall/membarrier",
    claims: &claims::named(&["membarrier"], 1.0),
    remark: "no CPU is interrupted: with threads on other CPUs, each of them is interrupted",
    ..Card::BATCHED
};

impl Benchmark for MembarrierAlone {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        system_call::membarrier(Membarrier::Query).map_err(lack::of_membarrier)?;
        system_call::membarrier(Membarrier::RegisterPrivate).map_err(lack::of_membarrier)?;
        Ok(Subject::Batched(Box::new(MembarrierAlone)))
    }
}

impl Batched for MembarrierAlone {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::membarrier(Membarrier::Private)?;
        }
        Ok(())
    }
}
