//! 16 random bytes of the kernel's generator, by a kernel entry.

use oscost_harness::{Batched, Benchmark, CallError, CallPath, Card, Outcome, SetUp, Subject, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `syscall/getrandom`
pub struct Getrandom;

/// As many as a key or a UUID has.
pub const BYTES: usize = 16;

static CARD: Card = Card {
    id: "syscall/getrandom",
    title: "getrandom of 16 bytes",
    operation: "one getrandom of 16 bytes, without flags, by a kernel entry",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall/random",
    claims: &claims::named(&["getrandom"], 1.0),
    ..Card::BATCHED
};

impl Benchmark for Getrandom {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Getrandom)))
    }
}

impl Batched for Getrandom {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let mut bytes = [0; BYTES];
        for _ in 0..iterations {
            if system_call::getrandom(&mut bytes)? != BYTES {
                return Err(CallError::short("getrandom"));
            }
        }
        Ok(())
    }
}
