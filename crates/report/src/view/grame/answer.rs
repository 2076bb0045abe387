//! What document 002 asks, and the answer there and here: one client, each further one, all of them, and who is fastest.

use oscost_results::document::GRAME;
use oscost_results::{Estimate, quantity};

use super::drawn::{published, told};
use super::{session, sessions};
use crate::blocks::page::{Card, Hue};
use crate::numbers;
use crate::view::realtime_ipc;
use crate::view::story::Story;
use crate::words::counted;

/// The cards of the document, in its order; none where its own sessions are missing.
pub(crate) fn cards(story: &Story<'_>) -> Vec<Card> {
    let most = sessions(story).filter(|(_, _, load)| load.is_empty()).map(|(_, clients, _)| clients).max();
    let Some(most) = most else { return Vec::new() };
    let of = |clients: u32, name: &str| -> Option<f64> {
        let figure = session(story, |here, load| here == clients && load.is_empty())?;
        Some(figure.quantities.get(name)?.estimate.value).filter(|ns| ns.is_finite() && *ns > 0.0)
    };
    let there = |values: &[(f64, String)]| match values {
        [] => "published: lost".to_owned(),
        values => format!("published: {}", told(values)),
    };
    let many = counted(most as usize, "client", "clients");
    let service = of(most, quantity::CLIENT_SERVICE);
    let growth = service.zip(of(1, quantity::CLIENT_SERVICE)).filter(|_| most > 1).map(|(all, one)| {
        format!(
            "{} for one: {} for {most} times the clients",
            numbers::duration(one),
            numbers::ratio(all / one, None)
        )
    });
    [
        literal(story, "mean")
            .map(|ns| card("one message to one client", ns, there(&published(story, "mean")))),
        of(most, quantity::CLIENT_NEXT).map(|ns| card("each further client", ns, there(&next(story)))),
        service.map(|ns| card(&format!("until {many} have it"), ns, growth.unwrap_or_default())),
        fastest(story),
        literal(story, "busy peak")
            .map(|ns| card("highest peak beside a load", ns, there(&published(story, "busy peak")))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// By the document's own method, ns.
fn literal(story: &Story<'_>, column: &str) -> Option<f64> {
    let rows = story.result.reproductions.iter().filter(|row| row.document == GRAME.name);
    let mut own = rows.filter(|row| row.cell.as_ref().is_some_and(|cell| cell.column == column));
    own.find_map(|row| row.literal.filter(|us| us.is_finite() && *us > 0.0)).map(|us| us * 1e3)
}

/// What each further client cost where the document measured Linux sockets.
fn next(story: &Story<'_>) -> Vec<(f64, String)> {
    let rows = story.result.reproductions.iter().filter(|row| row.document == GRAME.name);
    rows.filter_map(|row| {
        let cell = row.cell.as_ref().filter(|cell| cell.column == "next latency time")?;
        row.figure_id.as_ref()?;
        Some((row.published?, story.plain(&cell.row)))
    })
    .collect()
}

/// The transport whose last client has its message first, of the most clients, at the price list's tick.
fn fastest(story: &Story<'_>) -> Option<Card> {
    let sessions: Vec<realtime_ipc::Session<'_>> = story
        .measured()
        .filter_map(realtime_ipc::session)
        .filter(|it| {
            it.placement == "same_cpu" && it.tick_ns == 1e6 && it.rest.is_empty() && it.load.is_none()
        })
        .collect();
    let most = sessions.iter().map(|it| it.clients).max()?;
    let mut last: Vec<(&str, Estimate)> = sessions
        .iter()
        .filter(|it| it.clients == most)
        .filter_map(|it| Some((it.transport, it.quantity(quantity::LAST_P50)?)))
        .filter(|(_, estimate)| estimate.value.is_finite())
        .collect();
    last.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let (&(name, best), others) = last.split_first()?;
    let sockets = others.iter().find(|(name, _)| *name == "unix_datagram");
    let beside = match sockets {
        Some((_, slower)) => format!(", {} by sockets, at 1 ms", numbers::duration(slower.value)),
        None => format!(", the fastest of {}", counted(last.len(), "transport", "transports")),
    };
    let says = format!("last of {}{beside}", counted(most as usize, "client", "clients"));
    Some(card(&format!("fastest: {}{}", story.words(name), no_slower(best, others)), best.value, says))
}

/// " (or 2 others)": transports whose intervals reach down to that of the best one.
fn no_slower(best: Estimate, others: &[(&str, Estimate)]) -> String {
    match others.iter().filter(|(_, other)| other.low <= best.high).count() {
        0 => String::new(),
        1 => " (or 1 other)".to_owned(),
        many => format!(" (or {many} others)"),
    }
}

fn card(name: &str, ns: f64, says: String) -> Card {
    let text = numbers::duration(ns);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    Card {
        hue: Hue::Plain,
        number: number.to_owned(),
        unit: unit.to_owned(),
        name: name.to_owned(),
        says,
        size: String::new(),
        link: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_transport_is_the_fastest_only_where_no_interval_overlaps_with_its_own() {
        let of = |low: f64, value: f64, high: f64| Estimate { value, low, high, extremes: false };
        let best = of(9.0, 10.0, 11.0);
        assert_eq!(no_slower(best, &[("a", of(11.5, 12.0, 13.0))]), "");
        assert_eq!(
            no_slower(best, &[("a", of(10.5, 12.0, 13.0)), ("b", of(20.0, 21.0, 22.0))]),
            " (or 1 other)"
        );
        assert_eq!(
            no_slower(best, &[("a", of(1.0, 12.0, 13.0)), ("b", of(11.0, 21.0, 22.0))]),
            " (or 2 others)"
        );
    }
}
