//! One byte there and back by a pair of Unix stream sockets: what a local protocol pays without a network.

use std::os::fd::OwnedFd;

use oscost_harness::{Card, Placement, Unable};
use oscost_sys::socket::{self, SocketKind};

use super::connected::{Connected, Sockets};
use crate::alternation::Alternating;
use crate::lack;

/// `socket/unix_round_trip/same_cpu`
pub static SAME_CPU: Alternating<Connected<Unix>> = Alternating::new(&SAME_CPU_CARD);
/// `socket/unix_round_trip/cross_cpu`
pub static CROSS_CPU: Alternating<Connected<Unix>> = Alternating::new(&CROSS_CPU_CARD);

const SAME_CPU_CARD: Card = Card {
    baseline: None,
    ..super::card("socket/unix_round_trip/same_cpu", "Unix stream round trip, one CPU", Placement::SameCpu)
};
const CROSS_CPU_CARD: Card = Card {
    baseline: None,
    ..super::card("socket/unix_round_trip/cross_cpu", "Unix stream round trip, two CPUs", Placement::CrossCpu)
};

/// Two ends of it.
pub struct Unix;

impl Sockets for Unix {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        socket::pair(SocketKind::Stream).map_err(lack::of_descriptors)
    }
}
