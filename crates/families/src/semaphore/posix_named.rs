//! A named POSIX semaphore (document 000): a word in shared memory while nobody waits.

use oscost_harness::{Batched, Benchmark, Card, Claim, Outcome, SetUp, Subject, Unable, janitor::Object};
use oscost_sys::semaphore::Named;

use super::handover::{self, Handover, Token};
use crate::{claims, lack};

/// `semaphore/posix_named`
pub struct PosixNamed;

static CARD: Card = Card {
    id: "semaphore/posix_named",
    title: "POSIX semaphore, named, uncontended",
    operation: "one wait and one post",
    group: "semaphore",
    claims: &claims::exactly(0.0),
    document: Some("000"),
    remark: "document 000 counts two operations in it",
    ..Card::BATCHED
};

impl Benchmark for PosixNamed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(Named::make(cx, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(Named);

impl Batched for Cycle {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.wait()?;
            self.0.post()?;
        }
        Ok(())
    }
}

/// `semaphore/posix_named/handover/same_cpu`
pub static SAME_CPU: Handover<Named> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/posix_named/handover/cross_cpu`
pub static CROSS_CPU: Handover<Named> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = Card {
    baseline: None,
    ..handover::same_cpu(
        "semaphore/posix_named/handover/same_cpu",
        "hand-over by a named POSIX semaphore",
        &HANDOVER_CLAIMS,
    )
};
static HANDOVER_CROSS_CPU: Card = Card {
    baseline: None,
    ..handover::cross_cpu(
        "semaphore/posix_named/handover/cross_cpu",
        "hand-over by a named POSIX semaphore",
        &handover::on_two_cpus(HANDOVER_CLAIMS),
    )
};
const HANDOVER_CLAIMS: [Claim; 3] = handover::BY_FUTEX;

impl Token for Named {
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        let name = cx.unique_name()?;
        let semaphore = Named::create(&name, value).map_err(lack::of_named_semaphores)?;
        // Where this fails the semaphore is dropped, and so removed.
        cx.keeper.keep(&Object::NamedSemaphore(name))?;
        Ok(semaphore)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        Named::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        Named::post(self)
    }
}
