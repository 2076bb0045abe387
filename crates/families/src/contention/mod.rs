//! Several workers fight for one lock: by lock, number and kind of workers, hold time and think time.
//!
//! A cell is an id (`semaphore/system_v/contended/processes_4/hold_us_100/think_0`): a few that tell the story are listed,
//! the full grid comes with `--thorough`, and any other cell is found by its id.

mod cell;
mod kind;
mod run;
mod worker;

use std::sync::LazyLock;

use oscost_harness::{Benchmark, Trait};

use crate::lock::excluding::Held;
use crate::lock::locks::{Inheriting, Nothing, Private, Raw, Reading, Robust, Shared, Spin, Writing};
use crate::record_lock::locks::{OfDescription, OfProcess, Whole};
use cell::{Cell, Workers};
use kind::Kind;
use oscost_sys::condition::Condition;
use oscost_sys::pipe::Pipe;
use oscost_sys::semaphore::{EventFd, NamedSemaphore, SystemV, Unnamed};
use oscost_sys::system_v_queue::SystemVQueue;

/// What lies in shared memory, or has a name or a key.
const SHARED: &[Trait] = &[Trait::WorksAcrossUsers];

/// Everything that can be contended for.
const KINDS: [Kind; 19] = [
    Kind::new::<Held<NamedSemaphore>>("semaphore/posix_named", &["futex"], "semaphore/posix_named")
        .with(SHARED),
    Kind::new::<Held<Unnamed>>("semaphore/posix_unnamed", &["futex"], "semaphore/posix_named").with(SHARED),
    Kind::new::<Held<SystemV>>("semaphore/system_v", &["semop", "semtimedop"], "semaphore/posix_named")
        .with(&[Trait::HandsOff, Trait::Fair, Trait::WorksAcrossUsers]),
    Kind::new::<Held<EventFd>>("semaphore/eventfd", &["read", "write"], "semaphore/posix_named"),
    Kind::new::<Shared>("lock/shared_mutex", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Private>("lock/mutex", &["futex"], "lock/shared_mutex").for_threads(),
    Kind::new::<Robust>("lock/robust_mutex", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Inheriting>("lock/pi_mutex", &["futex"], "lock/shared_mutex")
        .with(&[Trait::HandsOff, Trait::WorksAcrossUsers]),
    Kind::new::<Reading>("lock/rwlock_read", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Writing>("lock/rwlock_write", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Held<Condition>>("lock/condition_variable", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Raw>("lock/futex", &["futex"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Held<Pipe>>("lock/pipe_token", &["read", "write"], "lock/shared_mutex"),
    Kind::new::<Held<SystemVQueue>>("lock/system_v_message", &["msgrcv", "msgsnd"], "lock/shared_mutex")
        .with(&[Trait::HandsOff, Trait::Fair, Trait::WorksAcrossUsers]),
    Kind::new::<Spin>("lock/spin", &["sched_yield"], "lock/shared_mutex").with(SHARED),
    Kind::new::<Nothing>("lock/none", &["futex"], "lock/shared_mutex").with(&[Trait::ExcludesNothing]),
    Kind::new::<OfProcess>("record_lock/fcntl", &["fcntl"], "record_lock/fcntl").for_processes().with(SHARED),
    Kind::new::<OfDescription>("record_lock/ofd", &["fcntl"], "record_lock/fcntl")
        .for_processes()
        .with(SHARED),
    Kind::new::<Whole>("record_lock/flock", &["flock"], "record_lock/fcntl").for_processes().with(SHARED),
];

const HOLDS_US: [u32; 7] = [0, 1, 3, 10, 30, 100, 300];

fn cell(workers: u32, of: Workers, hold_us: u32, thinks: bool) -> Cell {
    Cell { workers, of, hold_us, thinks }
}

/// The cells that tell the story: the two semaphores over all hold times, everything else at a short and a long one.
static LISTED: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
    let mut listed = Vec::new();
    for kind in &KINDS {
        let holds: &[u32] = match kind.id() {
            "semaphore/posix_named" | "semaphore/system_v" => &HOLDS_US,
            // The control contends without hold, and is compared there.
            "lock/none" => &[0],
            "lock/shared_mutex" => &[0, 1, 100],
            _ => &[1, 100],
        };
        let of = if kind.takes(Workers::Processes) { Workers::Processes } else { Workers::Threads };
        listed.extend(holds.iter().map(|&hold_us| kind.benchmark(cell(4, of, hold_us, false), false)));
        if kind.id() == "lock/shared_mutex" {
            // Beside the mutex that threads alone can use.
            let threads = |&hold_us: &u32| kind.benchmark(cell(4, Workers::Threads, hold_us, false), false);
            listed.extend([1, 100].iter().map(threads));
        }
    }
    listed
});

/// The cells that are measured when their family is named.
pub fn listed() -> Vec<&'static dyn Benchmark> {
    LISTED.clone()
}

/// The whole grid but for the cells that are listed: 2, 4 and 8 workers, processes and threads, all hold times, thinking or
/// not.
pub fn grid() -> Vec<&'static dyn Benchmark> {
    static GRID: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
        let listed: std::collections::BTreeSet<&str> = LISTED.iter().map(|it| it.card().id).collect();
        let mut grid: Vec<&'static dyn Benchmark> = Vec::new();
        for kind in &KINDS {
            for of in [Workers::Processes, Workers::Threads].into_iter().filter(|&of| kind.takes(of)) {
                for workers in [2, 4, 8] {
                    for hold_us in HOLDS_US {
                        // Twice no time is no time.
                        for thinks in [false, true].into_iter().filter(|&thinks| !thinks || hold_us > 0) {
                            let cell = cell(workers, of, hold_us, thinks);
                            if !listed.contains(kind.id_of(cell).as_str()) {
                                grid.push(kind.benchmark(cell, true));
                            }
                        }
                    }
                }
            }
        }
        grid
    });
    GRID.clone()
}

/// The cell of any id, listed or not.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let kind = KINDS
        .iter()
        .find(|kind| id.strip_prefix(kind.id()).is_some_and(|rest| rest.starts_with("/contended/")))?;
    let cell = Cell::of_id(id)?;
    if !kind.takes(cell.of) || kind.id_of(cell) != id {
        return None;
    }
    let listed = LISTED.iter().copied().find(|it| it.card().id == id);
    listed.or_else(|| Some(kind.benchmark(cell, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_found_by_its_id() {
        for benchmark in listed().into_iter().chain(grid()) {
            let card = benchmark.card();
            assert_eq!(resolve(card.id).map(|found| found.card().id), Some(card.id));
        }
        assert!(grid().len() > 1000, "{}", grid().len());
    }

    #[test]
    fn what_is_no_cell_is_not_found() {
        for id in [
            "lock/spin/contended",
            "lock/spin/contended/processes_0/hold_us_1/think_0",
            "lock/spin/contended/processes_65/hold_us_1/think_0",
            "lock/spin/contended/processes_4/hold_us_01/think_0",
            "lock/spin/contended/processes_4/hold_us_1/think_1",
            "lock/spin/contended/processes_4/hold_us_1/think_0/x",
            "lock/mutex/contended/processes_4/hold_us_1/think_0",
            "record_lock/fcntl/contended/threads_4/hold_us_1/think_0",
            "lock/other/contended/processes_4/hold_us_1/think_0",
        ] {
            assert!(resolve(id).is_none(), "{id}");
        }
        assert!(resolve("lock/spin/contended/threads_3/hold_us_7/think_2_holds").is_some());
    }
}
