//! Time between calls: user time by stamps, where the kernel only samples what a timer meets.

use std::cell::Cell;

use oscost_sys::clock::{keep, now_ns, tsc};
use oscost_sys::usage::Usage;

use crate::workload::Observer;

/// One operation of so many is stamped, and not the first, which meets cold caches.
const EVERY: u64 = 16;
const WHICH: u64 = 7;
/// What lies longer between two calls was not the program: others had its CPU. ns.
const LONGEST_NS: f64 = 100_000.0;
/// Empty calls by which a stamp is priced, and how often.
const EMPTY: u64 = 500;
const TIMES: u64 = 5;
/// Faults a call of I/O, from which on the kernel also works without being called.
const FAULTS: f64 = 0.05;

/// What was seen between calls since [`begin`].
struct Watch {
    is_on: Cell<bool>,
    /// Whether others run beside this process.
    has_others: Cell<bool>,
    /// Counter of the time stamps when the last call returned.
    left: Cell<u64>,
    ticks: Cell<u64>,
    /// Gaps that were counted, those that were too long, and calls of I/O behind them.
    gaps: Cell<u64>,
    too_long: Cell<u64>,
    calls: Cell<u64>,
    longest: Cell<u64>,
    stamp: Cell<f64>,
    ticks_a_ns: Cell<f64>,
}

thread_local! {
    static WATCH: Watch = const {
        Watch {
            is_on: Cell::new(false),
            has_others: Cell::new(false),
            left: Cell::new(0),
            ticks: Cell::new(0),
            gaps: Cell::new(0),
            too_long: Cell::new(0),
            calls: Cell::new(0),
            longest: Cell::new(u64::MAX),
            stamp: Cell::new(0.0),
            ticks_a_ns: Cell::new(1.0),
        }
    };
}

impl Watch {
    fn reset(&self) {
        self.is_on.set(false);
        for number in [&self.ticks, &self.gaps, &self.too_long, &self.calls] {
            number.set(0);
        }
    }

    /// The time since the last call was the program's.
    fn gap(&self) {
        let gap = tsc().wrapping_sub(self.left.get());
        let (sum, more) = if gap <= self.longest.get() { (&self.gaps, gap) } else { (&self.too_long, 0) };
        sum.set(sum.get() + 1);
        self.ticks.set(self.ticks.get() + more);
    }

    /// Ticks of the stamps of a gap.
    fn price(&self) {
        self.longest.set(u64::MAX);
        let (from, from_ns) = (tsc(), now_ns());
        let ticks = (0..TIMES).map(|_| {
            self.reset();
            self.turn(true);
            (0..EMPTY).for_each(|number| {
                keep(io(|| number));
            });
            self.ticks.get()
        });
        self.stamp.set(ticks.min().unwrap_or(0) as f64 / EMPTY as f64);
        self.ticks_a_ns.set(tsc().wrapping_sub(from) as f64 / now_ns().saturating_sub(from_ns).max(1) as f64);
        self.longest.set((LONGEST_NS * self.ticks_a_ns.get()) as u64);
        self.reset();
    }

    fn turn(&self, on: bool) {
        if self.is_on.get() {
            self.gap();
        }
        self.is_on.set(on);
        self.left.set(tsc());
    }
}

/// A system call of I/O.
#[inline]
pub(crate) fn io<T>(call: impl FnOnce() -> T) -> T {
    WATCH.with(|watch| watched(watch, 1, call))
}

/// Any other.
#[inline]
pub(crate) fn other<T>(call: impl FnOnce() -> T) -> T {
    WATCH.with(|watch| watched(watch, 0, call))
}

/// Locking or unlocking a mutex. Where others run, it waits for them and wakes them in the kernel; alone it never calls it.
#[inline]
pub(crate) fn mutex<T>(call: impl FnOnce() -> T) -> T {
    WATCH.with(|watch| if watch.has_others.get() { watched(watch, 0, call) } else { call() })
}

/// Says whether others run beside this process from now on.
pub(crate) fn beside_others(has_others: bool) {
    WATCH.with(|watch| watch.has_others.set(has_others));
}

#[inline]
fn watched<T>(watch: &Watch, calls: u64, call: impl FnOnce() -> T) -> T {
    if !watch.is_on.get() {
        return call();
    }
    watch.gap();
    watch.calls.set(watch.calls.get() + calls);
    let result = call();
    watch.left.set(tsc());
    result
}

/// Prices a stamp, and forgets what was seen.
pub(crate) fn begin() {
    WATCH.with(Watch::price);
}

/// CPU time, which the kernel has exactly, in user and system time by what was seen since [`begin`], of so many calls of I/O in
/// all. As the kernel divides it, where nothing was seen, or where it worked in faults.
pub(crate) fn divided(used: Usage, io_calls: u64) -> Usage {
    WATCH.with(|watch| {
        watch.turn(false);
        let [gaps, too_long, calls] = [&watch.gaps, &watch.too_long, &watch.calls].map(Cell::get);
        let faults = (used.minor_faults + used.major_faults) as f64;
        if gaps == 0 || calls == 0 || faults > FAULTS * io_calls as f64 {
            return used;
        }
        let ticks = (watch.ticks.get() as f64 - watch.stamp.get() * gaps as f64).max(0.0);
        let gaps_in_all = (gaps + too_long) as f64 / gaps as f64 * io_calls as f64 / calls as f64;
        let cpu_ns = used.user_ns + used.system_ns;
        let user_ns = ((ticks / watch.ticks_a_ns.get() * gaps_in_all) as u64).min(cpu_ns);
        Usage { user_ns, system_ns: cpu_ns - user_ns, ..used }
    })
}

/// Stamps one operation of 16 from its beginning to that of the next.
#[derive(Debug, Default)]
pub(crate) struct Stamped(u64);

impl Observer for Stamped {
    #[inline]
    fn begin(&mut self) {
        match self.0 % EVERY {
            WHICH => WATCH.with(|watch| watch.turn(true)),
            next if next == WHICH + 1 => WATCH.with(|watch| watch.turn(false)),
            _ => {}
        }
        self.0 += 1;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::sync::Arc;

    use oscost_sys::mapped_file::MappedFile;
    use oscost_sys::record_lock::{LockKind, Range};

    use super::*;
    use crate::lock::{LockId, Locks, Places, SystemLocks};

    /// What a watch saw: gaps, those too long, calls of I/O behind them; ticks in all, of a stamp, in a nanosecond.
    pub(crate) fn seen(numbers: [u64; 3], ticks: u64, stamp: f64, ticks_a_ns: f64) {
        WATCH.with(|watch| {
            watch.reset();
            [&watch.gaps, &watch.too_long, &watch.calls].iter().zip(numbers).for_each(|(at, it)| at.set(it));
            watch.ticks.set(ticks);
            watch.stamp.set(stamp);
            watch.ticks_a_ns.set(ticks_a_ns);
        });
    }

    fn used(minor_faults: u64, major_faults: u64) -> Usage {
        Usage { user_ns: 6000, system_ns: 4000, minor_faults, major_faults, ..Usage::default() }
    }

    fn times(used: Usage) -> (u64, u64) {
        (used.user_ns, used.system_ns)
    }

    #[test]
    fn user_time_is_that_of_the_gaps_less_their_stamps() {
        // 1000 ticks less ten stamps of 20 are 400 ns in ten gaps; two more were too long, and one call in four was seen.
        seen([10, 2, 5], 1000, 20.0, 2.0);
        assert_eq!(times(divided(used(0, 0), 20)), (1920, 8080));
        seen([10, 0, 5], 100, 20.0, 2.0);
        assert_eq!(times(divided(used(0, 0), 20)), (0, 10_000), "no time is below nothing");
        seen([10, 0, 5], 1_000_000, 20.0, 2.0);
        assert_eq!(times(divided(used(0, 0), 20)), (10_000, 0), "nor above all");
    }

    #[test]
    fn what_was_not_seen_is_divided_as_the_kernel_does() {
        for (numbers, faults) in [([0, 1, 5], (0, 0)), ([10, 0, 0], (0, 0)), ([10, 0, 5], (1, 1))] {
            seen(numbers, 1000, 20.0, 2.0);
            assert_eq!(times(divided(used(faults.0, faults.1), 20)), (6000, 4000), "{numbers:?}, {faults:?}");
        }
        seen([10, 0, 5], 1000, 20.0, 2.0);
        assert_eq!(times(divided(used(2, 1), 40)), (6000, 4000), "three faults in forty calls are many");
        seen([10, 0, 5], 1000, 20.0, 2.0);
        assert_eq!(times(divided(used(1, 0), 20)), (1600, 8400), "one fault in twenty calls is few");
    }

    #[test]
    fn one_operation_of_sixteen_is_stamped() {
        begin();
        let mut stamped = Stamped::default();
        for number in 0..321 {
            stamped.begin();
            assert_eq!(WATCH.with(|watch| watch.is_on.get()), number % 16 == 7, "operation {number}");
            // A gap before each call, and one behind the last.
            other(|| io(|| ()));
            io(|| ());
        }
        WATCH.with(|watch| {
            let [gaps, too_long, calls] = [&watch.gaps, &watch.too_long, &watch.calls].map(Cell::get);
            assert_eq!((gaps + too_long, calls), (20 * 4, 20 * 2));
            assert!(watch.stamp.get() > 0.0 && watch.ticks_a_ns.get() > 0.0);
            let longest_ns = watch.longest.get() as f64 / watch.ticks_a_ns.get();
            assert!((longest_ns / LONGEST_NS - 1.0).abs() < 1e-3, "{longest_ns}");
        });
    }

    /// A wait for a mutex was taken for the program's own time: up to all CPU time of four processes was called user time.
    #[test]
    fn a_mutex_is_a_call_where_others_may_hold_it_and_none_of_one_process_alone() {
        let file: Arc<File> = Arc::new(oscost_sys::file::in_memory(4096).expect("memory").into());
        let map = MappedFile::new(file.as_fd(), 4096, true).expect("mapped");
        map.make_mutex(0).expect("a mutex");
        let places = Places { range: |_| (0, Range { start: 0, length: 1 }), number: |_| 0 };
        let mut locks = SystemLocks::Mutex { map: Arc::new(map), first: 0, stride: 8, places, _file: file };
        // A gap before the lock, one before the unlock, and one behind it.
        for (has_others, expected) in [(false, 1), (true, 3)] {
            beside_others(has_others);
            begin();
            WATCH.with(|watch| watch.turn(true));
            locks.lock(LockId::Whole, LockKind::Write).expect("locked");
            locks.unlock(LockId::Whole).expect("unlocked");
            WATCH.with(|watch| watch.turn(false));
            let gaps = WATCH.with(|watch| watch.gaps.get() + watch.too_long.get());
            assert_eq!(gaps, expected, "{has_others}");
            assert_eq!(WATCH.with(|watch| watch.calls.get()), 0, "it is no call of I/O");
        }
    }

    /// Whether the driver has said that others run beside this process.
    pub(crate) fn has_others() -> bool {
        WATCH.with(|watch| watch.has_others.get())
    }

    /// Gaps that were counted.
    pub(crate) fn gaps() -> u64 {
        WATCH.with(|watch| watch.gaps.get())
    }

    /// Minutes before now, in ticks.
    fn long_ago() -> u64 {
        tsc().wrapping_sub(1 << 40)
    }

    #[test]
    fn a_gap_begins_where_the_watch_was_turned_on_or_a_call_returned() {
        seen([0; 3], 0, 0.0, 1.0);
        WATCH.with(|watch| {
            watch.longest.set(u64::MAX);
            watch.left.set(long_ago());
            watch.turn(true);
            io(|| watch.left.set(long_ago()));
            divided(used(0, 0), 1);
            assert_eq!((watch.is_on.get(), watch.gaps.get(), watch.calls.get()), (false, 2, 1));
            assert!(watch.ticks.get() < 1 << 40, "{}", watch.ticks.get());
        });
    }

    /// Whatever was seen before: the price is that of an empty call of this time.
    #[test]
    fn a_stamp_is_priced_anew() {
        seen([9; 3], 1 << 60, -1.0, -1.0);
        WATCH.with(|watch| watch.longest.set(0));
        let from = tsc();
        begin();
        let ticks = tsc().wrapping_sub(from) as f64;
        let [stamp, rate] = WATCH.with(|watch| [watch.stamp.get(), watch.ticks_a_ns.get()]);
        let all = stamp * (EMPTY * TIMES) as f64;
        assert!(stamp > 0.0 && all <= ticks, "{all} of {ticks} ticks");
        assert!(rate > 0.0, "{rate}");
    }

    #[test]
    fn what_is_too_long_was_not_the_program() {
        WATCH.with(|watch| {
            for (longest, expected) in [(999, [0, 1]), (u64::MAX, [1, 0])] {
                watch.reset();
                watch.longest.set(longest);
                watch.left.set(tsc().wrapping_sub(1000));
                watch.gap();
                assert_eq!([watch.gaps.get(), watch.too_long.get()], expected);
                assert_eq!(watch.ticks.get() >= 1000, longest > 1000);
            }
        });
    }
}
