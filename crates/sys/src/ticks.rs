//! Due times of a loop that ticks.

/// The next time at which something is due, every `period_ns`. A tick whose time has passed is left out and counted, never
/// made up for in a burst.
#[derive(Debug, Clone, Copy)]
pub struct Ticks {
    due_ns: u64,
    period_ns: u64,
}

impl Ticks {
    /// The first tick is due at `first_ns`; `period_ns` is at least 1.
    #[must_use]
    pub fn new(first_ns: u64, period_ns: u64) -> Self {
        Self { due_ns: first_ns, period_ns: period_ns.max(1) }
    }

    /// When the next tick is due, ns.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Goes on to the first tick that is due after `now_ns`. Yields how many were left out.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) -> u64 {
        self.due_ns += self.period_ns;
        if now_ns < self.due_ns {
            return 0;
        }
        let missed = (now_ns - self.due_ns) / self.period_ns + 1;
        self.due_ns += missed * self.period_ns;
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::Ticks;

    #[test]
    fn a_late_loop_leaves_ticks_out_and_counts_them() {
        let mut ticks = Ticks::new(1_000, 100);
        assert_eq!((ticks.due_ns(), ticks.advance(1_099), ticks.due_ns()), (1_000, 0, 1_100));
        // Exactly when the next is due: its time has passed.
        assert_eq!((ticks.advance(1_200), ticks.due_ns()), (1, 1_300));
        assert_eq!((ticks.advance(1_399), ticks.due_ns()), (0, 1_400));
        assert_eq!((ticks.advance(1_950), ticks.due_ns()), (5, 2_000));
        // A clock that stands still is never late.
        assert_eq!((ticks.advance(0), ticks.due_ns()), (0, 2_100));
    }
}
