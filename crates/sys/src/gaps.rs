//! Gaps: how much of a CPU others take, seen by a process that reads the clock without pause.
//!
//! Steal time and load averages miss most of what a hypervisor takes; a spinning reader misses nothing above its
//! threshold (as rtla osnoise does in the kernel).

use std::sync::atomic::Ordering;

use crate::{CallError, affinity, clock, memory::SharedWords, process::Child};

/// What a spinning reader of the clock lost on one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadingGaps {
    /// How long it was read, ns.
    pub duration_ns: u64,
    /// Gaps: differences of consecutive readings at or above the threshold.
    pub count: u64,
    /// Sum of the gaps, ns.
    pub lost_ns: u64,
    /// The longest gap, ns.
    pub longest_ns: u64,
}

impl ReadingGaps {
    /// Share of the time that was lost, 0 to 1.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        if self.duration_ns == 0 { 0.0 } else { self.lost_ns as f64 / self.duration_ns as f64 }
    }

    /// Gaps a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.duration_ns == 0 { 0.0 } else { self.count as f64 * 1e9 / self.duration_ns as f64 }
    }

    /// Takes one difference of readings into account.
    #[inline(always)]
    fn add(&mut self, difference_ns: u64, threshold_ns: u64) {
        if difference_ns >= threshold_ns {
            self.count += 1;
            self.lost_ns += difference_ns;
            self.longest_ns = self.longest_ns.max(difference_ns);
        }
    }
}

/// One CPU of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    /// The CPU.
    pub cpu: usize,
    /// What was lost on it; EINVAL where it is not in the cpuset, ETIMEDOUT where nobody gets on it.
    pub gaps: Result<ReadingGaps, CallError>,
}

/// Reads CLOCK_MONOTONIC for `duration_ns` on the CPU that the caller is on.
fn spin(duration_ns: u64, threshold_ns: u64) -> ReadingGaps {
    let start = clock::now_ns();
    let (mut gaps, mut last) = (ReadingGaps::default(), start);
    while last - start < duration_ns {
        let now = clock::now_ns();
        gaps.add(now - last, threshold_ns);
        last = now;
    }
    gaps.duration_ns = last - start;
    gaps
}

/// Scans each of `cpus` for `duration_ns`, `at_once` of them at a time, in children: the caller's affinity stays.
/// The caller must have one thread.
///
/// # Errors
/// The error of mmap.
pub fn scan(
    cpus: &[usize],
    duration_ns: u64,
    threshold_ns: u64,
    at_once: usize,
) -> Result<Vec<Scanned>, CallError> {
    /// How much later than planned a child may be: a CPU that is that busy has no figure.
    const PATIENCE_NS: u64 = 1_000_000_000;
    let mut scanned = Vec::with_capacity(cpus.len());
    for some in cpus.chunks(at_once.max(1)) {
        let words = SharedWords::new(some.len() * 4)?;
        let children: Vec<_> = some
            .iter()
            .enumerate()
            .map(|(index, &cpu)| {
                let words = &words;
                Child::fork(move || {
                    if let Err(error) = affinity::pin_to(cpu) {
                        return error.errno;
                    }
                    let gaps = spin(duration_ns, threshold_ns);
                    let values = [gaps.duration_ns, gaps.count, gaps.lost_ns, gaps.longest_ns];
                    for (offset, value) in values.into_iter().enumerate() {
                        words.word(index * 4 + offset).store(value, Ordering::Release);
                    }
                    0
                })
            })
            .collect();
        for (index, (&cpu, child)) in some.iter().zip(children).enumerate() {
            let ended = child.and_then(|child| child.wait_at_most(duration_ns + PATIENCE_NS));
            let word = |offset| words.word(index * 4 + offset).load(Ordering::Acquire);
            let gaps = match ended {
                Ok(ended) if ended.code == Some(0) => Ok(ReadingGaps {
                    duration_ns: word(0),
                    count: word(1),
                    lost_ns: word(2),
                    longest_ns: word(3),
                }),
                Ok(ended) => Err(CallError::new("sched_setaffinity", ended.code.unwrap_or(libc::EIO))),
                Err(error) => Err(error),
            };
            scanned.push(Scanned { cpu, gaps });
        }
    }
    Ok(scanned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_below_the_threshold_are_no_gaps() {
        let mut gaps = ReadingGaps { duration_ns: 100_000, ..ReadingGaps::default() };
        for difference in [20, 999, 1_000, 30, 4_000] {
            gaps.add(difference, 1_000);
        }
        assert_eq!((gaps.count, gaps.lost_ns, gaps.longest_ns), (2, 5_000, 4_000));
        assert_eq!(gaps.lost_share().to_bits(), 0.05_f64.to_bits());
        assert_eq!(gaps.rate().to_bits(), 20_000_f64.to_bits());
    }

    #[test]
    fn a_scan_leaves_the_caller_where_it_was() {
        let before = affinity::allowed().expect("affinity");
        // A CPU that others had for longer than the patience has no figure.
        let scanned = crate::error::in_time(|| {
            let scanned = scan(&before, 1_000_000, 1_000, 2)?.into_iter();
            scanned.map(|Scanned { cpu, gaps }| Ok((cpu, gaps?))).collect::<Result<Vec<_>, CallError>>()
        });
        assert_eq!(scanned.iter().map(|&(cpu, _)| cpu).collect::<Vec<_>>(), before);
        for (_, gaps) in scanned {
            assert!(gaps.duration_ns >= 1_000_000 && gaps.lost_ns <= gaps.duration_ns);
            assert!(gaps.longest_ns <= gaps.lost_ns);
        }
        assert_eq!(affinity::allowed().expect("affinity"), before);
    }

    #[test]
    fn a_cpu_that_does_not_exist_has_an_error_of_its_own() {
        let scanned = scan(&[1023], 1_000, 1_000, 1).expect("mmap");
        if std::path::Path::new("/sys/devices/system/cpu/cpu1023").exists() {
            println!("SKIP a_cpu_that_does_not_exist_has_an_error_of_its_own: it exists here");
            return;
        }
        let error = CallError::new("sched_setaffinity", libc::EINVAL);
        assert_eq!(scanned, [Scanned { cpu: 1023, gaps: Err(error) }]);
    }
}
