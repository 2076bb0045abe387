//! A lock of the whole file by its description: flock.

use std::os::fd::{AsFd, OwnedFd};

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::record_lock::{self, LockKind};

use super::file;
use crate::lock::excluding::{Lock, Ring, Uncontended};

/// The lock, by one open file description.
pub struct Whole(OwnedFd);

impl Lock for Whole {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        file::make().map(Self)
    }

    fn own(&self) -> Result<Option<Self>, CallError> {
        file::again(&self.0).map(|fd| Some(Self(fd)))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        record_lock::flock(self.0.as_fd(), LockKind::Write)
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        record_lock::funlock(self.0.as_fd())
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        let other = file::again(&self.0)?;
        record_lock::try_flock(other.as_fd(), LockKind::Write).map(Some)
    }
}

/// `record_lock/flock`
pub static UNCONTENDED: Uncontended<Whole> = Uncontended::new(&CARD);
/// `record_lock/flock/handover/same_cpu`
pub static SAME_CPU: Ring<Whole> = Ring::new(&CARD_SAME_CPU);
/// `record_lock/flock/handover/cross_cpu`
pub static CROSS_CPU: Ring<Whole> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card = Card {
    operation: "one uncontended lock (LOCK_EX) and unlock of a whole file",
    ..file::uncontended(
        "record_lock/flock",
        "lock of a whole file, uncontended",
        &file::two_calls(&["flock"]),
    )
};
static CARD_SAME_CPU: Card = Card {
    operation: "one hand-over of a lock (LOCK_EX) of a whole file to the next process, on one CPU",
    ..file::same_cpu(
        "record_lock/flock/handover/same_cpu",
        "hand-over of a whole-file lock",
        &file::ring(&["flock"]),
    )
};
static CARD_CROSS_CPU: Card = Card {
    operation: "one hand-over of a lock (LOCK_EX) of a whole file to the next process, on another CPU",
    ..file::cross_cpu(
        "record_lock/flock/handover/cross_cpu",
        "hand-over of a whole-file lock",
        &file::ring_on_two_cpus(&["flock"]),
    )
};
