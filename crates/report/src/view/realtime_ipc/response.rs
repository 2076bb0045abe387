//! From the instant that a tick is due, for transports without a server process beside others: a latency counts from the
//! stamp, and who wakes late has a late stamp.

use oscost_results::{Trait, quantity};
use oscost_stats::sorting::SmallSort;

use super::Session;
use crate::numbers;
use crate::view::story::Story;

/// Medians from the due time, the shortest first; `None` where all have servers of one kind.
pub(super) fn from_due(story: &Story<'_>, sessions: &[&Session<'_>]) -> Option<String> {
    let apart = |session: &&&Session<'_>| session.figure.has(Trait::NoServerProcess);
    let count = sessions.iter().filter(apart).count();
    if count == 0 || count == sessions.len() {
        return None;
    }
    let of = |it: &&Session<'_>| {
        let (p50, p99) = (it.value(quantity::RESPONSE_P50)?, it.value(quantity::RESPONSE_P99)?);
        let [median, tail] = [p50, p99].map(numbers::duration);
        Some((p50, format!("{} {median} ({tail})", story.words(it.transport))))
    };
    let mut found: Vec<(f64, String)> = sessions.iter().filter_map(of).collect();
    found.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let told: Vec<String> = found.into_iter().map(|(_, words)| words).collect();
    let what = "from the instant that a tick is due, median of all messages (99th percentile)";
    (told.len() > 1).then(|| format!("{what}: {}", told.join(", ")))
}
