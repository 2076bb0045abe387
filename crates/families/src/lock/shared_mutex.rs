//! A POSIX mutex that processes share.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::mutex::{Mutex, MutexKind};

use super::excluding::{self, Lock, Ring, Uncontended};
use crate::claims;

/// The lock.
pub struct Shared(Mutex);

impl Lock for Shared {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(Mutex::new(MutexKind::Shared)?))
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

/// `lock/shared_mutex`
pub static UNCONTENDED: Uncontended<Shared> = Uncontended::new(&CARD);
/// `lock/shared_mutex/handover/same_cpu`
pub static SAME_CPU: Ring<Shared> = Ring::new(&CARD_SAME_CPU);
/// `lock/shared_mutex/handover/cross_cpu`
pub static CROSS_CPU: Ring<Shared> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card = Card {
    baseline: None,
    ..excluding::uncontended("lock/shared_mutex", "process-shared mutex, uncontended", &claims::exactly(0.0))
};
static CARD_SAME_CPU: Card = Card {
    baseline: None,
    ..excluding::same_cpu(
        "lock/shared_mutex/handover/same_cpu",
        "hand-over of a process-shared mutex",
        &excluding::RING,
    )
};
static CARD_CROSS_CPU: Card = Card {
    baseline: None,
    ..excluding::cross_cpu(
        "lock/shared_mutex/handover/cross_cpu",
        "hand-over of a process-shared mutex",
        &excluding::RING_CROSS,
    )
};
