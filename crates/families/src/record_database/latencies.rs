//! How long each kind of operation takes, in log histograms that the processes of a run fill apart and leave in shared memory.

use oscost_harness::quantity;
use std::sync::atomic::Ordering;

use oscost_harness::{CallError, Sink};
use oscost_recorddb::workload::{Observer, OperationKind};
use oscost_stats::histogram::LogHistogram;
use oscost_sys::{clock, memory::SharedWords};

/// What is told apart, with its quantities.
const GROUPS: [(&str, &str); 4] = [
    (quantity::FETCH_P50, quantity::FETCH_P99),
    (quantity::INSERT_P50, quantity::INSERT_P99),
    (quantity::REPLACE_P50, quantity::REPLACE_P99),
    (quantity::DELETE_P50, quantity::DELETE_P99),
];

const fn group(kind: OperationKind) -> usize {
    match kind {
        OperationKind::FetchFound | OperationKind::FetchMissing => 0,
        OperationKind::InsertAppended | OperationKind::InsertReused => 1,
        OperationKind::ReplaceOther | OperationKind::ReplaceSame | OperationKind::ReplaceMissing => 2,
        OperationKind::DeleteFound | OperationKind::DeleteMissing => 3,
    }
}

/// Buckets of a group: from 1 ns to over half an hour.
const BUCKETS: usize = 32 * 41;

/// The memory for the histograms of all processes of a run.
pub struct Latencies {
    words: SharedWords,
    processes: usize,
}

impl Latencies {
    /// For so many processes.
    pub fn new(processes: u32) -> Result<Self, CallError> {
        let processes = processes as usize;
        Ok(Self { words: SharedWords::new(processes * GROUPS.len() * BUCKETS)?, processes })
    }

    /// What watches one process; it tells what it has seen when it is dropped.
    pub fn of(&self, process: u32) -> Watch<'_> {
        Watch { latencies: self, process: process as usize, start: 0, seen: Default::default() }
    }

    fn first(&self, process: usize, group: usize) -> usize {
        (process * GROUPS.len() + group) * BUCKETS
    }

    /// Tells the median and the 99th percentile of each group over all processes.
    pub fn tell(&self, sink: &mut dyn Sink) {
        for (group, (median, high)) in GROUPS.into_iter().enumerate() {
            let mut all = LogHistogram::new();
            for process in 0..self.processes {
                let first = self.first(process, group);
                let count = |bucket| self.words.word(first + bucket).load(Ordering::Relaxed);
                let counts: Vec<u64> = (0..BUCKETS).map(count).collect();
                if let Some(one) = LogHistogram::from_counts(0, &counts) {
                    all.merge(&one);
                }
            }
            for (name, q) in [(median, 0.5), (high, 0.99)] {
                if let Some(ns) = all.quantile(q) {
                    sink.quantity(name, ns);
                }
            }
        }
    }
}

/// The observer of one process.
pub struct Watch<'a> {
    latencies: &'a Latencies,
    process: usize,
    start: u64,
    seen: [LogHistogram; GROUPS.len()],
}

impl Observer for Watch<'_> {
    #[inline]
    fn begin(&mut self) {
        self.start = clock::now_ns();
    }

    #[inline]
    fn end(&mut self, kind: OperationKind) {
        let took = clock::now_ns().saturating_sub(self.start);
        // 0 has no logarithm: the clock's step is no operation's time.
        self.seen[group(kind)].record(took.max(1) as f64);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        for (group, seen) in self.seen.iter().enumerate() {
            let first = self.latencies.first(self.process, group);
            let (bucket, counts) = seen.counts();
            for (bucket, &count) in (usize::try_from(bucket).unwrap_or(0)..BUCKETS).zip(counts) {
                self.latencies.words.word(first + bucket).store(count, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::Seen;

    #[test]
    fn what_two_processes_saw_is_told_together() {
        let latencies = Latencies::new(2).expect("memory");
        for (process, ns) in [(0, 100.0), (1, 3000.0)] {
            let mut watch = latencies.of(process);
            for _ in 0..100 {
                watch.seen[group(OperationKind::FetchMissing)].record(ns);
            }
        }
        let mut told = Seen::default();
        latencies.tell(&mut told);
        assert!((told.quantities["fetch_p50"] / 100.0 - 1.0).abs() < 0.02, "{:?}", told.quantities);
        assert!((told.quantities["fetch_p99"] / 3000.0 - 1.0).abs() < 0.02, "{:?}", told.quantities);
        assert!(!told.quantities.contains_key("delete_p50"), "of what was not done nothing is told");
    }

    #[test]
    fn an_operation_takes_what_it_takes() {
        let latencies = Latencies::new(1).expect("memory");
        let mut watch = latencies.of(0);
        watch.begin();
        std::thread::sleep(std::time::Duration::from_millis(3));
        watch.end(OperationKind::DeleteFound);
        drop(watch);
        let mut told = Seen::default();
        latencies.tell(&mut told);
        assert!(told.quantities["delete_p50"] > 2.9e6, "{:?}", told.quantities);
    }
}
