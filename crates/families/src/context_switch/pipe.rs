//! Two processes that hand a byte to and fro through two pipes (document 004): each hop is one context switch.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Outcome, Participant, Placement, PostCondition, SetUp,
    Subject, Unable,
};
use oscost_sys::{affinity, memory::SharedWords, process::Child};

use super::two_pipes::{self, Side};
use crate::partner::{self, Turns};

/// The benchmark, by placement and by what lies between the two processes.
pub struct Switch {
    pub card: &'static Card,
    pub sides: fn() -> Result<(Side, Side), Unable>,
    pub claims: fn(&'static Card) -> Cow<'static, [Claim]>,
}

/// `context_switch/pipe/same_cpu`
pub static SAME_CPU: Switch = Switch::by_pipes(&CARD_SAME_CPU);
/// `context_switch/pipe/cross_cpu`
pub static CROSS_CPU: Switch = Switch::by_pipes(&CARD_CROSS_CPU);
/// `context_switch/pipe/unpinned`
pub static UNPINNED: Switch = Switch::by_pipes(&CARD_UNPINNED);

static CARD_SAME_CPU: Card = card("process switch, one CPU", Placement::SameCpu);
static CARD_CROSS_CPU: Card = card("process switch, two CPUs", Placement::CrossCpu);
static CARD_UNPINNED: Card = Card {
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

impl Switch {
    const fn by_pipes(card: &'static Card) -> Self {
        Self { card, sides: two_pipes::sides, claims: two_pipes::claims }
    }
}

impl Benchmark for Switch {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        (self.claims)(self.card)
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let (near, far) = (self.sides)()?;
        let unpinned = self.card.placement == Placement::Unpinned;
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
        Ok(Subject::Batched(Box::new(RoundTrips { partner, near, seen, turns })))
    }
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
