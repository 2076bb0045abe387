//! A POSIX reader-writer lock that processes share, taken by writers.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::rwlock::RwLock;

use super::excluding::{self, Lock, Ring, Uncontended};
use crate::claims;

/// The lock.
pub struct Writing(RwLock);

impl Lock for Writing {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(RwLock::new()?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        self.0.write()
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.unlock()
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        self.0.is_free_for_readers().map(Some)
    }
}

/// `lock/rwlock_write`
pub static UNCONTENDED: Uncontended<Writing> = Uncontended::new(&CARD);
/// `lock/rwlock_write/handover/same_cpu`
pub static SAME_CPU: Ring<Writing> = Ring::new(&CARD_SAME_CPU);
/// `lock/rwlock_write/handover/cross_cpu`
pub static CROSS_CPU: Ring<Writing> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card = excluding::uncontended(
    "lock/rwlock_write",
    "reader-writer lock, writing, uncontended",
    &claims::exactly(0.0),
);
static CARD_SAME_CPU: Card = excluding::same_cpu(
    "lock/rwlock_write/handover/same_cpu",
    "hand-over of a reader-writer lock, writing",
    &excluding::RING,
);
static CARD_CROSS_CPU: Card = excluding::cross_cpu(
    "lock/rwlock_write/handover/cross_cpu",
    "hand-over of a reader-writer lock, writing",
    &excluding::RING_CROSS,
);
