//! Gaps: CPU time that others take (host, programs, interrupts), seen by a process that reads the clock without pause.

use oscost_sys::cpu_list;
use oscost_sys::gaps::ReadingGaps;

use super::system::System;
use super::{Finding, duration, percent};

/// From here on gaps show in figures other than floors: a batch of 20 us must meet less than one in ten.
const MOST_RATE: f64 = 5_000.0;
const MOST_LOST: f64 = 0.01;
const BATCH_S: f64 = 20e-6;
/// CPUs that are named one by one.
const MOST_NAMED: usize = 4;

pub(super) fn check(system: &System) -> Finding {
    const MATTERS: &str = "typical, batch_p99 and max of all figures, if others take the CPU";
    let Some(scanned) = system.measured.gaps.as_ref().filter(|scanned| !scanned.is_empty()) else {
        return Finding::unknown("no CPU could be scanned", MATTERS);
    };
    let mut known: Vec<(usize, ReadingGaps)> =
        scanned.iter().filter_map(|scanned| Some((scanned.cpu, scanned.gaps.ok()?))).collect();
    let missed: Vec<usize> =
        scanned.iter().filter(|scanned| scanned.gaps.is_err()).map(|scanned| scanned.cpu).collect();
    known.sort_by(|(_, a), (_, b)| b.lost_share().total_cmp(&a.lost_share()));
    let (bad, good): (Vec<_>, Vec<_>) =
        known.iter().partition(|(_, gaps)| gaps.lost_share() >= MOST_LOST || gaps.rate() >= MOST_RATE);
    let mut says: Vec<String> = bad.iter().take(MOST_NAMED).map(describe).collect();
    if bad.len() > MOST_NAMED {
        says.push(format!("{} more CPUs have such gaps", bad.len() - MOST_NAMED));
    }
    if let Some((_, worst)) = good.first() {
        let longest = good.iter().map(|(_, gaps)| gaps.longest_ns).max().unwrap_or(0);
        let rate = good.iter().map(|(_, gaps)| gaps.rate()).fold(0.0, f64::max);
        let mut cpus: Vec<usize> = good.iter().map(|(cpu, _)| *cpu).collect();
        cpus.sort_unstable();
        let (subject, most) = match cpus.as_slice() {
            [_] => ("loses", ""),
            _ => ("lose", " at most"),
        };
        says.push(format!(
            "CPU {} {subject} {}{most}, longest {}, {rate:.0} gaps a second",
            cpu_list::format(&cpus),
            percent(worst.lost_share()),
            duration(longest as f64)
        ));
    }
    if !missed.is_empty() {
        says.push(format!("CPU {} could not be scanned", cpu_list::format(&missed)));
    }
    let says = says.join("; ");
    if bad.is_empty() {
        return if missed.is_empty() { Finding::fine(says) } else { Finding::unknown(says, MATTERS) };
    }
    let hit =
        bad.iter().map(|(_, gaps)| gaps.rate() * BATCH_S + gaps.lost_share()).fold(0.0, f64::max).min(1.0);
    let matters = format!(
        "floors hold, but typical, batch_p99 and max do not: up to {} of the batches contain a gap",
        percent(hit)
    );
    let mut cpus: Vec<usize> = good.iter().map(|(cpu, _)| *cpu).collect();
    cpus.sort_unstable();
    let remedy = if cpus.is_empty() {
        "stop other work (top), or use --thorough and read the floors".to_owned()
    } else {
        format!("--cpu {}", cpu_list::format(&cpus))
    };
    Finding::disturbs(says, matters).remedy(remedy)
}

fn describe((cpu, gaps): &&(usize, ReadingGaps)) -> String {
    format!(
        "CPU {cpu} loses {}, longest {}, {:.0} gaps a second",
        percent(gaps.lost_share()),
        duration(gaps.longest_ns as f64),
        gaps.rate()
    )
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, ReadingGaps, check};
    use oscost_sys::{CallError, gaps::Scanned};

    fn gaps(lost_ns: u64, count: u64) -> Result<ReadingGaps, CallError> {
        Ok(ReadingGaps { duration_ns: 50_000_000, count, lost_ns, longest_ns: lost_ns / count.max(1) })
    }

    fn found(gaps: &[Result<ReadingGaps, CallError>]) -> Finding {
        let scanned = gaps.iter().enumerate().map(|(cpu, &gaps)| Scanned { cpu, gaps }).collect();
        check(&Recorded::new(&[]).with(|measured| measured.gaps = Some(scanned)).system)
    }

    #[test]
    fn timer_ticks_are_fine() {
        found(&[gaps(36_000, 12), gaps(40_000, 13), gaps(0, 0)])
            .is(Fine, "CPU 0-2 lose 0.08 % at most, longest 3.1 us, 260 gaps a second");
    }

    #[test]
    fn a_cpu_that_loses_time_is_named_and_the_others_are_advised() {
        let found = found(&[gaps(40_000, 12), gaps(0, 0), gaps(11_000_000, 1), gaps(0, 0)]);
        found.is(Disturbs, "CPU 2 loses 22.0 %, longest 11 ms, 20 gaps a second; CPU 0-1,3 lose...");
        assert_eq!(found.remedy.as_deref(), Some("--cpu 0-1,3"));
    }

    #[test]
    fn many_short_gaps_disturb_by_their_rate() {
        let found = found(&[gaps(300_000, 300)]);
        assert_eq!(found.state, Disturbs);
        assert!(found.matters.contains("up to 12.6 % of the batches"), "{}", found.matters);
        assert!(found.remedy.expect("a remedy").starts_with("stop other work"));
    }

    #[test]
    fn a_cpu_that_was_not_scanned_is_not_fine() {
        found(&[gaps(0, 0), Err(CallError::new("wait4", 110))]).is(Unknown, "...CPU 1 could not be scanned");
    }
}
