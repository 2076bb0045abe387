//! Locks on records of a file (document 001): of the process, of the open file description, and of the whole file.

pub mod locks;
mod others;

use oscost_harness::{Benchmark, Bound, Card, Claim};

use crate::claims;
use crate::lock::excluding::{self, free};
use crate::semaphore::handover;
use locks::{OfDescription, OfProcess, Whole};
use others::{few, many};

/// A lock beside so many of another process: its kind, the card of the lock alone, its id, its call, how many.
macro_rules! beside {
    ($how:ident $owner:ty, $card:ident, $id:literal, $call:literal, $others:literal) => {
        &others::beside::<$owner, $others>(&$how(
            $card,
            $id,
            concat!(
                "one lock (",
                $call,
                ") and unlock of 1 byte of a file, while another process holds ",
                $others,
                " other bytes of it"
            ),
        ))
    };
}

/// A lock that goes round: where, its kind, its id, its call, what it locks, and its name in words.
macro_rules! ring {
    (same_cpu $lock:ty, $id:literal, $call:literal, $of:literal, $words:literal) => {
        ring!(same_cpu, "on one CPU", handover::in_the_kernel(&[$call]), $lock, $id, $of, $words)
    };
    (cross_cpu $lock:ty, $id:literal, $call:literal, $of:literal, $words:literal) => {
        ring!(
            cross_cpu,
            "on another CPU",
            handover::on_two_cpus(handover::in_the_kernel(&[$call])),
            $lock,
            $id,
            $of,
            $words
        )
    };
    ($place:ident, $on:literal, $claims:expr, $lock:ty, $id:literal, $of:literal, $words:literal) => {
        &excluding::ring::<$lock>(&Card {
            operation: concat!("one hand-over of a lock ", $of, " to the next process, ", $on),
            ..$place($id, concat!("hand-over of ", $words), &$claims)
        })
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    &free::<OfProcess>(&FCNTL),
    &free::<OfDescription>(&OFD),
    &free::<Whole>(&Card {
        operation: "one uncontended lock (LOCK_EX) and unlock of a whole file",
        ..uncontended("record_lock/flock", "lock of a whole file, uncontended", &two_calls(&["flock"]))
    }),
    beside!(few OfProcess, FCNTL, "record_lock/fcntl/others_10", "F_SETLKW", 10),
    beside!(few OfDescription, OFD, "record_lock/ofd/others_10", "F_OFD_SETLKW", 10),
    beside!(few OfProcess, FCNTL, "record_lock/fcntl/others_100", "F_SETLKW", 100),
    beside!(few OfDescription, OFD, "record_lock/ofd/others_100", "F_OFD_SETLKW", 100),
    beside!(few OfProcess, FCNTL, "record_lock/fcntl/others_1000", "F_SETLKW", 1000),
    beside!(few OfDescription, OFD, "record_lock/ofd/others_1000", "F_OFD_SETLKW", 1000),
    beside!(many OfProcess, FCNTL, "record_lock/fcntl/others_10000", "F_SETLKW", 10000),
    beside!(many OfDescription, OFD, "record_lock/ofd/others_10000", "F_OFD_SETLKW", 10000),
    ring!(same_cpu OfProcess, "record_lock/fcntl/handover/same_cpu", "fcntl", "(F_SETLKW) of 1 byte of a file", "a process's record lock"),
    ring!(same_cpu OfDescription, "record_lock/ofd/handover/same_cpu", "fcntl", "(F_OFD_SETLKW) of 1 byte of a file", "a record lock of an open file description"),
    ring!(same_cpu Whole, "record_lock/flock/handover/same_cpu", "flock", "(LOCK_EX) of a whole file", "a whole-file lock"),
    ring!(cross_cpu OfProcess, "record_lock/fcntl/handover/cross_cpu", "fcntl", "(F_SETLKW) of 1 byte of a file", "a process's record lock"),
    ring!(cross_cpu OfDescription, "record_lock/ofd/handover/cross_cpu", "fcntl", "(F_OFD_SETLKW) of 1 byte of a file", "a record lock of an open file description"),
    ring!(cross_cpu Whole, "record_lock/flock/handover/cross_cpu", "flock", "(LOCK_EX) of a whole file", "a whole-file lock"),
];

const FCNTL: Card = Card {
    operation: "one uncontended lock (F_SETLKW) and unlock of 1 byte of a file",
    ..uncontended("record_lock/fcntl", "record lock of a process, uncontended", &two_calls(&["fcntl"]))
};
const OFD: Card = Card {
    operation: "one uncontended lock (F_OFD_SETLKW) and unlock of 1 byte of a file",
    ..uncontended("record_lock/ofd", "record lock of a description, uncontended", &two_calls(&["fcntl"]))
};

/// Two calls of this name. Whoever lists the locks of the system (/proc/locks: lsof, and a run that finds another one) makes those
/// wait who take one then: percpu_down_write in fs/locks.c. Of a thousand locks one that waits moves no floor and no median.
const fn two_calls(names: &'static [&'static str]) -> [Claim; 4] {
    let [all, named, _, faults] = claims::named(names, 2.0);
    [all, named, Claim::VoluntarySwitches(Bound::AtMost(0.001)), faults]
}

/// Card of locking and unlocking what nobody else wants.
const fn uncontended(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        heading: "one lock and unlock",
        group: "record_lock",
        baseline: Some("lock/robust_mutex"),
        document: Some("001"),
        ..excluding::uncontended(id, title, claims)
    }
}

/// Card of a hand-over on one CPU.
const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "record_lock/handover/same_cpu",
        baseline: None,
        document: Some("001"),
        ..excluding::same_cpu(id, title, claims)
    }
}

/// Card of a hand-over across CPUs.
const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "record_lock/handover/cross_cpu",
        baseline: None,
        document: Some("001"),
        ..excluding::cross_cpu(id, title, claims)
    }
}
