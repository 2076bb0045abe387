//! Sessions that differ by their period alone.

use oscost_results::quantity;
use oscost_stats::sorting::SmallSort;

use super::Session;
use crate::numbers;
use crate::view::story::Story;

/// How the wake-up ages with the period, where several were measured.
pub(super) fn of(story: &Story<'_>, sessions: &[Session<'_>]) -> Vec<String> {
    let mut told = Vec::new();
    let mut known: Vec<(&str, &str, u32)> = Vec::new();
    for session in sessions {
        let key = (session.transport, session.placement, session.clients);
        if known.contains(&key) {
            continue;
        }
        known.push(key);
        let mut same: Vec<&Session<'_>> = sessions
            .iter()
            .filter(|other| {
                (other.transport, other.placement, other.clients) == key && other.rest == session.rest
            })
            .collect();
        same.small_sort_by(|one, other| one.tick_ns.total_cmp(&other.tick_ns));
        if same.len() > 1 {
            let points: Vec<String> = same
                .iter()
                .map(|session| {
                    format!(
                        "{} every {}",
                        session.time(quantity::LAST_P50),
                        numbers::duration(session.tick_ns)
                    )
                })
                .collect();
            told.push(format!(
                "{}: last {}",
                story.words(&format!("{}/{}/clients_{}", key.0, key.1, key.2)),
                points.join(", ")
            ));
        }
    }
    told
}
