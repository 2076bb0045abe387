//! Two processes in strict alternation over a link: what one side gives, the other takes, and both sides count.

use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, CallError, Card, Need, Outcome, Participant, Placement, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::clock;
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;

use crate::partner;
use crate::row::{Row, row};

/// One end of a link between two processes.
pub trait End: Sized + 'static {
    /// What goes over the link, as the names of post-conditions have it ("bytes").
    const WHAT: [&'static str; 2];

    /// Two new ends; the second one goes to a process that is forked later.
    fn pair(cx: &mut SetUp<'_>) -> Result<(Self, Self), Unable>;
    /// Gives the other side its turn.
    fn send(&mut self) -> Outcome;
    /// Waits for the own turn.
    fn receive(&mut self) -> Outcome;
    /// How much this end gave and took, as the kernel told it.
    fn counts(&self) -> Counts;
}

/// What an end gave and took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Given to the other side.
    pub given: u64,
    /// Taken from the other side.
    pub taken: u64,
}

/// The benchmark of a card whose operation is a hop or a round trip over such a link.
pub const fn alternating<E: End>(card: &'static Card) -> Row {
    row(card, round_trips::<E>)
}

/// What cards of such links share with both sides on one CPU.
pub const SAME_CPU: Card = Card { blocks: true, placement: Placement::SameCpu, ..Card::BATCHED };
/// The same with the sides on two CPUs.
///
/// The first revision was measured while the CPUs slept, whatever the host made of that.
pub const CROSS_CPU: Card =
    Card { revision: 2, placement: Placement::CrossCpu, needs: &[Need::Cpus(2)], ..SAME_CPU };

fn round_trips<E: End>(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let (near, mut far) = E::pair(cx)?;
    let words = SharedWords::new(3)?;
    let (shared, mut turns) = (&words, 0);
    let partner = partner::start(cx, true, move || {
        loop {
            far.receive()?;
            far.send()?;
            turns += 1;
            let Counts { given, taken } = far.counts();
            shared.word(GIVEN).store(given, Ordering::Relaxed);
            shared.word(TAKEN).store(taken, Ordering::Relaxed);
            shared.word(TURNS).store(turns, Ordering::Release);
        }
    })?;
    Ok(Subject::batched(RoundTrips { partner, near, words, turns: 0 }))
}

const TURNS: usize = 0;
const GIVEN: usize = 1;
const TAKEN: usize = 2;
/// The other side counts its last turn after it has given us ours: so long that is waited for, ns.
const PATIENCE_NS: u64 = 1_000_000_000;

struct RoundTrips<E> {
    partner: Child,
    near: E,
    words: SharedWords,
    turns: u64,
}

/// Between batches the partner waits for its turn: it needs no arming and no parking.
impl<E: End> Batched for RoundTrips<E> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.near.send()?;
            self.near.receive()?;
        }
        self.turns += iterations;
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let of_partner = |word: usize| self.words.word(word).load(Ordering::Acquire);
        let until = clock::now_ns() + PATIENCE_NS;
        while of_partner(TURNS) < self.turns && clock::now_ns() < until {
            clock::pause(std::time::Duration::from_micros(100));
        }
        let (ours, [there, back]) = (self.near.counts(), E::WHAT);
        Ok(vec![
            PostCondition::exactly("turns_of_the_partner", self.turns as f64, of_partner(TURNS) as f64),
            PostCondition::exactly(there, ours.given as f64, of_partner(TAKEN) as f64),
            PostCondition::exactly(back, of_partner(GIVEN) as f64, ours.taken as f64),
        ])
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::with_set_up;

    /// The operation without its essential call: nothing is sent, and the measuring side waits for nothing.
    struct Silent {
        maker: u32,
    }

    impl End for Silent {
        const WHAT: [&'static str; 2] = ["bytes_at_the_partner", "bytes_of_the_partner"];

        fn pair(_: &mut SetUp<'_>) -> Result<(Self, Self), Unable> {
            let maker = std::process::id();
            Ok((Self { maker }, Self { maker }))
        }

        fn send(&mut self) -> Outcome {
            Ok(())
        }

        fn receive(&mut self) -> Outcome {
            // The partner, which would turn for ever, sleeps.
            if std::process::id() == self.maker { Ok(()) } else { clock::sleep_until(u64::MAX >> 2) }
        }

        fn counts(&self) -> Counts {
            Counts::default()
        }
    }

    #[test]
    fn a_side_that_sends_nothing_is_contradicted() {
        let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0];
        let set_up = with_set_up(&[cpu], round_trips::<Silent>);
        let Ok(Subject::Batched(mut subject)) = set_up else { panic!("it needs nothing") };
        subject.batch(10).expect("nothing fails");
        let found = subject.verify().expect("nothing fails");
        assert!(found.iter().any(|it| it.name == "turns_of_the_partner" && !it.holds()), "{found:?}");
    }
}
