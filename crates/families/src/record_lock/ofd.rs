//! A record lock of the open file description: fcntl F_OFD_SETLKW.

use std::os::fd::{AsFd, OwnedFd};

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use super::file;
use super::others::{self, Beside, OnFile};
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
        record_lock::lock(self.0.as_fd(), Owner::Description, LockKind::Write, RECORD)
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        record_lock::unlock(self.0.as_fd(), Owner::Description, RECORD)
    }
}

impl OnFile for Bytes {
    fn of(file: OwnedFd) -> Self {
        Self(file)
    }
}

/// `record_lock/ofd`
pub static UNCONTENDED: Uncontended<Bytes> = Uncontended::new(&const { CARD });
/// `record_lock/ofd/handover/same_cpu`
pub static SAME_CPU: Ring<Bytes> = Ring::new(&CARD_SAME_CPU);
/// `record_lock/ofd/handover/cross_cpu`
pub static CROSS_CPU: Ring<Bytes> = Ring::new(&CARD_CROSS_CPU);

const CARD: Card = file::uncontended(
    "record_lock/ofd",
    "record lock of a description, uncontended",
    &claims::named(&["fcntl"], 2.0),
);
static CARD_SAME_CPU: Card = file::same_cpu(
    "record_lock/ofd/handover/same_cpu",
    "hand-over of a record lock of a description",
    &file::ring(&["fcntl"]),
);
static CARD_CROSS_CPU: Card = file::cross_cpu(
    "record_lock/ofd/handover/cross_cpu",
    "hand-over of a record lock of a description",
    &file::ring(&["fcntl"]),
);

/// `record_lock/ofd/others_10`
pub static OTHERS_10: Beside<Bytes> = Beside::new(&CARD_OTHERS_10, 10);
static CARD_OTHERS_10: Card = others::few(CARD, "record_lock/ofd/others_10");

/// `record_lock/ofd/others_100`
pub static OTHERS_100: Beside<Bytes> = Beside::new(&CARD_OTHERS_100, 100);
static CARD_OTHERS_100: Card = others::few(CARD, "record_lock/ofd/others_100");

/// `record_lock/ofd/others_1000`
pub static OTHERS_1000: Beside<Bytes> = Beside::new(&CARD_OTHERS_1000, 1_000);
static CARD_OTHERS_1000: Card = others::few(CARD, "record_lock/ofd/others_1000");

/// `record_lock/ofd/others_10000`
pub static OTHERS_10000: Beside<Bytes> = Beside::new(&CARD_OTHERS_10000, 10_000);
static CARD_OTHERS_10000: Card = others::many(CARD, "record_lock/ofd/others_10000");
