//! The file that record locks are taken on: nameless, in memory, and opened anew by each process that must not inherit the locks.

use std::os::fd::OwnedFd;

use oscost_harness::{Bound, CallError, Card, Claim, Unable};
use oscost_sys::file;

use crate::claims;
use crate::lack;
use crate::lock::excluding;
use crate::semaphore::handover;

/// A file without a name that leaves nothing behind.
pub fn make() -> Result<OwnedFd, Unable> {
    file::in_memory(4096).map_err(lack::of_descriptors)
}

/// Another open file description of the same file.
pub fn again(fd: &OwnedFd) -> Result<OwnedFd, CallError> {
    file::open_again(fd)
}

/// Two calls of this name. Whoever lists the locks of the system (/proc/locks: lsof, and a run that finds another one) makes those
/// wait who take one then: percpu_down_write in fs/locks.c. Of a thousand locks one that waits moves no floor and no median.
pub const fn two_calls(names: &'static [&'static str]) -> [Claim; 4] {
    let [all, named, _, faults] = claims::named(names, 2.0);
    [all, named, Claim::VoluntarySwitches(Bound::AtMost(0.001)), faults]
}

/// Card of locking and unlocking a record that nobody else wants.
pub const fn uncontended(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        heading: "one lock and unlock",
        group: "record_lock",
        baseline: Some("lock/robust_mutex"),
        document: Some("001"),
        ..excluding::uncontended(id, title, claims)
    }
}

/// Card of a hand-over on one CPU.
pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "record_lock/handover/same_cpu",
        baseline: None,
        document: Some("001"),
        ..excluding::same_cpu(id, title, claims)
    }
}

/// Card of a hand-over across CPUs.
pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "record_lock/handover/cross_cpu",
        baseline: None,
        document: Some("001"),
        ..excluding::cross_cpu(id, title, claims)
    }
}

/// Each step of the ring is one call that locks and one that unlocks.
pub const fn ring(names: &'static [&'static str]) -> [Claim; 3] {
    handover::in_the_kernel(names)
}

/// The same across CPUs.
pub const fn ring_on_two_cpus(names: &'static [&'static str]) -> [Claim; 3] {
    handover::on_two_cpus(ring(names))
}
