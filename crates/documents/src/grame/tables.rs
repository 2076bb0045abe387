//! The document's tables and curves as tables: published, by its own method here, and by the price list at 1 ms.

use oscost_results::Estimate;
use oscost_sys::scheduling::Policy;

use super::published::{Kind, LOST, NEXT, PRIORITIES, REDUCED, SINGLE, System};
use super::settings::{Settings, family_id};
use super::{SOCKET, SOUND_NS, at_1ms, derive, kernel_side, shown_session};
use crate::found::{Answer, Found, Rows, Value};
use oscost_stats::peaks::frequency;

/// A quantity of a figure as an answer.
fn answer<'a>(found: &Found<'_>, id: String, quantity: &'a str) -> Option<Answer<'a>> {
    let measured = found.quantity(&id, quantity);
    measured.map(|measured| (id, quantity, Some(measured)))
}

/// What the sessions were, and what the document says of its own.
pub(super) fn method(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let shape = settings.shape(1, 1);
    let short = if settings.quick { " (--quick: the document has 1100 and 100)" } else { "" };
    let several = if settings.sessions > 1 {
        format!(
            "; of {} sessions the one with the median service time is shown, all are kept",
            settings.sessions
        )
    } else {
        "; one session each: single runs have no interval".to_owned()
    };
    rows.value(Value {
        because: format!(
            "Unix datagrams to a path, relative sleep of {} us, gettimeofday in us, newest client first, {} values of which {} \
             are left out{short}, the last one kept; {}, {}; all on one CPU{several}",
            shape.tick_ns / 1000,
            shape.ticks,
            shape.discard,
            if shape.waits { "the server waits for room in a queue" } else { "a socket that does not wait" },
            if shape.patient {
                "a full queue is a counted drop (ours)"
            } else {
                "any error of a send takes the client off the list"
            },
        ),
        ..Value::at("literal", "")
    });
    rows.value(Value {
        because: "figures of realtime_ipc/unix_datagram: the same, at 1 ms, by absolute due times and a clock of ns, priorities \
                  50 and 49, with interval. The document measures at 10 ms and quotes for 1 ms"
            .to_owned(),
        ..Value::at("measured", "")
    });
    rows.value(Value {
        because: "width is 2 sd; peaks are values above Q3 + 3 IQR and, here, ten steps of the clock above the median, \
                  neighbours as one; in 1000: under 10 is low, under 50 medium, else high or frequent; busy range is mean - sd \
                  to mean + sd of the worst sliding second"
            .to_owned(),
        ..Value::at("words (ours)", "")
    });
    let table = "Table 2 (3.1): priorities, SCHED_RR";
    let granted = found.literal(&shown_session(found, settings, settings.most()), "real_time");
    for (thread, priority) in PRIORITIES {
        let literal = granted.map(|granted| if granted > 0.0 { priority } else { 0.0 });
        let because = match granted {
            Some(0.0) => "refused here: not real-time (oscost doctor says why)".to_owned(),
            _ => String::new(),
        };
        let published = Some(priority);
        rows.value(Value { published, literal, because, ..Value::in_table(table, thread, "linux", "count") });
    }
}

/// Tables 1 to 12.
pub(super) fn single_clients(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    for single in &SINGLE {
        let table = format!("{}: one client, {}", single.place, single.station);
        for system in single.systems {
            one_system(found, settings, &table, system, rows);
        }
    }
    for (station, factor) in REDUCED {
        rows.value(Value {
            published: Some(factor),
            because: "figures 19 to 22 (4.1.5) are reduced to P700's clock by it: other processors do not differ by their clock \
                      alone, nor does the way to the kernel scale with it"
                .to_owned(),
            ..Value::in_table("Clock speeds (4.1.5)", station, "factor", "ratio")
        });
    }
}

fn one_system(found: &Found<'_>, settings: &Settings, table: &str, system: &System, rows: &mut Rows) {
    let one = 1;
    let repeated = system.kind == Kind::Socket && settings.clients.contains(&one);
    let session = shown_session(found, settings, one);
    let kernel = kernel_side().map(|name| at_1ms(name, one)).find(|id| found.figure(id).is_some());
    let figure = match system.kind {
        Kind::Socket => repeated.then(|| at_1ms(SOCKET, one)),
        Kind::Module => kernel,
        Kind::Foreign => None,
    };
    let literal = |quantity: &str| repeated.then(|| found.literal(&session, quantity)).flatten();
    let us = |quantity: &str| literal(quantity).map(|ns| ns / 1000.0);
    let why = match system.kind {
        Kind::Foreign => format!("not testable here: {}", foreign(system.name)),
        Kind::Module if figure.is_none() => MODULE.to_owned(),
        _ => String::new(),
    };
    let (low, high) = system.peaks;
    let columns = [
        ("mean", Some(system.mean), "latency_mean"),
        ("width", Some(system.width), "latency_width"),
        ("peaks from", Some(low), "peaks_low"),
        ("peaks to", Some(high), "peaks_high"),
    ];
    for (column, published, quantity) in columns {
        rows.value(Value {
            published,
            literal: us(quantity),
            answer: figure.clone().and_then(|id| answer(found, id, quantity)),
            because: why.clone(),
            ..Value::in_table(table, system.name, column, "us")
        });
    }
    let quantity = "peaks_per_thousand";
    let rate = literal(quantity);
    let words = match rate {
        Some(rate) => format!("frequency published: {}; here {}", system.frequency, frequency(rate)),
        None => format!("frequency published: {}", system.frequency),
    };
    rows.value(Value {
        literal: rate,
        answer: figure.and_then(|id| answer(found, id, quantity)),
        because: words,
        ..Value::in_table(table, system.name, "peaks in 1000", "count")
    });
    let range = system.busy;
    for (column, published) in
        [("busy from", range.map(|busy| busy.0)), ("busy to", range.map(|busy| busy.1))]
    {
        let because = if published.is_none() { "busy range published: na".to_owned() } else { String::new() };
        rows.value(Value { published, because, ..Value::in_table(table, system.name, column, "us") });
    }
    let because =
        if system.more { format!("busy peak published: > {}", system.busy_peak) } else { String::new() };
    rows.value(Value {
        published: Some(system.busy_peak),
        because,
        ..Value::in_table(table, system.name, "busy peak", "us")
    });
}

/// Why the module's column is empty, and how to see one.
pub(super) const MODULE: &str = "unsupported here: this build and machine have no transport that the kernel serves (bpf, \
                                 kernel_module); contrib/laboratory/run module shows one in a virtual machine";

fn foreign(system: &str) -> &'static str {
    match system.split(' ').next() {
        Some("windows") => "a Windows system",
        Some("Mach" | "mach") => "Mach messages of Darwin",
        _ => "a Darwin system",
    }
}

fn counted(clients: usize) -> String {
    format!("{clients} client{}", if clients == 1 { "" } else { "s" })
}

/// Figures 24 to 30, 33 and 34 to 36, and table 15.
pub(super) fn over_clients(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Figures 24 to 30 and 33 over the number of clients, sockets (the curves are lost): per client, as the document \
                 has them";
    let columns = [
        ("first (24, 26, 28)", "client_first"),
        ("next (tables 13 to 15)", "client_next"),
        ("service (25, 27, 29, 33)", "client_service"),
        ("sd of the last (30)", "client_last_sd"),
    ];
    curves(found, settings, table, &columns, rows);
    let by_order =
        "The same per tick, by order of service, medians (ours: means per client hide an order that changes)";
    let columns = [("first", "first_p50"), ("next", "next_p50"), ("last", "last_p50")];
    curves(found, settings, by_order, &columns, rows);
    let next = "Table 15 (4.2.3): next latency times, Mac350";
    let most = settings.most();
    for (name, us, kind) in NEXT {
        let here = kind == Kind::Socket && most > 1;
        rows.value(Value {
            published: Some(us),
            literal: here
                .then(|| found.literal(&shown_session(found, settings, most), "client_next"))
                .flatten()
                .map(|ns| ns / 1000.0),
            answer: here.then(|| answer(found, at_1ms(SOCKET, most), "client_next")).flatten(),
            because: if kind == Kind::Foreign {
                format!("not testable here: {}", foreign(name))
            } else {
                format!("here of {}", counted(most))
            },
            ..Value::in_table(next, name, "next latency time", "us")
        });
    }
    efficiency(found, settings, rows);
}

fn curves(found: &Found<'_>, settings: &Settings, table: &str, columns: &[(&str, &str)], rows: &mut Rows) {
    for &clients in &settings.clients {
        let session = shown_session(found, settings, clients);
        for &(column, quantity) in columns {
            rows.value(Value {
                literal: found.literal(&session, quantity).map(|ns| ns / 1000.0),
                answer: answer(found, at_1ms(SOCKET, clients), quantity),
                ..Value::in_table(table, &counted(clients), column, "us")
            });
        }
    }
}

/// Service time against the tick.
fn efficiency(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Figures 34 to 36 (5): service time in % of the tick, sockets (the curves are lost)";
    for &clients in &settings.clients {
        let session = shown_session(found, settings, clients);
        let percent = |tick_ns: f64| found.literal(&session, "client_service").map(|ns| ns / tick_ns * 100.0);
        let cell = |column: &'static str| Value::in_table(table, &counted(clients), column, "%");
        rows.value(Value {
            literal: percent(1e6),
            because: "of 1 ms: literal is of the document's own sessions, which tick at another rate; measured ticks so".to_owned(),
            answer: answer(found, at_1ms(SOCKET, clients), "dispatch_load"),
            ..cell("of 1 ms")
        });
        rows.value(Value {
            literal: percent(SOUND_NS as f64),
            answer: answer(found, family_id(SOCKET, clients, SOUND_NS, Policy::RoundRobin), "dispatch_load"),
            ..cell("of 1.45 ms")
        });
    }
}

/// Figures 31 and 32: whether clients keep their place from tick to tick.
pub(super) fn orders(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    if most < 2 {
        return;
    }
    let table = format!(
        "Figures 31 and 32 (4.2.4): order of service of {} from tick to tick, at 1 ms; a module's clients switch between two levels",
        counted(most)
    );
    let transports = [SOCKET].into_iter().chain(kernel_side()).chain(settings.orders());
    for name in transports {
        let id = at_1ms(name, most);
        let Some(figure) = found.figure(&id) else { continue };
        let tracks = figure.launches.iter().find(|launch| !launch.tracks.is_empty());
        let split = tracks.and_then(|launch| derive::even_odd(launch.tracks.values().next()?));
        let split = split.map_or(String::new(), |(even, odd)| {
            format!(
                "client 1 of the first launch: {:.1} us on even ticks, {:.1} on odd ones",
                even / 1e3,
                odd / 1e3
            )
        });
        for (column, quantity) in [("same order", "same_order_share"), ("reversed", "reversed_share")] {
            rows.value(Value {
                answer: answer(found, id.clone(), quantity),
                because: split.clone(),
                ..Value::in_table(&table, name, column, "%")
            });
        }
    }
    let session = shown_session(found, settings, most);
    for (column, quantity) in [("same order", "same_order_share"), ("reversed", "reversed_share")] {
        rows.value(Value {
            literal: found.literal(&session, quantity).map(|share| share * 100.0),
            ..Value::in_table(&table, "sockets, literal", column, "%")
        });
    }
}

/// What the clients print (print_result), and what the server has seen.
pub(super) fn outputs(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table =
        "What the clients print (client.c), us; every value a line, and a summary each, with --raw-dir DIR";
    for &clients in &settings.clients {
        let Some(figure) = found.figure(&shown_session(found, settings, clients)) else { continue };
        let Some(launch) = figure.launches.first() else { continue };
        for (name, values) in &launch.tracks {
            let us: Vec<f64> = values.iter().map(|ns| (ns / 1000.0).round()).collect();
            let row = format!("{}, {}", counted(clients), name.replace('_', " "));
            let mut cell = |column: &str, unit: &'static str, literal: f64| {
                rows.value(Value { literal: Some(literal), ..Value::in_table(table, &row, column, unit) });
            };
            cell("total msg received", "count", us.len() as f64);
            if !us.is_empty() {
                cell("min time", "us", us.iter().copied().fold(f64::MAX, f64::min));
                cell("max time", "us", us.iter().copied().fold(f64::MIN, f64::max));
                // The program divides whole numbers.
                cell("average", "us", (us.iter().sum::<f64>() / us.len() as f64).trunc());
            }
        }
    }
    let table = "What the server prints (server.c), in numbers: \"open client\", \"close client\"; and what it does not";
    for &clients in &settings.clients {
        let session = shown_session(found, settings, clients);
        for (column, quantity, unit, scale) in [
            ("open client", "opened", "count", 1.0),
            ("close client", "closed", "count", 1.0),
            ("taken off by an error", "lost", "count", 1.0),
            ("dropped", "dropped", "count", 1.0),
            ("sending loop, median", "server_loop", "us", 1000.0),
            ("real period", "period_mean", "us", 1000.0),
        ] {
            rows.value(Value {
                literal: found.literal(&session, quantity).map(|value| value / scale),
                ..Value::in_table(table, &counted(clients), column, unit)
            });
        }
    }
}

/// What the text of the document has lost.
pub(super) fn lost(rows: &mut Rows) {
    for (place, why) in LOST {
        rows.value(Value { because: why.to_owned(), ..Value::at(place, "") });
    }
}

/// An estimate of a quotient of two figures that were not paired: the widest that their intervals allow.
pub(super) fn quotient(of: &Estimate, to: &Estimate) -> Option<Estimate> {
    (to.low > 0.0).then(|| Estimate {
        value: of.value / to.value,
        low: of.low / to.high,
        high: of.high / to.low,
        extremes: of.extremes || to.extremes,
    })
}
