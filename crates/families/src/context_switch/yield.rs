//! Two processes on one CPU that alternate by sched_yield: a switch without sleeping and waking.

use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Outcome, Participant, Placement, SetUp,
    Subject, Unable,
};
use oscost_sys::{memory::SharedWords, process::Child, system_call};

use super::two_pipes::{self, Side};
use crate::partner;

/// `context_switch/yield/same_cpu`
pub struct SameCpu;

static CARD: Card = Card {
    operation: "one switch to the other process by sched_yield, on one CPU",
    call_path: CallPath::Inline,
    claims: &[
        // One, and more where the scheduler comes back to the caller. Under the audit both sides also yield while they wait
        // for its listener, in one pass more than in the other: hence the distance to 1.
        Claim::CallsNamed(&["sched_yield"], Bound::AtLeast(0.5)),
        // Waking and parking the partner adds two a batch, which on a slow machine holds few operations.
        Claim::Switches(Bound::Between(0.9, 2.1)),
    ],
    subtract: None,
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

impl Benchmark for SameCpu {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let (near, far) = two_pipes::sides()?;
        let turn = Turn(SharedWords::new(1)?);
        let shared = &turn;
        let partner = partner::start(cx, true, move || {
            loop {
                far.receive()?;
                shared.set(turn::OURS);
                loop {
                    shared.wait_for(turn::PARTNERS, turn::PARK)?;
                    if shared.is(turn::PARK) {
                        break;
                    }
                    shared.set(turn::OURS);
                }
                shared.set(turn::PARKED);
            }
        })?;
        Ok(Subject::Batched(Box::new(Alternation { partner, near, turn })))
    }
}

struct Alternation {
    partner: Child,
    near: Side,
    turn: Turn,
}

impl Batched for Alternation {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.turn.set(turn::PARTNERS);
            self.turn.wait_for(turn::OURS, turn::OURS)?;
        }
        Ok(())
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
