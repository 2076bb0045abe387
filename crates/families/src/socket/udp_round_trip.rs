//! One byte there and back by UDP over the loopback device, between sockets that are connected.

use std::os::fd::OwnedFd;

use oscost_harness::{Card, Placement, Unable};
use oscost_sys::loopback;

use super::connected::{Connected, Sockets};
use crate::alternation::Alternating;
use crate::lack;

/// `socket/udp_round_trip/same_cpu`
pub static SAME_CPU: Alternating<Connected<Udp>> = Alternating::new(&SAME_CPU_CARD);
/// `socket/udp_round_trip/cross_cpu`
pub static CROSS_CPU: Alternating<Connected<Udp>> = Alternating::new(&CROSS_CPU_CARD);

const SAME_CPU_CARD: Card =
    super::card("socket/udp_round_trip/same_cpu", "UDP round trip, one CPU", Placement::SameCpu);
const CROSS_CPU_CARD: Card =
    super::card("socket/udp_round_trip/cross_cpu", "UDP round trip, two CPUs", Placement::CrossCpu);

/// Two ends of it.
pub struct Udp;

impl Sockets for Udp {
    fn pair() -> Result<[OwnedFd; 2], Unable> {
        loopback::udp_pair().map_err(lack::of_loopback)
    }
}
