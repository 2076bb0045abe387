//! How late a sleeper runs: its first reading of the clock less the time that it asked for. clock_nanosleep(2).

use oscost_harness::{
    Benchmark, Bound, CallError, Card, Claim, Outcome, OverLaunches, PostCondition, QuantityCard, Series,
    SeriesPlan, Sink, Subject, quantity,
};
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::usage::{self, Whose};
use oscost_sys::{clock, scheduling};

use crate::row::row;

pub const ALL: &[&dyn Benchmark] = &[&row(&OVERSHOOT, |_| {
    // Where sleeping is refused, nothing is to be had.
    clock::sleep_until(clock::now_ns())?;
    Ok(Subject::series(Sleeps(clock::sleep_until)))
})];

/// Between two looks at the clock, in ns: longer than any timer slack that is usual.
const SLEEP_NS: u64 = 200_000;
/// A host takes so long to learn how long a CPU sleeps, and to let it sleep as deep: sleepers are woken earlier before (68 us instead
/// of 77, in the first 60 ms), as KVM looks for work before it lets a CPU go (Documentation/virt/kvm/halt-polling.rst).
pub(crate) const SETTLING_NS: u64 = 100_000_000;
/// Of what a launch sleeps at least, so that its 99th percentile is one.
const FEWEST: u64 = 100;

const OVERSHOOT: Card = Card {
    id: "timer/nanosleep_overshoot",
    revision: 2,
    title: "lateness of a sleeper",
    operation: "one clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME) until 200 us from now: how late the sleeper reads the clock",
    blocks: true,
    group: "timer",
    launch_ms: SETTLING_NS / 1_000_000,
    claims: &[
        Claim::CallsNamed(&["clock_nanosleep"], Bound::Exactly(1.0)),
        Claim::VoluntarySwitches(Bound::AtLeast(0.9)),
    ],
    quantities: &[
        QuantityCard::of(quantity::LATENESS_P50),
        QuantityCard::of(quantity::LATENESS_P99),
        QuantityCard::of(quantity::LONGEST_SLEEP).over(OverLaunches::Max),
    ],
    remark: "it includes the timer slack (50 us by default, none under real-time policies) and the waking of an idle CPU",
    ..Card::SERIES
};

/// How it sleeps until a time.
struct Sleeps(fn(u64) -> Result<(), CallError>);

impl Series for Sleeps {
    fn settle(&mut self) -> Outcome {
        let until = clock::now_ns() + SETTLING_NS;
        while clock::now_ns() < until {
            (self.0)(clock::now_ns() + SLEEP_NS)?;
        }
        Ok(())
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = plan.observations.unwrap_or((plan.duration_ns / SLEEP_NS).max(FEWEST));
        let mut late = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        let switches = || usage::own(Whose::Thread).map(|used| used.voluntary_switches);
        let before = switches();
        let mut early = 0u32;
        for _ in 0..count {
            let due = clock::now_ns() + SLEEP_NS;
            (self.0)(due)?;
            let woken = clock::now_ns();
            early += u32::from(woken < due);
            late.push(woken.saturating_sub(due) as f64);
        }
        late.iter().for_each(|&ns| sink.observation(ns));
        sink.operations(count);
        sink.post_condition(PostCondition::exactly("woken_early", 0.0, early.into()));
        if let (Ok(before), Ok(after)) = (before, switches()) {
            let slept = (after - before) as f64 / count as f64;
            sink.post_condition(PostCondition::new("sleeps_an_operation", Bound::AtLeast(0.9), slept));
        }
        let late = sorted(late);
        let of = |share| quantile(&late, share).unwrap_or(0.0);
        sink.quantity(quantity::LATENESS_P50, of(0.5));
        sink.quantity(quantity::LATENESS_P99, of(0.99));
        sink.quantity(quantity::LONGEST_SLEEP, of(1.0));
        let policy = scheduling::policy_name().unwrap_or_else(|error| error.to_string());
        let slack =
            scheduling::timer_slack_ns().map_or_else(|error| error.to_string(), |ns| format!("{ns} ns"));
        sink.say(format!("policy {policy}, timer slack {slack}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::seen::Seen;

    #[test]
    fn a_sleeper_sleeps_for_a_while_before_it_is_timed() {
        static SLEPT: AtomicU64 = AtomicU64::new(0);
        let begun = clock::now_ns();
        let counted =
            |until| clock::sleep_until(until).inspect(|()| _ = SLEPT.fetch_add(1, Ordering::Relaxed));
        Sleeps(counted).settle().expect("nothing fails");
        let most = (clock::now_ns() - begun) / SLEEP_NS;
        assert!(
            clock::now_ns() - begun >= SETTLING_NS && (1..=most).contains(&SLEPT.load(Ordering::Relaxed))
        );
        assert!(Sleeps(|_| Err(CallError::told("refused"))).settle().is_err());
    }

    #[test]
    fn a_sleep_that_does_not_sleep_is_contradicted() {
        let plan = SeriesPlan { observations: Some(10), duration_ns: 1_000_000_000, seed: 1 };
        let mut found = Seen::default();
        Sleeps(|_| Ok(())).launch(&plan, &mut found).expect("nothing fails");
        assert!(found.is_broken("woken_early") && found.is_broken("sleeps_an_operation"), "{found:?}");
    }
}
