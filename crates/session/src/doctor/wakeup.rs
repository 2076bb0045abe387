//! How late sleepers wake: after a timer, with and without real time, and after another CPU's write.

use oscost_sys::wakeup::Lateness;

use super::system::System;
use super::{Finding, duration};

/// A timer later than this is in every tick of realtime_ipc, ns.
const LATE_NS: u64 = 50_000;

const MATTERS: &str = "realtime_ipc/*: every tick starts this late, and its lateness includes it; figures without sleep are not affected";

pub(super) fn check(system: &System) -> Finding {
    let Some(wakeups) = &system.measured.wakeups else {
        return Finding::unknown("not measured (oscost doctor does)", MATTERS);
    };
    let told = |what: &str, late: Option<Lateness>| {
        late.map(|late| {
            format!(
                "{what} {} late, {} at most",
                duration(late.median_ns as f64),
                duration(late.most_ns as f64)
            )
        })
    };
    let says: Vec<String> = [
        told("after a timer", wakeups.timer),
        told("in real time", wakeups.real_time_timer),
        told("after another CPU's write", wakeups.write_to_idle),
        told("the same with the CPU kept awake", wakeups.write_to_awake),
    ]
    .into_iter()
    .flatten()
    .collect();
    if says.is_empty() {
        return Finding::unknown("no sleeper woke in time", MATTERS);
    }
    let says = says.join("; ");
    let best = wakeups.real_time_timer.or(wakeups.timer);
    match best {
        Some(late) if late.median_ns <= LATE_NS => Finding::fine(says),
        Some(_) => Finding::disturbs(says, MATTERS).remedy(
            "measure with real time (oscost doctor: real time), and let idle CPUs poll: --idle-cpu poll",
        ),
        None => Finding::unknown(says, MATTERS),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::Wakeups;
    use super::super::system::recorded::*;
    use super::{Finding, Lateness, check};

    fn found(wakeups: Wakeups) -> Finding {
        check(&Recorded::new(&[]).with(|measured| measured.wakeups = Some(wakeups)).system)
    }

    #[test]
    fn a_late_timer_disturbs_unless_real_time_mends_it() {
        let late = |median_ns| Some(Lateness { median_ns, most_ns: 2 * median_ns });
        let slow = Wakeups { timer: late(60_000), ..Wakeups::default() };
        let state = found(slow.clone());
        state.is(Disturbs, "after a timer 60 us late, 120 us at most");
        assert_eq!(found(Wakeups { real_time_timer: late(9_000), ..slow }).state, Fine);
        assert_eq!(found(Wakeups::default()).state, Unknown);
    }
}
