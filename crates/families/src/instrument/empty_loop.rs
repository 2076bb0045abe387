//! An empty loop: the part that every measured loop has.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Subject, Trait, Unable};
use oscost_sys::clock::keep;

use crate::claims;

/// `instrument/empty_loop`
pub struct EmptyLoop;

static CARD: Card = Card {
    id: "instrument/empty_loop",
    title: "empty loop",
    operation: "one pass of an empty loop",
    call_path: CallPath::UserSpace,
    group: "instrument",
    claims: &claims::exactly(0.0),
    remark: "every figure includes such a loop: shown for context, not subtracted",
    traits: &[Trait::LoopPass],
    ..Card::BATCHED
};

impl Benchmark for EmptyLoop {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(EmptyLoop)))
    }
}

impl Batched for EmptyLoop {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        // The count itself passes through a register that the compiler may assume nothing of: no instruction is added.
        let mut left = iterations;
        while left > 0 {
            left = keep(left).wrapping_sub(1);
        }
        Ok(())
    }
}
