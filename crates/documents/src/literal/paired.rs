//! Document 000's two loops in turn, as a ratio. Not the document's method.

use oscost_harness::{CallError, Outcome, Series, SeriesPlan, Sink};
use oscost_results::quantity;
use oscost_sys::{clock, semaphore};

use super::operations;

/// Not the document's: the same loops of the same counts, warm, interleaved, by the CPU time of this thread. The loop of System V
/// takes a hundred times as long, so that others would interrupt it more often and move the ratio.
pub(super) struct Paired {
    pub posix: semaphore::NamedSemaphore,
    pub system_v: semaphore::SystemV,
    pub count: u64,
}

/// Fewer operations take no longer than a reading of this clock, so no pair of them is measured.
pub(crate) const LEAST_PAIRED: u64 = 1000;

impl Paired {
    fn round(&self, count: u64) -> Result<f64, CallError> {
        let now = || clock::try_read_ns(clock::Clock::ThreadCpuTime);
        let before = now()?;
        let start = now()?;
        for _ in 0..count {
            self.posix.wait()?;
            self.posix.post()?;
        }
        let between = now()?;
        for _ in 0..count {
            self.system_v.wait()?;
            self.system_v.post()?;
        }
        let end = now()?;
        // This clock is a system call, which costs as much as many cycles of POSIX.
        let without_reading = |ns: u64| match ns.saturating_sub(start.saturating_sub(before)) {
            0 => Err(CallError::told("measuring CPU time: the loop took none")),
            ns => Ok(ns as f64),
        };
        let ns = |from: u64, to: u64| without_reading(to.saturating_sub(from));
        Ok(ns(between, end)? / ns(start, between)?)
    }
}

impl Series for Paired {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        // An audit asks for fewer, and times nothing.
        let count = operations(plan, self.count).max(LEAST_PAIRED);
        self.round(LEAST_PAIRED)?;
        let end = clock::now_ns() + plan.duration_ns;
        let mut ratios = Vec::new();
        while ratios.is_empty() || (clock::now_ns() < end && plan.observations.is_none()) {
            ratios.push(self.round(count)?);
        }
        sink.operations(count * ratios.len() as u64);
        let ratios = oscost_stats::quantile::sorted(ratios);
        if let Some(ratio) = oscost_stats::quantile::median(&ratios) {
            sink.quantity(quantity::RATIO, ratio);
        }
        Ok(())
    }
}
