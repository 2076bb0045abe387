//! A record lock of the process: fcntl F_SETLKW.

use std::os::fd::{AsFd, OwnedFd};

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use super::file;
use crate::claims;
use crate::lock::excluding::{Lock, Ring, Uncontended};

/// The record: the first byte of the file.
const RECORD: Range = Range { start: 0, length: 1 };

/// The lock, by one open file description.
pub struct Bytes(OwnedFd);

impl Lock for Bytes {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        file::make().map(Self)
    }

    fn own(&self) -> Result<Option<Self>, CallError> {
        file::again(&self.0).map(|fd| Some(Self(fd)))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        record_lock::lock(self.0.as_fd(), Owner::Process, LockKind::Write, RECORD)
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        record_lock::unlock(self.0.as_fd(), Owner::Process, RECORD)
    }
}

/// `record_lock/fcntl`
pub static UNCONTENDED: Uncontended<Bytes> = Uncontended::new(&CARD);
/// `record_lock/fcntl/handover/same_cpu`
pub static SAME_CPU: Ring<Bytes> = Ring::new(&CARD_SAME_CPU);
/// `record_lock/fcntl/handover/cross_cpu`
pub static CROSS_CPU: Ring<Bytes> = Ring::new(&CARD_CROSS_CPU);

static CARD: Card = file::uncontended(
    "record_lock/fcntl",
    "record lock of a process, uncontended",
    &claims::named(&["fcntl"], 2.0),
);
static CARD_SAME_CPU: Card = file::same_cpu(
    "record_lock/fcntl/handover/same_cpu",
    "hand-over of a record lock of a process",
    &file::ring(&["fcntl"]),
);
static CARD_CROSS_CPU: Card = file::cross_cpu(
    "record_lock/fcntl/handover/cross_cpu",
    "hand-over of a record lock of a process",
    &file::ring(&["fcntl"]),
);
