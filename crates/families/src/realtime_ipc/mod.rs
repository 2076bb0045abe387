//! Real-time messages from one server to many clients, tick by tick: document 002's experiment, over every transport that
//! one would weigh today.
//!
//! An id is `realtime_ipc/<transport>/<same_cpu|spread>/clients_<n>`, and further parts for what has not its default:
//! `tick_10ms`, `size_1024`, `policy_fifo`, `ticks_1000`. A new transport is a function in the
//! file of its kind, and a line in `TRANSPORTS`.

mod benchmark;
mod bpf;
mod client;
mod course;
mod kernel_module;
mod kernel_page;
mod load;
mod participant;
mod queues;
mod server;
mod session;
mod settings;
mod shape;
mod sockets;
mod table;
mod tell;
mod tell_load;
mod timers;
mod transport;
mod wakes;

use std::sync::LazyLock;

use oscost_harness::{Benchmark, Tier};

use crate::made;
use benchmark::{PARTNER, RealTimeIpc, Rings, Spec};
use course::Kind::{Kernel, Queue, Timer, Wake};
pub use load::{Busy, Load, Loading};
pub use server::own_cost;
pub use settings::{FAMILY, FRAMES, RATE, RAW_DIR, SETTINGS, ids, sound_tick_ns};
pub use shape::{Shape, policy_name};

/// A transport a line: its name, kind and making, the calls of its server and how often it makes them, those of a client, and what
/// it is besides.
macro_rules! transports {
    ($($name:expr, $kind:ident, $make:path, $sends:expr, $rings:ident, $receives:expr $(, $also:ident)?;)*) => {
        [$(Spec::new($name, $kind, $make, &$sends, Rings::$rings, &$receives)$(.$also())?),*]
    };
}

/// All transports.
static TRANSPORTS: [Spec; 26] = transports! {
    PARTNER, Queue, sockets::unix_datagram, ["sendto"], Each, ["recvfrom"], pollable;
    "unix_datagram_connected", Queue, sockets::unix_datagram_connected, ["sendto"], Each, ["recvfrom"], pollable;
    "unix_seqpacket", Queue, sockets::unix_seqpacket, ["sendto"], Each, ["recvfrom"], pollable;
    "unix_stream", Queue, sockets::unix_stream, ["sendto"], Each, ["recvfrom"], pollable;
    "pipe", Queue, queues::pipe, ["write"], Each, ["read"], pollable;
    "fifo", Queue, queues::fifo, ["write"], Each, ["read"], pollable;
    "posix_queue", Queue, queues::posix_queue, ["mq_timedsend"], Each, ["mq_timedreceive"], pollable;
    "system_v_queue", Queue, queues::system_v_queue, ["msgsnd"], Each, ["msgrcv"];
    "eventfd", Wake, wakes::eventfd, ["write"], Each, ["read"], pollable;
    "eventfd_broadcast", Wake, wakes::eventfd_broadcast, ["write"], Once, ["epoll_wait", "epoll_pwait"], pollable;
    "poll_broadcast", Wake, wakes::poll_broadcast, ["write"], Once, ["poll", "ppoll"], pollable;
    "futex_broadcast", Wake, wakes::futex_broadcast, ["futex"], Once, ["futex"];
    "futex_each", Wake, wakes::futex_each, ["futex"], Each, ["futex"];
    "posix_semaphore", Wake, wakes::posix_semaphore, ["futex"], Each, ["futex"];
    "system_v_semaphore", Wake, wakes::system_v_semaphore, ["semop", "semtimedop"], Once, ["semop", "semtimedop"];
    "condition_variable", Wake, wakes::condition_variable, ["futex"], Locked, ["futex"];
    "udp", Queue, sockets::udp, ["sendto"], Each, ["recvfrom"], pollable;
    "tcp", Queue, sockets::tcp, ["sendto"], Each, ["recvfrom"], pollable;
    "signal", Wake, wakes::signal, ["kill"], Each, ["rt_sigtimedwait"];
    "signal_group", Wake, wakes::signal_group, ["kill"], Once, ["rt_sigtimedwait"];
    "timerfd_each", Timer, timers::timerfd_each, [], Never, ["read"], pollable;
    "timerfd_pair", Timer, timers::timerfd_pair, [], Never, ["epoll_wait", "epoll_pwait"], pollable;
    "nanosleep_each", Timer, timers::nanosleep_each, [], Never, ["clock_nanosleep"];
    "bpf", Kernel, bpf::make, [], Never, ["epoll_wait", "epoll_pwait"], pollable;
    "kernel_module", Kernel, kernel_module::make, [], Never, ["pread64"];
    "spin", Wake, wakes::spin, [], Never, [], awake;
};

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

fn of(spec: &'static Spec, shape: Shape, tier: Tier) -> &'static dyn Benchmark {
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
        let sessions = move |shape: Shape| {
            names.iter().filter_map(|name| spec(name)).map(move |spec| of(spec, shape, Tier::Family))
        };
        shapes.flat_map(sessions)
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
                    grid.push(of(spec, shape, Tier::Thorough));
                }
            }
        }
        grid
    });
    GRID.clone()
}

/// The session of any id, listed or not.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let (name, shape) = id.strip_prefix("realtime_ipc/")?.split_once('/')?;
    let (spec, shape) = (spec(name)?, Shape::parse(shape)?);
    if spec.awake && !shape.spread {
        return None;
    }
    if let Some(listed) = LISTED.iter().copied().find(|it| it.card().id == id) {
        return Some(listed);
    }
    Some(made::once(id, || of(spec, shape, Tier::Thorough)))
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
