//! The switch by a pair of connected Unix stream sockets: what a local protocol pays for a message and the turn.

use oscost_harness::{
    Batched, Benchmark, Bound, Card, Claim, Outcome, Participant, Placement, SetUp, Subject, Unable,
};
use oscost_sys::process::Child;

use super::two_pipes::{self, Side};
use crate::partner;

/// `context_switch/unix_stream/same_cpu`
pub struct SameCpu;

/// The kernel wakes a sender when its message is freed, even one that waits for an answer: it finds nothing and sleeps again.
/// So a hop takes up to two switches (unix_write_space in net/unix/af_unix.c).
const CLAIMS: &[Claim] =
    &[two_pipes::CALLS, two_pipes::READS_AND_WRITES, Claim::Switches(Bound::Between(0.9, 2.3))];

static CARD: Card = Card {
    subtract: None,
    operation: "one message to the other side, on one CPU",
    remark: "the receiver's freeing of a message wakes its sender for nothing: nearly two switches a hop",
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
        let partner = partner::start(cx, true, move || {
            loop {
                far.receive()?;
                far.send()?;
            }
        })?;
        Ok(Subject::Batched(Box::new(RoundTrips { partner, near })))
    }
}

struct RoundTrips {
    partner: Child,
    near: Side,
}

/// Between batches the partner sleeps in its read: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.near.round_trips(iterations)
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
