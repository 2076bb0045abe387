//! Context switches through a pair of connected Unix stream sockets.

use oscost_harness::{Card, Claim, Placement};

use super::pipe::round_trips;
use super::two_pipes;
use crate::claims;
use crate::row::{Row, row};
use crate::semaphore::handover;

pub const SAME_CPU: Row = row(&CARD, |cx| round_trips(cx, two_pipes::socket_sides()?, false));

/// The kernel wakes a sender when its message is freed, even one that waits for an answer: it finds nothing and sleeps again.
/// So a hop takes up to two switches (unix_write_space in net/unix/af_unix.c).
const CLAIMS: &[Claim] = &[
    Claim::CallsNamed(&["read", "write"], claims::shared(2.0)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(1.0, 2.0),
];

const CARD: Card = Card {
    subtract: None,
    operation: "one message of 1 byte to the other side, on one CPU",
    remark: "when the receiver frees a message it wakes the sender needlessly: nearly two switches per hop",
    claims: CLAIMS,
    ..two_pipes::card(
        "context_switch/unix_stream/same_cpu",
        "switch by a Unix stream socket, one CPU",
        Placement::SameCpu,
    )
};
