//! How long a cache line takes between two CPUs: two processes answer each other through one word. A host may move the CPUs of a
//! guest meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::SharedWords;
use crate::process::Child;
use crate::{CallError, affinity, clock};

/// Round trips of a batch, and batches: the fastest one counts, because a preemption makes a batch long.
const ROUND_TRIPS: u64 = 100;
const BATCHES: u64 = 20;
/// All of it takes no longer, ns: two CPUs at a time make it in a fiftieth of that. Where they run in turn, as those of an emulator
/// or of a crowded host, each hop waits for the other's turn, and all batches would take longer than a launch may.
const PATIENCE_NS: u64 = 100_000_000;
/// Looks between two looks at the clock.
const LOOKS: u32 = 1 << 12;

/// Time of one way of a cache line between two CPUs, ns: half a round trip in the fastest batch. `None` where the two never ran
/// at once in the time allowed.
///
/// # Errors
/// The error of mmap, fork or wait.
pub fn between(a: usize, b: usize) -> Result<Option<f64>, CallError> {
    let found = SharedWords::new(1)?;
    let asks = Child::fork(|| {
        let hop = affinity::pin_to(a).and_then(|()| from_here(b));
        if let Ok(Some(ns)) = hop {
            found.word(0).store(ns.to_bits(), Ordering::Release);
        }
        i32::from(hop.is_err())
    })?;
    asks.wait_at_most(4 * PATIENCE_NS)?;
    let ns = f64::from_bits(found.word(0).load(Ordering::Acquire));
    Ok((ns > 0.0).then_some(ns))
}

/// The same from the CPU of the calling thread, which stays there, to `cpu`.
///
/// # Errors
/// The error of mmap or fork.
pub fn from_here(cpu: usize) -> Result<Option<f64>, CallError> {
    let words = SharedWords::new(1)?;
    let ball = words.word(0);
    let _partner = Child::fork(|| {
        if affinity::pin_to(cpu).is_err() {
            return 1;
        }
        loop {
            answer(ball);
            std::hint::spin_loop();
        }
    })?;
    let look = || {
        std::hint::spin_loop();
        ball.load(Ordering::Acquire)
    };
    Ok(timed(ball, look, clock::now_ns))
}

/// The partner's part: a ball with an odd number goes back with the next one.
fn answer(ball: &AtomicU64) {
    let number = ball.load(Ordering::Acquire);
    if !number.is_multiple_of(2) {
        ball.store(number + 1, Ordering::Release);
    }
}

/// A hop of the ball; `look` tells its number.
fn timed(ball: &AtomicU64, mut look: impl FnMut() -> u64, now_ns: impl Fn() -> u64) -> Option<f64> {
    let (mut number, until) = (0, now_ns() + PATIENCE_NS);
    let mut there_and_back = || -> Option<()> {
        ball.store(number + 1, Ordering::Release);
        number += 2;
        let mut looks = 0_u32;
        while look() != number {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && now_ns() > until {
                return None;
            }
        }
        Some(())
    };
    // The partner is there now.
    there_and_back()?;
    let mut best = u64::MAX;
    for _ in 0..BATCHES {
        let start = now_ns();
        if (0..ROUND_TRIPS).any(|_| there_and_back().is_none()) {
            break;
        }
        best = best.min(now_ns() - start);
    }
    (best < u64::MAX).then(|| best as f64 / (2 * ROUND_TRIPS) as f64)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::in_time;

    /// What is timed where the partner looks once at each of our looks, which take what `look_ns` says of a moment; and when it ends.
    fn played(look_ns: impl Fn(u64) -> u64) -> (Option<f64>, u64) {
        let (ball, now_ns) = (AtomicU64::new(0), Cell::new(1000));
        let look = || {
            let seen = ball.load(Ordering::Acquire);
            now_ns.set(now_ns.get() + look_ns(now_ns.get()));
            answer(&ball);
            seen
        };
        (timed(&ball, look, || now_ns.get()), now_ns.get())
    }

    /// Our first look comes too early, the second sees the answer: two looks are there and back.
    #[test]
    fn a_hop_is_half_of_there_and_back_in_the_fastest_batch() {
        assert_eq!(played(|_| 30).0, Some(30.0));
        let looks = 2 * (1 + ROUND_TRIPS * BATCHES);
        assert_eq!(played(|_| 30).1, 1000 + 30 * looks, "every batch is played");
        // A slow beginning is in no figure.
        assert_eq!(played(|now_ns| if now_ns < 50_000 { 500 } else { 30 }).0, Some(30.0));
    }

    #[test]
    fn who_never_answers_is_given_up_after_the_patience_and_what_was_timed_before_stays() {
        let (ball, now_ns) = (AtomicU64::new(0), Cell::new(0));
        let answers = Cell::new(0);
        let play = |first: u64| {
            now_ns.set(0);
            answers.set(0);
            ball.store(0, Ordering::Release);
            let look = || {
                now_ns.set(now_ns.get() + 1000);
                if answers.get() < first {
                    answers.set(answers.get() + 1);
                    answer(&ball);
                }
                ball.load(Ordering::Acquire)
            };
            timed(&ball, look, || now_ns.get())
        };
        assert_eq!(play(0), None);
        assert_eq!(
            now_ns.get(),
            PATIENCE_NS.next_multiple_of(1000 * u64::from(LOOKS)),
            "at a look at the clock"
        );
        assert_eq!(play(ROUND_TRIPS), None, "the first batch lacks one");
        assert_eq!(play(ROUND_TRIPS + 1), Some(500.0));
    }

    #[test]
    fn a_hop_takes_time_between_two_cpus() {
        let cpus = affinity::allowed().expect("CPUs");
        let [one, other, ..] = cpus[..] else {
            println!("SKIP a_hop_takes_time_between_two_cpus: one CPU");
            return;
        };
        let hop = std::thread::spawn(move || {
            affinity::pin_to(one).expect("pinned");
            let start = clock::now_ns();
            (from_here(other).expect("a partner"), clock::now_ns() - start)
        });
        let (hop, whole) = hop.join().expect("no panic");
        // All batches together took no longer than the call, and the fastest one no longer than any.
        let fits = |ns: f64| ns > 0.0 && ns * (2 * ROUND_TRIPS * BATCHES) as f64 <= whole as f64;
        assert!(hop.is_none_or(fits), "{hop:?} in {whole} ns");
    }

    #[test]
    fn two_that_run_in_turn_are_given_up_soon() {
        let cpu = affinity::allowed().expect("CPUs")[0];
        let hop = std::thread::spawn(move || {
            affinity::pin_to(cpu).expect("pinned");
            from_here(cpu).expect("a partner")
        });
        assert_eq!(hop.join().expect("no panic"), None, "no hop, but a turn of the scheduler");
        assert_eq!(in_time(|| between(cpu, cpu)), None);
    }

    #[test]
    fn a_line_takes_time() {
        let cpus = affinity::allowed().expect("CPUs");
        let [a, .., b] = cpus[..] else { return };
        // None where the machine is so busy that the two never met: then nothing is claimed.
        if let Some(ns) = in_time(|| between(a, b)) {
            assert!(ns > 0.5, "{ns} ns is faster than light takes through the chip");
        }
    }
}
