//! Context switches through a pair of connected Unix stream sockets.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Outcome, Participant, Placement, PostCondition, SetUp,
    Subject, Unable,
};
use oscost_sys::process::Child;

use super::two_pipes::{self, Side};
use crate::claims;
use crate::partner::{self, Turns};
use crate::semaphore::handover;

/// `context_switch/unix_stream/same_cpu`
pub struct SameCpu;

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

impl Benchmark for SameCpu {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let (near, far) = two_pipes::socket_sides()?;
        let turns = Turns::new()?;
        let mut count = turns.of_partner();
        let partner = partner::start(cx, true, move || {
            loop {
                far.receive()?;
                count.turn();
                far.send()?;
            }
        })?;
        Ok(Subject::Batched(Box::new(RoundTrips { partner, near, turns })))
    }
}

struct RoundTrips {
    partner: Child,
    near: Side,
    turns: Turns,
}

/// Between batches the partner sleeps in its read: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.near.round_trips(iterations)?;
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.near.verify(&self.turns)
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
