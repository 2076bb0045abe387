//! getcpu, which the vDSO answers without entering the kernel.

use std::borrow::Cow;

use oscost_harness::{Batched, Benchmark, CallPath, Card, Claim, Outcome, SetUp, Subject, Unable};
use oscost_sys::{affinity, vdso};

use crate::claims;

/// `syscall/getcpu`
pub struct Getcpu;

static CARD: Card = Card {
    id: "syscall/getcpu",
    title: "getcpu",
    operation: "one getcpu: the CPU and node of the caller",
    heading: super::CALL,
    call_path: CallPath::Vdso,
    group: "syscall",
    claims: &claims::exactly(0.0),
    baseline: Some("syscall/invalid"),
    ..Card::BATCHED
};

impl Benchmark for Getcpu {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Getcpu)))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        // Of the architectures that oscost knows only x86-64 has a getcpu in its vDSO, and musl does not ask for it.
        if cfg!(all(target_arch = "x86_64", not(target_env = "musl"))) && vdso::exists() {
            Cow::Borrowed(CARD.claims)
        } else {
            Cow::Borrowed(const { &claims::named(&["getcpu"], 1.0) })
        }
    }
}

impl Batched for Getcpu {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            affinity::cpu_and_node()?;
        }
        Ok(())
    }
}
