//! A robust POSIX mutex: if its holder dies, the next process is told.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::mutex::{Mutex, MutexKind};

use super::excluding::{self, Lock, Ring, Uncontended};
use crate::claims;

/// The lock.
pub struct Robust(Mutex);

impl Lock for Robust {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(Mutex::new(MutexKind::Robust)?))
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

/// `lock/robust_mutex`
pub static UNCONTENDED: Uncontended<Robust> = Uncontended::new(&CARD);
/// `lock/robust_mutex/handover/same_cpu`
pub static SAME_CPU: Ring<Robust> = Ring::new(&CARD_SAME_CPU);
/// `lock/robust_mutex/handover/cross_cpu`
pub static CROSS_CPU: Ring<Robust> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card =
    excluding::uncontended("lock/robust_mutex", "robust mutex, uncontended", &claims::exactly(0.0));
static CARD_SAME_CPU: Card = excluding::same_cpu(
    "lock/robust_mutex/handover/same_cpu",
    "hand-over of a robust mutex",
    &excluding::RING,
);
static CARD_CROSS_CPU: Card = excluding::cross_cpu(
    "lock/robust_mutex/handover/cross_cpu",
    "hand-over of a robust mutex",
    &excluding::RING_CROSS,
);
