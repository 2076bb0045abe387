//! One byte there and back by a TCP connection over the loopback device, which sends at once (TCP_NODELAY).

use std::os::fd::OwnedFd;

use oscost_harness::{Card, Placement, Unable};
use oscost_sys::socket;

use super::connected::{Connected, Sockets};
use crate::alternation::Alternating;
use crate::lack;

/// `socket/tcp_round_trip/same_cpu`
pub static SAME_CPU: Alternating<Connected<Tcp>> = Alternating::new(&SAME_CPU_CARD);
/// `socket/tcp_round_trip/cross_cpu`
pub static CROSS_CPU: Alternating<Connected<Tcp>> = Alternating::new(&CROSS_CPU_CARD);

const SAME_CPU_CARD: Card = Card {
    operation: "one byte to another process on this CPU with TCP_NODELAY, and one back",
    ..super::card("socket/tcp_round_trip/same_cpu", "TCP round trip, one CPU", Placement::SameCpu)
};
const CROSS_CPU_CARD: Card = Card {
    operation: "one byte to a process on another CPU with TCP_NODELAY, and one back",
    ..super::card("socket/tcp_round_trip/cross_cpu", "TCP round trip, two CPUs", Placement::CrossCpu)
};

/// Two ends of it.
pub struct Tcp;

impl Sockets for Tcp {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        socket::tcp().map_err(lack::of_loopback)
    }
}
