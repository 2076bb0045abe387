//! 16 random bytes by the vDSO, which enters the kernel only for a new key.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::vdso_random::VdsoRandom;

use super::getrandom::BYTES;
use crate::{claims, lack};

/// `syscall/getrandom_vdso`
pub struct GetrandomVdso;

static CARD: Card = Card {
    id: "syscall/getrandom_vdso",
    title: "getrandom of 16 bytes by the vDSO",
    operation: "one getrandom of 16 bytes, answered by the vDSO",
    heading: super::CALL,
    call_path: CallPath::Vdso,
    group: "syscall/random",
    claims: &claims::exactly(0.0),
    baseline: Some("syscall/getrandom"),
    ..Card::BATCHED
};

impl Benchmark for GetrandomVdso {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let random = VdsoRandom::new()?.ok_or_else(lack::of_vdso_random)?;
        Ok(Subject::Batched(Box::new(Random(random, [0; BYTES]))))
    }
}

struct Random(VdsoRandom, [u8; BYTES]);

impl Batched for Random {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.fill(&mut self.1)?;
        }
        Ok(())
    }

    /// No two answers are alike: who leaves the bytes as they are would be seen by no count.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        claims::looked_at_often(|| {
            let before = self.1;
            self.batch(1)?;
            Ok(vec![PostCondition::exactly("bytes_changed", 1.0, f64::from(u8::from(before != self.1)))])
        })
    }
}
