//! Facts that no file gives: measured once, before the checks, in the time that the level allows.

use std::path::{Path, PathBuf};

use oscost_results::Store;
use oscost_sys::filtered::{self, Asked};
use oscost_sys::gaps::{self, Scanned};
use oscost_sys::scheduling::{Policy, SchedulingRefusal, probe_real_time};
use oscost_sys::system_call::marker;
use oscost_sys::wakeup::{self, Lateness};
use oscost_sys::{
    CallError, affinity, audit, clock, distance, identity, namespace, process, processor, time_source, usage,
};

use super::Thoroughness;

/// Measured facts. `None` is "could not be measured", and makes a check unknown.
#[derive(Debug, Default)]
pub struct MachineFacts {
    /// Effective user id.
    pub effective_uid: Option<u32>,
    /// What the processor says of a hypervisor; see [`processor::hypervisor`].
    pub hypervisor: Option<Option<String>>,
    /// CLOCK_MONOTONIC.
    pub clock: Option<ClockReadings>,
    /// Rates of the clocks against each other.
    pub rates: Option<Rates>,
    /// Gaps, a CPU an entry.
    pub gaps: Option<Vec<Scanned>>,
    /// CPUs that the program may run on.
    pub allowed_cpus: Option<Vec<usize>>,
    /// /proc/stat when measuring began.
    pub stat_before: Option<String>,
    /// Workers get namespaces of their own: `Err` is what was refused.
    pub namespaces: Option<Result<(), CallError>>,
    /// What a filter answers to unshare or mount in place of the kernel; `Some(None)`: nothing.
    pub filtered_namespaces: Option<Option<CallError>>,
    /// What is answered to perf_event_open in place of the kernel; `Some(None)`: nothing.
    pub filtered_perf: Option<Option<CallError>>,
    /// The C library that is measured; see [`identity::libc_version`].
    pub c_library: Option<String>,
    /// The audit can count by seccomp user notification.
    pub seccomp_notification: Option<bool>,
    /// System calls of [`READINGS`] readings of CLOCK_MONOTONIC, counted.
    pub calls_of_readings: Option<u64>,
    /// The audit can count by ptrace.
    pub ptrace: Option<bool>,
    /// Soft limit of the real-time priority.
    pub real_time_limit: Option<u64>,
    /// Whether SCHED_RR is granted.
    pub real_time: Option<Result<(), SchedulingRefusal>>,
    /// Cache-line distances, at the full level.
    pub distances: Option<Distances>,
    /// Lateness of sleepers, at the full level.
    pub wakeups: Option<Wakeups>,
    /// Soft RLIMIT_MSGQUEUE, bytes.
    pub message_queue_limit: Option<u64>,
    /// Soft limit of locked memory, bytes; `u64::MAX` is unlimited.
    pub locked_memory_limit: Option<u64>,
    /// Paths that oscost uses, and what for.
    pub used_paths: Vec<(&'static str, PathBuf)>,
}

/// How CLOCK_MONOTONIC is read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ClockReadings {
    /// True step, ns; `None` where it did not show.
    pub step_ns: Option<f64>,
    /// Difference of two readings taken back to back, ns: the mean of the lower nine tenths.
    pub pair_ns: f64,
    /// What clock_getres says, ns.
    pub advertised_ns: Option<u64>,
}

/// Rates of CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW and the counter of the processor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// How much faster MONOTONIC runs than RAW, parts per million.
    pub slew_ppm: f64,
    /// Ticks of the counter a second of RAW.
    pub counter_hz: f64,
    /// How much the counter's rate differs between two windows, parts per million.
    pub drift_ppm: f64,
    /// Uncertainty of the two above, parts per million.
    pub uncertainty_ppm: f64,
}

/// Each of two windows of the rates.
const WINDOW_NS: u64 = 60_000_000;
/// A refusal may also be a call that never returns: such a child is given up.
const PATIENCE_NS: u64 = 500_000_000;

impl MachineFacts {
    /// Measures the running system. The caller must have one thread: children are forked.
    #[must_use]
    pub fn of_this_system(level: Thoroughness) -> Self {
        let stat_before = oscost_sys::file::text("/proc/stat").ok();
        let clock = read_clock(level.clock_ns());
        let allowed_cpus = affinity::allowed().ok();
        let first = Instants::read();
        let threshold_ns = clock.map_or(1_000, |clock| (8.0 * clock.pair_ns).max(1_000.0) as u64);
        let gaps = allowed_cpus.as_ref().and_then(|cpus| {
            // At most 8 turns, whatever the machine: a large one is scanned several CPUs at a time.
            gaps::scan(cpus, level.gaps_ns(), threshold_ns, cpus.len().div_ceil(8)).ok()
        });
        let middle = Instants::after(&first);
        let namespaces = namespace::probe().ok().map(|refused| refused.map_or(Ok(()), Err));
        let filtered_namespaces = filtered::answered(Asked::Unshare)
            .and_then(|answer| answer.map_or_else(|| filtered::answered(Asked::Mount), |it| Ok(Some(it))));
        let counted = counted_readings();
        let seccomp_notification = counted.map(|calls| calls.is_some());
        let ptrace = works(|| audit::by_ptrace(|| vec![1]).is_ok());
        let last = Instants::after(&middle);
        let real_time = probe_real_time();
        let full = level == Thoroughness::Full;
        let distances = allowed_cpus.as_ref().filter(|_| full).map(|cpus| Distances::between(cpus));
        let wakeups = allowed_cpus.as_ref().filter(|_| full).map(|cpus| Wakeups::on(cpus, real_time.is_ok()));
        Self {
            effective_uid: Some(identity::effective_uid()),
            hypervisor: processor::hypervisor(),
            clock,
            rates: Some(Rates::between(&first, &middle, &last)),
            gaps,
            allowed_cpus,
            stat_before,
            namespaces,
            filtered_namespaces: filtered_namespaces.ok(),
            filtered_perf: filtered::answered(Asked::PerfEvents).ok(),
            c_library: Some(identity::libc_version()),
            seccomp_notification,
            calls_of_readings: counted.flatten(),
            ptrace,
            real_time_limit: limit(usage::Limit::RealTimePriority),
            real_time: Some(real_time),
            distances,
            wakeups,
            message_queue_limit: limit(usage::Limit::MessageQueues),
            locked_memory_limit: limit(usage::Limit::LockedMemory),
            used_paths: used_paths(),
        }
    }
}

/// Cache-line distances of CPUs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Distances {
    /// The CPUs.
    pub cpus: Vec<usize>,
    /// Every pair with the time of one way, ns; `None` where the two never ran at once.
    pub ns: Vec<(usize, usize, Option<f64>)>,
}

impl Distances {
    /// Between these CPUs; of a large machine between the first eight.
    fn between(cpus: &[usize]) -> Self {
        const MOST: usize = 8;
        let cpus: Vec<usize> = cpus.iter().copied().take(MOST).collect();
        let pairs =
            cpus.iter().enumerate().flat_map(|(index, &a)| cpus[index + 1..].iter().map(move |&b| (a, b)));
        let ns = pairs.map(|(a, b)| (a, b, distance::between(a, b).ok().flatten())).collect();
        Self { cpus, ns }
    }
}

/// How late sleepers woke; `None` where it could not be found out.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Wakeups {
    /// After a timer, SCHED_OTHER.
    pub timer: Option<Lateness>,
    /// After a timer, SCHED_RR.
    pub real_time_timer: Option<Lateness>,
    /// After a write by another CPU, to one that was left to the system.
    pub write_to_idle: Option<Lateness>,
    /// After a write by another CPU, to one that was kept awake.
    pub write_to_awake: Option<Lateness>,
}

impl Wakeups {
    fn on(cpus: &[usize], real_time: bool) -> Self {
        let Some(&last) = cpus.last() else { return Self::default() };
        let other = cpus.iter().rev().nth(1);
        let write = |awake| wakeup::by_write(*other?, last, awake).ok().flatten();
        Self {
            timer: wakeup::after_timer(last, Policy::Other).ok().flatten(),
            real_time_timer: if real_time {
                wakeup::after_timer(last, Policy::RoundRobin).ok().flatten()
            } else {
                None
            },
            write_to_idle: write(false),
            write_to_awake: write(true),
        }
    }
}

fn limit(of: usage::Limit) -> Option<u64> {
    usage::limit_of(of).ok().map(|(soft, _)| soft)
}

/// Readings whose system calls are counted.
pub const READINGS: u64 = 8;

/// System calls of some readings of CLOCK_MONOTONIC, counted in a child; `Some(None)` where nothing can be counted that way,
/// `None` where that could not be tried.
fn counted_readings() -> Option<Option<u64>> {
    const NOT_COUNTED: i32 = 99;
    let child = process::Child::fork(|| {
        let read = || {
            marker(1);
            let _ = (0..READINGS).map(|_| clock::now_ns()).max();
            marker(0);
        };
        match audit::by_notification(read) {
            Ok(((), counts)) if counts.is_marked() => {
                let calls: u64 = counts.phase(1).values().sum();
                i32::try_from(calls).unwrap_or(NOT_COUNTED).min(NOT_COUNTED - 1)
            }
            _ => NOT_COUNTED,
        }
    });
    let code = child.ok()?.wait_at_most(PATIENCE_NS).ok()?.code.unwrap_or(NOT_COUNTED);
    Some(u64::try_from(code).ok().filter(|_| code != NOT_COUNTED))
}

/// Whether `body` works in a child; `None` where that could not be tried.
fn works(body: impl FnOnce() -> bool) -> Option<bool> {
    let child = process::Child::fork(|| i32::from(!body())).ok()?;
    Some(child.wait_at_most(PATIENCE_NS).ok()?.code == Some(0))
}

/// Reads CLOCK_MONOTONIC back to back, 2·10^5 times or for `most_ns`.
#[must_use]
pub fn read_clock(most_ns: u64) -> Option<ClockReadings> {
    const READINGS: usize = 200_000;
    const FEWEST: usize = 1_000;
    let mut differences = Vec::with_capacity(READINGS);
    let start = clock::now_ns();
    let mut last = start;
    while differences.len() < READINGS && (last - start < most_ns || differences.len() < FEWEST) {
        let now = clock::now_ns();
        differences.push(now - last);
        last = now;
    }
    let step_ns = oscost_stats::clock::clock_step(&differences).map(|step| step.step);
    differences.sort_unstable();
    let lower = &differences[..differences.len() * 9 / 10];
    let pair_ns = lower.iter().sum::<u64>() as f64 / lower.len() as f64;
    let advertised_ns = clock::resolution_ns(clock::Clock::Monotonic).ok();
    (pair_ns > 0.0).then_some(ClockReadings { step_ns, pair_ns, advertised_ns })
}

/// The three clocks at one instant, to within `width_ns`.
#[derive(Debug, Clone, Copy)]
struct Instants {
    monotonic: f64,
    raw: u64,
    counter: u64,
    width_ns: u64,
}

impl Instants {
    /// The tightest of 16 readings.
    fn read() -> Self {
        let once = || {
            let before = clock::now_ns();
            let (raw, counter) = (clock::read_ns(clock::Clock::MonotonicRaw), clock::tsc());
            let after = clock::now_ns();
            Self { monotonic: before.midpoint(after) as f64, raw, counter, width_ns: after - before }
        };
        time_source::tightest(once, |read| read.width_ns)
    }

    /// A window later than `earlier`, or at once where that is past.
    fn after(earlier: &Self) -> Self {
        // An interrupted or refused sleep only makes the window shorter, and the uncertainty says so.
        let _ = clock::sleep_until(earlier.monotonic as u64 + WINDOW_NS);
        Self::read()
    }
}

impl Rates {
    fn between(first: &Instants, middle: &Instants, last: &Instants) -> Self {
        let raw = |from: &Instants, to: &Instants| to.raw.saturating_sub(from.raw).max(1) as f64;
        let hertz = |from: &Instants, to: &Instants| {
            to.counter.wrapping_sub(from.counter) as f64 * 1e9 / raw(from, to)
        };
        let uncertainty =
            |from: &Instants, to: &Instants| (from.width_ns + to.width_ns) as f64 / raw(from, to) * 1e6;
        Self {
            slew_ppm: ((last.monotonic - first.monotonic) / raw(first, last) - 1.0) * 1e6,
            counter_hz: hertz(first, last),
            drift_ppm: (hertz(middle, last) / hertz(first, middle) - 1.0) * 1e6,
            uncertainty_ppm: uncertainty(first, middle) + uncertainty(middle, last),
        }
    }
}

/// What the store is used for.
const RESULTS: &str = "the stored results";

/// Where oscost keeps and makes files.
fn used_paths() -> Vec<(&'static str, PathBuf)> {
    // Under sudo it lies in the home of who called.
    let store = Store::of_user().ok().filter(|store| !store.is_nowhere());
    let state = store.map(|store| store.directory().to_owned());
    let temporary = Some(std::env::temp_dir());
    let current = std::env::current_dir().ok();
    [(RESULTS, state), ("temporary files", temporary), ("the current directory", current)]
        .into_iter()
        .filter_map(|(use_of, path)| Some((use_of, resolved(&path?))))
        .collect()
}

/// The path without symbolic links, as mount points are told; what is not there yet is kept as it is.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let of = |there: &Path| {
        let rest = path.strip_prefix(there).ok()?;
        // Without a slash behind the last name.
        Some(there.canonicalize().ok()?.join(rest).components().collect())
    };
    path.ancestors().find_map(of).unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic: f64, raw: u64, counter: u64) -> Instants {
        Instants { monotonic, raw, counter, width_ns: 50 }
    }

    #[test]
    fn results_are_looked_for_where_the_store_has_them() {
        let store = Store::of_user().ok().filter(|store| !store.is_nowhere());
        let found = used_paths().into_iter().find(|(use_of, _)| *use_of == RESULTS);
        assert_eq!(found.map(|(_, path)| path), store.map(|store| resolved(store.directory())));
    }

    /// A home behind a link lies where the link leads, and a store in it that nobody has made yet does, too.
    #[test]
    fn a_path_is_looked_for_where_its_links_lead() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("it is there");
        let (target, link) = (folder.join("nfs/home"), folder.join("home"));
        std::fs::create_dir_all(&target).expect("a folder");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert_eq!(resolved(&link).as_os_str(), target.as_os_str());
        assert_eq!(resolved(&link.join("me/.local/state")), target.join("me/.local/state"));
        assert_eq!(resolved(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn rates_are_found_exactly() {
        // RAW counts 10^8 ns while MONOTONIC counts 500 ppm more, and the counter runs at 2 GHz throughout.
        let rates = Rates::between(
            &at(7.0, 0, 1_000),
            &at(50_025_007.0, 50_000_000, 100_001_000),
            &at(100_050_007.0, 100_000_000, 200_001_000),
        );
        assert!((rates.slew_ppm - 500.0).abs() < 1e-6, "{rates:?}");
        assert!((rates.counter_hz - 2e9).abs() < 1e-3, "{rates:?}");
        assert!(rates.drift_ppm.abs() < 1e-6, "{rates:?}");
        assert!((rates.uncertainty_ppm - 4.0).abs() < 1e-9, "{rates:?}");
    }

    #[test]
    fn a_counter_that_changes_its_rate_is_seen() {
        let rates = Rates::between(
            &at(0.0, 0, 0),
            &at(50_000_000.0, 50_000_000, 100_000_000),
            &at(100_000_000.0, 100_000_000, 201_000_000),
        );
        assert!((rates.drift_ppm - 10_000.0).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn clocks_that_stand_still_are_no_panic() {
        let still = at(1.0, 1, 1);
        let rates = Rates::between(&still, &still, &still);
        assert!(rates.uncertainty_ppm > 1e6);
    }
}
