//! From the instant that a tick is due, for transports without a server process beside others: a latency counts from the
//! stamp, and who wakes late has a late stamp.

use oscost_results::Trait;
use oscost_results::quantity;
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
    let mut found: Vec<(f64, f64, &str)> = sessions
        .iter()
        .filter_map(|session| {
            Some((
                session.value(quantity::RESPONSE_P50)?,
                session.value(quantity::RESPONSE_P99)?,
                session.transport,
            ))
        })
        .collect();
    found.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let told: Vec<String> = found
        .iter()
        .map(|(p50, p99, name)| {
            format!("{} {} ({})", story.words(name), numbers::duration(*p50), numbers::duration(*p99))
        })
        .collect();
    (told.len() > 1).then(|| {
        format!(
            "from the instant that a tick is due, median of all messages (99th percentile): {}",
            told.join(", ")
        )
    })
}
