//! A System V semaphore (document 000): a system call for each operation.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Object, Outcome, PostCondition, SetUp, Subject, Tier, Unable,
};
use oscost_sys::semaphore::SystemV;

use super::handover::{self, Handover, Token};
use crate::{claims, lack};

/// `semaphore/system_v`
pub struct SystemVSet;

static CARD: Card = Card {
    id: "semaphore/system_v",
    title: "System V semaphore, uncontended",
    operation: "one wait and one post, each one semop without SEM_UNDO",
    heading: super::PAIR,
    group: "semaphore",
    claims: &claims::named(&["semop", "semtimedop"], 2.0),
    baseline: Some("semaphore/posix_named"),
    document: Some("000"),
    remark: "document 000 counts this as two operations",
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for SystemVSet {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cycle(SystemV::make(cx, 1)?))))
    }
}

/// A semaphore that swings between 1 and 0, and never blocks.
struct Cycle(SystemV);

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

/// `semaphore/system_v/handover/same_cpu`
pub static SAME_CPU: Handover<SystemV> = Handover::new(&HANDOVER_SAME_CPU);
/// `semaphore/system_v/handover/cross_cpu`
pub static CROSS_CPU: Handover<SystemV> = Handover::new(&HANDOVER_CROSS_CPU);

static HANDOVER_SAME_CPU: Card = Card {
    tier: Tier::Core,
    operation: "one hand-over of the token to the other process by semop without SEM_UNDO, on one CPU",
    ..handover::same_cpu(
        "semaphore/system_v/handover/same_cpu",
        "hand-over by a System V semaphore",
        &HANDOVER_CLAIMS,
    )
};
static HANDOVER_CROSS_CPU: Card = Card {
    tier: Tier::Core,
    operation: "one hand-over of the token to the other process by semop without SEM_UNDO, on another CPU",
    ..handover::cross_cpu(
        "semaphore/system_v/handover/cross_cpu",
        "hand-over by a System V semaphore",
        &handover::on_two_cpus(HANDOVER_CLAIMS),
    )
};
const HANDOVER_CLAIMS: [Claim; 3] = handover::in_the_kernel(&["semop", "semtimedop"]);

impl Token for SystemV {
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        system_v_set(cx, value, 1)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        SystemV::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        SystemV::post(self)
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        SystemV::value(self).map(|value| Some(value.into()))
    }
}

/// A private set of one semaphore, for calls of up to `operations` operations.
pub fn system_v_set(cx: &mut SetUp<'_>, value: u32, operations: u64) -> Result<SystemV, Unable> {
    lack::of_system_v_limits(cx, operations)?;
    cx.keeper
        .make(Object::SystemVSemaphore, |key| SystemV::with_key(key, value), SystemV::id)
        .map_err(lack::of_system_v_semaphores)
}
