//! The document's curves over the number of clients, as tables, and sessions that differ from its own in one thing.

use oscost_results::quantity;
use oscost_sys::scheduling::Policy;

use super::published::{NEXT, NEXT_STATION, SystemKind};
use super::settings::{Settings, family_id};
use super::tables::{answer, counted, foreign};
use super::{SOCKET, SOUND_NS, at_1ms, shown_session};
use crate::found::{Found, Rows, Value};

/// Figures 24 to 30, 33 and 34 to 36, and table 15.
pub(super) fn over_clients(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Figures 24 to 30 and 33 over the number of clients, sockets (the curves are lost): per client, as the document \
                 has them";
    let columns = [
        ("first (24, 26, 28)", quantity::CLIENT_FIRST),
        ("next (tables 13 to 15)", quantity::CLIENT_NEXT),
        ("service (25, 27, 29, 33)", quantity::CLIENT_SERVICE),
        ("sd of the last (30)", quantity::CLIENT_LAST_SD),
    ];
    let plot = Some("Figures 24 to 30 and 33 over the number of clients, sockets");
    curves(found, settings, (table, plot), &columns, rows);
    let by_order =
        "The same per tick, by order of service, medians (ours: means per client hide an order that changes)";
    let columns =
        [("first", quantity::FIRST_P50), ("next", quantity::NEXT_P50), ("last", quantity::LAST_P50)];
    curves(found, settings, (by_order, None), &columns, rows);
    let next = format!("Table 15 (4.2.3): next latency times, {NEXT_STATION}");
    let most = settings.most();
    for (name, us, kind) in NEXT {
        let here = kind == SystemKind::Socket && most > 1;
        rows.value(Value {
            published: Some(us),
            literal: here
                .then(|| found.literal(&shown_session(found, settings, most), quantity::CLIENT_NEXT))
                .flatten()
                .map(|ns| ns / 1000.0),
            answer: here.then(|| answer(found, at_1ms(SOCKET, most), quantity::CLIENT_NEXT)).flatten(),
            because: if kind == SystemKind::Foreign {
                format!("not testable here: {}", foreign(name))
            } else {
                format!("here of {}", counted(most))
            },
            ..Value::in_table(&next, name, "next latency time", "us")
        });
    }
    efficiency(found, settings, rows);
}

/// A table with a row for each number of clients. Where the document draws it, its text has lost the curves, and ours have a title.
fn curves(
    found: &Found<'_>,
    settings: &Settings,
    (table, plot): (&str, Option<&str>),
    columns: &[(&str, &str)],
    rows: &mut Rows,
) {
    for &clients in &settings.clients {
        let session = shown_session(found, settings, clients);
        for &(column, quantity) in columns {
            let place = Value::in_table(table, &counted(clients), column, "us");
            rows.value(Value {
                literal: found.literal(&session, quantity).map(|ns| ns / 1000.0),
                answer: answer(found, at_1ms(SOCKET, clients), quantity),
                ..if let Some(plot) = plot { over(place, clients, plot) } else { place }
            });
        }
    }
}

/// A value of a curve over the number of clients, which the document's text has lost.
fn over<'a>(value: Value<'a>, clients: usize, title: &str) -> Value<'a> {
    value.on_axis(clients as u64, "clients").lost().called(title)
}

/// Service time against the tick.
fn efficiency(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Figures 34 to 36 (5): service time in % of the tick, sockets (the curves are lost)";
    let plot = "Figures 34 to 36 (5): service time in % of the tick, sockets";
    for &clients in &settings.clients {
        let session = shown_session(found, settings, clients);
        let percent =
            |tick_ns: f64| found.literal(&session, quantity::CLIENT_SERVICE).map(|ns| ns / tick_ns * 100.0);
        let cell = |column: &'static str| {
            over(Value::in_table(table, &counted(clients), column, "%"), clients, plot)
        };
        rows.value(Value {
            literal: percent(1e6),
            because: format!(
                "of 1 ms: literal is of sessions by the document's method, which tick every {}; measured ticks every 1 ms",
                settings.tick()
            ),
            answer: answer(found, at_1ms(SOCKET, clients), quantity::DISPATCH_LOAD),
            ..cell("of 1 ms")
        });
        rows.value(Value {
            literal: percent(SOUND_NS as f64),
            answer: answer(
                found,
                family_id(SOCKET, clients, SOUND_NS, Policy::RoundRobin),
                quantity::DISPATCH_LOAD,
            ),
            ..cell("of 1.45 ms")
        });
    }
}

/// What explains a surprise: a session as the document has it, and sessions that differ from it in one thing.
pub(super) fn experiments(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Experiments (ours): sessions that differ from the document's in one thing";
    let own = |clients: usize| ("as in the document", settings.shape(clients, 1));
    let mut tried = vec![own(settings.most())];
    tried.extend(settings.experiments());
    if settings.experiments && settings.most() > 1 {
        tried.push(own(1));
    }
    for (what, shape) in tried {
        let id = shape.id();
        let name = format!("{}, {what}", counted(shape.clients));
        rows.value(Value {
            literal: found.figure(&id).and_then(|figure| figure.evidence.switches),
            ..Value::in_table(table, &name, "switches a tick", "count")
        });
        for (column, quantity) in [("first", quantity::FIRST_P50), ("last", quantity::LAST_P50)] {
            rows.value(Value {
                literal: found.literal(&id, quantity).map(|ns| ns / 1e3),
                ..Value::in_table(table, &name, column, "us")
            });
        }
        rows.value(Value {
            literal: found.literal(&id, quantity::SERVER_LOOP).map(|ns| ns / 1e3),
            because: found.lack(&id).unwrap_or_default(),
            ..Value::in_table(table, &name, "sending loop", "us")
        });
    }
}
