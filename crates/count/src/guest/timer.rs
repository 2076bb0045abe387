//! The guest's timer tick: operations are counted between two ticks, so that no operation pays for a tick.

use oscost_sys::clock::tsc;
use oscost_sys::guest::execute;

/// Two readings of the clock further apart than this had something between them.
const GAP: u64 = 400;
/// Longest time between two ticks that a kernel can be built for (100 a second), and some more, in instructions.
const LONGEST: u64 = 10_500_000;
/// What a tick has woken has ended when nothing happened for so long.
const QUIET: u64 = 30_000;
/// Counting ends so long before the next tick is due.
const MARGIN: u64 = 20_000;
/// A machine that was stopped from outside goes on with its timer's next tick: it has ended when nothing happened for so long.
const SETTLED: u64 = 10_000;
/// A sleeper is owed no more than this: 3 ms in kernels before 6.6, later a slice, which is shorter.
const OWED: u64 = 3_100_000;
/// What settling takes at most.
pub(crate) const SETTLING: u64 = 150_000;

/// What is known of the tick.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timer {
    /// Instructions between two ticks; 0: none was seen.
    pub(crate) period: u64,
    /// Instructions that a tick takes.
    pub(crate) cost: u64,
    /// When the last one that was seen had ended.
    last: u64,
}

/// Waits until something interrupts this loop, at most `most` instructions: when it had ended, and what it took.
fn interruption(most: u64) -> Option<(u64, u64)> {
    let begun = tsc();
    let mut before = begun;
    loop {
        // To read the clock costs the emulator far more than other instructions do.
        let mut passes = 16_u32;
        while passes > 0 {
            passes = std::hint::black_box(passes) - 1;
        }
        let now = tsc();
        if now - before > GAP {
            return Some((now, now - before));
        }
        if now - begun > most {
            return None;
        }
        before = now;
    }
}

impl Timer {
    /// Looks for three ticks. The first wakes what was waiting; the shorter of the two costs is a tick's own.
    pub(crate) fn find() -> Self {
        let seen: Option<Vec<(u64, u64)>> = (0..3)
            .map(|_| {
                let tick = interruption(LONGEST)?;
                while interruption(QUIET).is_some() {}
                Some(tick)
            })
            .collect();
        let Some(seen) = seen else { return Self::default() };
        Self {
            period: (seen[1].0 - seen[0].0).max(seen[2].0 - seen[1].0),
            cost: seen[1].1.min(seen[2].1),
            last: seen[2].0,
        }
    }

    /// A tick that another process has found.
    pub(crate) fn known(period: u64, cost: u64) -> Self {
        Self { period, cost, last: 0 }
    }

    /// Whether something of `length` instructions can be kept clear of ticks.
    pub(crate) fn keeps_clear(&self, length: u64) -> bool {
        self.period > 0 && length < self.period / 4
    }

    /// Returns at once where something of `length` instructions ends before the next tick, else right after that: whether it
    /// waited.
    pub(crate) fn clear(&mut self, length: u64) -> bool {
        if !self.keeps_clear(length) {
            return false;
        }
        let since = tsc().wrapping_sub(self.last);
        if since + 2 * length + MARGIN < self.period {
            return false;
        }
        self.next();
        true
    }

    /// Returns right after the next tick, and what it woke.
    pub(crate) fn next(&mut self) {
        // The emulator is fast where nothing reads the clock.
        let since = tsc().wrapping_sub(self.last);
        execute(self.period.saturating_sub(since.saturating_add(MARGIN)));
        if let Some((ended, _)) = interruption(self.period + MARGIN) {
            self.last = ended;
            while interruption(QUIET).is_some() {}
        }
    }

    /// Spends some time alone, and returns right after a tick. What the scheduler owes to those who slept meanwhile has then
    /// reached its bound, whatever was before.
    pub(crate) fn alone(&mut self) {
        let begun = tsc();
        while self.period > 0 {
            self.next();
            if tsc() - begun > OWED {
                break;
            }
        }
    }

    /// Waits until what a stop from outside has caused is over.
    pub(crate) fn settle() {
        while interruption(SETTLED).is_some() {}
    }
}
