//! The guest's timer tick: operations are counted between two ticks, so that no operation pays for a tick.

use oscost_sys::clock::tsc;
use oscost_sys::guest::execute;

/// Two readings of the clock further apart than this had something between them.
const GAP: u64 = 400;
/// Longest time between two ticks that a kernel can be built for (100 a second), and some more, in instructions.
const LONGEST: u64 = 10_500_000;
/// Shortest one (1000 a second), and some less.
const SHORTEST: u64 = 900_000;
/// Two such times differ by no more: the loop that looks for them takes some instructions a pass.
const UNEVEN: u64 = 2_000;
/// So many interruptions are looked at: ticks of 40 ms at least.
const MOST_INTERRUPTIONS: u32 = 64;
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
    /// Looks for ticks among all that interrupts: they alone keep coming at the same distance.
    pub(crate) fn find() -> Self {
        let mut seen: Vec<(u64, u64)> = Vec::new();
        for _ in 0..MOST_INTERRUPTIONS {
            let Some(one) = interruption(LONGEST) else { break };
            seen.push(one);
            if let Some(found) = Self::of(&seen) {
                while interruption(QUIET).is_some() {}
                return found;
            }
        }
        Self::default()
    }

    /// The tick, if the last interruption and three before it come at the same distance, whatever came in between. Each is given
    /// by its end and what it took. The one that woke nobody shows what a tick takes itself.
    fn of(seen: &[(u64, u64)]) -> Option<Self> {
        let begun = |&(ended, cost): &(u64, u64)| ended - cost;
        let (last, before) = seen.split_last()?;
        before.iter().rev().find_map(|one| {
            let period = begun(last) - begun(one);
            let earlier = |ticks: u64| {
                let due = begun(last).checked_sub(ticks * period)?;
                before.iter().find(|other| begun(other).abs_diff(due) <= UNEVEN)
            };
            if !(SHORTEST..=LONGEST).contains(&period) {
                return None;
            }
            let cost = last.1.min(one.1).min(earlier(2)?.1).min(earlier(3)?.1);
            Some(Self { period, cost, last: last.0 })
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_told_from_what_interrupts_in_between() {
        // Ends and costs, as Linux 7.2 showed them soon after its boot: ticks of 4 ms, and others 0.7 ms behind some of them.
        let ticks = [(3_003_239, 3_239), (7_012_289, 12_289), (11_003_220, 3_220), (15_003_202, 3_202)];
        let others = [(3_702_970, 970), (5_402_883, 20_899), (7_702_380, 2_380), (12_750_134, 17_134)];
        let mut seen: Vec<(u64, u64)> = ticks.iter().chain(&others).copied().collect();
        seen.sort_unstable();
        for known in 0..seen.len() {
            assert!(Timer::of(&seen[..known]).is_none(), "{known}");
        }
        let found = Timer::of(&seen).expect("four ticks");
        assert_eq!((found.period, found.cost, found.last), (4_000_000, 3_202, 15_003_202));
    }
}
