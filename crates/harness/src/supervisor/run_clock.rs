//! The time of a run, without what the whole program slept through: stopped by Ctrl-Z or SIGSTOP, or its machine suspended.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oscost_sys::clock;

/// A wait for a worker is looked up from this often, ns.
pub(crate) const LOOK_NS: u64 = 50_000_000;
/// Who looks up later than this has slept, ns: a busy machine delays nobody so long.
const SLEPT_NS: u64 = 2_000_000_000;

/// A clock that stands while the program does. It is looked at while a worker is waited for, which is nearly always.
#[derive(Debug, Default)]
pub(crate) struct RunClock {
    looked_ns: AtomicU64,
    slept_ns: AtomicU64,
}

impl RunClock {
    /// The time now, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        clock::now_ns().saturating_sub(self.slept_ns())
    }

    /// What was slept so far, ns.
    pub(crate) fn slept_ns(&self) -> u64 {
        self.slept_ns.load(Relaxed)
    }

    /// Begins a wait. The time now, ns.
    pub(crate) fn begin(&self) -> u64 {
        self.looked_ns.store(clock::now_ns(), Relaxed);
        self.now_ns()
    }

    /// Looks up from a wait. The time now, ns.
    pub(crate) fn look(&self) -> u64 {
        self.look_at(clock::now_ns())
    }

    fn look_at(&self, now_ns: u64) -> u64 {
        let since = now_ns.saturating_sub(self.looked_ns.swap(now_ns, Relaxed));
        if since > SLEPT_NS {
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
        let run_clock = RunClock { looked_ns: AtomicU64::new(10 * SECOND), ..RunClock::default() };
        assert_eq!(run_clock.look_at(10 * SECOND + LOOK_NS), 10 * SECOND + LOOK_NS);
        assert_eq!(run_clock.look_at(12 * SECOND), 12 * SECOND, "a busy machine is no sleep");
        assert_eq!(run_clock.look_at(57 * SECOND), 12 * SECOND + LOOK_NS);
        assert_eq!(run_clock.slept_ns(), 45 * SECOND - LOOK_NS);
        assert_eq!(run_clock.look_at(58 * SECOND), 13 * SECOND + LOOK_NS);
    }
}
