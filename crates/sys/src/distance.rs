//! How long a cache line takes between two CPUs: two processes answer each other through one word.

use std::sync::atomic::Ordering;

use crate::memory::SharedWords;
use crate::process::Child;
use crate::{CallError, affinity, clock};

/// Round trips of one run: the shortest of several runs counts, because a preemption makes a run long.
const ROUND_TRIPS: u64 = 500;
const RUNS: u32 = 6;
/// Nobody spins longer than this, whatever became of the other, ns.
const PATIENCE_NS: u64 = 200_000_000;

/// Time of one way of a cache line between two CPUs, ns: half a round trip, the least of several runs. `None` where the
/// two never ran at once in the time allowed.
///
/// # Errors
/// The error of mmap, fork, sched_setaffinity or wait.
pub fn between(a: usize, b: usize) -> Result<Option<f64>, CallError> {
    // Word 0 passes to and fro; word 64 takes the finding, on a line of its own.
    let shared = SharedWords::new(128)?;
    let echo = Child::fork(|| {
        if affinity::pin_to(b).is_err() {
            return 1;
        }
        let start = clock::now_ns();
        let mut expected = 1;
        while expected <= 2 * ROUND_TRIPS * u64::from(RUNS) {
            if !answered(&shared, expected, start) {
                return 2;
            }
            shared.word(0).store(expected + 1, Ordering::Release);
            expected += 2;
        }
        0
    })?;
    let ask = Child::fork(|| {
        if affinity::pin_to(a).is_err() {
            return 1;
        }
        let start = clock::now_ns();
        let mut least = u64::MAX;
        let mut sent = 1;
        for _ in 0..RUNS {
            let before = clock::now_ns();
            for _ in 0..ROUND_TRIPS {
                shared.word(0).store(sent, Ordering::Release);
                if !answered(&shared, sent + 1, start) {
                    return 2;
                }
                sent += 2;
            }
            least = least.min(clock::now_ns() - before);
            shared.word(64).store(least, Ordering::Release);
        }
        0
    })?;
    ask.wait_at_most(2 * PATIENCE_NS)?;
    drop(echo);
    let least = shared.word(64).load(Ordering::Acquire);
    Ok((least > 0).then(|| least as f64 / (2 * ROUND_TRIPS) as f64))
}

/// Spins until the word has this value.
fn answered(shared: &SharedWords, value: u64, start: u64) -> bool {
    let mut spins = 0_u32;
    while shared.word(0).load(Ordering::Acquire) != value {
        std::hint::spin_loop();
        spins = spins.wrapping_add(1);
        if spins.is_multiple_of(4096) && clock::now_ns() - start > PATIENCE_NS {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_time() {
        let cpus = affinity::allowed().expect("CPUs");
        let [a, .., b] = cpus[..] else { return };
        // None where the machine is so busy that the two never met: then nothing is claimed.
        if let Some(ns) = between(a, b).expect("a distance") {
            assert!(ns > 0.5, "{ns} ns is faster than light takes through the chip");
        }
    }
}
