//! Context switches through a pair of connected Unix stream sockets.

use std::borrow::Cow;

use oscost_harness::{Card, Claim, Placement};

use super::pipe::Switch;
use super::two_pipes;
use crate::claims;
use crate::semaphore::handover;

/// `context_switch/unix_stream/same_cpu`
pub static SAME_CPU: Switch =
    Switch { card: &CARD, sides: two_pipes::socket_sides, claims: |card| Cow::Borrowed(card.claims) };

/// The kernel wakes a sender when its message is freed, even one that waits for an answer: it finds nothing and sleeps again.
/// So a hop takes up to two switches (unix_write_space in net/unix/af_unix.c).
const CLAIMS: &[Claim] = &[
    Claim::CallsNamed(&["read", "write"], claims::shared(2.0)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(1.0, 2.0),
];

static CARD: Card = Card {
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
