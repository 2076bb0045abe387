//! One byte by a connected socket, there and back between two processes or within one, and connections made and reset; on this machine alone.

use std::os::fd::OwnedFd;

use oscost_harness::{Benchmark, Bound, Card, Claim, Outcome, Placement, PostCondition, Unable};
use oscost_sys::loopback::{self, Listener};
use oscost_sys::socket::{self, SocketKind};

use crate::alternation::{self, End, alternating};
use crate::operation::{Operation, operation};
use crate::semaphore::handover;
use crate::{claims, lack};
use connected::{Connected, Sockets};

mod connected;

pub const ALL: &[&dyn Benchmark] = &[
    &alternating::<Connected<Tcp>>(&Card {
        operation: "one byte to another process on this CPU with TCP_NODELAY, and one back",
        ..card("socket/tcp_round_trip/same_cpu", "TCP round trip, one CPU", Placement::SameCpu)
    }),
    &alternating::<Connected<Udp>>(&card(
        "socket/udp_round_trip/same_cpu",
        "UDP round trip, one CPU",
        Placement::SameCpu,
    )),
    &alternating::<Connected<Unix>>(&Card {
        baseline: None,
        ..card("socket/unix_round_trip/same_cpu", "Unix stream round trip, one CPU", Placement::SameCpu)
    }),
    &alternating::<Connected<Tcp>>(&Card {
        operation: "one byte to a process on another CPU with TCP_NODELAY, and one back",
        ..card("socket/tcp_round_trip/cross_cpu", "TCP round trip, two CPUs", Placement::CrossCpu)
    }),
    &alternating::<Connected<Udp>>(&card(
        "socket/udp_round_trip/cross_cpu",
        "UDP round trip, two CPUs",
        Placement::CrossCpu,
    )),
    &alternating::<Connected<Unix>>(&Card {
        baseline: None,
        ..card("socket/unix_round_trip/cross_cpu", "Unix stream round trip, two CPUs", Placement::CrossCpu)
    }),
    // Nobody waits: what a message costs without a switch.
    &alone::<Tcp>(&Card {
        operation: "one send of 1 byte with TCP_NODELAY and its receipt, in one process",
        ..card_alone("socket/tcp_alone", "TCP without a switch")
    }),
    &alone::<Udp>(&card_alone("socket/udp_alone", "UDP without a switch")),
    &alone::<Unix>(&Card {
        baseline: None,
        ..card_alone("socket/unix_alone", "Unix stream without a switch")
    }),
    // Accepted, and both ends closed, over the loopback device.
    &operation(
        &Card {
            id: "socket/tcp_connect",
            title: "TCP connection made and closed",
            operation: "one connect to a listener of the same process, its accept and both closes",
            group: "socket/connect",
            claims: &CONNECT,
            remark: "the accepted end closes first and resets (SO_LINGER 0): no port is left in TIME_WAIT",
            ..Card::BATCHED
        },
        |_| {
            let listener = Listener::new().map_err(lack::of_loopback)?;
            listener.connect_close().map_err(lack::of_loopback)?;
            Ok(listener)
        },
        |listener| listener.connect_close(),
    )
    .verify(|listener| {
        // No connection waits that nobody accepted; one that is made carries a byte, and its ends are each other's.
        let waiting = listener.is_asked()?;
        let (bytes, paired) = listener.carries()?;
        Ok(vec![
            PostCondition::is("connections_waiting", false, waiting),
            PostCondition::exactly("bytes_through_a_connection", 1.0, bytes as f64),
            PostCondition::is("ends_of_one_connection", true, paired),
        ])
    }),
];

/// Two ends in one process.
type Ends<S> = (Connected<S>, Connected<S>);

/// A message whose sender receives it itself.
const fn alone<S: Sockets>(
    card: &'static Card,
) -> Operation<Ends<S>, impl Fn(&mut Ends<S>) -> Outcome + Copy> {
    operation(card, Connected::<S>::pair, |(near, far): &mut Ends<S>| {
        near.send()?;
        far.receive()
    })
    .verify(|(near, far)| {
        let [sent, received] = [near.counts().given, far.counts().taken].map(|count| count as f64);
        Ok(vec![PostCondition::exactly("bytes_at_the_receiver", sent, received)])
    })
}

/// What the messages without a switch share.
const fn card_alone(id: &'static str, title: &'static str) -> Card {
    Card {
        id,
        title,
        operation: "one send of 1 byte and its receipt, in one process",
        heading: "one message, sent and received",
        group: "socket/alone",
        claims: const { &claims::one_each(&["sendto"], &["recvfrom"]) },
        baseline: Some("socket/unix_alone"),
        ..Card::BATCHED
    }
}

/// Over the loopback device, which sends at once (TCP_NODELAY).
struct Tcp;

impl Sockets for Tcp {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        socket::tcp().map_err(lack::of_loopback)
    }
}

/// Over the loopback device, between sockets that are connected.
struct Udp;

impl Sockets for Udp {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        loopback::udp_pair().map_err(lack::of_loopback)
    }
}

/// What a local protocol pays without a network.
struct Unix;

impl Sockets for Unix {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        socket::pair(SocketKind::Stream).map_err(lack::of_descriptors)
    }
}

/// The handshake is over when connect returns, unless the kernel puts its part in it off to a thread of its own.
const CONNECT: [Claim; 6] = [
    Claim::SystemCalls(Bound::Exactly(5.0)),
    Claim::CallsNamed(&["socket"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["connect"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["accept4"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["close"], Bound::Exactly(2.0)),
    Claim::VoluntarySwitches(Bound::AtMost(0.05)),
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
