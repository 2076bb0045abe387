//! Handing a token over: two processes in strict alternation by two semaphores, so that every operation waits.

use std::borrow::Cow;

use oscost_harness::{
    Batched, Bound, CallError, CallPath, Card, Claim, Need, Outcome, Participant, Placement, PostCondition,
    SetUp, Subject, Unable,
};
use oscost_sys::identity;
use oscost_sys::process::Child;

use crate::claims;
use crate::partner::{self, Turns, uninterrupted};
use crate::row::{Row, row};

/// A semaphore that two processes can share.
pub trait Token: Sized + 'static {
    /// Whether a post wakes the other side under a spin lock that this side takes next.
    const WAKES_UNDER_A_LOCK: bool = false;

    /// A token of value `value`, shared with children that are forked from now on.
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable>;
    /// Takes the token, waiting for it.
    fn wait(&self) -> Outcome;
    /// Gives the token back.
    fn post(&self) -> Outcome;
    /// How many there are now, asked in another way than by taking them; `None` where nobody says.
    fn there(&self) -> Result<Option<u64>, CallError>;
}

/// Takes a token that is there and gives it back, and looks at it in between; many times.
pub fn verify<T: Token>(token: &T) -> Result<Vec<PostCondition>, CallError> {
    claims::looked_at_often(|| look_once(token))
}

fn look_once<T: Token>(token: &T) -> Result<Vec<PostCondition>, CallError> {
    let mut found = Vec::new();
    let mut look = |name, expected| -> Outcome {
        let there = token.there()?;
        found.extend(there.map(|there| PostCondition::exactly(name, expected, there as f64)));
        Ok(())
    };
    look("tokens_at_rest", 1.0)?;
    // Where it is gone, taking it would wait for ever.
    if token.there()?.is_none_or(|there| there > 0) {
        uninterrupted(|| token.wait())?;
        look("tokens_while_taken", 0.0)?;
        token.post()?;
        look("tokens_given_back", 1.0)?;
    }
    Ok(found)
}

/// A hand-over of two tokens of one kind.
pub const fn handover<T: Token>(card: &'static Card) -> Row {
    row(card, alternation::<T>).claims(|card| {
        if T::WAKES_UNDER_A_LOCK { woken_under_a_lock(card.claims) } else { Cow::Borrowed(card.claims) }
    })
}

/// Card of a hand-over with both processes on one CPU. Each process waits and posts once a round trip of two hand-overs.
pub const fn same_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        id,
        title,
        operation: "one hand-over of the token to the other process, on one CPU",
        heading: "one hand-over, on one CPU",
        operations_per_iteration: 2,
        call_path: CallPath::Libc,
        blocks: true,
        placement: Placement::SameCpu,
        group: "semaphore/handover/same_cpu",
        claims,
        baseline: Some("semaphore/posix_named/handover/same_cpu"),
        document: Some("000"),
        ..Card::BATCHED
    }
}

/// Card of a hand-over from one CPU to another.
pub const fn cross_cpu(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        // The first one was measured while the CPUs slept, whatever the host made of that.
        revision: 2,
        operation: "one hand-over of the token to the other process, on another CPU",
        heading: "one hand-over, on another CPU",
        placement: Placement::CrossCpu,
        group: "semaphore/handover/cross_cpu",
        needs: &[Need::Cpus(2)],
        baseline: Some("semaphore/posix_named/handover/cross_cpu"),
        ..same_cpu(id, title, claims)
    }
}

/// Hand-overs in the least batch of 16 iterations on one CPU, and of 8 across CPUs.
const LEAST_ON_ONE_CPU: f64 = 32.0;
const LEAST_ON_TWO_CPUS: f64 = 16.0;
/// Room for others who run on this CPU in between: in one hand-over of ten.
const OTHERS: f64 = 0.1;

/// Switches of a hand-over on one CPU that needs at least and at most so many. At the end of a batch the partner may fall
/// asleep only afterwards: one more in a batch.
pub const fn switches_between(least: f64, most: f64) -> Claim {
    Claim::Switches(Bound::Between(least, most + 1.0 / LEAST_ON_ONE_CPU + OTHERS))
}

/// Switches of a hand-over across CPUs: the waiting side may find its token there already, and need not sleep.
pub const fn switches_at_most(most: f64) -> Claim {
    Claim::Switches(Bound::AtMost(most + 1.0 / LEAST_ON_TWO_CPUS + OTHERS))
}

/// On one CPU the waiting side must leave the CPU to the other, and nothing needs a second switch.
const ONE_SWITCH: Claim = switches_between(1.0, 1.0);

/// Across CPUs nobody waits more than once.
const AT_MOST_ONE_SWITCH: Claim = switches_at_most(1.0);

/// The claim where a spin lock sleeps: the woken side may run while the other still holds the lock. It then sleeps for the lock,
/// and comes back: two switches more a hand-over at most.
fn with_a_lock_that_sleeps(claim: Claim) -> Claim {
    const MORE: f64 = 2.0;
    match claim {
        Claim::Switches(Bound::Between(least, most)) => Claim::Switches(Bound::Between(least, most + MORE)),
        Claim::Switches(Bound::AtMost(most)) => Claim::Switches(Bound::AtMost(most + MORE)),
        other => other,
    }
}

/// The claims of a card on this kernel, for a kind that wakes the other side under a spin lock that this side takes next.
pub fn woken_under_a_lock(claims: &'static [Claim]) -> Cow<'static, [Claim]> {
    woken_where(identity::kernel().spin_locks_sleep(), claims)
}

fn woken_where(spin_locks_sleep: bool, claims: &'static [Claim]) -> Cow<'static, [Claim]> {
    if spin_locks_sleep {
        Cow::Owned(claims.iter().map(|claim| with_a_lock_that_sleeps(*claim)).collect())
    } else {
        Cow::Borrowed(claims)
    }
}

/// Claims of a kind whose waits and posts are system calls always: two a hand-over, and one switch.
pub const fn in_the_kernel(names: &'static [&'static str]) -> [Claim; 3] {
    [Claim::CallsNamed(names, claims::shared(2.0)), claims::NO_OTHER_CALLS, ONE_SWITCH]
}

/// The same across two CPUs, where nobody need sleep.
pub const fn on_two_cpus(claims: [Claim; 3]) -> [Claim; 3] {
    [claims[0], claims[1], AT_MOST_ONE_SWITCH]
}

/// Claims of a kind that enters the kernel only to sleep and to wake, once each a hand-over at most. On one CPU one of the two
/// sides must sleep in each round trip, and the other must wake it: two calls in two hand-overs at least.
pub const BY_FUTEX: [Claim; 3] =
    [Claim::CallsNamed(&["futex"], claims::shared_between(1.0, 2.0)), claims::NO_OTHER_CALLS, ONE_SWITCH];

/// The same across two CPUs, where nobody need sleep or wake.
pub const BY_FUTEX_ON_TWO_CPUS: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(0.0, 2.0)),
    claims::NO_OTHER_CALLS,
    AT_MOST_ONE_SWITCH,
];

/// The subject. The partner is dropped, and so ended, before the tokens are removed.
struct Alternation<T> {
    partner: Child,
    there: T,
    back: T,
    turns: Turns,
}

fn alternation<T: Token>(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let (there, back) = (T::make(cx, 0)?, T::make(cx, 0)?);
    let turns = Turns::new()?;
    let mut count = turns.of_partner();
    let (theirs, ours) = (&there, &back);
    let partner = partner::start(cx, true, move || {
        loop {
            uninterrupted(|| theirs.wait())?;
            count.turn();
            ours.post()?;
        }
    })?;
    Ok(Subject::batched(Alternation { partner, there, back, turns }))
}

/// Between batches the partner sleeps in its wait: it needs no arming and no parking.
impl<T: Token> Batched for Alternation<T> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.there.post()?;
            uninterrupted(|| self.back.wait())?;
        }
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let tokens = [self.there.there()?, self.back.there()?].into_iter().flatten().sum::<u64>();
        Ok(vec![self.turns.verify(), PostCondition::exactly("tokens_at_rest", 0.0, tokens as f64)])
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_sleeps_adds_two_switches_and_nothing_else() {
        let claims = in_the_kernel(&["read", "write"]).map(with_a_lock_that_sleeps);
        let Claim::Switches(Bound::Between(least, most)) = ONE_SWITCH else { panic!("{ONE_SWITCH:?}") };
        assert_eq!(claims[2], Claim::Switches(Bound::Between(least, most + 2.0)));
        assert_eq!(claims[..2], in_the_kernel(&["read", "write"])[..2]);
    }

    #[test]
    fn a_pipe_wakes_under_a_lock_and_has_more_switches_only_where_it_sleeps() {
        const { assert!(<oscost_sys::pipe::Pipe as Token>::WAKES_UNDER_A_LOCK) };
        static CLAIMS: [Claim; 3] = on_two_cpus(in_the_kernel(&["read", "write"]));
        let (plain, real_time) = (woken_where(false, &CLAIMS), woken_where(true, &CLAIMS));
        // 1.50 switches a hand-over were counted there.
        let holds = |claims: &[Claim]| match claims[2] {
            Claim::Switches(Bound::AtMost(most)) => 1.5 <= most,
            other => panic!("{other:?}"),
        };
        assert_eq!((holds(&plain), holds(&real_time)), (false, true));
    }
}
