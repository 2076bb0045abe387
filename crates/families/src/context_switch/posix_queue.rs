//! The switch by two POSIX message queues: a message of one byte there, one back. mq_overview(7).

use std::rc::Rc;

use oscost_harness::{
    Batched, Benchmark, Bound, Card, Claim, Outcome, Participant, Placement, SetUp, Subject, Unable,
};
use oscost_sys::{posix_queue::PosixQueue, process::Child};

use super::two_pipes;
use crate::{lack, partner};

/// `context_switch/posix_queue/same_cpu`
pub struct SameCpu;

const CLAIMS: &[Claim] = &[
    two_pipes::CALLS,
    Claim::CallsNamed(&["mq_timedsend", "mq_timedreceive"], Bound::Between(1.9, 2.1)),
    Claim::Switches(Bound::Between(0.9, 1.3)),
];

static CARD: Card = Card {
    subtract: None,
    operation: "one message to the other side, on one CPU",
    claims: CLAIMS,
    ..two_pipes::card(
        "context_switch/posix_queue/same_cpu",
        "switch by POSIX message queues, one CPU",
        Placement::SameCpu,
    )
};

impl Benchmark for SameCpu {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let name = oscost_sys::random::bits()?;
        let queue = |way: &str| {
            PosixQueue::new(&format!("/oscost-{name:032x}-{way}"), 1, 1)
                .map_err(|error| lack::of_posix_queues(error, 2, 1))
        };
        let (there, back) = (Rc::new(queue("there")?), Rc::new(queue("back")?));
        let (theirs, ours) = (Rc::clone(&there), Rc::clone(&back));
        let partner = partner::start(cx, true, move || {
            loop {
                partner::uninterrupted(|| theirs.receive(&mut [0]).map(|_| ()))?;
                ours.send(&[0])?;
            }
        })?;
        Ok(Subject::Batched(Box::new(RoundTrips { partner, there, back })))
    }
}

struct RoundTrips {
    partner: Child,
    there: Rc<PosixQueue>,
    back: Rc<PosixQueue>,
}

/// Between batches the partner sleeps in its queue: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.there.send(&[0])?;
            partner::uninterrupted(|| self.back.receive(&mut [0]).map(|_| ()))?;
        }
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
