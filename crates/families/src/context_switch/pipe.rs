//! Two processes that hand a byte to and fro through two pipes (document 004): each hop is one context switch.

use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{
    Batched, CallError, Card, Outcome, Participant, Placement, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::{affinity, memory::SharedWords, process::Child};

use super::two_pipes::{self, Side};
use crate::partner::{self, Turns};
use crate::row::{Row, row};

pub const SAME_CPU: Row =
    row(const { &card("process switch, one CPU", Placement::SameCpu) }, by_pipes).claims(two_pipes::claims);
pub const CROSS_CPU: Row =
    row(const { &card("process switch, two CPUs", Placement::CrossCpu) }, by_pipes).claims(two_pipes::claims);
pub const UNPINNED: Row =
    row(&CARD_UNPINNED, |cx| round_trips(cx, two_pipes::sides()?, true)).claims(two_pipes::claims);

const CARD_UNPINNED: Card = Card {
    // 1: the partner asked for its CPU in each turn, which is a system call where libc makes one of it.
    revision: 2,
    remark: "a mixture of both placements: the more batches end on one CPU, the lower the figure",
    ..card("process switch, unpinned", Placement::Unpinned)
};

const fn card(title: &'static str, placement: Placement) -> Card {
    Card {
        document: Some("004"),
        baseline: None,
        ..two_pipes::card(two_pipes::pipe(placement), title, placement)
    }
}

fn by_pipes(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    round_trips(cx, two_pipes::sides()?, false)
}

/// Round trips between these sides, of which the second is a partner's.
pub fn round_trips(cx: &mut SetUp<'_>, (near, far): (Side, Side), unpinned: bool) -> Result<Subject, Unable> {
    between(cx, (near, far), unpinned).map(Subject::batched)
}

fn between(cx: &SetUp<'_>, (near, far): (Side, Side), unpinned: bool) -> Result<RoundTrips, Unable> {
    let seen = if unpinned { Some(Seen::new()?) } else { None };
    let whereabouts = seen.as_ref().map(|seen| seen.partner.word(0));
    let turns = Turns::new()?;
    let mut count = turns.of_partner();
    // The far side moves into the partner: closed here, its end is an end of stream for us, and not a wait for ever.
    let partner = partner::start(cx, !unpinned, move || {
        loop {
            far.receive()?;
            count.turn();
            if let Some(whereabouts) = whereabouts {
                say_where_if_asked(whereabouts);
            }
            far.send()?;
        }
    })?;
    Ok(RoundTrips { partner, near, seen, turns })
}

/// The partner is asked for its CPU. Not in each turn: its answer can be a system call.
const ASKED: u64 = u64::MAX;

/// Stores the caller's CPU, from 1, where it was asked for; 0 is nowhere.
#[inline(always)]
fn say_where_if_asked(word: &AtomicU64) {
    if word.load(Ordering::Relaxed) == ASKED {
        word.store(affinity::current().map_or(0, |cpu| cpu as u64 + 1), Ordering::Relaxed);
    }
}

struct RoundTrips {
    partner: Child,
    near: Side,
    seen: Option<Seen>,
    turns: Turns,
}

/// Where the two sides of an unpinned switch were at the end of each batch.
struct Seen {
    partner: SharedWords,
    /// The partner was asked in this batch.
    asked: bool,
    batches: u64,
    on_one_cpu: u64,
}

impl Seen {
    fn new() -> Result<Self, Unable> {
        Ok(Self { partner: SharedWords::new(1)?, asked: false, batches: 0, on_one_cpu: 0 })
    }

    fn look(&mut self) {
        let own = affinity::current().map(|cpu| cpu as u64 + 1);
        self.batches += 1;
        self.on_one_cpu += u64::from(own == Some(self.partner.word(0).load(Ordering::Relaxed)));
    }
}

/// Between batches the partner sleeps in its read: it needs no arming.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        // A single turn is timed as any other.
        let last = u64::from(self.seen.is_some() && iterations > 1);
        self.near.round_trips(iterations - last)?;
        if let Some(seen) = self.seen.as_mut().filter(|_| last > 0) {
            seen.asked = true;
            seen.partner.word(0).store(ASKED, Ordering::Relaxed);
            self.near.round_trips(last)?;
        }
        self.turns.add(iterations);
        Ok(())
    }

    fn park(&mut self) -> Outcome {
        if let Some(seen) = &mut self.seen
            && std::mem::take(&mut seen.asked)
        {
            seen.look();
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.near.verify(&self.turns)
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }

    fn same_cpu_share(&self) -> Option<f64> {
        let seen = self.seen.as_ref().filter(|seen| seen.batches > 0)?;
        Some(seen.on_one_cpu as f64 / seen.batches as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::with_set_up;

    #[test]
    fn the_partner_says_where_it_is_once_a_batch() {
        let cpus = affinity::allowed().expect("CPUs");
        let made = with_set_up(&cpus, |cx| between(cx, two_pipes::sides()?, true));
        let Ok(mut made) = made else { panic!("pipes and a process") };
        made.near.round_trips(3).expect("round trips");
        made.turns.add(3);
        let said =
            |made: &RoundTrips| made.seen.as_ref().map(|seen| seen.partner.word(0).load(Ordering::Relaxed));
        assert_eq!(said(&made), Some(0), "nobody asked");
        for batches in 1..=3 {
            made.batch(16).expect("round trips");
            assert!(
                said(&made).is_some_and(|cpu| cpus.contains(&(cpu as usize).wrapping_sub(1))),
                "{:?}",
                said(&made)
            );
            made.park().expect("nothing to do");
            assert_eq!(made.seen.as_ref().map(|seen| seen.batches), Some(batches));
        }
        made.batch(1).expect("a round trip");
        made.park().expect("nothing to do");
        assert_eq!(made.seen.as_ref().map(|seen| seen.batches), Some(3), "a single turn asks nobody");
        assert!(made.verify().expect("nothing fails").iter().all(PostCondition::holds));
        assert!(made.same_cpu_share().is_some_and(|share| (0.0..=1.0).contains(&share)));
    }
}
