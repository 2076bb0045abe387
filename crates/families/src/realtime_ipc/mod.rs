//! Real-time messages from one server to many clients, tick by tick: document 002's experiment, over every transport that
//! one would weigh today.
//!
//! An id is `realtime_ipc/<transport>/<same_cpu|spread>/clients_<n>`, and further parts for what has not its default:
//! `tick_10ms`, `size_1024`, `policy_fifo`, `ticks_1000`. A new transport is a file and a line in
//! `TRANSPORTS`.

mod benchmark;
mod bpf;
mod client;
mod condition_variable;
mod eventfd;
mod eventfd_broadcast;
mod fifo;
mod futex_broadcast;
mod futex_each;
mod kernel_module;
mod kernel_page;
mod load;
mod nanosleep_each;
mod participant;
mod pipe;
mod poll_broadcast;
mod posix_queue;
mod posix_semaphore;
mod server;
mod session;
mod settings;
mod shape;
mod signal;
mod signal_group;
mod spin;
mod system_v_queue;
mod system_v_semaphore;
mod table;
mod tcp;
mod tell;
mod tell_load;
mod timerfd_each;
mod timerfd_pair;
mod transport;
mod udp;
mod unix_datagram;
mod unix_datagram_connected;
mod unix_seqpacket;
mod unix_stream;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use oscost_harness::{Benchmark, Tier};

use benchmark::{PARTNER, RealTimeIpc, Rings, Spec};
pub use load::{Busy, Load, Loading};
pub use server::own_cost;
pub use settings::{FAMILY, FRAMES, RATE, RAW_DIR, SETTINGS, ids, sound_tick_ns};
pub use shape::{Shape, policy_name};
use transport::Kind::{Kernel, Queue, Timer, Wake};

/// All transports.
static TRANSPORTS: [Spec; 26] = [
    Spec::new(PARTNER, Queue, unix_datagram::make, &["sendto"], Rings::Each, &["recvfrom"]).pollable(),
    Spec::new(
        "unix_datagram_connected",
        Queue,
        unix_datagram_connected::make,
        &["sendto"],
        Rings::Each,
        &["recvfrom"],
    )
    .pollable(),
    Spec::new("unix_seqpacket", Queue, unix_seqpacket::make, &["sendto"], Rings::Each, &["recvfrom"])
        .pollable(),
    Spec::new("unix_stream", Queue, unix_stream::make, &["sendto"], Rings::Each, &["recvfrom"]).pollable(),
    Spec::new("pipe", Queue, pipe::make, &["write"], Rings::Each, &["read"]).pollable(),
    Spec::new("fifo", Queue, fifo::make, &["write"], Rings::Each, &["read"]).pollable(),
    Spec::new("posix_queue", Queue, posix_queue::make, &["mq_timedsend"], Rings::Each, &["mq_timedreceive"])
        .pollable(),
    Spec::new("system_v_queue", Queue, system_v_queue::make, &["msgsnd"], Rings::Each, &["msgrcv"]),
    Spec::new("eventfd", Wake, eventfd::make, &["write"], Rings::Each, &["read"]).pollable(),
    Spec::new(
        "eventfd_broadcast",
        Wake,
        eventfd_broadcast::make,
        &["write"],
        Rings::Once,
        &["epoll_wait", "epoll_pwait"],
    )
    .pollable(),
    Spec::new("poll_broadcast", Wake, poll_broadcast::make, &["write"], Rings::Once, &["poll", "ppoll"])
        .pollable(),
    Spec::new("futex_broadcast", Wake, futex_broadcast::make, &["futex"], Rings::Once, &["futex"]),
    Spec::new("futex_each", Wake, futex_each::make, &["futex"], Rings::Each, &["futex"]),
    Spec::new("posix_semaphore", Wake, posix_semaphore::make, &["futex"], Rings::Each, &["futex"]),
    Spec::new(
        "system_v_semaphore",
        Wake,
        system_v_semaphore::make,
        &["semop", "semtimedop"],
        Rings::Once,
        &["semop", "semtimedop"],
    ),
    Spec::new("condition_variable", Wake, condition_variable::make, &["futex"], Rings::Locked, &["futex"]),
    Spec::new("udp", Queue, udp::make, &["sendto"], Rings::Each, &["recvfrom"]).pollable(),
    Spec::new("tcp", Queue, tcp::make, &["sendto"], Rings::Each, &["recvfrom"]).pollable(),
    Spec::new("signal", Wake, signal::make, &["kill"], Rings::Each, &["rt_sigtimedwait"]),
    Spec::new("signal_group", Wake, signal_group::make, &["kill"], Rings::Once, &["rt_sigtimedwait"]),
    Spec::new("timerfd_each", Timer, timerfd_each::make, &[], Rings::Never, &["read"]).pollable(),
    Spec::new("timerfd_pair", Timer, timerfd_pair::make, &[], Rings::Never, &["epoll_wait", "epoll_pwait"])
        .pollable(),
    Spec::new("nanosleep_each", Timer, nanosleep_each::make, &[], Rings::Never, &["clock_nanosleep"]),
    Spec::new("bpf", Kernel, bpf::make, &[], Rings::Never, &["epoll_wait", "epoll_pwait"]).pollable(),
    Spec::new("kernel_module", Kernel, kernel_module::make, &[], Rings::Never, &["pread64"]),
    Spec::new("spin", Wake, spin::make, &[], Rings::Never, &[]).awake(),
];

/// Transports that a run of the family measures on one CPU, the partner of all of them first.
const MAIN: [&str; 8] = [
    PARTNER,
    "futex_broadcast",
    "eventfd_broadcast",
    "pipe",
    "posix_queue",
    "system_v_semaphore",
    "unix_seqpacket",
    "udp",
];
/// Those of them that it measures over several CPUs too.
const SPREAD: [&str; 4] = [PARTNER, "futex_broadcast", "eventfd_broadcast", "posix_queue"];
/// Those that a first look is content with, on one CPU.
const QUICK: [&str; 4] = [PARTNER, "futex_broadcast", "eventfd_broadcast", "pipe"];
/// Numbers of clients that are listed: document 002's ends.
const CLIENTS: [usize; 2] = [1, 10];

fn spec(name: &str) -> Option<&'static Spec> {
    TRANSPORTS.iter().find(|spec| spec.name == name)
}

fn made(spec: &'static Spec, shape: Shape, tier: Tier) -> &'static dyn Benchmark {
    RealTimeIpc::leaked(spec, shape, tier)
}

/// Placements of a transport: who is always awake would keep others from one CPU.
fn placements(spec: &Spec) -> impl Iterator<Item = bool> {
    let awake = spec.awake;
    [false, true].into_iter().filter(move |&spread| spread || !awake)
}

static LISTED: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
    let cells = |names: &'static [&'static str], spread: bool| {
        let shapes = CLIENTS.into_iter().map(move |clients| Shape::of(spread, clients));
        let of = move |shape: Shape| {
            names.iter().filter_map(|name| spec(name)).map(move |spec| made(spec, shape, Tier::Family))
        };
        shapes.flat_map(of)
    };
    cells(&MAIN, false).chain(cells(&SPREAD, true)).collect()
});

/// What is measured when the family is named.
pub fn listed() -> Vec<&'static dyn Benchmark> {
    LISTED.clone()
}

/// Whether the clients of a transport never sleep, so that they need a CPU each.
#[must_use]
pub fn never_sleeps(name: &str) -> bool {
    spec(name).is_some_and(|spec| spec.awake)
}

/// Id of a session of this shape over the transport of this name.
#[must_use]
pub fn id_of(name: &str, shape: &Shape) -> String {
    format!("realtime_ipc/{name}/{}", shape.text())
}

/// Names of all transports.
pub fn transports() -> impl Iterator<Item = &'static str> {
    TRANSPORTS.iter().map(|spec| spec.name)
}

/// Every transport in both placements, but for what is listed.
pub fn grid() -> Vec<&'static dyn Benchmark> {
    static GRID: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
        let mut grid = Vec::new();
        for spec in &TRANSPORTS {
            for (spread, clients) in placements(spec).flat_map(|spread| CLIENTS.map(|count| (spread, count)))
            {
                let shape = Shape::of(spread, clients);
                if !LISTED.iter().any(|listed| listed.card().id == spec.id_of(&shape)) {
                    grid.push(made(spec, shape, Tier::Thorough));
                }
            }
        }
        grid
    });
    GRID.clone()
}

/// The session of any id, listed or not.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    /// Made once each: an id is looked up many times.
    static OTHERS: Mutex<BTreeMap<String, &'static dyn Benchmark>> = Mutex::new(BTreeMap::new());
    let (name, shape) = id.strip_prefix("realtime_ipc/")?.split_once('/')?;
    let (spec, shape) = (spec(name)?, Shape::parse(shape)?);
    if spec.awake && !shape.spread {
        return None;
    }
    if let Some(listed) = LISTED.iter().copied().find(|it| it.card().id == id) {
        return Some(listed);
    }
    let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = others.entry(id.to_owned()).or_insert_with(|| made(spec, shape, Tier::Thorough));
    Some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_is_found_by_its_id() {
        for benchmark in listed().into_iter().chain(grid()) {
            let card = benchmark.card();
            assert_eq!(resolve(card.id).map(|found| found.card().id), Some(card.id));
            let partner = card.baseline.and_then(resolve);
            assert_eq!(partner.is_some(), card.baseline.is_some(), "{}", card.id);
        }
        assert_eq!(listed().len(), 24);
        assert!(MAIN.iter().chain(&SPREAD).chain(&QUICK).all(|name| spec(name).is_some()));
    }

    #[test]
    fn what_is_no_session_is_not_found() {
        for id in [
            "realtime_ipc",
            "realtime_ipc/pigeon/same_cpu/clients_1",
            "realtime_ipc/pipe/clients_1",
            "realtime_ipc/spin/same_cpu/clients_1",
            "realtime_ipc/pipe/same_cpu/clients_1/x",
        ] {
            assert!(resolve(id).is_none(), "{id}");
        }
    }
}
