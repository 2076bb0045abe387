//! A record lock of the process: fcntl F_SETLKW.

use oscost_harness::Card;

use super::bytes;
use super::file;
use super::others::{self, Beside};
use crate::lock::excluding::{Ring, Uncontended};

/// The lock of the process.
pub type Bytes = bytes::Bytes<false>;

/// `record_lock/fcntl`
pub static UNCONTENDED: Uncontended<Bytes> = Uncontended::new(&const { CARD });
/// `record_lock/fcntl/handover/same_cpu`
pub static SAME_CPU: Ring<Bytes> = Ring::new(&CARD_SAME_CPU);
/// `record_lock/fcntl/handover/cross_cpu`
pub static CROSS_CPU: Ring<Bytes> = Ring::new(&CARD_CROSS_CPU);

const CARD: Card = Card {
    operation: "one uncontended lock (F_SETLKW) and unlock of 1 byte of a file",
    ..file::uncontended(
        "record_lock/fcntl",
        "record lock of a process, uncontended",
        &file::two_calls(&["fcntl"]),
    )
};
static CARD_SAME_CPU: Card = Card {
    operation: "one hand-over of a lock (F_SETLKW) of 1 byte of a file to the next process, on one CPU",
    ..file::same_cpu(
        "record_lock/fcntl/handover/same_cpu",
        "hand-over of a process's record lock",
        &file::ring(&["fcntl"]),
    )
};
static CARD_CROSS_CPU: Card = Card {
    operation: "one hand-over of a lock (F_SETLKW) of 1 byte of a file to the next process, on another CPU",
    ..file::cross_cpu(
        "record_lock/fcntl/handover/cross_cpu",
        "hand-over of a process's record lock",
        &file::ring_on_two_cpus(&["fcntl"]),
    )
};

/// `record_lock/fcntl/others_10`
pub static OTHERS_10: Beside<Bytes> = Beside::new(&CARD_OTHERS_10, 10);
static CARD_OTHERS_10: Card = others::few(
    CARD,
    "record_lock/fcntl/others_10",
    "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 10 other bytes of it",
);

/// `record_lock/fcntl/others_100`
pub static OTHERS_100: Beside<Bytes> = Beside::new(&CARD_OTHERS_100, 100);
static CARD_OTHERS_100: Card = others::few(
    CARD,
    "record_lock/fcntl/others_100",
    "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 100 other bytes of it",
);

/// `record_lock/fcntl/others_1000`
pub static OTHERS_1000: Beside<Bytes> = Beside::new(&CARD_OTHERS_1000, 1_000);
static CARD_OTHERS_1000: Card = others::few(
    CARD,
    "record_lock/fcntl/others_1000",
    "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 1000 other bytes of it",
);

/// `record_lock/fcntl/others_10000`
pub static OTHERS_10000: Beside<Bytes> = Beside::new(&CARD_OTHERS_10000, 10_000);
static CARD_OTHERS_10000: Card = others::many(
    CARD,
    "record_lock/fcntl/others_10000",
    "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 10000 other bytes of it",
);
