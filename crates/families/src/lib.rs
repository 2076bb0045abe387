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
mod residency;
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

/// All families, in the order of the price list. A static, so that the loops are compiled in this crate and nowhere else.
pub static FAMILIES: &[Family] = &[
    Family {
        name: "instrument",
        description: "the cost of a measurement itself, and checks with known costs",
        benchmarks: instrument::ALL,
        settings: &[],
    },
    Family {
        name: "clock",
        description: "reading a clock, and how fine each clock really is",
        benchmarks: clock::ALL,
        settings: &[],
    },
    Family {
        name: "syscall",
        description: "entering the kernel, and its cheapest calls",
        benchmarks: syscall::ALL,
        settings: &[],
    },
    Family {
        name: "signal",
        description: "notifying a process by a signal",
        benchmarks: signal::ALL,
        settings: &[],
    },
    Family {
        name: "process",
        description: "making a process, running a program, and reaping it",
        benchmarks: process::ALL,
        settings: &[],
    },
    Family {
        name: "thread",
        description: "making a thread and joining it",
        benchmarks: thread::ALL,
        settings: &[],
    },
    Family {
        name: "memory",
        description: "mapping, faults, protection, shootdowns, and the latency and bandwidth of memory",
        benchmarks: memory::ALL,
        settings: &[],
    },
    Family {
        name: "cpu_pair",
        description: "how long one CPU takes to reach another",
        benchmarks: cpu_pair::ALL,
        settings: &[cpu_pair::PAIRS],
    },
    Family {
        name: "context_switch",
        description: "switches between processes or threads, and the price of the pipe alone",
        benchmarks: context_switch::ALL,
        settings: &[],
    },
    Family {
        name: "semaphore",
        description: "waiting and posting without contention, and handing a token over",
        benchmarks: semaphore::ALL,
        settings: &[],
    },
    Family {
        name: "lock",
        description: "locking and unlocking: uncontended, handed over, and contended",
        benchmarks: lock::ALL,
        settings: &[],
    },
    Family {
        name: "record_lock",
        description: "locks on files: on records of a process or an open file description, and on whole files",
        benchmarks: record_lock::ALL,
        settings: &[],
    },
    Family {
        name: "event",
        description: "waiting for descriptors: a wake-up by one, and a poll of many",
        benchmarks: event::ALL,
        settings: &[],
    },
    Family {
        name: "file",
        description: "one operation on one file, in memory or where --set directory= says",
        benchmarks: file::ALL,
        settings: &[record_database::DIRECTORY],
    },
    Family {
        name: "io_uring",
        description: "operations through a ring that is shared with the kernel",
        benchmarks: io_uring::ALL,
        settings: &[],
    },
    Family {
        name: "socket",
        description: "one byte there and back through a socket, and connections, within this machine",
        benchmarks: socket::ALL,
        settings: &[],
    },
    Family { name: "timer", description: "how late a sleeper runs", benchmarks: timer::ALL, settings: &[] },
    Family {
        name: "futex",
        description: "the futex call itself: waking one sleeper, and the kernel's table that all futexes share",
        benchmarks: futex::ALL,
        settings: &[],
    },
    Family {
        name: "container",
        description: "namespaces, made by a process and left to the kernel when it ends",
        benchmarks: container::ALL,
        settings: &[],
    },
    Family {
        name: "tax",
        description: "what filters and probes add to one operation",
        benchmarks: tax::ALL,
        settings: &[tax::ON],
    },
    Family {
        name: "realtime_ipc",
        description: "messages from one server to many clients, tick by tick, by every transport",
        benchmarks: &[],
        settings: realtime_ipc::SETTINGS,
    },
    Family {
        name: "record_database",
        description: "a database that processes share, without locks, with one lock, and with many",
        benchmarks: &[],
        settings: &[record_database::DIRECTORY],
    },
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
