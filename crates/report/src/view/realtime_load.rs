//! Real-time messages under a load: the idle and the busy part of the same launches beside each other, and one launch from end
//! to end with the load marked.

use oscost_results::{Mark, RemarkCode, quantity};
use oscost_stats::sorting::SmallSort;

use crate::blocks::page::Card;
use crate::blocks::{Hue, Part, Table, View};
use crate::view::realtime_ipc::{
    Session, lost, lost_and_skipped, not_real_time, place, plots, session, several,
};
use crate::view::story::Story;
use crate::words::grouped;
use crate::{numbers, view::picture};

/// Columns of a timeline.
const TIMELINE: usize = 72;

/// The view of all sessions with a load.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let sessions: Vec<Session<'_>> =
        story.measured().filter_map(session).filter(|session| session.load.is_some()).collect();
    if sessions.is_empty() {
        return None;
    }
    let windows = numbers::ascending(sessions.iter().filter_map(|it| it.value(quantity::RANGE_WINDOW)));
    let window = match windows[..] {
        [] => "time".to_owned(),
        [all] => numbers::duration(all),
        [shortest, .., longest] => {
            format!("window, of {} to {} by session", numbers::duration(shortest), numbers::duration(longest))
        }
    };
    let mut parts = vec![Part::Words(format!(
        "Each session runs without the load (idle), with it (busy), and without it again. A row has the messages of all its clients. Width is 2 standard deviations (sd). Max range is mean - sd to mean + sd of the worst {window}, as in document 002. Max peak is the longest latency. Lost and skipped are of the whole session, idle and busy. A busy CPU does not halt, so busy can be faster than idle: no row is subtracted from another."
    ))];
    for (load, here) in grouped(&sessions, |session| session.load) {
        let what = here[0].figure.remarks.iter().find_map(|remark| RemarkCode::Load.holes(remark)?.pop());
        let heading = format!("under {}", story.plain(what.or(load).unwrap_or_default()));
        parts.push(Part::Words(heading.clone()));
        parts.push(Part::Table(table(story, &here)));
        parts.extend(here.iter().find_map(|session| timeline(story, session)).into_iter().flatten());
        parts.extend(plots::under_load(story, &heading, &here));
    }
    let marked = sessions.iter().filter(|session| session.figure.marks.contains(&Mark::NotRealTime)).count();
    if marked > 0 {
        parts.push(Part::Words(not_real_time(story, &sessions, marked)));
    }
    let covers = sessions.iter().map(|session| session.figure.id.clone()).collect();
    Some(View { title: "REALTIME IPC UNDER LOAD".to_owned(), covers, parts })
}

fn table(story: &Story<'_>, sessions: &[&Session<'_>]) -> Table {
    let heads = "transport||mean|width|median|p99|max range|max peak|lost in all|skipped in all".split('|');
    let rows = sessions.iter().flat_map(|session| {
        let time = |part: &str, name: &str| session.time(&format!("{part}_{name}"));
        let row = |first: String, part: &str, counts: [String; 2]| {
            let range = format!("{} .. {}", time(part, "range_low"), time(part, "range_high"));
            let mut row = vec![first, part.to_owned()];
            row.extend(["mean", "width", "p50", "p99"].map(|name| time(part, name)));
            row.extend([range, time(part, "peak")]);
            row.extend(counts);
            row
        };
        [
            row(story.words(&situation(session)), "idle", Default::default()),
            row(String::new(), "busy", lost_and_skipped(session)),
        ]
    });
    Table::new(heads, rows)
}

/// The sessions of a run that has nothing but sessions with a load and as many clients, with their medians under it; the fastest
/// first.
fn medians<'a>(story: &Story<'a>) -> Option<Vec<(f64, Session<'a>)>> {
    let sessions: Vec<Session<'_>> = story.result.figures.iter().map(session).collect::<Option<_>>()?;
    let clients = sessions.first()?.clients;
    let busy = |it: &Session<'_>| it.value("busy_p50").filter(|_| it.load.is_some() && it.clients == clients);
    let mut medians: Vec<_> = sessions.into_iter().map(|it| Some((busy(&it)?, it))).collect::<Option<_>>()?;
    medians.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(medians)
}

/// What such a run comes to: the fastest and the slowest, and what was lost.
pub(crate) fn finding(story: &Story<'_>) -> Option<String> {
    let medians = medians(story)?;
    let (first, last) = (medians.first()?, medians.last()?);
    let clients = first.1.clients;
    let told = |(time, session): &(f64, Session<'_>)| {
        format!("{} by {}", numbers::duration(*time), named(story, session))
    };
    let most = if medians.len() > 1 { format!(" to {}", told(last)) } else { String::new() };
    let whom = if clients == 1 { "its client".to_owned() } else { format!("one of {clients} clients") };
    // Nobody knows in which part of a session a message was lost.
    let of = if medians.len() == 1 { "the whole session" } else { "whole sessions" };
    let lost = match medians.iter().map(|(_, it)| lost(it)).sum::<f64>() {
        0.0 => String::new(),
        1.0 => format!("; one message was lost over {of}"),
        many => format!("; {} messages were lost over {of}", numbers::count(many)),
    };
    Some(format!("Under load a message reaches {whom} after {}{most} (medians){lost}", told(first)))
}

/// A card a session of such a run, and what the numbers on them are.
pub(crate) fn cards(story: &Story<'_>, most: usize) -> Option<(Vec<Card>, String)> {
    let card = |(time, session): &(f64, Session<'_>)| {
        let beside =
            [("idle ", session.time("idle_p50")), ("longest under load ", session.time("busy_peak"))];
        let beside = beside.into_iter().filter(|(_, time)| !time.is_empty());
        let beside: Vec<String> = beside.map(|(what, time)| format!("{what}{time}")).collect();
        let size = format!("lost over the whole session: {}", numbers::count(lost(session)));
        let card = Card::of(Hue::Switch, &numbers::duration(*time), named(story, session), beside.join(", "));
        Card { size, link: session.figure.id.clone(), ..card }
    };
    let cards = medians(story)?.iter().take(most).map(card).collect();
    Some((cards, "median latency of all clients under load".to_owned()))
}

/// The transport as people call it.
fn named(story: &Story<'_>, session: &Session<'_>) -> String {
    story.words(session.transport).replace('_', " ")
}

/// Transport, clients, placement, and what else is not as usual.
fn situation(session: &Session<'_>) -> String {
    let (who, place) = (several(session.clients), place(session.placement));
    let mut text = format!("{}, {who} {place}", session.transport);
    if session.tick_ns != 1e6 {
        text.push_str(&format!(", tick {}", numbers::duration(session.tick_ns)));
    }
    for part in session.rest.split('/').filter(|part| !part.is_empty()) {
        text.push_str(", ");
        text.push_str(part);
    }
    text
}

/// One launch from end to end, a column the highest of its ticks, and under it where the load was on.
fn timeline(story: &Story<'_>, session: &Session<'_>) -> Option<Vec<Part>> {
    let launch = session.figure.launches.iter().find(|launch| launch.tracks.contains_key("load"))?;
    let marks = launch.tracks.get("load")?;
    let values = launch.tracks.get("client_1")?;
    let (&start, &end) = (marks.first()?, marks.get(1)?);
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) || !(start >= 0.0 && start < end) {
        return None;
    }
    let size = values.len().div_ceil(TIMELINE).max(1);
    let highest = values.iter().copied().fold(1.0, f64::max);
    let heights: Vec<f64> =
        values.chunks(size).map(|chunk| chunk.iter().copied().fold(0.0, f64::max) / highest).collect();
    let (on, off) = if story.unicode { ('━', ' ') } else { ('=', ' ') };
    let under: String = (0..heights.len())
        .map(|column| (column * size) as f64 + size as f64 / 2.0)
        .map(|middle| if (start..end).contains(&middle) { on } else { off })
        .collect();
    let heading = format!(
        "one launch of {}, its first client tick by tick, to {}; marked: under the load",
        story.words(session.transport),
        numbers::duration(highest)
    );
    let letters = vec![picture::draw(&heights, story.unicode), under];
    let on = ((start as usize).min(values.len()) + 1, (end as usize).min(values.len()), "load".to_owned());
    Some(plots::trail(heading, values.clone(), vec![on], letters).into_iter().collect())
}
