//! From a FUTEX_WAKE to the return of another process's FUTEX_WAIT.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oscost_harness::{Benchmark, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::futex;
use oscost_sys::memory::SharedWords;

use crate::alternation::{self, Counts, End, alternating};
use crate::claims;
use crate::semaphore::handover;

pub const ALL: &[&dyn Benchmark] = &[&alternating::<Word>(&SAME_CPU), &alternating::<Word>(&CROSS_CPU)];

/// One wake a hop always, and one wait; one more where a wake came for an earlier word.
const CALLS: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(1.0, 3.0)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(1.0, 1.0),
];

const SAME_CPU: Card = Card {
    id: "futex/wake_one/same_cpu",
    title: "futex wake-up, one CPU",
    operation: "one FUTEX_WAKE and the other process's return from FUTEX_WAIT, on one CPU",
    operations_per_iteration: 2,
    group: "futex/same_cpu",
    claims: &CALLS,
    ..alternation::SAME_CPU
};

const CROSS_CPU: Card = Card {
    id: "futex/wake_one/cross_cpu",
    title: "futex wake-up, two CPUs",
    operation: "one FUTEX_WAKE and the other process's return from FUTEX_WAIT, on another CPU",
    group: "futex/cross_cpu",
    claims: &handover::on_two_cpus(CALLS),
    revision: alternation::CROSS_CPU.revision,
    placement: alternation::CROSS_CPU.placement,
    needs: alternation::CROSS_CPU.needs,
    ..SAME_CPU
};

/// A word of each side, which holds how often the other gave it a turn.
pub struct Word {
    words: Arc<SharedWords>,
    /// Index of the own word.
    own: usize,
    turns_given: u32,
    turns_taken: u32,
    /// Sleepers woken, and own sleeps that a wake ended, as the kernel told them.
    counts: Counts,
}

impl End for Word {
    const WHAT: [&'static str; 2] = ["sleeps_ended_there", "sleeps_ended_here"];

    fn pair(_: &mut SetUp<'_>) -> Result<(Self, Self), Unable> {
        let words = Arc::new(SharedWords::new(32)?);
        let end = |own| Self {
            words: Arc::clone(&words),
            own,
            turns_given: 0,
            turns_taken: 0,
            counts: Counts::default(),
        };
        // On lines of their own.
        Ok((end(0), end(16)))
    }

    #[inline(always)]
    fn send(&mut self) -> Outcome {
        let word = self.words.word(16 - self.own);
        self.turns_given = self.turns_given.wrapping_add(1);
        word.store(self.turns_given.into(), Ordering::Release);
        self.counts.given += u64::from(futex::wake(word, 1)?);
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self) -> Outcome {
        let word = self.words.word(self.own);
        // Without a look first: whoever is late is told so by the kernel.
        loop {
            self.counts.taken += u64::from(futex::wait(word, self.turns_taken)?);
            if word.load(Ordering::Acquire) != u64::from(self.turns_taken) {
                self.turns_taken = self.turns_taken.wrapping_add(1);
                return Ok(());
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
