//! What oscost measures, one module a family.
//!
//! What holds one call is a row of its family's table: a card, what the call is made on, and the call. What needs more (a
//! partner, a clock of its own) is a file, and the rest of the id is its path.
#![forbid(unsafe_code)]

use oscost_harness::{Benchmark, Setting, claims, lack, partner};

mod alternation;
mod clock;
mod container;
mod contention;
mod context_switch;
pub mod cpu_pair;
mod event;
mod file;
mod futex;
mod instrument;
mod io_uring;
mod lock;
mod made;
mod memory;
mod operation;
mod process;
pub mod realtime_ipc;
pub mod record_database;
mod record_lock;
mod references;
mod residency;
mod row;
pub mod scaling;
#[cfg(test)]
mod seen;
mod semaphore;
mod signal;
mod socket;
mod syscall;
pub mod tax;
mod thread;
mod timer;

pub use references::REFERENCES;

/// A family: name, one line for headings and help, members.
#[derive(Clone, Copy)]
pub struct Family {
    /// First part of the ids.
    pub name: &'static str,
    /// What its figures are the prices of.
    pub description: &'static str,
    /// Its benchmarks, in the order of the price list.
    pub benchmarks: &'static [&'static dyn Benchmark],
    /// What a run of it can be set to.
    pub settings: &'static [Setting],
}

const fn family(
    name: &'static str,
    description: &'static str,
    benchmarks: &'static [&'static dyn Benchmark],
    settings: &'static [Setting],
) -> Family {
    Family { name, description, benchmarks, settings }
}

/// All families, in the order of the price list. A static, so that the loops are compiled in this crate and nowhere else.
pub static FAMILIES: &[Family] = &[
    family(
        "instrument",
        "the cost of a measurement itself, and checks with known costs",
        instrument::ALL,
        &[],
    ),
    family("clock", "reading a clock, and how fine each clock really is", clock::ALL, &[]),
    family("syscall", "entering the kernel, and its cheapest calls", syscall::ALL, &[]),
    family("signal", "notifying a process by a signal", signal::ALL, &[]),
    family("process", "making a process, running a program, and reaping it", process::ALL, &[]),
    family("thread", "making a thread and joining it", thread::ALL, &[]),
    family(
        "memory",
        "mapping, faults, protection, shootdowns, and the latency and bandwidth of memory",
        memory::ALL,
        &[],
    ),
    family("cpu_pair", "how long one CPU takes to reach another", cpu_pair::ALL, &[cpu_pair::PAIRS]),
    family(
        "context_switch",
        "switches between processes or threads, and the price of the pipe alone",
        context_switch::ALL,
        &[],
    ),
    family(
        "semaphore",
        "waiting and posting without contention, and handing a token over",
        semaphore::ALL,
        &[],
    ),
    family("lock", "locking and unlocking: uncontended, handed over, and contended", lock::ALL, &[]),
    family(
        "record_lock",
        "locks on files: on records of a process or an open file description, and on whole files",
        record_lock::ALL,
        &[],
    ),
    family("event", "waiting for descriptors: a wake-up by one, and a poll of many", event::ALL, &[]),
    family(
        "file",
        "one operation on one file, in memory or where --set directory= says",
        file::ALL,
        &[record_database::DIRECTORY],
    ),
    family("io_uring", "operations through a ring that is shared with the kernel", io_uring::ALL, &[]),
    family(
        "socket",
        "one byte there and back through a socket, and connections, within this machine",
        socket::ALL,
        &[],
    ),
    family("timer", "how late a sleeper runs", timer::ALL, &[]),
    family(
        "futex",
        "the futex call itself: waking one sleeper, and the kernel's table that all futexes share",
        futex::ALL,
        &[],
    ),
    family(
        "container",
        "namespaces, made by a process and left to the kernel when it ends",
        container::ALL,
        &[],
    ),
    family("tax", "what filters and probes add to one operation", tax::ALL, &[tax::ON]),
    family(
        "realtime_ipc",
        "messages from one server to many clients, tick by tick, by every transport",
        &[],
        realtime_ipc::SETTINGS,
    ),
    family(
        "record_database",
        "a database that processes share, without locks, with one lock, and with many",
        &[],
        &[record_database::DIRECTORY],
    ),
];

/// Every benchmark that is listed, in the order of the price list; the cells of contention, the sessions of real-time
/// messages and the cells of the database follow.
#[must_use]
pub fn all() -> Vec<&'static dyn Benchmark> {
    let mut all: Vec<&'static dyn Benchmark> =
        FAMILIES.iter().flat_map(|family| family.benchmarks).copied().collect();
    all.extend(contention::listed());
    all.extend(realtime_ipc::listed());
    all.extend(record_database::listed());
    all
}

/// The benchmark of an id that is a row or a file of its family.
fn listed(id: &str) -> Option<&'static dyn Benchmark> {
    FAMILIES.iter().flat_map(|family| family.benchmarks).copied().find(|it| it.card().id == id)
}

/// What is measured with `--thorough` besides: the whole grids of contention and of the database, all transports of
/// real-time messages.
#[must_use]
pub fn grid() -> Vec<&'static dyn Benchmark> {
    let mut grid = contention::grid();
    grid.extend(realtime_ipc::grid());
    grid.extend(record_database::grid());
    grid
}

/// The benchmark of an id that carries values of its parameters.
#[must_use]
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    contention::resolve(id)
        .or_else(|| cpu_pair::resolve(id))
        .or_else(|| realtime_ipc::resolve(id))
        .or_else(|| record_database::resolve(id))
        .or_else(|| tax::resolve(id))
        .or_else(|| scaling::resolve(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_harness::Subject;

    /// Of these no operation is timed alone: a batch that is not made ready for does something else.
    #[test]
    fn what_a_batch_uses_up_is_known() {
        let cards = all().into_iter().map(Benchmark::card);
        let mut used_up: Vec<&str> = cards.filter(|card| card.uses_up).map(|card| card.id).collect();
        used_up.sort_unstable();
        let expected = [
            "container/namespace/net",
            "file/append_4k",
            "memory/fault_anonymous",
            "memory/fault_copy",
            "memory/fault_file",
            "memory/give_back",
            "memory/give_back_file",
        ];
        assert_eq!(used_up, expected);
    }

    /// Of those that have a limit, none is asked to exceed it.
    #[test]
    fn the_most_that_a_batch_can_have_is_told() {
        let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0];
        for (id, limit) in [
            ("file/append_4k", true),
            ("memory/fault_anonymous", true),
            ("memory/fault_copy", true),
            ("memory/fault_file", true),
            ("memory/give_back", true),
            ("memory/give_back_file", true),
            ("syscall/getppid", false),
        ] {
            let subject = crate::seen::with_set_up(&[cpu], |cx| listed(id).expect(id).set_up(cx));
            let Ok(Subject::Batched(mut subject)) = subject else { panic!("{id} is not set up") };
            let most = subject.most();
            assert_eq!(most < 1 << 24, limit, "{id}: {most}");
            if limit {
                subject.arm().expect(id);
                assert!(subject.batch(most + 1).is_err(), "{id}");
            }
            // Its pages are mapped by 4096 faults; the others' would have to be made.
            if id == "memory/fault_file" {
                subject.arm().and_then(|()| subject.batch(most)).expect(id);
            }
        }
    }
}
