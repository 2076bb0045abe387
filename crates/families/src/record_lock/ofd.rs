//! A record lock of the open file description: fcntl F_OFD_SETLKW.

use oscost_harness::Card;

use super::bytes;
use super::file;
use super::others::{self, Beside};
use crate::lock::excluding::{Ring, Uncontended};

/// The lock of the open file description.
pub type Bytes = bytes::Bytes<true>;

/// `record_lock/ofd`
pub static UNCONTENDED: Uncontended<Bytes> = Uncontended::new(&const { CARD });
/// `record_lock/ofd/handover/same_cpu`
pub static SAME_CPU: Ring<Bytes> = Ring::new(&CARD_SAME_CPU);
/// `record_lock/ofd/handover/cross_cpu`
pub static CROSS_CPU: Ring<Bytes> = Ring::new(&CARD_CROSS_CPU);

const CARD: Card = Card {
    operation: "one uncontended lock (F_OFD_SETLKW) and unlock of 1 byte of a file",
    ..file::uncontended(
        "record_lock/ofd",
        "record lock of a description, uncontended",
        &file::two_calls(&["fcntl"]),
    )
};
static CARD_SAME_CPU: Card = Card {
    operation: "one hand-over of a lock (F_OFD_SETLKW) of 1 byte of a file to the next process, on one CPU",
    ..file::same_cpu(
        "record_lock/ofd/handover/same_cpu",
        "hand-over of a record lock of an open file description",
        &file::ring(&["fcntl"]),
    )
};
static CARD_CROSS_CPU: Card = Card {
    operation: "one hand-over of a lock (F_OFD_SETLKW) of 1 byte of a file to the next process, on another CPU",
    ..file::cross_cpu(
        "record_lock/ofd/handover/cross_cpu",
        "hand-over of a record lock of an open file description",
        &file::ring_on_two_cpus(&["fcntl"]),
    )
};

/// `record_lock/ofd/others_10`
pub static OTHERS_10: Beside<Bytes> = Beside::new(&CARD_OTHERS_10, 10);
static CARD_OTHERS_10: Card = others::few(
    CARD,
    "record_lock/ofd/others_10",
    "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 10 other bytes of it",
);

/// `record_lock/ofd/others_100`
pub static OTHERS_100: Beside<Bytes> = Beside::new(&CARD_OTHERS_100, 100);
static CARD_OTHERS_100: Card = others::few(
    CARD,
    "record_lock/ofd/others_100",
    "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 100 other bytes of it",
);

/// `record_lock/ofd/others_1000`
pub static OTHERS_1000: Beside<Bytes> = Beside::new(&CARD_OTHERS_1000, 1_000);
static CARD_OTHERS_1000: Card = others::few(
    CARD,
    "record_lock/ofd/others_1000",
    "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 1000 other bytes of it",
);

/// `record_lock/ofd/others_10000`
pub static OTHERS_10000: Beside<Bytes> = Beside::new(&CARD_OTHERS_10000, 10_000);
static CARD_OTHERS_10000: Card = others::many(
    CARD,
    "record_lock/ofd/others_10000",
    "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 10000 other bytes of it",
);
