//! The floor of a kernel entry: a call number that no kernel has, refused at once.

use oscost_harness::{
    Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Tier, Trait, Unable, lack,
};
use oscost_sys::system_call;

use crate::claims;

/// `syscall/invalid`
pub struct Invalid;

static CARD: Card = Card {
    id: "syscall/invalid",
    title: "a system call that no kernel has",
    operation: "one system call that the kernel refuses with ENOSYS",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::exactly(1.0),
    remark: "the least cost of a kernel entry: anything faster did not enter the kernel",
    traits: &[Trait::KernelEntry],
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Invalid {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        lack::of_unknown_calls()?;
        Ok(Subject::Batched(Box::new(Invalid)))
    }
}

impl Batched for Invalid {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::invalid()?;
        }
        Ok(())
    }
}
