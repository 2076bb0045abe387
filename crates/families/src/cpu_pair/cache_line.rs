//! A cache line that two processes on two CPUs write in turn: what one stores, the other loads, one hop after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, Bound, CallError, CallPath, Card, Claim, Need, Outcome, Participant, Placement, PostCondition,
    SetUp, Subject, Unable,
};
use oscost_sys::{affinity, futex, memory::SharedWords, process::Child};

use crate::partner;

/// The partner falls asleep once a batch, which has so many hops at least; and room for the sleep before the first one.
const LEAST_HOPS: f64 = 16.0;
const ONE_SLEEP: Bound = Bound::AtMost(1.0 / LEAST_HOPS + 0.01);
/// It makes a call of it. These are counted in a batch of 200 hops.
const ONE_CALL: Bound = Bound::AtMost(0.05);

pub(super) const CARD: Card = Card {
    id: "cpu_pair/cache_line/cross_cpu",
    title: "cache line to another CPU",
    operation: "one hop of a cache line from a store on one CPU to the load of it on another",
    operations_per_iteration: 2,
    call_path: CallPath::Instruction,
    blocks: true,
    placement: Placement::CrossCpu,
    group: "cpu_pair/cross_cpu",
    claims: &[Claim::SystemCalls(ONE_CALL), Claim::VoluntarySwitches(ONE_SLEEP)],
    needs: &[Need::Cpus(2)],
    remark: "between the two CPUs of this run; 'oscost doctor' tells how far apart they are",
    ..Card::BATCHED
};

/// The words: what passes, what the partner is to do, where it is.
const BALL: usize = 0;
const ORDER: usize = 1;
const PLACE: usize = 2;
/// What the partner is to do.
const REST: u64 = 0;
const PLAY: u64 = 1;
/// So many looks in vain, and we ask whether the partner lives.
const LOOKS: u64 = 1 << 24;

pub(super) fn hops(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let words = Arc::new(SharedWords::new(3)?);
    let shared = Arc::clone(&words);
    let partner = partner::start(cx, true, move || {
        shared.word(PLACE).store(affinity::current().map_or(0, |cpu| cpu as u64 + 1), Ordering::Release);
        loop {
            while shared.word(ORDER).load(Ordering::Relaxed) == PLAY {
                let ball = shared.word(BALL).load(Ordering::Acquire);
                if ball % 2 == 1 {
                    shared.word(BALL).store(ball + 1, Ordering::Release);
                }
            }
            futex::wait(shared.word(ORDER), 0)?;
        }
    })?;
    Ok(Subject::batched(Hops { words, partner, ball: 0, made: 0 }))
}

struct Hops {
    words: Arc<SharedWords>,
    partner: Child,
    ball: u64,
    made: u64,
}

impl Hops {
    /// One hop there and one back.
    #[inline(always)]
    fn round_trip(&mut self) -> Outcome {
        self.ball += 2;
        self.words.word(BALL).store(self.ball - 1, Ordering::Release);
        let mut looks = 0_u64;
        while self.words.word(BALL).load(Ordering::Acquire) != self.ball {
            looks += 1;
            if looks.is_multiple_of(LOOKS) && self.partner.has_ended() {
                return Err(CallError::gone("hop of a cache line"));
            }
        }
        Ok(())
    }
}

impl Batched for Hops {
    /// Returns when the partner has answered once: it runs.
    fn arm(&mut self) -> Outcome {
        self.words.word(ORDER).store(PLAY, Ordering::Release);
        futex::wake(self.words.word(ORDER), 1)?;
        self.made += 1;
        self.round_trip()
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.round_trip()?;
        }
        self.made += iterations;
        Ok(())
    }

    fn park(&mut self) -> Outcome {
        self.words.word(ORDER).store(REST, Ordering::Release);
        Ok(())
    }

    /// The partner answered each hop, and it was on another CPU.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let answers = self.words.word(BALL).load(Ordering::Acquire) / 2;
        let own = affinity::current().map_or(0, |cpu| cpu as u64 + 1);
        let apart = self.words.word(PLACE).load(Ordering::Acquire) != own;
        Ok(vec![
            PostCondition::exactly("answers_of_the_partner", self.made as f64, answers as f64),
            PostCondition::is("on_another_cpu", true, apart),
        ])
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Process(self.partner.pid())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_in_the_least_batch_is_permitted_and_a_second_one_is_not() {
        let hops = (CARD.least_iterations() * CARD.operations_per_iteration) as f64;
        let permits = |sleeps: f64| {
            let found = PostCondition::new("sleeps", ONE_SLEEP, sleeps / hops);
            found.holds()
        };
        assert!(permits(1.0) && !permits(2.0), "a batch of {hops} hops");
        assert!(CARD.claims.contains(&Claim::VoluntarySwitches(ONE_SLEEP)));
        assert!(!CARD.wakes_another_cpu(), "no operation wakes anybody");
    }
}
