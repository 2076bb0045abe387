//! How late a sleeper wakes: after a timer, and after another process's write. clock_nanosleep(2), pipe(2).

use std::sync::atomic::Ordering;

use crate::memory::SharedWords;
use crate::process::Child;
use crate::scheduling::{self, Policy};
use crate::{CallError, affinity, clock, pipe};

/// Time between two wake-ups, ns.
const PERIOD_NS: u64 = 1_000_000;
/// Wake-ups of one finding.
const COUNT: usize = 24;
const PATIENCE_NS: u64 = 500_000_000;

/// How late sleepers woke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lateness {
    /// Median, ns.
    pub median_ns: u64,
    /// Largest, ns.
    pub most_ns: u64,
}

impl Lateness {
    fn of(mut late: Vec<u64>) -> Option<Self> {
        late.sort_unstable();
        Some(Self { median_ns: *late.get(late.len() / 2)?, most_ns: *late.last()? })
    }
}

/// How long after the time it asked for a sleeper on `cpu` runs again, by `policy` (real time with priority 50).
///
/// # Errors
/// The error of mmap, fork or wait; EPERM where the policy is refused.
pub fn after_timer(cpu: usize, policy: Policy) -> Result<Option<Lateness>, CallError> {
    let late = SharedWords::new(COUNT)?;
    let sleeper = Child::fork(|| {
        let priority = if policy == Policy::Other { 0 } else { 50 };
        if affinity::pin_to(cpu).is_err() {
            return 1;
        }
        if let Err(error) = scheduling::set_bounded(policy, priority) {
            return error.errno;
        }
        let mut due = clock::now_ns() + PERIOD_NS;
        for index in 0..COUNT {
            // An interrupted sleep would only look early, and is no less than 1.
            let _ = clock::sleep_until(due);
            late.word(index).store(clock::now_ns().saturating_sub(due).max(1), Ordering::Release);
            due += PERIOD_NS;
        }
        0
    })?;
    match sleeper.wait_at_most(PATIENCE_NS)?.code {
        Some(0) => Ok(Lateness::of(read(&late))),
        Some(errno) if errno > 1 => Err(CallError::new("sched_setscheduler", errno)),
        _ => Ok(None),
    }
}

/// How long after a write by `from` a reader that slept on `to` runs; with `awake` a thread of the lowest class keeps `to`
/// from halting meanwhile.
///
/// # Errors
/// The error of mmap, pipe, fork or wait.
pub fn by_write(from: usize, to: usize, awake: bool) -> Result<Option<Lateness>, CallError> {
    // Word 2k: when the write was made; word 2k + 1: when the reader ran.
    let stamps = SharedWords::new(2 * COUNT)?;
    let bell = pipe::Pipe::new()?;
    let spinner = if awake {
        Some(Child::fork(|| {
            if affinity::pin_to(to).is_err() || affinity::run_only_when_idle().is_err() {
                return 1;
            }
            let start = clock::now_ns();
            while clock::now_ns() - start < PATIENCE_NS {
                std::hint::spin_loop();
            }
            0
        })?)
    } else {
        None
    };
    let reader = Child::fork(|| {
        if affinity::pin_to(to).is_err() {
            return 1;
        }
        for index in 0..COUNT {
            if pipe::read_byte(&bell.reader).is_err() {
                return 2;
            }
            stamps.word(2 * index + 1).store(clock::now_ns(), Ordering::Release);
        }
        0
    })?;
    let writer = Child::fork(|| {
        if affinity::pin_to(from).is_err() {
            return 1;
        }
        let mut due = clock::now_ns() + 2 * PERIOD_NS;
        for index in 0..COUNT {
            let _ = clock::sleep_until(due);
            stamps.word(2 * index).store(clock::now_ns(), Ordering::Release);
            if pipe::write_byte(&bell.writer).is_err() {
                return 2;
            }
            due += PERIOD_NS;
        }
        0
    })?;
    let ended = [writer.wait_at_most(PATIENCE_NS)?.code, reader.wait_at_most(PATIENCE_NS)?.code];
    drop(spinner);
    if ended != [Some(0), Some(0)] {
        return Ok(None);
    }
    let stamp = |index: usize| stamps.word(index).load(Ordering::Acquire);
    Ok(Lateness::of(
        (0..COUNT).map(|index| stamp(2 * index + 1).saturating_sub(stamp(2 * index)).max(1)).collect(),
    ))
}

/// The words that were written.
fn read(words: &SharedWords) -> Vec<u64> {
    (0..COUNT).map(|index| words.word(index).load(Ordering::Acquire)).filter(|&late| late > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::in_time;

    #[test]
    fn sleepers_wake_late_and_never_early() {
        let cpus = affinity::allowed().expect("CPUs");
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        let late = in_time(|| after_timer(first, Policy::Other)).expect("it is counted");
        assert!(late.median_ns <= late.most_ns && late.median_ns > 0);
        for awake in [false, true] {
            if let Some(late) = in_time(|| by_write(first, last, awake)) {
                assert!(late.median_ns <= late.most_ns && late.median_ns > 1);
            }
        }
    }
}
