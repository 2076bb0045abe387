//! Operations that wake another CPU: what they cost where it sleeps, and which batches were waits asleep at all.
//!
//! A wait of which nobody slept is another price, and is told apart by the counted sleeps. METHOD.md, Across CPUs.

use oscost_stats::quantile::{median, sorted};

use crate::protocol::core::Core;
use crate::worker::clock::Monotonic;
use crate::worker::rounds::{self, Batches, Progress, RoundPlan, Runner, kept};
use crate::worker::summary::{self, CanaryTimes};

/// Fewer rounds than these say nothing of a price.
const FEW: usize = 5;
/// Where the waiting side slept in less than this part of the batches, its sleeps do not tell one price from another.
const LEAST_SHARE: f64 = 0.2;

/// The batches of one member by the sleeps of its waiting side.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// It slept in every iteration.
    slept: Vec<bool>,
    /// It never did.
    never: Vec<bool>,
}

impl Waits {
    /// Of batches of so many iterations, in each of which the measuring thread waits once and more. Nothing is told apart where its
    /// sleeps could not be read, or were few.
    pub(super) fn of(batches: &Batches, iterations: u64) -> Self {
        let told = |told: fn(u64, u64) -> bool| -> Vec<bool> {
            batches.sleeps.iter().map(|&sleeps| told(sleeps, iterations)).collect()
        };
        let slept = told(|sleeps, iterations| sleeps >= iterations);
        let count = slept.iter().filter(|slept| **slept).count();
        if batches.used.is_err() || count < FEW || (count as f64) < LEAST_SHARE * slept.len() as f64 {
            return Self::default();
        }
        Self { slept, never: told(|sleeps, _| sleeps == 0) }
    }

    /// The batches of the price that is judged, and which of them were fast: those that slept, or all where nothing is told apart.
    pub(super) fn judged(&self, batches: &Batches, fast: &[bool]) -> (Batches, Vec<bool>) {
        if self.slept.is_empty() {
            return (batches.clone(), fast.to_vec());
        }
        (batches.only(&self.slept), kept(fast, &self.slept))
    }

    /// Whether a round is one of that price.
    pub(super) fn is_judged(&self, round: usize) -> bool {
        self.slept.get(round).copied().unwrap_or(true)
    }

    /// The median of the batches in which nobody slept here, where there are some beside the others.
    pub(super) fn unslept(&self, batches: &Batches) -> Option<f64> {
        let samples = sorted(kept(&batches.samples, &self.never));
        median(&samples).filter(|_| samples.len() >= FEW)
    }
}

/// What each runner typically costs while idle CPUs do what the system makes them do, in batches of so many iterations; `None` of
/// those that have none, and where its waiting side hardly slept.
pub(super) fn while_asleep<'a>(
    runners: &mut [Runner<'a>],
    iterations: &[Option<u64>],
    canaries: &mut [Runner<'a>],
    core: &Core,
    plan: &RoundPlan,
    progress: &mut impl Progress,
) -> Vec<Option<f64>> {
    let swap = |runners: &mut [Runner<'_>], with: &[Option<u64>]| -> Vec<Option<u64>> {
        let mut one = |(runner, with): (&mut Runner<'_>, &Option<u64>)| {
            with.map(|iterations| std::mem::replace(&mut runner.iterations, iterations))
        };
        runners.iter_mut().zip(with).map(&mut one).collect()
    };
    let usual = swap(runners, iterations);
    let rounds = rounds::run(&mut Monotonic, runners, canaries, plan, progress);
    swap(runners, &usual);
    let fast = CanaryTimes::of(&rounds).fast_rounds(core);
    let typical = |(batches, iterations): (&Batches, &Option<u64>)| {
        let waits = Waits::of(batches, (*iterations)?);
        let (batches, fast) = waits.judged(batches, &fast);
        let summary = summary::summarise(&batches, &fast, false).filter(|_| !waits.slept.is_empty())?;
        summary.quantities.get(oscost_results::quantity::TYPICAL).copied()
    };
    rounds.members.iter().zip(iterations).map(typical).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of 8 iterations with these costs and sleeps.
    fn batches(told: &[(f64, u64)]) -> Batches {
        Batches {
            samples: told.iter().map(|told| told.0).collect(),
            disturbed: vec![false; told.len()],
            sleeps: told.iter().map(|told| told.1).collect(),
            ..Batches::default()
        }
    }

    #[test]
    fn what_slept_each_time_is_never_mixed_with_what_did_not() {
        // One in which it slept in half of the waits belongs to neither.
        let told = [vec![(3.3, 8); 10], vec![(0.9, 0); 5], vec![(2.0, 4); 5]].concat();
        let batches = batches(&told);
        let fast: Vec<bool> = (0..20).map(|round| round != 0).collect();
        let waits = Waits::of(&batches, 8);
        let (judged, fast) = waits.judged(&batches, &fast);
        assert_eq!(judged.samples, [3.3; 10]);
        assert_eq!((fast.len(), fast[0], fast[1]), (10, false, true), "flags go with their rounds");
        assert_eq!(waits.unslept(&batches), Some(0.9));
    }

    #[test]
    fn where_sleeps_tell_nothing_all_batches_are_one_price() {
        let all = |slept: usize, never: usize| {
            let batches = batches(&[vec![(3.3, 8); slept], vec![(0.9, 0); never]].concat());
            let waits = Waits::of(&batches, 8);
            (waits.judged(&batches, &vec![true; slept + never]).0.samples.len(), waits.unslept(&batches))
        };
        assert_eq!((all(4, 6), all(5, 21)), ((10, None), (26, None)), "hardly any slept");
        assert_eq!((all(5, 20), all(16, 4)), ((5, Some(0.9)), (16, None)), "four say nothing");
        let unread = Batches {
            used: Err(oscost_sys::CallError::new("getrusage", 38)),
            ..batches(&[vec![(3.3, 8); 10], vec![(0.9, 0); 10]].concat())
        };
        assert_eq!(Waits::of(&unread, 8).judged(&unread, &[true; 20]).0.samples.len(), 20);
    }

    /// Of these the waiting side leaves its CPU in each iteration, or never; and how long its batches are.
    struct Waiting(bool, Vec<u64>);

    impl crate::benchmark::Batched for Waiting {
        fn batch(&mut self, iterations: u64) -> crate::benchmark::Outcome {
            self.1.push(iterations);
            let left =
                || oscost_sys::usage::own(oscost_sys::usage::Whose::Thread).map(|it| it.voluntary_switches);
            for _ in 0..if self.0 { iterations } else { 0 } {
                let before = left()?;
                // A sleep whose time is over before it begins does not leave the CPU.
                while left()? == before {
                    oscost_sys::clock::pause(std::time::Duration::from_micros(1));
                }
            }
            Ok(())
        }
    }

    struct Nobody;

    impl Progress for Nobody {
        fn running(&mut self, _: usize) {}
    }

    /// Who waits asleep has a price of that, in batches of its own length; who never sleeps, and who is not asked, has none.
    #[test]
    fn a_price_asleep_is_of_who_slept_in_every_wait() {
        let (mut sleeps, mut spins, mut unasked) =
            (Waiting(true, vec![]), Waiting(false, vec![]), Waiting(true, vec![]));
        let mut runners =
            [&mut sleeps, &mut spins, &mut unasked].map(|batched| Runner::new(batched as &mut _, 3, 1));
        let plan = RoundPlan { warm_up_ns: 0, member_ns: 100_000_000, clock_pair_ns: 0.0, seed: 1 };
        let asked = [Some(2), Some(2), None];
        let found = while_asleep(&mut runners, &asked, &mut [], &Core::default(), &plan, &mut Nobody);
        assert_eq!(runners.map(|runner| runner.iterations), [3; 3], "as long as before");
        assert!(found[0].is_some_and(|ns| ns > 0.0) && found[1..] == [None, None], "{found:?}");
        for (batches, length) in [(sleeps.1, 2), (spins.1, 2), (unasked.1, 3)] {
            assert!(!batches.is_empty() && batches.iter().all(|it| *it == length), "{batches:?}");
        }
    }
}
