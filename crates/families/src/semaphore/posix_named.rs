//! A named POSIX semaphore (document 000): a word in shared memory while nobody waits.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Object, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::semaphore::NamedSemaphore;

use super::handover::{self, Handover, Token};
use crate::{claims, lack};

/// `semaphore/posix_named`
pub struct PosixNamed;

static CARD: Card = Card {
    id: "semaphore/posix_named",
    title: "POSIX semaphore, named, uncontended",
    operation: "one wait and one post",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::exactly(0.0),
    document: Some("000"),
    remark: "document 000 counts this as two operations",
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for PosixNamed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(NamedSemaphore::make(cx, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(NamedSemaphore);

impl Batched for Cycle {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.wait()?;
            self.0.post()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        handover::verify(&self.0)
    }
}

/// `semaphore/posix_named/handover/same_cpu`
pub static SAME_CPU: Handover<NamedSemaphore> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/posix_named/handover/cross_cpu`
pub static CROSS_CPU: Handover<NamedSemaphore> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = Card {
    baseline: None,
    tier: Tier::Core,
    ..handover::same_cpu(
        "semaphore/posix_named/handover/same_cpu",
        "hand-over by a named POSIX semaphore",
        &handover::BY_FUTEX,
    )
};
static HANDOVER_CROSS_CPU: Card = Card {
    baseline: None,
    tier: Tier::Core,
    ..handover::cross_cpu(
        "semaphore/posix_named/handover/cross_cpu",
        "hand-over by a named POSIX semaphore",
        &handover::BY_FUTEX_ON_TWO_CPUS,
    )
};

impl Token for NamedSemaphore {
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        let name = cx.unique_name()?;
        cx.keeper.keep(&Object::NamedSemaphore(name.clone()))?;
        NamedSemaphore::create(&name, value).map_err(lack::of_named_semaphores)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        NamedSemaphore::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        NamedSemaphore::post(self)
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        NamedSemaphore::value(self).map(|value| Some(value.into()))
    }
}
