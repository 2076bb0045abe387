//! Sessions that differ by their period alone.

use oscost_results::quantity;
use oscost_stats::sorting::SmallSort;

use super::Session;
use crate::numbers;
use crate::view::story::Story;
use crate::words::grouped;

/// How the wake-up ages with the period, where several were measured.
pub(super) fn of(story: &Story<'_>, sessions: &[Session<'_>]) -> Vec<String> {
    let mut told = Vec::new();
    for ((transport, placement, clients), mut same) in
        grouped(sessions, |it| (it.transport, it.placement, it.clients))
    {
        let rest = same[0].rest.clone();
        same.retain(|other| other.rest == rest);
        same.small_sort_by(|one, other| one.tick_ns.total_cmp(&other.tick_ns));
        let point = |it: &&Session<'_>| {
            format!("{} every {}", it.time(quantity::LAST_P50), numbers::duration(it.tick_ns))
        };
        if same.len() > 1 {
            let points: Vec<String> = same.iter().map(point).collect();
            let name = story.words(&format!("{transport}/{placement}/clients_{clients}"));
            told.push(format!("{name}: last {}", points.join(", ")));
        }
    }
    told
}
