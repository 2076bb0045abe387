//! First calls: single passes after the caches were evicted, and after the CPU was idle.

use std::hint::black_box;

use oscost_stats::quantile::{median, sorted};

use crate::benchmark::Batched;
use crate::protocol::timed::FirstCalls;
use crate::worker::clock::Clock;
use oscost_sys::CallError;

/// Words of a cache line: 64 bytes on every processor that oscost knows; a longer line is only swept twice.
const LINE_WORDS: usize = 8;
/// Memory that is swept where the kernel does not say how large the caches are, and at most: the probe tells what it did.
const USUAL_SWEEP: usize = 64 << 20;
const MOST_SWEEP: usize = 128 << 20;
/// Lines of the probe.
const PROBE_LINES: usize = 64;
/// Words between two lines of the probe: a page, so that no prefetcher fetches the next one.
const PROBE_STRIDE: usize = 512;
/// A pass follows an idleness of so long, ns.
pub(crate) const IDLE_NS: u64 = 5_000_000;
/// Passes of each kind, at most, and their time.
const MOST_PASSES: usize = 40;
const MOST_NS: u64 = 1_000_000_000;

/// Makes first calls of `batched`; `idle` lets so many ns pass without work.
///
/// # Errors
/// The call that failed, with its phase.
pub(crate) fn make(
    clock: &mut impl Clock,
    idle: &mut dyn FnMut(u64),
    batched: &mut dyn Batched,
    largest_cache: Option<usize>,
) -> Result<FirstCalls, (&'static str, CallError)> {
    let caches = Caches::new(largest_cache);
    let mut found = FirstCalls::default();
    let (mut hot, mut evicted) = (Vec::new(), Vec::new());
    batched.arm().map_err(|error| ("arm", error))?;
    let begun = clock.now_ns();
    while found.evicted_ns.len() < MOST_PASSES && clock.now_ns().saturating_sub(begun) < MOST_NS {
        caches.probe(clock);
        hot.push(caches.probe(clock));
        caches.sweep();
        evicted.push(caches.probe(clock));
        found.evicted_ns.push(pass(clock, batched)?);
    }
    while found.idle_ns.len() < MOST_PASSES {
        idle(IDLE_NS);
        found.idle_ns.push(pass(clock, batched)?);
    }
    batched.park().map_err(|error| ("park", error))?;
    found.line_hot_ns = median(&sorted(hot)).unwrap_or(0.0);
    found.line_evicted_ns = median(&sorted(evicted)).unwrap_or(0.0);
    Ok(found)
}

fn pass(clock: &mut impl Clock, batched: &mut dyn Batched) -> Result<u64, (&'static str, CallError)> {
    let (start, end) = super::singles::pass(clock, batched).map_err(|error| ("first call", error))?;
    Ok(end.saturating_sub(start))
}

/// Memory whose reading drives everything else out of the caches, and lines that tell whether it did.
struct Caches {
    swept: Vec<usize>,
    /// Each line holds the place of the next one.
    lines: Vec<usize>,
}

impl Caches {
    fn new(largest: Option<usize>) -> Self {
        let bytes = largest.map_or(USUAL_SWEEP, |largest| largest.saturating_mul(2)).min(MOST_SWEEP);
        // Words that differ: pages of zeros alone would all be one page of the kernel's.
        let swept = (1..=bytes / size_of::<usize>()).collect();
        let mut lines = vec![0; PROBE_LINES * PROBE_STRIDE];
        // A step that has no factor in common with their number visits all of them, and not in their order.
        let place = |visit: usize| visit * 29 % PROBE_LINES * PROBE_STRIDE;
        (0..PROBE_LINES).for_each(|visit| lines[place(visit)] = place(visit + 1));
        Self { swept, lines }
    }

    fn sweep(&self) {
        black_box(self.swept.iter().step_by(LINE_WORDS).fold(0, |sum: usize, word| sum.wrapping_add(*word)));
    }

    /// Reads all lines, each when the one before has said where it is. The time of one, ns.
    fn probe(&self, clock: &mut impl Clock) -> f64 {
        let start = clock.now_ns();
        let last = (0..PROBE_LINES).fold(0, |at, _| self.lines[at]);
        black_box(last);
        let end = clock.now_ns();
        end.saturating_sub(start) as f64 / PROBE_LINES as f64
    }
}

/// Size of the largest cache of a CPU, bytes, as the kernel tells it: `/sys/devices/system/cpu/cpu0/cache/index*/size`, "36608K".
pub(crate) fn largest_cache(cpu: usize) -> Option<usize> {
    let read = |index: u32| {
        oscost_sys::file::text(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/size"))
    };
    (0..8).map_while(|index| read(index).ok()).filter_map(|size| bytes(size.trim())).max()
}

fn bytes(size: &str) -> Option<usize> {
    let (number, unit) =
        size.split_at(size.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(size.len()));
    let unit = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Outcome;
    use crate::worker::clock::{Monotonic, scripted::Shared};

    /// An operation of a known cost, and what was done with it.
    struct Noted(Shared, f64, String);

    impl Batched for Noted {
        fn batch(&mut self, passes: u64) -> Outcome {
            self.0.pass(self.1);
            self.2 += &passes.to_string();
            Ok(())
        }
        fn arm(&mut self) -> Outcome {
            self.2 += "arm ";
            Ok(())
        }
        fn park(&mut self) -> Outcome {
            self.2 += " park";
            Ok(())
        }
    }

    #[test]
    fn as_many_passes_are_made_as_there_is_time_for() {
        // Four of a quarter of a second, with nine readings of 20 ns each.
        for (ns, evicted) in [(50, 40), (249_999_815, 4)] {
            let clock = Shared::new(1.0, 20.0);
            let (mut noted, mut idle) = (Noted(clock.clone(), ns as f64, String::new()), Vec::new());
            let found = make(&mut clock.clone(), &mut |ns| idle.push(ns), &mut noted, Some(64));
            let found = found.expect("nothing fails");
            assert_eq!((found.evicted_ns, found.idle_ns), (vec![ns + 20; evicted], vec![ns + 20; 40]));
            assert_eq!(noted.2, format!("arm {} park", "1".repeat(evicted + 40)));
            assert_eq!(idle, [5_000_000; 40]);
            assert_eq!([found.line_hot_ns, found.line_evicted_ns], [20.0 / 64.0; 2]);
            let readings = 1 + 9 * evicted as u64 + u64::from(evicted < 40) + 2 * 40;
            assert_eq!(clock.0.borrow().reading, readings, "a line is hot when it was just read");
        }
    }

    #[test]
    fn the_probe_reads_a_line_of_each_page_and_the_sweep_twice_the_largest_cache() {
        let caches = Caches::new(Some(1 << 10));
        let mut visited: Vec<_> =
            (0..64).scan(0, |at, _| Some(std::mem::replace(at, caches.lines[*at]))).collect();
        visited.sort_unstable();
        assert_eq!(visited, (0..64).map(|page| 512 * page).collect::<Vec<_>>());
        assert_eq!(caches.swept, (1..=256).collect::<Vec<_>>());
        let swept = |largest| Caches::new(largest).swept.len() >> 17;
        assert_eq!([swept(None), swept(Some(usize::MAX))], [64, 128], "MiB");
    }

    #[test]
    fn sizes_are_as_the_kernel_writes_them() {
        assert_eq!(bytes("32K"), Some(32 << 10));
        assert_eq!(bytes("36M"), Some(36 << 20));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("many"), None);
        assert_eq!(bytes("99999999999999999999K"), None);
    }

    /// The largest of what the kernel lists, whose number is not known here.
    #[test]
    fn the_largest_cache_is_the_largest_of_all() {
        let listed = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
        let sizes = listed.filter_map(|index| std::fs::read_to_string(index.path().join("size")).ok());
        assert_eq!(largest_cache(0), sizes.filter_map(|size| bytes(size.trim())).max());
        assert_eq!(largest_cache(usize::MAX), None);
    }

    /// An operation that reads lines of its own memory.
    struct Walk(Caches);

    impl Batched for Walk {
        #[inline(never)]
        fn batch(&mut self, passes: u64) -> Outcome {
            for _ in 0..passes {
                black_box((0..PROBE_LINES).fold(0, |at, _| self.0.lines[at]));
            }
            Ok(())
        }
    }

    /// What is known: an operation that reads 64 lines of memory costs more when it has to fetch them again.
    #[test]
    fn an_evicted_operation_fetches_its_lines_again() {
        let mut walk = Walk(Caches::new(Some(1 << 10)));
        let found = make(&mut Monotonic, &mut |_| {}, &mut walk, largest_cache(0)).expect("it reads memory");
        assert!((1..=MOST_PASSES).contains(&found.evicted_ns.len()) && found.idle_ns.len() == MOST_PASSES);
        assert!(found.line_evicted_ns > 3.0 * found.line_hot_ns, "the sweep evicts: {found:?}");
        let middle =
            |all: &[u64]| median(&sorted(all.iter().map(|&ns| ns as f64).collect())).expect("passes");
        // Nothing is done before the others, so they find their lines.
        let (evicted, hot) = (middle(&found.evicted_ns), middle(&found.idle_ns));
        assert!(evicted > 2.0 * hot, "{evicted} ns, {hot} ns without an eviction: {found:?}");
    }
}
