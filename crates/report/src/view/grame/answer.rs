//! What document 002 asks, and the answers of its own program there and here: one client, each further one, all of them.

use oscost_results::document::GRAME;
use oscost_results::quantity;

use super::drawn::published;
use super::{session, sessions};
use crate::blocks::page::{Card, Hue};
use crate::numbers;
use crate::view::documents::in_one_unit;
use crate::view::realtime_ipc;
use crate::view::story::Story;
use crate::words::counted;

/// What every number here is: cards of one page compare.
const PROGRAM: &str = "our copy of its program";

/// Where the scan of the document has no number.
const LOST: &str = "published: lost from the scan";

/// The cards of the document, in its order; none where its own sessions are missing.
pub(crate) fn cards(story: &Story<'_>) -> Vec<Card> {
    let Some(most) = most(story) else { return Vec::new() };
    let many = counted(most as usize, "client", "clients");
    let service = of(story, most, quantity::CLIENT_SERVICE);
    let growth = service.zip(of(story, 1, quantity::CLIENT_SERVICE)).filter(|_| most > 1);
    let growth = growth.map_or(LOST.to_owned(), |(_, one)| {
        format!("{LOST}. Here, one client by the same measure: {}", numbers::duration(one))
    });
    let further = of(story, most, quantity::CLIENT_NEXT).filter(|_| most > 1);
    let told = |name: &str, column: &str| {
        literal(story, column).map(|us| card(name.to_owned(), us * 1e3, &published(story, column)))
    };
    [
        told("one message to one client", "mean"),
        told("spread of that latency, 2 standard deviations", "width"),
        further.map(|ns| card(format!("from one client to the next, of {most}"), ns, &next(story))),
        service.map(|ns| Card {
            size: growth,
            ..card(format!("until all {many} have it, usually (mean + 1 sd)"), ns, &[])
        }),
        told("longest latency of one client under any load", "busy peak"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first answer as a sentence; empty without one.
pub(crate) fn finding(story: &Story<'_>) -> String {
    let (Some(us), values) = (literal(story, "mean"), published(story, "mean")) else { return String::new() };
    let (Some((low, _)), Some((high, _))) = (values.first(), values.last()) else { return String::new() };
    // All have the unit of the smallest.
    let least = low.min(us);
    let (number, unit) = in_one_unit(least, Some(us), "us").1.unwrap_or_default();
    let there = |us: f64| in_one_unit(us, Some(least), "us").0;
    let (from, to) = (there(*low), there(*high));
    let from =
        from.split(' ').next().filter(|_| low < high).map_or(String::new(), |from| format!("{from} to "));
    format!("a message takes {number} {unit} here, {from}{to} in 2001")
}

/// What the same message takes by the session of oscost that sends more often; empty without one.
pub(crate) fn why(story: &Story<'_>) -> String {
    let sessions = || story.measured().filter_map(realtime_ipc::session);
    let own = sessions().find(|it| {
        let usual = it.load.is_none() && it.rest.is_empty() && it.tick_ns == 1e6;
        usual && it.clients == 1 && it.transport == "unix_datagram" && it.placement == "same_cpu"
    });
    let time = own.map_or(String::new(), |it| it.time(quantity::LAST_P50));
    if time.is_empty() {
        return time;
    }
    format!(
        "the copy sends every 10 ms, as the document did; sent every 1 ms, a message takes {time} (oscost's own session)"
    )
}

/// The most clients of an idle session.
fn most(story: &Story<'_>) -> Option<u32> {
    sessions(story).filter(|(_, _, load)| load.is_empty()).map(|(_, clients, _)| clients).max()
}

/// A quantity of the document's idle session of so many clients, ns.
fn of(story: &Story<'_>, clients: u32, name: &str) -> Option<f64> {
    let figure = session(story, |here, load| here == clients && load.is_empty())?;
    Some(figure.quantities.get(name)?.estimate.value).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// By the document's own method, us.
fn literal(story: &Story<'_>, column: &str) -> Option<f64> {
    let rows = story.result.reproductions.iter().filter(|row| row.document == GRAME.name);
    let mut own = rows.filter(|row| row.cell.as_ref().is_some_and(|cell| cell.column == column));
    own.find_map(|row| row.literal.filter(|us| us.is_finite() && *us > 0.0))
}

/// What each further client cost where the document measured Linux sockets, us.
fn next(story: &Story<'_>) -> Vec<(f64, String)> {
    let rows = story.result.reproductions.iter().filter(|row| row.document == GRAME.name);
    rows.filter_map(|row| {
        let cell = row.cell.as_ref().filter(|cell| cell.column == "next latency time")?;
        row.figure_id.as_ref()?;
        let station = cell.table.rsplit_once(", ").map_or(&*cell.row, |(_, station)| station);
        Some((row.published?, story.plain(station)))
    })
    .collect()
}

/// This machine's number, and the published ones in its unit.
fn card(name: String, ns: f64, there: &[(f64, String)]) -> Card {
    // All have the unit of the smallest.
    let least = there.iter().map(|(us, _)| *us).fold(ns / 1e3, f64::min);
    let (_, here) = in_one_unit(least, Some(ns / 1e3), "us");
    let (number, unit) = here.unwrap_or_default();
    let told: Vec<String> = there
        .iter()
        .map(|(us, station)| format!("{} ({station})", in_one_unit(*us, Some(least), "us").0))
        .collect();
    let size = if told.is_empty() { LOST.to_owned() } else { format!("published: {}", told.join(", ")) };
    Card { hue: Hue::Plain, number, unit, name, says: PROGRAM.to_owned(), size, link: String::new() }
}

#[cfg(test)]
mod tests {
    use super::card;

    #[test]
    fn a_card_has_one_unit_for_this_machine_and_every_station() {
        let there = [(11.0, "P700".to_owned()), (31.0, "P350".to_owned())];
        let of = |ns| {
            let card = card("a message".to_owned(), ns, &there);
            format!("{} {}; {}", card.number, card.unit, card.size)
        };
        assert_eq!(of(61_300.0), "61.3 us; published: 11 us (P700), 31 us (P350)");
        assert_eq!(of(900.0), "900 ns; published: 11 000 ns (P700), 31 000 ns (P350)");
        assert_eq!(of(8_067_000.0), "8 067 us; published: 11 us (P700), 31 us (P350)");
        assert_eq!(card(String::new(), 2000.0, &[]).size, super::LOST);
    }
}
