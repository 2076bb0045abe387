//! A lock of one word and the futex system call, without a library.

use oscost_harness::{CallError, CallPath, Card, Outcome, SetUp, Unable};
use oscost_sys::futex;

use super::excluding::{self, Lock, Ring, Uncontended};
use crate::claims;

/// The lock.
pub struct Raw(futex::Lock);

impl Lock for Raw {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(futex::Lock::new()?))
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
        Ok(Some(self.0.is_free()))
    }
}

/// `lock/futex`
pub static UNCONTENDED: Uncontended<Raw> = Uncontended::new(&CARD);
/// `lock/futex/handover/same_cpu`
pub static SAME_CPU: Ring<Raw> = Ring::new(&CARD_SAME_CPU);
/// `lock/futex/handover/cross_cpu`
pub static CROSS_CPU: Ring<Raw> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card = Card {
    call_path: CallPath::UserSpace,
    ..excluding::uncontended("lock/futex", "lock of one futex word, uncontended", &claims::exactly(0.0))
};
static CARD_SAME_CPU: Card =
    excluding::same_cpu("lock/futex/handover/same_cpu", "hand-over of a futex lock", &excluding::RING);
static CARD_CROSS_CPU: Card = excluding::cross_cpu(
    "lock/futex/handover/cross_cpu",
    "hand-over of a futex lock",
    &excluding::RING_CROSS,
);
