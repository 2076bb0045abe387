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
                say_where(whereabouts);
            }
            far.send()?;
        }
    })?;
    Ok(Subject::batched(RoundTrips { partner, near, seen, turns }))
}

/// Stores the caller's CPU, from 1; 0 is nowhere.
fn say_where(word: &AtomicU64) {
    word.store(affinity::current().map_or(0, |cpu| cpu as u64 + 1), Ordering::Relaxed);
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
    batches: u64,
    on_one_cpu: u64,
}

impl Seen {
    fn new() -> Result<Self, Unable> {
        Ok(Self { partner: SharedWords::new(1)?, batches: 0, on_one_cpu: 0 })
    }

    fn look(&mut self) {
        let own = affinity::current().map_or(u64::MAX, |cpu| cpu as u64 + 1);
        self.batches += 1;
        self.on_one_cpu += u64::from(self.partner.word(0).load(Ordering::Relaxed) == own);
    }
}

/// Between batches the partner sleeps in its read: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.near.round_trips(iterations)?;
        self.turns.add(iterations);
        if let Some(seen) = &mut self.seen {
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
