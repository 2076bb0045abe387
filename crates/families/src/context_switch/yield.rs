//! Two processes on one CPU that alternate by sched_yield: a switch without sleeping and waking.

use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, CallError, CallPath, Card, Claim, Outcome, Participant, Placement, PostCondition, SetUp,
    Subject, Unable,
};
use oscost_sys::{memory::SharedWords, process::Child, system_call};

use super::two_pipes::{self, Side};
use crate::claims;
use crate::partner::{self, Turns};
use crate::row::{Row, row};
use crate::semaphore::handover;

pub const SAME_CPU: Row = row(&CARD, alternation);

const CARD: Card = Card {
    operation: "one switch to the other process by sched_yield, on one CPU",
    call_path: CallPath::Inline,
    claims: &[
        // One, and more where the scheduler comes back to the caller.
        Claim::CallsNamed(&["sched_yield"], claims::shared_between(1.0, f64::MAX)),
        claims::NO_OTHER_CALLS,
        // One, and three in a batch of 32: the partner is woken, gives its place back, and is put to rest.
        handover::switches_between(1.0, 1.0 + 2.0 / 32.0),
    ],
    // Its batches touch no descriptor: the thread beside it did it no harm.
    revision: 1,
    subtract: None,
    remark: "with the same calls and switches it settles at one of several prices, here and in plain C: \
             which one depends on the launch and the build",
    ..two_pipes::card("context_switch/yield/same_cpu", "switch by sched_yield, one CPU", Placement::SameCpu)
};

/// Whose turn it is, in a shared word: a side goes on only when the other has run, so each operation is a real switch.
mod turn {
    pub const PARKED: u64 = 0;
    pub const OURS: u64 = 1;
    pub const PARTNERS: u64 = 2;
    pub const PARK: u64 = 3;
}

/// Yields without an answer after which the other side is given up: some seconds.
const MOST_YIELDS: u64 = 10_000_000;

struct Turn(SharedWords);

impl Turn {
    #[inline(always)]
    fn set(&self, turn: u64) {
        self.0.word(0).store(turn, Ordering::Release);
    }

    #[inline(always)]
    fn is(&self, turn: u64) -> bool {
        self.0.word(0).load(Ordering::Acquire) == turn
    }

    /// Yields until it is one of these two.
    #[inline(always)]
    fn wait_for(&self, one: u64, other: u64) -> Outcome {
        let mut yields = 0;
        while !(self.is(one) || self.is(other)) {
            system_call::sched_yield()?;
            yields += 1;
            if yields == MOST_YIELDS {
                return Err(CallError::no_answer("sched_yield"));
            }
        }
        Ok(())
    }
}

fn alternation(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let (near, far) = two_pipes::sides()?;
    let turn = Turn(SharedWords::new(1)?);
    let shared = &turn;
    let turns = Turns::new()?;
    let mut count = turns.of_partner();
    let partner = partner::start(cx, true, move || {
        loop {
            far.receive()?;
            shared.set(turn::OURS);
            loop {
                shared.wait_for(turn::PARTNERS, turn::PARK)?;
                if shared.is(turn::PARK) {
                    break;
                }
                count.turn();
                shared.set(turn::OURS);
            }
            shared.set(turn::PARKED);
        }
    })?;
    Ok(Subject::batched(Alternation { partner, near, turn, turns }))
}

struct Alternation {
    partner: Child,
    near: Side,
    turn: Turn,
    turns: Turns,
}

impl Batched for Alternation {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.turn.set(turn::PARTNERS);
            self.turn.wait_for(turn::OURS, turn::OURS)?;
        }
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(vec![self.turns.verify()])
    }

    /// Wakes the partner, which sleeps in a read while others are measured.
    fn arm(&mut self) -> Outcome {
        if self.turn.is(turn::OURS) {
            return Ok(());
        }
        self.near.send()?;
        self.turn.wait_for(turn::OURS, turn::OURS)
    }

    fn park(&mut self) -> Outcome {
        self.turn.set(turn::PARK);
        self.turn.wait_for(turn::PARKED, turn::PARKED)
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}
