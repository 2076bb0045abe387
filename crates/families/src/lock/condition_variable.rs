//! A token behind a POSIX condition variable that processes share.

use oscost_harness::{CallError, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::condition::Condition;

use super::excluding::{self, Held, Uncontended};
use crate::claims;
use crate::semaphore::handover::{self, Handover, Token};

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

    fn there(&self) -> Result<Option<u64>, CallError> {
        Ok(Some(self.is_there().into()))
    }
}

/// `lock/condition_variable`
pub static UNCONTENDED: Uncontended<Held<Condition>> = Uncontended::new(&CARD);
/// `lock/condition_variable/handover/same_cpu`
pub static SAME_CPU: Handover<Condition> = Handover::new(&CARD_SAME_CPU);
/// `lock/condition_variable/handover/cross_cpu`
pub static CROSS_CPU: Handover<Condition> = Handover::new(&CARD_CROSS_CPU);

/// A hand-over takes the mutex three times (to post, to wait, and again after waiting) and waits for the condition: whoever
/// comes sleeps in four places at most, and each sleep is ended by one wake-up. Two more calls are the signal that nobody
/// hears, and the wait that finds its word changed.
const CALLS: f64 = 10.0;
/// Each of the four sleeps is a switch, and so may each wake-up be that preempts.
const SWITCHES: f64 = 8.0;
const CLAIMS: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(1.0, CALLS)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(1.0, SWITCHES),
];
const CLAIMS_ON_TWO_CPUS: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(0.0, CALLS)),
    claims::NO_OTHER_CALLS,
    handover::switches_at_most(SWITCHES),
];

static CARD: Card = Card {
    operation: "one wait that finds the token, and one signal without a waiter",
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
    &CLAIMS_ON_TWO_CPUS,
);
