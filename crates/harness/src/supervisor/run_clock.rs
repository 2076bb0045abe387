//! The time of a run, without what the whole program slept through: stopped by Ctrl-Z or SIGSTOP, or its machine suspended.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oscost_sys::clock;

/// A wait for a worker is looked up from this often, ns.
pub(crate) const LOOK_NS: u64 = 50_000_000;
/// Who looks up later than this has slept, ns: a busy machine delays nobody so long.
const SLEPT_NS: u64 = 2_000_000_000;

/// A clock that stands while the program does: whoever asks it for the time late has slept. Who waits for a worker asks often, and
/// whatever else a run does takes less than a sleep.
#[derive(Debug, Default)]
pub(crate) struct RunClock {
    looked_ns: AtomicU64,
    slept_ns: AtomicU64,
}

impl RunClock {
    /// The time now, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        self.look_at(clock::now_ns())
    }

    /// What was slept so far, ns.
    pub(crate) fn slept_ns(&self) -> u64 {
        self.slept_ns.load(Relaxed)
    }

    fn look_at(&self, now_ns: u64) -> u64 {
        let looked_ns = self.looked_ns.swap(now_ns, Relaxed);
        let since = now_ns.saturating_sub(looked_ns);
        if looked_ns != 0 && since > SLEPT_NS {
            self.slept_ns.fetch_add(since - LOOK_NS, Relaxed);
        }
        now_ns.saturating_sub(self.slept_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_while_the_program_sleeps_and_at_no_other_time() {
        const SECOND: u64 = 1_000_000_000;
        let run_clock = RunClock::default();
        assert_eq!(run_clock.look_at(10 * SECOND), 10 * SECOND, "what was before is no sleep");
        assert_eq!(run_clock.look_at(10 * SECOND + LOOK_NS), 10 * SECOND + LOOK_NS);
        assert_eq!(run_clock.look_at(12 * SECOND), 12 * SECOND, "a busy machine is no sleep");
        assert_eq!(run_clock.look_at(57 * SECOND), 12 * SECOND + LOOK_NS);
        assert_eq!(run_clock.slept_ns(), 45 * SECOND - LOOK_NS);
        assert_eq!(run_clock.look_at(58 * SECOND), 13 * SECOND + LOOK_NS);
    }
}
