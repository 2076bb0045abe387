//! The plots of real-time messages: every message in its order, how late the latest are, and what clients cost.

mod clients;
mod latencies;
mod messages;

use oscost_results::Figure;
use oscost_stats::peaks::{frequency, peaks};
use oscost_stats::quantile::{quantile, sorted};
use oscost_stats::sorting::SmallSort;

pub(crate) use clients::{load, service};
pub(crate) use latencies::tails;
pub(crate) use messages::{every, messages};

use super::{LEAST_PEAK_NS, Session, several};
use crate::blocks::axis::Axis;
use crate::blocks::plot::{Plot, Track, Trail};
use crate::blocks::{Part, Table};
use crate::numbers;
use crate::view::story::Story;

/// Beyond this factor between its largest and its smallest value an axis upwards is logarithmic.
const FAR: f64 = 20.0;
/// Track that says where the load went on and off in each of the others, in their order.
const MARKS: &str = "load";

/// Where participants run, at the beginning of a sentence.
fn at(placement: &str) -> &'static str {
    if placement == "spread" { "Over several CPUs" } else { "On one CPU" }
}

/// What one client saw of one launch.
struct Seen<'a> {
    /// "client_10".
    client: &'a str,
    values: &'a [f64],
    /// First value under the load, and first after it.
    load: Option<(usize, usize)>,
}

/// The clients whose values were kept, by number.
fn seen(figure: &Figure) -> Vec<Seen<'_>> {
    let Some(launch) = figure.launches.iter().find(|launch| !launch.tracks.is_empty()) else {
        return Vec::new();
    };
    let tracks = &launch.tracks;
    let marks = tracks.get(MARKS).map_or(&[][..], Vec::as_slice);
    let number = |name: &str| name.strip_prefix("client_").and_then(|number| number.parse::<u32>().ok());
    let mut clients: Vec<(u32, &str, &[f64])> =
        tracks.iter().filter_map(|(name, values)| Some((number(name)?, &**name, &**values))).collect();
    clients.small_sort_by_key(|client| client.0);
    let with_marks = clients.into_iter().enumerate().filter(|(_, (.., values))| !values.is_empty());
    with_marks
        .map(|(index, (_, client, values))| {
            let load = marks.get(2 * index..2 * index + 2).map(|ends| (ends[0] as usize, ends[1] as usize));
            Seen { client, values, load: load.filter(|(on, off)| on < off && *on < values.len()) }
        })
        .collect()
}

/// The last client of a session.
pub(crate) fn last_client(session: &Session<'_>) -> Option<Vec<f64>> {
    let values = seen(session.figure).into_iter().next_back()?.values.iter().copied();
    Some(values.filter(|value| value.is_finite()).collect())
}

/// "peaks 60 to 80 us, low (3 in a thousand ticks)", or "no peak".
pub(crate) fn told(values: &[f64]) -> Option<String> {
    let found = peaks(values, LEAST_PEAK_NS)?;
    if found.count == 0 {
        return Some("no peak".to_owned());
    }
    let [low, high] = [found.low, found.high].map(numbers::duration);
    let heights = if low == high { format!("of {high}") } else { format!("{low} to {high}") };
    let (often, per_thousand) = (frequency(found.per_thousand), numbers::significant(found.per_thousand));
    Some(format!("peaks {heights}, {often} ({per_thousand} in a thousand ticks)"))
}

fn middle(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values.iter().copied().filter(|value| value.is_finite()).collect()), 0.5)
}

/// Largest value and its position, from 1.
fn worst(values: &[f64]) -> Option<(usize, f64)> {
    let finite = values.iter().copied().enumerate().filter(|(_, value)| value.is_finite());
    finite.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, value)| (index + 1, value))
}

/// One client tick by tick, what was going on meanwhile, and the same in letters.
pub(crate) fn trail(
    finding: String,
    values: Vec<f64>,
    phases: Vec<(usize, usize, String)>,
    letters: Vec<String>,
) -> Option<Part> {
    let ordered = sorted(values.iter().copied().filter(|value| value.is_finite()).collect());
    let at = |q: f64| quantile(&ordered, q).map_or(String::new(), numbers::duration);
    let row = vec![values.len().to_string(), at(0.0), at(0.5), at(0.99), at(1.0)];
    let y = Axis::fitting("latency", "ns", FAR, values.iter().copied())?;
    let track = Track { name: String::new(), values, phases };
    let trail = Trail { track, position: "tick", y, rules: Vec::new() };
    let table = Table::new(["ticks", "least", "median", "99 %", "most"], [row]);
    Some(Part::from(Plot { letters, ..Plot::of(finding, trail, table) }))
}

/// Everything that a situation has a plot of.
pub(crate) fn situation(story: &Story<'_>, heading: &str, sessions: &[&Session<'_>]) -> Vec<Part> {
    [
        messages::timeline(story, heading, sessions),
        latencies::tails(heading, sessions, &|session| story.words(session.transport)),
        latencies::histogram(story, heading, sessions),
        messages::order(story, heading, sessions),
    ]
    .into_iter()
    .flatten()
    .map(Part::from)
    .collect()
}

/// What a load does to one launch of each session, and every message of them.
pub(crate) fn under_load(story: &Story<'_>, load: &str, sessions: &[&Session<'_>]) -> Vec<Part> {
    let every = sessions.first().and_then(|first| messages(story, sessions, first));
    messages::timeline(story, load, sessions).map(Part::from).into_iter().chain(every).collect()
}
