//! Plots of single messages: all of them to be looked into, one launch of each transport, and the order of service.

use oscost_results::{Figure, quantity};

use super::{Seen, Session, middle, seen, told, worst};
use crate::blocks::{Axis, Form, Names, Part, Plot, Strip, Strips, Table, Track, Tracks};
use crate::numbers;
use crate::view::story::Story;

/// Beyond this factor between its largest value and its median a strip is logarithmic.
const FAR: f64 = 20.0;

/// Parts of a session with a load.
const FACETS: [&str; 3] = ["before it", "under it", "after it"];
/// Most ticks of an order strip.
const ORDER: usize = 200;

/// Every value of every client that was kept, to be looked into one by one.
pub(crate) fn messages(story: &Story<'_>, sessions: &[&Session<'_>], first: &Session<'_>) -> Option<Part> {
    // The one that the terminal shows comes first.
    let order = std::iter::once(first)
        .chain(sessions.iter().copied().filter(|session| !std::ptr::eq(*session, first)));
    let named: Vec<(String, &Figure)> = order.map(|session| (session.name(), session.figure)).collect();
    every(story, &named)
}

/// Every value that these figures kept of their clients, each under its name.
pub(crate) fn every(story: &Story<'_>, figures: &[(String, &Figure)]) -> Option<Part> {
    let mut rows = Vec::new();
    let mut tracks = Vec::new();
    let mut most: Option<(f64, usize, String)> = None;
    for (name, figure) in figures {
        for seen in seen(figure).into_iter().rev() {
            let values: Vec<f64> = seen.values.iter().copied().filter(|value| value.is_finite()).collect();
            let (Some((at, height)), Some(middle)) = (worst(&values), middle(&values)) else { continue };
            let client = story.words(seen.client);
            let name = format!("{}: {client}", story.words(name));
            if most.as_ref().is_none_or(|most| height > most.0) {
                most = Some((height, at, name.clone()));
            }
            let phases = seen.load.map(|(on, off)| (on + 1, off.min(values.len()), "load".to_owned()));
            rows.push(vec![
                name.clone(),
                values.len().to_string(),
                numbers::duration(middle),
                format!("{} at tick {at}", numbers::duration(height)),
                told(&values).unwrap_or_default(),
                phases.as_ref().map_or(String::new(), |(from, to, _)| format!("ticks {from} to {to}")),
            ]);
            tracks.push(Track { name, values, phases: phases.into_iter().collect() });
        }
    }
    let (height, at, name) = most?;
    let finding = format!(
        "The worst of the {} messages drawn here took {}: {name}, tick {at}",
        numbers::count(tracks.iter().map(|track| track.values.len()).sum::<usize>() as f64),
        numbers::duration(height)
    );
    let heads = ["client", "ticks", "median", "worst", "peaks", "under load"];
    let tracks = Tracks { position: "tick", value: "latency", tracks };
    Some(Part::from(Plot::of(finding, tracks, Table::new(heads, rows))))
}

/// One launch of each transport tick by tick; before, under and after a load in facets of their own.
pub(crate) fn timeline(story: &Story<'_>, heading: &str, sessions: &[&Session<'_>]) -> Option<Plot> {
    let mut strips = Vec::new();
    let mut rows = Vec::new();
    let mut all = Vec::new();
    let mut most: Option<(f64, String)> = None;
    let mut by_facet = [0.0_f64; 3];
    for session in sessions {
        // The later one of the clients that were kept: who is served last is up to the transport.
        let later = seen(session.figure).into_iter().max_by(|one, other| {
            let middle = |seen: &Seen<'_>| middle(seen.values).unwrap_or(0.0);
            middle(one).total_cmp(&middle(other))
        });
        let Some(last) = later else { continue };
        // A tick has the number that it has in the whole launch, as in the list of all messages.
        let facets = match last.load {
            None => vec![("", 0..last.values.len())],
            Some((on, off)) => {
                let off = off.min(last.values.len());
                vec![(FACETS[0], 0..on), (FACETS[1], on..off), (FACETS[2], off..last.values.len())]
            }
        };
        for (facet, ticks) in facets {
            let (before, values) = (ticks.start, &last.values[ticks]);
            let (Some((at, height)), Some(middle)) = (worst(values), middle(values)) else { continue };
            let name = format!("{}, {}", story.words(session.transport), story.words(last.client));
            if most.as_ref().is_none_or(|most| height > most.0) {
                most = Some((height, name.clone()));
            }
            if let Some(index) = FACETS.iter().position(|known| *known == facet) {
                by_facet[index] = by_facet[index].max(height);
            }
            let name = if facet.is_empty() { name } else { format!("{name}, {facet}") };
            all.extend([middle, height]);
            let mut row = vec![name.clone(), values.len().to_string()];
            row.extend([middle, height].map(numbers::duration));
            row.push((before + at).to_string());
            rows.push(row);
            let says = format!("worst {}", numbers::duration(height));
            let strip = Strip::of(name, says, Form::Values(values.to_vec()));
            strips.push(Strip { kind: story.words(session.transport), ..strip });
        }
    }
    let (height, name) = most?;
    let finding = format!(
        "In one launch of each, tick by tick, the worst message took {} ({name})",
        numbers::duration(height)
    );
    let finding = if by_facet.contains(&0.0) {
        finding
    } else {
        let told = FACETS
            .iter()
            .zip(by_facet)
            .map(|(facet, height)| format!("{facet} {}", numbers::duration(height)));
        let told = told.collect::<Vec<_>>().join(", ").replacen("before it", "before the load took", 1);
        format!("In one launch of each, the worst message {told}")
    };
    let middle = all.iter().step_by(2).copied().fold(f64::INFINITY, f64::min);
    let y = if height > FAR * middle {
        // What lies below all middles has its place, too.
        let values = strips.iter().flat_map(|strip| match &strip.form {
            Form::Values(values) => values.as_slice(),
            _ => &[],
        });
        let least = values.copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        Axis::logarithmic("latency of one client", "ns", all.into_iter().chain([least]))
    } else {
        Axis::linear("latency of one client", "ns", all.into_iter())
    };
    let mut lengths = strips.iter().map(|strip| match &strip.form {
        Form::Values(values) => values.len(),
        _ => 0,
    });
    let ticks = lengths.next()?;
    // A part of a launch does not begin with its first tick.
    let is_whole = by_facet.iter().all(|height| *height == 0.0);
    let x = if is_whole && lengths.all(|length| length == ticks) {
        Axis::between("tick", "count", 0.5, ticks as f64 + 0.5)
    } else {
        Axis::between("course of each, from its first tick to its last", "share", 0.0, 1.0)
    };
    let table = Table::new(["transport", "ticks", "median", "worst", "at tick"], rows);
    Some(Plot::of(finding, Strips::of(x, y, strips, Names::Transports), table).about(heading))
}

/// Who is served first, tick by tick: the first client or the last.
pub(super) fn order(story: &Story<'_>, heading: &str, sessions: &[&Session<'_>]) -> Option<Plot> {
    let (mut strips, mut rows, mut ticks) = (Vec::new(), Vec::new(), 0);
    let mut turned = Vec::new();
    for session in sessions {
        let kept = seen(session.figure);
        let [one, other] = kept.as_slice() else { continue };
        // Where one missed a tick, the values no longer stand beside each other.
        if one.values.len() != other.values.len() {
            continue;
        }
        let pairs = one.values.iter().zip(other.values).take(ORDER);
        let marked: Vec<bool> = pairs.map(|(one, other)| other < one).collect();
        ticks = ticks.max(marked.len());
        let share = |name: &str| session.value(name).map_or("?".to_owned(), numbers::percent);
        if session.value(quantity::REVERSED_SHARE).is_some_and(|share| share > 0.5) {
            turned.push(story.words(session.transport));
        }
        let last_first = marked.iter().filter(|marked| **marked).count();
        let (name, reversed) = (story.words(session.transport), share(quantity::REVERSED_SHARE));
        let same = share(quantity::SAME_ORDER_SHARE);
        let says = format!("reversed {reversed}, the same {same}");
        rows.push(vec![name.clone(), marked.len().to_string(), last_first.to_string(), reversed, same]);
        strips.push(Strip::of(name, says, Form::Marked(marked)));
    }
    if strips.is_empty() {
        return None;
    }
    let finding = if turned.is_empty() {
        "No transport turns the order of service round from tick to tick".to_owned()
    } else {
        format!("The order of service turns round from tick to tick by {}", turned.join(", "))
    };
    let heads = ["transport", "ticks", "last client before the first", "order reversed", "order the same"];
    let name = "tick; dark: the last client had it before the first";
    let strips =
        Strips::of(Axis::between(name, "count", 0.5, ticks as f64 + 0.5), None, strips, Names::Transports);
    Some(Plot::of(finding, strips, Table::new(heads, rows)).about(heading))
}
