//! Locks on records of a file (document 001): of the process, of the open file description, and of the whole file.

pub mod locks;
mod others;

use oscost_harness::{Benchmark, Bound, Card, Claim};

use crate::claims;
use crate::lock::excluding::{self, Ring, Uncontended};
use crate::semaphore::handover;
use locks::{OfDescription, OfProcess, Whole};
use others::{Beside, few, many};

pub const ALL: &[&dyn Benchmark] = &[
    &Uncontended::<OfProcess>::new(&FCNTL),
    &Uncontended::<OfDescription>::new(&OFD),
    &Uncontended::<Whole>::new(&Card {
        operation: "one uncontended lock (LOCK_EX) and unlock of a whole file",
        ..uncontended("record_lock/flock", "lock of a whole file, uncontended", &two_calls(&["flock"]))
    }),
    &Beside::<OfProcess>::new(
        &few(
            FCNTL,
            "record_lock/fcntl/others_10",
            "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 10 other bytes of it",
        ),
        10,
    ),
    &Beside::<OfDescription>::new(
        &few(
            OFD,
            "record_lock/ofd/others_10",
            "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 10 other bytes of it",
        ),
        10,
    ),
    &Beside::<OfProcess>::new(
        &few(
            FCNTL,
            "record_lock/fcntl/others_100",
            "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 100 other bytes of it",
        ),
        100,
    ),
    &Beside::<OfDescription>::new(
        &few(
            OFD,
            "record_lock/ofd/others_100",
            "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 100 other bytes of it",
        ),
        100,
    ),
    &Beside::<OfProcess>::new(
        &few(
            FCNTL,
            "record_lock/fcntl/others_1000",
            "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 1000 other bytes of it",
        ),
        1_000,
    ),
    &Beside::<OfDescription>::new(
        &few(
            OFD,
            "record_lock/ofd/others_1000",
            "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 1000 other bytes of it",
        ),
        1_000,
    ),
    &Beside::<OfProcess>::new(
        &many(
            FCNTL,
            "record_lock/fcntl/others_10000",
            "one lock (F_SETLKW) and unlock of 1 byte of a file, while another process holds 10000 other bytes of it",
        ),
        10_000,
    ),
    &Beside::<OfDescription>::new(
        &many(
            OFD,
            "record_lock/ofd/others_10000",
            "one lock (F_OFD_SETLKW) and unlock of 1 byte of a file, while another process holds 10000 other bytes of it",
        ),
        10_000,
    ),
    &Ring::<OfProcess>::new(&Card {
        operation: "one hand-over of a lock (F_SETLKW) of 1 byte of a file to the next process, on one CPU",
        ..same_cpu(
            "record_lock/fcntl/handover/same_cpu",
            "hand-over of a process's record lock",
            &handover::in_the_kernel(&["fcntl"]),
        )
    }),
    &Ring::<OfDescription>::new(&Card {
        operation: "one hand-over of a lock (F_OFD_SETLKW) of 1 byte of a file to the next process, on one CPU",
        ..same_cpu(
            "record_lock/ofd/handover/same_cpu",
            "hand-over of a record lock of an open file description",
            &handover::in_the_kernel(&["fcntl"]),
        )
    }),
    &Ring::<Whole>::new(&Card {
        operation: "one hand-over of a lock (LOCK_EX) of a whole file to the next process, on one CPU",
        ..same_cpu(
            "record_lock/flock/handover/same_cpu",
            "hand-over of a whole-file lock",
            &handover::in_the_kernel(&["flock"]),
        )
    }),
    &Ring::<OfProcess>::new(&Card {
        operation: "one hand-over of a lock (F_SETLKW) of 1 byte of a file to the next process, on another CPU",
        ..cross_cpu(
            "record_lock/fcntl/handover/cross_cpu",
            "hand-over of a process's record lock",
            &handover::on_two_cpus(handover::in_the_kernel(&["fcntl"])),
        )
    }),
    &Ring::<OfDescription>::new(&Card {
        operation: "one hand-over of a lock (F_OFD_SETLKW) of 1 byte of a file to the next process, on another CPU",
        ..cross_cpu(
            "record_lock/ofd/handover/cross_cpu",
            "hand-over of a record lock of an open file description",
            &handover::on_two_cpus(handover::in_the_kernel(&["fcntl"])),
        )
    }),
    &Ring::<Whole>::new(&Card {
        operation: "one hand-over of a lock (LOCK_EX) of a whole file to the next process, on another CPU",
        ..cross_cpu(
            "record_lock/flock/handover/cross_cpu",
            "hand-over of a whole-file lock",
            &handover::on_two_cpus(handover::in_the_kernel(&["flock"])),
        )
    }),
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
