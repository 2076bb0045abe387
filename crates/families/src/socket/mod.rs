//! One byte there and back between two processes by a connected socket, and connections made and reset; on this machine alone.

use oscost_harness::{Benchmark, Card, Claim, Placement};

use crate::alternation;
use crate::claims;
use crate::semaphore::handover;

mod connected;
mod tcp_connect;
mod tcp_round_trip;
mod udp_round_trip;
mod unix_round_trip;

pub const ALL: &[&dyn Benchmark] = &[
    &tcp_round_trip::SAME_CPU,
    &udp_round_trip::SAME_CPU,
    &unix_round_trip::SAME_CPU,
    &tcp_round_trip::CROSS_CPU,
    &udp_round_trip::CROSS_CPU,
    &unix_round_trip::CROSS_CPU,
    &tcp_connect::TcpConnect,
];

/// Each side sends once and receives once; each waits once, or, where the freeing of a message wakes its sender, twice.
const ON_ONE_CPU: &[Claim] = &[
    Claim::CallsNamed(&["sendto"], claims::shared(2.0)),
    Claim::CallsNamed(&["recvfrom"], claims::shared(2.0)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(2.0, 4.0),
];
/// Whoever is held up finds the byte there already.
const ON_TWO_CPUS: &[Claim] = &[
    Claim::CallsNamed(&["sendto"], claims::shared(2.0)),
    Claim::CallsNamed(&["recvfrom"], claims::shared(2.0)),
    claims::NO_OTHER_CALLS,
    handover::switches_at_most(4.0),
];

/// What the round trips share; `placement` decides the group.
const fn card(id: &'static str, title: &'static str, placement: Placement) -> Card {
    match placement {
        Placement::CrossCpu => Card {
            id,
            title,
            operation: "one byte to a process on another CPU, and one back",
            heading: "one byte there and back",
            group: "socket/cross_cpu",
            claims: ON_TWO_CPUS,
            baseline: Some("socket/unix_round_trip/cross_cpu"),
            ..alternation::CROSS_CPU
        },
        _ => Card {
            id,
            title,
            operation: "one byte to another process on this CPU, and one back",
            heading: "one byte there and back",
            group: "socket/same_cpu",
            claims: ON_ONE_CPU,
            baseline: Some("socket/unix_round_trip/same_cpu"),
            ..alternation::SAME_CPU
        },
    }
}
