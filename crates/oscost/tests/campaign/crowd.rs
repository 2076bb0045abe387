//! Runs twice as many provocations at once as there are CPUs, and adds up their outcomes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Outcome, Provocation, space, state};

/// Carries all out; the outcomes come in the order of the provocations.
pub fn all(provocations: &[Provocation]) -> Vec<Outcome> {
    // Each waits for half of its time: for a moment to kill at, for a process that is to end.
    let threads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let keys = state::keys(provocations);
    let outcomes = Mutex::new(vec![None; provocations.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(provocations.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(provocation) = provocations.get(index) else { return };
                    let outcome = state::once(&keys[index], || space::within(provocation));
                    // Told at once: who has to wait for an hour for what fell in the first minute gives up before.
                    for words in &outcome.failures {
                        eprintln!("{words}");
                    }
                    outcomes.lock().unwrap()[index] = Some(outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap().into_iter().flatten().collect()
}

/// The sum of all outcomes.
pub fn sum(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    let mut sum = Outcome::default();
    for outcome in outcomes {
        for (name, count) in outcome.counts {
            sum.count(&name, count);
        }
        sum.failures.extend(outcome.failures);
        for why in outcome.skipped {
            if !sum.skipped.contains(&why) {
                sum.skipped.push(why);
            }
        }
    }
    sum
}
