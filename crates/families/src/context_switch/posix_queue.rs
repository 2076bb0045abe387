//! The switch by two POSIX message queues: a message of one byte there, one back. mq_overview(7).

use std::rc::Rc;

use oscost_harness::Object;
use oscost_harness::{
    Batched, CallError, Card, Claim, Outcome, Participant, Placement, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::{posix_queue::PosixQueue, process::Child};

use super::two_pipes;
use crate::lack;
use crate::partner::{self, Turns};
use crate::row::{Row, row};
use crate::semaphore::handover;

pub const SAME_CPU: Row = row(&CARD, round_trips);

const CLAIMS: &[Claim] = &handover::in_the_kernel(&["mq_timedsend", "mq_timedreceive"]);

const CARD: Card = Card {
    subtract: None,
    operation: "one message of 1 byte to the other side, on one CPU",
    claims: CLAIMS,
    ..two_pipes::card(
        "context_switch/posix_queue/same_cpu",
        "switch by POSIX message queues, one CPU",
        Placement::SameCpu,
    )
};

fn round_trips(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let name = oscost_sys::random::bits()?;
    let mut queue = |way: &str| -> Result<PosixQueue, Unable> {
        let name = format!("/oscost-{name:032x}-{way}");
        cx.keeper.keep(&Object::PosixQueue(name.clone()))?;
        PosixQueue::new(&name, 1, 1).map_err(|error| lack::of_posix_queues(error, 2, 1))
    };
    let (there, back) = (Rc::new(queue("there")?), Rc::new(queue("back")?));
    let (theirs, ours) = (Rc::clone(&there), Rc::clone(&back));
    let turns = Turns::new()?;
    let mut count = turns.of_partner();
    let partner = partner::start(cx, true, move || {
        loop {
            partner::uninterrupted(|| theirs.receive(&mut [0]).map(|_| ()))?;
            count.turn();
            ours.send(&[0])?;
        }
    })?;
    Ok(Subject::batched(RoundTrips { partner, there, back, turns }))
}

struct RoundTrips {
    partner: Child,
    there: Rc<PosixQueue>,
    back: Rc<PosixQueue>,
    turns: Turns,
}

/// Between batches the partner sleeps in its queue: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.there.send(&[0])?;
            partner::uninterrupted(|| self.back.receive(&mut [0]).map(|_| ()))?;
        }
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let messages = self.there.messages()? + self.back.messages()?;
        Ok(vec![self.turns.verify(), PostCondition::exactly("messages_on_their_way", 0.0, messages as f64)])
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
