//! Whether participants may be scheduled in real time, and if not, for which of four causes.

use super::system::System;
use super::{Finding, sandbox};
use oscost_sys::scheduling::Cause;

const MATTERS: &str =
    "realtime_ipc/* is measured without it and marked so: its tails then come from the scheduler";

pub(super) fn check(system: &System) -> Finding {
    match &system.measured.real_time {
        None => Finding::unknown("it was not tried", MATTERS),
        Some(Ok(())) => {
            let throttle = match (
                system.line("/proc/sys/kernel/sched_rt_runtime_us").ok().as_deref(),
                system.line("/proc/sys/kernel/sched_rt_period_us").ok().as_deref(),
            ) {
                (Some("-1"), _) => "; no throttle: a runaway process would keep its CPU".to_owned(),
                (Some(runtime), Some(period)) => format!("; throttled to {runtime} of {period} us"),
                _ => String::new(),
            };
            Finding::fine(format!("SCHED_RR is granted{throttle}"))
        }
        Some(Err(refusal)) => Finding::disturbs(format!("refused: {}", refusal.cause.words()), MATTERS)
            .remedy(remedy(system, refusal.cause)),
    }
}

/// In a container, root may raise no limit.
fn remedy(system: &System, cause: Cause) -> String {
    match cause {
        Cause::Seccomp => sandbox::unfiltered("sched_setscheduler"),
        Cause::Capability | Cause::Limit(_) if sandbox::is_container(system) => {
            sandbox::real_time(system).to_owned()
        }
        cause => cause.remedy().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;
    use oscost_sys::CallError;
    use oscost_sys::scheduling::{Cause, SchedulingRefusal};

    #[test]
    fn each_cause_has_its_words_and_its_remedy() {
        let causes = [Cause::Capability, Cause::Limit(10), Cause::Cgroup, Cause::Seccomp];
        let found: Vec<_> = causes
            .iter()
            .map(|&cause| {
                let refusal = SchedulingRefusal { error: CallError::new("sched_setscheduler", 1), cause };
                check(&Recorded::new(&[]).with(|measured| measured.real_time = Some(Err(refusal))).system)
            })
            .collect();
        assert!(found.iter().all(|found| found.state == Disturbs && found.remedy.is_some()));
        let words = ["CAP_SYS_NICE", "RLIMIT_RTPRIO is 10", "cpu.rt_runtime_us", "seccomp"];
        for (found, word) in found.iter().zip(words) {
            assert!(found.says.contains(word), "{}", found.says);
        }
    }

    #[test]
    fn in_a_container_the_engine_has_to_give_it() {
        let remedy = |status, cause| {
            let refusal = SchedulingRefusal { error: CallError::new("sched_setscheduler", 1), cause };
            let recorded = Recorded::new(&[("proc/self/status", status)]);
            check(&recorded.with(|measured| measured.real_time = Some(Err(refusal))).system).remedy
        };
        let (inside, outside) = ("CapEff:\t0\nSeccomp:\t2\n", "CapEff:\t0\nSeccomp:\t0\n");
        for cause in [Cause::Capability, Cause::Limit(10)] {
            let said = remedy(inside, cause).expect("a remedy");
            assert!(said.contains("--ulimit rtprio=99") && !said.contains("ulimit -r"), "{said}");
            let said = remedy(outside, cause).expect("a remedy");
            assert!(said.contains("ulimit -r 50"), "{said}");
        }
        let said = remedy(inside, Cause::Seccomp).expect("a remedy");
        assert!(said.contains("a profile that allows sched_setscheduler"), "{said}");
    }

    #[test]
    fn the_throttle_is_told_where_it_is_granted() {
        let files = [
            ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
            ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ];
        let recorded = Recorded::new(&files).with(|measured| measured.real_time = Some(Ok(())));
        assert_eq!(check(&recorded.system).says, "SCHED_RR is granted; throttled to 950000 of 1000000 us");
    }
}
