//! The document's tables as tables: published, by its own method here, and by the price list at 1 ms.

use oscost_results::quantity;

use super::published::{BEFORE, LOST, PRIORITIES, REDUCED, SINGLE, System, SystemKind};
use super::settings::{Settings, loaded_id};
use super::{KERNEL_SIDE, LOADS, SOCKET, at_1ms, derive, shown_loaded, shown_session};
use crate::found::{Answer, Found, Rows, Value};
use crate::measured::Measured;
use oscost_stats::peaks::frequency;

/// Place of the statement that needs no measurement.
pub(super) const ARITHMETIC: &str = "5, the tick of a sound server";

/// A quantity of a figure as an answer.
pub(super) fn answer<'a>(found: &Found<'_>, id: String, quantity: &'a str) -> Option<Answer<'a>> {
    let measured = found.measured(&id, quantity);
    measured.map(|measured| (id, quantity, Some(measured)))
}

/// A latency in us. The document's ranges are mean ± standard deviation, which reaches below zero where latencies scatter widely;
/// no latency does.
pub(super) fn latency_us(ns: f64) -> f64 {
    (ns / 1000.0).max(0.0)
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
    rows.note(
        "literal",
        format!(
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
    );
    rows.deviations(&[
        ("CPU", "server and clients share one CPU, as on the document's machines with one"),
        ("list", "a lock guards the list of clients, which two threads of the document's server change without one"),
        ("sockets", "they lie in /dev/shm under names of their own, bound before the start, not in /tmp under fixed ones"),
        ("sender", "its sending socket has no name; the document's is bound to a path of its own"),
        ("strangers", "messages of unknown senders, of other lengths and of other types are counted and dropped"),
        ("safety", "a thread that runs for 0.2 s without a wait is ended, so that real time cannot stop the machine"),
        ("rank", "sender 99, clients 98, listener 97; one session more has the sender at 96, below its readers"),
    ]);
    rows.note(
        "measured",
        "figures of realtime_ipc/unix_datagram: the same, at 1 ms, by absolute due times and a clock of ns, priorities 50 and \
         49, with interval. The document measures at 10 ms and quotes for 1 ms",
    );
    rows.note(
        "words (ours)",
        "width is 2 sd; peaks are values above Q3 + 3 IQR and, here, ten steps of the clock above the median, neighbours as \
         one; in 1000: under 10 is low, under 50 medium, else high or frequent; busy range is mean - sd to mean + sd of the \
         worst sliding second",
    );
    let clock = "clock/gettimeofday";
    rows.value(Value {
        answer: answer(found, clock.to_owned(), "floor"),
        because: "the document measured it with lmbench; its value is not in the text".to_owned(),
        ..Value::at("3.3: cost of the time collection", "ns")
    });
    let table = "Table 2 (3.1): priorities, SCHED_RR";
    let granted = found.literal(&shown_session(found, settings, settings.most()), quantity::REAL_TIME);
    for (thread, priority) in PRIORITIES {
        let literal = granted.map(|granted| if granted > 0.0 { priority } else { 0.0 });
        let because = match granted {
            Some(0.0) => {
                "NOT REAL-TIME: refused here, so every figure below is of SCHED_OTHER (oscost doctor says why)".to_owned()
            }
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
    let [module, bpf] = KERNEL_SIDE;
    match system.kind {
        SystemKind::Foreign => {
            let why = format!("not testable here: {}", foreign(system.name));
            TableRow { name: system.name.to_owned(), published: Some(system), figure: None, why }
                .tell(found, settings, table, rows);
        }
        SystemKind::Socket => {
            let figure = settings.clients.contains(&1).then(|| at_1ms(SOCKET, 1));
            TableRow { name: system.name.to_owned(), published: Some(system), figure, why: String::new() }
                .tell(found, settings, table, rows);
        }
        SystemKind::Module => {
            for (name, transport, published) in [
                (format!("{} ({module})", system.name), module, Some(system)),
                (format!("{} ({bpf}, ours)", system.name), bpf, None),
            ] {
                let figure = at_1ms(transport, 1);
                let why = found.lack(&figure).unwrap_or_default();
                let figure = why.is_empty().then_some(figure);
                TableRow { name, published, figure, why }.tell(found, settings, table, rows);
            }
        }
    }
}

/// A row of a table of single clients.
struct TableRow<'a> {
    name: String,
    published: Option<&'a System>,
    /// The figure that answers it; of a socket's the literal sessions do, too.
    figure: Option<String>,
    why: String,
}

impl TableRow<'_> {
    fn tell(self, found: &Found<'_>, settings: &Settings, table: &str, rows: &mut Rows) {
        let Self { name, published, figure, why } = self;
        let socket = figure.is_some() && published.is_some_and(|system| system.kind == SystemKind::Socket);
        let session = shown_session(found, settings, 1);
        let literal = |quantity: &str| socket.then(|| found.literal(&session, quantity)).flatten();
        let answer_of = |quantity: &'static str| figure.clone().and_then(|id| answer(found, id, quantity));
        let columns = [
            ("mean", published.map(|system| system.mean), quantity::LATENCY_MEAN),
            ("width", published.map(|system| system.width), quantity::LATENCY_WIDTH),
            ("peaks from", published.map(|system| system.peaks.0), quantity::PEAKS_LOW),
            ("peaks to", published.map(|system| system.peaks.1), quantity::PEAKS_HIGH),
        ];
        for (column, published, quantity) in columns {
            rows.value(Value {
                published,
                literal: literal(quantity).map(|ns| ns / 1000.0),
                answer: answer_of(quantity),
                because: why.clone(),
                ..Value::in_table(table, &name, column, "us")
            });
        }
        let quantity = quantity::PEAKS_PER_THOUSAND;
        let rate = literal(quantity);
        let measured = answer_of(quantity).and_then(|(.., rate)| rate).map(Measured::estimate);
        rows.value(Value {
            words: [
                published.map(|system| system.frequency.to_owned()),
                rate.map(|rate| frequency(rate).to_owned()),
                measured.map(|rate| match (frequency(rate.low), frequency(rate.high)) {
                    (low, high) if low == high => low.to_owned(),
                    (low, high) => format!("{low} to {high}"),
                }),
            ],
            ..Value::in_table(table, &name, "frequency", "")
        });
        let mut because = String::new();
        if measured.is_some_and(|rate| rate.value == 0.0) && answer_of(quantity::PEAKS_LOW).is_some() {
            because += "at 1 ms most launches have no peak, and the amplitudes are of those that have one";
        }
        rows.value(Value {
            literal: rate,
            answer: answer_of(quantity),
            because,
            ..Value::in_table(table, &name, "peaks in 1000", "count")
        });
        // Of all loads the worst.
        let worst = |literal: &str, of: &'static str| {
            let here = || LOADS.into_iter().filter(|_| socket);
            let repeated = here()
                .filter_map(|load| {
                    let id = shown_loaded(found, settings, load);
                    Some((found.literal(&id, literal)?, id))
                })
                .max_by(|one, other| one.0.total_cmp(&other.0));
            let measured = here()
                .filter_map(|load| {
                    let id = loaded_id(load, settings);
                    Some((found.quantity(&id, of)?.value, id))
                })
                .max_by(|one, other| one.0.total_cmp(&other.0));
            (repeated.map(|it| it.1), measured.map(|it| it.1))
        };
        let range = worst(quantity::SECOND_HIGH, quantity::BUSY_RANGE_HIGH);
        let peak = worst(quantity::LATENCY_MAX, quantity::BUSY_PEAK);
        let busy = published.and_then(|system| system.busy);
        let na = published.is_some() && busy.is_none();
        for (column, published, (literal, measured), quantities) in [
            ("busy from", busy.map(|busy| busy.0), &range, (quantity::SECOND_LOW, quantity::BUSY_RANGE_LOW)),
            ("busy to", busy.map(|busy| busy.1), &range, (quantity::SECOND_HIGH, quantity::BUSY_RANGE_HIGH)),
            (
                "busy peak",
                published.map(|system| system.busy_peak),
                &peak,
                (quantity::LATENCY_MAX, quantity::BUSY_PEAK),
            ),
        ] {
            rows.value(Value {
                published,
                literal: literal.as_ref().and_then(|id| found.literal(id, quantities.0)).map(latency_us),
                answer: measured.clone().and_then(|id| answer(found, id, quantities.1)),
                words: match (column, self.published) {
                    ("busy from" | "busy to", Some(_)) if na => [Some("na".to_owned()), None, None],
                    ("busy peak", Some(system)) if system.more => {
                        [Some(format!("> {}", system.busy_peak)), None, None]
                    }
                    _ => [const { None }; 3],
                },
                ..Value::in_table(table, &name, column, "us")
            });
        }
    }
}

pub(super) fn foreign(system: &str) -> &'static str {
    match system.split(' ').next() {
        Some("windows") => "a Windows system",
        Some("Mach" | "mach") => "Mach messages of Darwin",
        _ => "a Darwin system",
    }
}

pub(super) fn counted(clients: usize) -> String {
    format!("{clients} client{}", if clients == 1 { "" } else { "s" })
}

/// Figures 33 and 34, the other curve: service times of what the kernel serves.
pub(super) fn kernel_side(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Figures 33 and 34 (4.2.4, 5), the module's curves (lost): clients that the kernel wakes, at 1 ms; first and next per tick";
    for name in KERNEL_SIDE {
        let mut told = false;
        for &clients in &settings.clients {
            let id = at_1ms(name, clients);
            if found.figure(&id).is_none() {
                continue;
            }
            told = true;
            for (column, quantity, unit) in [
                ("first", quantity::FIRST_P50, "us"),
                ("next", quantity::NEXT_P50, "us"),
                ("service (33)", quantity::CLIENT_SERVICE, "us"),
                ("of 1 ms (34)", quantity::DISPATCH_LOAD, "%"),
            ] {
                rows.value(Value {
                    answer: answer(found, id.clone(), quantity),
                    ..Value::in_table(table, &format!("{name}, {}", counted(clients)), column, unit)
                });
            }
        }
        if let Some(lack) = found.lack(&at_1ms(name, settings.most())).filter(|_| !told) {
            rows.value(Value { because: lack, ..Value::in_table(table, name, "service (33)", "us") });
        }
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
    let transports = [SOCKET].into_iter().chain(KERNEL_SIDE).chain(settings.orders());
    for name in transports {
        let id = at_1ms(name, most);
        let Some(figure) = found.figure(&id) else {
            if let Some(lack) = found.lack(&id) {
                rows.value(Value { because: lack, ..Value::in_table(&table, name, "same order", "%") });
            }
            continue;
        };
        let tracks = figure.launches.iter().find(|launch| !launch.tracks.is_empty());
        let split = tracks.and_then(|launch| derive::even_odd(launch.tracks.values().next()?));
        let split = split.map_or(String::new(), |(even, odd)| {
            format!(
                "client 1 of the first launch: {:.1} us on even ticks, {:.1} on odd ones",
                even / 1e3,
                odd / 1e3
            )
        });
        for (column, quantity) in
            [("same order", quantity::SAME_ORDER_SHARE), ("reversed", quantity::REVERSED_SHARE)]
        {
            rows.value(Value {
                answer: answer(found, id.clone(), quantity),
                because: split.clone(),
                ..Value::in_table(&table, name, column, "%")
            });
        }
    }
    let session = shown_session(found, settings, most);
    for (column, quantity) in
        [("same order", quantity::SAME_ORDER_SHARE), ("reversed", quantity::REVERSED_SHARE)]
    {
        rows.value(Value {
            literal: found.literal(&session, quantity).map(|share| share * 100.0),
            ..Value::in_table(&table, "sockets, literal", column, "%")
        });
    }
}

/// What the clients print (print_result), and what the server has seen.
pub(super) fn outputs(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "What the clients print (client.c), us; every value a line, and a summary each, with --set raw_dir=DIR";
    for &clients in &settings.clients {
        let Some(figure) = found.figure(&shown_session(found, settings, clients)) else { continue };
        let Some(launch) = figure.launches.first() else { continue };
        for (name, values) in &launch.tracks {
            let us: Vec<f64> = values.iter().map(|ns| (ns / 1000.0).round()).collect();
            let row = format!("{}, {}", counted(clients), name.replace('_', " "));
            let mut cell = |column: &str, unit: &'static str, literal: f64| {
                rows.value(Value { literal: Some(literal), ..Value::in_table(table, &row, column, unit) });
            };
            cell("received", "count", us.len() as f64);
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
            ("sending loop, median", quantity::SERVER_LOOP, "us", 1000.0),
            ("real period", quantity::PERIOD_MEAN, "us", 1000.0),
        ] {
            rows.value(Value {
                literal: found.literal(&session, quantity).map(|value| value / scale),
                ..Value::in_table(table, &counted(clients), column, unit)
            });
        }
    }
}

/// What the document shows beside its measurements, and what its text has lost.
pub(super) fn not_measured(rows: &mut Rows) {
    for (place, why) in BEFORE.into_iter().chain(LOST) {
        rows.note(place, why);
    }
}
