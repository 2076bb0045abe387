//! A POSIX mutex whose holder inherits the priority of its waiters.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::mutex::{Mutex, MutexKind};

use super::excluding::{self, Lock, Ring, Uncontended};
use crate::claims;

/// The lock.
pub struct Inheriting(Mutex);

impl Lock for Inheriting {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(Mutex::new(MutexKind::PriorityInheritance)?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        self.0.lock()
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.unlock()
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        self.0.is_free().map(Some)
    }
}

/// `lock/pi_mutex`
pub static UNCONTENDED: Uncontended<Inheriting> = Uncontended::new(&CARD);
/// `lock/pi_mutex/handover/same_cpu`
pub static SAME_CPU: Ring<Inheriting> = Ring::new(&CARD_SAME_CPU);
/// `lock/pi_mutex/handover/cross_cpu`
pub static CROSS_CPU: Ring<Inheriting> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card =
    excluding::uncontended("lock/pi_mutex", "priority-inheritance mutex, uncontended", &claims::exactly(0.0));
static CARD_SAME_CPU: Card = excluding::same_cpu(
    "lock/pi_mutex/handover/same_cpu",
    "hand-over of a priority-inheritance mutex",
    &excluding::RING,
);
static CARD_CROSS_CPU: Card = excluding::cross_cpu(
    "lock/pi_mutex/handover/cross_cpu",
    "hand-over of a priority-inheritance mutex",
    &excluding::RING_CROSS,
);
