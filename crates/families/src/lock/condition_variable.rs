//! A token behind a POSIX condition variable that processes share.

use oscost_harness::{Bound, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::condition::Condition;

use super::excluding::{self, Held, Uncontended};
use crate::claims;
use crate::semaphore::handover::{Handover, Token};

impl Token for Condition {
    fn make(_: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        Ok(Condition::new(value > 0)?)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        Condition::wait(self)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        Condition::post(self)
    }
}

/// `lock/condition_variable`
pub static UNCONTENDED: Uncontended<Held<Condition>> = Uncontended::new(&CARD);
/// `lock/condition_variable/handover/same_cpu`
pub static SAME_CPU: Handover<Condition> = Handover::new(&CARD_SAME_CPU);
/// `lock/condition_variable/handover/cross_cpu`
pub static CROSS_CPU: Handover<Condition> = Handover::new(&CARD_CROSS_CPU);

/// The woken side may find the mutex still held by who woke it, and sleep again: up to two switches and twice the calls.
const CLAIMS: [Claim; 2] =
    [Claim::SystemCalls(Bound::AtMost(8.1)), Claim::Switches(Bound::Between(0.3, 2.6))];

static CARD: Card = Card {
    operation: "one wait that finds the token and one signal that nobody hears",
    ..excluding::uncontended(
        "lock/condition_variable",
        "condition variable, uncontended",
        &claims::exactly(0.0),
    )
};
static CARD_SAME_CPU: Card = excluding::token_same_cpu(
    "lock/condition_variable/handover/same_cpu",
    "hand-over by a condition variable",
    &CLAIMS,
);
static CARD_CROSS_CPU: Card = excluding::token_cross_cpu(
    "lock/condition_variable/handover/cross_cpu",
    "hand-over by a condition variable",
    &CLAIMS,
);
