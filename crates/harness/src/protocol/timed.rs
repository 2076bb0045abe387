//! Operations timed one by one: the worker's orders and its findings.

use std::collections::BTreeMap;

use oscost_results::{Account, GapCause, Gaps};
use oscost_stats::sorting::SmallSort;
use serde::{Deserialize, Serialize};

/// How much is timed in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SinglesPlan {
    /// Passes that are counted, at most.
    pub passes: u64,
    /// Time of all stretches, at most, ns.
    pub time_ns: u64,
    /// Discarded time first, ns.
    pub warm_up_ns: u64,
    /// Fewest passes of a batch.
    pub least_batch: u64,
    /// The operation waits for somebody else.
    pub blocks: bool,
}

/// What one launch found, as the worker tells it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Buckets of the times of counted passes, ns, with the clock pair: smallest value and count.
    pub(crate) buckets: Vec<(u64, u64)>,
    pub(crate) sum_ns: u64,
    pub(crate) extremes: Option<(u64, u64)>,
    pub(crate) pair_ns: f64,
    pub(crate) alone_ns: Option<f64>,
    pub(crate) batch_ns: Option<f64>,
    /// A round time, passes that took longer, and stretches with one.
    pub(crate) longer: Vec<(u64, u64, u64)>,
    pub(crate) account: Account,
    pub(crate) first: FirstCalls,
}

/// What one launch found: times of passes in ns, with the clock pair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FirstCalls {
    /// After the caches were evicted.
    pub evicted_ns: Vec<u64>,
    /// After the CPU had nothing to do.
    pub idle_ns: Vec<u64>,
    /// Reading a line of memory that was read just before, and that the caches should have lost, ns.
    pub line_hot_ns: f64,
    /// See `line_hot_ns`.
    pub line_evicted_ns: f64,
}

/// Gaps by cause and by whom.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(GapCause, Option<String>), Gaps>);

impl Tally {
    /// Counts a gap; `in_pass` if it lies within a pass that is counted.
    pub(crate) fn add(&mut self, cause: GapCause, by: Option<String>, ns: u64, in_pass: bool) {
        self.merge(Gaps { cause, by, count: 1, in_passes: in_pass.into(), total_ns: ns, longest_ns: ns });
    }

    /// Adds gaps of one cause.
    pub(crate) fn merge(&mut self, more: Gaps) {
        let Gaps { cause, by, count, in_passes, total_ns, longest_ns } = more;
        let gaps = self.0.entry((cause, by.clone())).or_insert(Gaps {
            cause,
            by,
            count: 0,
            in_passes: 0,
            total_ns: 0,
            longest_ns: 0,
        });
        gaps.count += count;
        gaps.in_passes += in_passes;
        gaps.total_ns += total_ns;
        gaps.longest_ns = gaps.longest_ns.max(longest_ns);
    }

    /// All of them, the most time first.
    pub(crate) fn into_gaps(self) -> Vec<Gaps> {
        let mut gaps: Vec<Gaps> = self.0.into_values().collect();
        gaps.small_sort_by_key(|gaps| std::cmp::Reverse(gaps.total_ns));
        gaps
    }
}
