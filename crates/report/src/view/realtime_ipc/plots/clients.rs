//! Plots by number of clients: service time, and its share of the tick.

use std::collections::BTreeSet;

use super::{Session, at, several};
use crate::blocks::{Axis, Curve, Curves, Dot, DotRow, Names, Part, Plot, Point, Rows, Table};
use crate::numbers;
use crate::view::story::Story;
use crate::words::grouped;
use oscost_results::quantity;

/// Where a session ran, and how.
fn place<'a>(session: &'a Session<'_>) -> (&'a str, u64, &'a str) {
    (session.placement, session.tick_ns.to_bits(), &session.rest)
}

/// Service time by number of clients; `families` are the sessions that differ in it alone.
pub(crate) fn service(story: &Story<'_>, families: &[Vec<&Session<'_>>]) -> Vec<Part> {
    let places = grouped(families, |family| place(family[0]));
    places.iter().filter_map(|(_, here)| service_of(story, here)).map(Part::from).collect()
}

fn service_of<'s, 'a>(story: &Story<'_>, families: &[&Vec<&'s Session<'a>>]) -> Option<Plot> {
    let first = families.first()?.first()?;
    let (mut curves, mut rows, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let mut most: Vec<(&Session<'_>, f64)> = Vec::new();
    for family in families {
        let mut points = Vec::new();
        for session in family.iter() {
            let Some(service) = session.quantity(quantity::CLIENT_SERVICE) else { continue };
            points
                .push(Point { x: f64::from(session.clients), y: [service.low, service.value, service.high] });
            ends.extend([service.low, service.high]);
            let mut row = vec![story.words(session.transport), session.clients.to_string()];
            row.push(numbers::duration(service.value));
            row.push(numbers::range(service.low, service.high, "ns"));
            let last = [quantity::LAST_P50, quantity::LAST_P99, quantity::LAST_MAX];
            row.extend(last.map(|name| session.time(name)));
            rows.push(row);
        }
        if points.len() > 1 {
            let with_service =
                |session: &&'s Session<'a>| Some((*session, session.value(quantity::CLIENT_SERVICE)?));
            most.extend(family.last().and_then(with_service));
            curves.push(Curve::of_dots(story.words(family[0].transport), points));
        }
    }
    let clients = most.iter().map(|(session, _)| session.clients).max()?;
    let at_most = || most.iter().filter(|(session, _)| session.clients == clients);
    let least = at_most().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let dearest = at_most().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let mut finding = format!(
        "{}, {}: the one served last has its message after {} by {}",
        at(first.placement),
        several(clients),
        served(least),
        story.words(least.0.transport)
    );
    if dearest.1 > least.1 {
        finding.push_str(&format!(", and after {} by {}", served(dearest), story.words(dearest.0.transport)));
    }
    finding.push_str(&format!(" (tick {})", numbers::duration(first.tick_ns)));
    let counts = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let heads = ["transport", "clients", "service time", "interval", "last", "last, 99 %", "last, worst"];
    let x = Axis::fitting("clients", "count", 30.0, counts)?;
    let y = Axis::linear("mean + sd of the client served last; band: interval", "ns", ends.into_iter())?;
    let curves = Curves::of(x, y, curves, Names::Transports);
    let plot = Plot::of(story.plain(&finding), curves, Table::new(heads, rows));
    Some(plot.about(story.words(&first.rest)))
}

/// Service time and the worst tick: a sum of a mean and a deviation is no bound, so its name stands with it.
fn served((session, service): &(&Session<'_>, f64)) -> String {
    let worst =
        session.value(quantity::LAST_MAX).map(|worst| format!(", {} at worst", numbers::duration(worst)));
    format!("{} (mean + sd{})", numbers::duration(*service), worst.unwrap_or_default())
}

/// Service time as a share of the tick.
pub(crate) fn load(story: &Story<'_>, sessions: &[Session<'_>]) -> Vec<Part> {
    let places = grouped(sessions, |&session| place(session));
    places.iter().filter_map(|(_, here)| load_of(story, here)).map(Part::from).collect()
}

fn load_of(story: &Story<'_>, sessions: &[&Session<'_>]) -> Option<Plot> {
    let first = sessions.first()?;
    let counts: BTreeSet<u32> = sessions.iter().map(|session| session.clients).collect();
    let (mut rows, mut table): (Vec<DotRow>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    let mut most: Option<(&Session<'_>, f64)> = None;
    for session in sessions {
        let Some(load) = session.quantity(quantity::DISPATCH_LOAD) else { continue };
        let name = story.words(session.transport);
        let kind = counts.iter().position(|&count| count == session.clients).unwrap_or(0);
        let dot = Dot { panel: 0, kind, x: [load.low, load.value, load.high] };
        match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.dots.push(dot),
            None => rows.push(DotRow { name: name.clone(), dots: vec![dot], hue: 0 }),
        }
        if most.is_none_or(|most| load.value > most.1) {
            most = Some((session, load.value));
        }
        table.push(vec![
            name,
            session.clients.to_string(),
            numbers::percent(load.value),
            numbers::range(load.low, load.high, "share"),
            session.time(quantity::CLIENT_SERVICE),
        ]);
    }
    let (session, share) = most?;
    let worst = session.value(quantity::LAST_MAX).map(|worst| numbers::percent(worst / first.tick_ns));
    let finding = format!(
        "{}, tick {}: the service of {} by {} takes the largest share of it: {} (mean + sd){}",
        at(first.placement),
        numbers::duration(first.tick_ns),
        several(session.clients),
        story.words(session.transport),
        numbers::percent(share),
        worst.map_or(String::new(), |worst| format!(", {worst} in the worst tick"))
    );
    let all = rows.iter().flat_map(|row| &row.dots).flat_map(|dot| dot.x);
    let panel = Axis::fitting("dispatch load: service time as a share of the tick", "share", 50.0, all)?;
    let kinds = counts.iter().copied().map(several).collect();
    let rows = Rows { panels: vec![panel], kinds, rows, names: Names::Transports };
    let table = Table::new(["transport", "clients", "dispatch load", "interval", "service time"], table);
    Some(Plot::of(story.plain(&finding), rows, table).about(story.words(&first.rest)))
}
