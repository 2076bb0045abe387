//! How far apart the two CPUs of a launch are: one hop of a cache line between them. A host may move the CPUs of a guest meanwhile.

use std::sync::atomic::Ordering;

use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::{affinity, clock};

/// Round trips of a batch, and batches: the fastest one counts.
const ROUND_TRIPS: u64 = 100;
const BATCHES: u64 = 20;
/// All of it takes no longer, ns: two CPUs at a time make it in a fiftieth of that. Where they run in turn, as those of an emulator
/// or of a crowded host, each hop waits for the other's turn, and all batches would take longer than a launch may.
const PATIENCE_NS: u64 = 100_000_000;
/// Looks between two looks at the clock.
const LOOKS: u32 = 1 << 12;

/// A hop from the CPU of this thread to `cpu` or back, ns; `None` where it could not be timed.
pub(super) fn hop_ns(cpu: usize) -> Option<f64> {
    let words = SharedWords::new(1).ok()?;
    let ball = words.word(0);
    let _partner = Child::fork(|| {
        if affinity::pin_to(cpu).is_err() {
            return 1;
        }
        let mut turn = 1;
        loop {
            while ball.load(Ordering::Acquire) != turn {
                std::hint::spin_loop();
            }
            ball.store(turn + 1, Ordering::Release);
            turn += 2;
        }
    })
    .ok()?;
    let (mut turn, until) = (0, clock::now_ns() + PATIENCE_NS);
    let mut there_and_back = || -> Option<()> {
        ball.store(turn + 1, Ordering::Release);
        turn += 2;
        let mut looks = 0_u32;
        while ball.load(Ordering::Acquire) != turn {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && clock::now_ns() > until {
                return None;
            }
            std::hint::spin_loop();
        }
        Some(())
    };
    // The partner is there now.
    there_and_back()?;
    let mut best = u64::MAX;
    for _ in 0..BATCHES {
        let start = clock::now_ns();
        if (0..ROUND_TRIPS).any(|_| there_and_back().is_none()) {
            break;
        }
        best = best.min(clock::now_ns() - start);
    }
    (best < u64::MAX).then(|| best as f64 / (2 * ROUND_TRIPS) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (hop_ns(other), clock::now_ns() - start)
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
            hop_ns(cpu)
        });
        assert_eq!(hop.join().expect("no panic"), None, "no hop, but a turn of the scheduler");
    }
}
