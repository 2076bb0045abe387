//! The document's own question for today: which transport serves 1 to 10 clients in time, and where does each break?

use oscost_families::realtime_ipc::{self, Load, Shape};
use oscost_results::{Answer, LaunchRecord, quantity};
use oscost_stats::histogram::{LogHistogram, lower_bound};
use oscost_stats::quantile::{median, sorted};
use oscost_sys::scheduling::Policy;

use super::settings::Settings;
use super::tables::{answer, counted};
use super::{DOCUMENT, JUDGED_NS, SOCKET};
use crate::answer::{asked, duration};
use crate::found::{Found, Rows, Value, grouped};

/// The document's transport, one wake-up for all, and what every program has.
const CONTENDERS: [&str; 3] = [SOCKET, "futex_broadcast", "pipe"];
/// How many of them also run over several CPUs, without priority, and under a load: all of them would leave no time for the
/// document's own sessions.
const FURTHER: usize = 2;
/// Ticks that count of a session with one client, of which six launches have a 99.9 %, and of one with a load, of which half are
/// under it.
const TICKS_OF_ONE: usize = 170;
const TICKS_LOADED: usize = 200;
/// Fewer messages have no 99.9 %.
const LEAST_MESSAGES: u64 = 1000;
/// The load: what the document's readers do, and every machine can.
const LOAD: Load = Load::StartProgram;

/// A transport in a situation.
struct Case {
    transport: &'static str,
    shape: Shape,
}

/// What became of a case.
struct Outcome {
    case: Case,
    /// Longest latency, ns; messages that a client did not get; ticks that were never sent.
    worst_ns: f64,
    lost: f64,
    skipped: f64,
    /// Share of the messages that were late by a tick, lost, or never sent: the median over launches, for a host that pauses the
    /// machine once disturbs one of them.
    not_in_time: f64,
}

/// A transport's name in words: "unix datagram".
fn words(transport: &str) -> String {
    transport.replace('_', " ")
}

impl Case {
    fn id(&self) -> String {
        realtime_ipc::id_of(self.transport, &self.shape)
    }

    fn has_priority(&self) -> bool {
        self.shape.policy != Policy::Other
    }

    /// "10, loaded, no priority".
    fn situation(&self, found: &Found<'_>) -> String {
        let mut words = vec![self.shape.clients.to_string()];
        words.push(if self.shape.load.is_some() { "loaded" } else { "idle" }.to_owned());
        if !self.has_priority() {
            words.push("no priority".to_owned());
        } else if found.literal(&self.id(), quantity::REAL_TIME) == Some(0.0) {
            words.push("priority refused".to_owned());
        }
        if self.shape.spread {
            words.push(if self.shape.awake { "CPUs awake" } else { "CPUs asleep" }.to_owned());
        }
        words.join(", ")
    }

    fn outcome(self, found: &Found<'_>) -> Option<Outcome> {
        let id = self.id();
        let count = |name: &str| found.literal(&id, name);
        let shares: Option<_> = found.figure(&id)?.launches.iter().map(not_in_time).collect();
        Some(Outcome {
            worst_ns: found.literal(&id, quantity::LATENCY_MAX)?,
            lost: count(quantity::DROPPED)? + count(quantity::MISSED)?,
            skipped: count(quantity::OVERRUNS)?,
            not_in_time: median(&sorted(shares?))?,
            case: self,
        })
    }
}

/// The share of a launch's messages that were late by a tick, lost, or never sent, all in the ticks that count; `None` where one of
/// these was not counted.
fn not_in_time(launch: &LaunchRecord) -> Option<f64> {
    let not_got = launch.quantities.get(quantity::NOT_GOT_SHARE)?;
    let histogram = launch.histogram.as_ref()?;
    let late = share_from(&LogHistogram::from_counts(histogram.first, &histogram.counts)?, JUDGED_NS as f64);
    Some(not_got + (1.0 - not_got) * late)
}

impl Outcome {
    /// 999 of 1000 messages are with every client before the next tick.
    fn is_in_time(&self) -> bool {
        self.not_in_time <= 0.001
    }

    /// Messages that a client did not get, lost or never sent: one column, so that the table fits 80 columns.
    fn not_got(&self) -> f64 {
        self.lost + self.skipped * self.case.shape.clients as f64
    }

    fn why(&self) -> String {
        let unsent = match self.skipped {
            0.0 => String::new(),
            ticks => format!(", {} ticks of all never sent", grouped(ticks as u64)),
        };
        let percent = self.not_in_time * 100.0;
        format!("{percent:.1} % not in time{unsent}, worst {}", duration(self.worst_ns * 1e-9))
    }
}

/// Every case of these settings, in the order of the table.
fn cases(settings: &Settings) -> Vec<Case> {
    let most = settings.most();
    let mut all = Vec::new();
    for (number, transport) in CONTENDERS.into_iter().enumerate() {
        let mut add = |shape: Shape| all.push(Case { transport, shape });
        let mut add_ends = |spread: bool, awake: bool| {
            for clients in settings.ends() {
                let ticks = (clients == 1 && !settings.quick).then_some(TICKS_OF_ONE);
                add(Shape { ticks, awake, ..Shape::of(spread, clients) });
            }
        };
        add_ends(false, false);
        if !settings.quick && number < FURTHER {
            settings.awake.iter().for_each(|&awake| add_ends(true, awake));
        }
        if number >= FURTHER {
            continue;
        }
        let plain = Shape { policy: Policy::Other, ..Shape::of(false, most) };
        add(plain);
        if !settings.quick {
            let loaded = |shape: Shape| Shape { load: Some(LOAD), ticks: Some(TICKS_LOADED), ..shape };
            add(loaded(Shape::of(false, most)));
            add(loaded(plain));
        }
    }
    all
}

/// What the table needs.
pub(super) fn ids(settings: &Settings) -> impl Iterator<Item = String> + use<> {
    cases(settings).into_iter().map(|case| case.id())
}

/// The share of the messages that took so long and longer.
fn share_from(all: &LogHistogram, ns: f64) -> f64 {
    let (first, counts) = all.counts();
    let late = (first..).zip(counts).filter(|(index, _)| lower_bound(*index) >= ns).map(|(_, count)| *count);
    late.sum::<u64>() as f64 / all.total().max(1) as f64
}

/// Of 1000 messages of all launches all but one took at most this, ns.
fn of_thousand(found: &Found<'_>, id: &str) -> Option<f64> {
    let mut all = LogHistogram::new();
    let launches = found.figure(id)?.launches.iter();
    for histogram in launches.filter_map(|launch| launch.histogram.as_ref()) {
        all.merge(&LogHistogram::from_counts(histogram.first, &histogram.counts)?);
    }
    // A bucket ends above its longest message.
    let worst = found.literal(id, quantity::LATENCY_MAX)?;
    (all.total() >= LEAST_MESSAGES).then(|| all.quantile(0.999)).flatten().map(|ns| ns.min(worst))
}

/// The table: a row a case.
pub(super) fn table(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let table = "Which transport serves its clients in time? (ours): a tick of 1 ms, times in us; transport, clients, machine";
    for case in cases(settings) {
        let (id, row) = (case.id(), format!("{} {}", words(case.transport), case.situation(found)));
        let us = |ns: f64| {
            let us = ns / 1e3;
            if us >= 1000.0 { grouped(us.round() as u64) } else { format!("{us:.1}") }
        };
        let mut cell = |column: &str, shown: Option<String>, name: Option<&'static str>, because: String| {
            rows.value(Value {
                words: [None, None, shown],
                answer: name.and_then(|name| answer(found, id.clone(), name)),
                because,
                ..Value::in_table(table, &row, column, "us")
            });
        };
        let time = |name: &'static str| found.literal(&id, name).map(us);
        let lack = found.lack(&id).unwrap_or_default();
        cell("median", time(quantity::LATENCY_P50), Some(quantity::LATENCY_P50), lack);
        cell("99.9 %", of_thousand(found, &id).map(us), None, String::new());
        cell("worst", time(quantity::LATENCY_MAX), Some(quantity::LATENCY_MAX), String::new());
        cell("CPU", time(quantity::SERVER_CPU), Some(quantity::SERVER_CPU), String::new());
        let outcome = case.outcome(found);
        let whole = |count: f64| grouped(count as u64);
        cell("not got", outcome.as_ref().map(|it| whole(it.not_got())), None, String::new());
    }
    rows.note(
        "in time",
        format!(
            "times of all messages; CPU: of the server, a tick; not got: messages of the whole session that were lost, or that a \
             late server never sent; loaded: {}, half of the ticks; CPUs asleep or awake: the server on one, its clients on the \
             others, which may sleep between ticks or are kept awake; all others on one CPU{}",
            LOAD.words(),
            full(found, settings)
        ),
    );
}

/// At how many clients the last one's median fills the tick, by the straight line through the fewest and the most.
fn full(found: &Found<'_>, settings: &Settings) -> String {
    let &[few, many] = &settings.ends()[..] else { return String::new() };
    let each = |transport: &&str| {
        let of = |clients: usize| {
            let case = cases(settings).into_iter().find(|case| {
                let Shape { spread, load, .. } = case.shape;
                case.transport == *transport
                    && case.shape.clients == clients
                    && case.has_priority()
                    && !spread
                    && load.is_none()
            })?;
            found.literal(&case.id(), quantity::LAST_P50)
        };
        let (least, most) = (of(few)?, of(many)?);
        let slope = (most - least) / (many - few) as f64;
        let clients = few as f64 + (JUDGED_NS as f64 - least) / slope;
        (slope > 0.0 && clients >= 1.0).then(|| format!("{} {}", words(transport), grouped(clients as u64)))
    };
    let told: Vec<String> = CONTENDERS.iter().filter_map(each).collect();
    if told.is_empty() {
        return String::new();
    }
    format!(
        "; the last client's median would fill the tick, by the line through {few} and {many} clients, at {} clients",
        told.join(", ")
    )
}

/// What a sleeping CPU adds to a message to one client of the document's transport, in words; `None` where it was not measured.
fn sleep_adds(found: &Found<'_>, settings: &Settings) -> Option<String> {
    let clients = *settings.ends().first()?;
    let of = |awake: bool| {
        let case = cases(settings).into_iter().find(|case| {
            let Shape { spread, awake: is, .. } = case.shape;
            case.transport == SOCKET && case.shape.clients == clients && spread && is == awake
        })?;
        found.measured(&case.id(), quantity::LATENCY_P50).map(|it| it.estimate())
    };
    let (asleep, awake) = (of(false)?, of(true)?);
    let us = |ns: f64| duration(ns * 1e-9);
    let beside = format!(
        "{} to {} on other CPUs takes {} asleep, {} kept awake",
        words(SOCKET),
        counted(clients),
        us(asleep.value),
        us(awake.value)
    );
    Some(match asleep.low > awake.high {
        true => format!("a sleeping CPU adds {}: {beside}", us(asleep.value - awake.value)),
        false => format!("a sleeping CPU adds nothing beyond chance: {beside}"),
    })
}

/// The same as a sentence, with where the others break, and the longest latency of the best one in the hardest situation with
/// priority.
pub(super) fn answered(found: &Found<'_>, settings: &Settings) -> Option<Answer> {
    let outcomes: Vec<Outcome> = cases(settings).into_iter().filter_map(|case| case.outcome(found)).collect();
    let hardest = |it: &&Outcome| {
        it.case.has_priority() && !it.case.shape.spread && it.case.shape.clients == settings.most()
    };
    let hard = || outcomes.iter().filter(hardest);
    let loaded = hard().any(|it| it.case.shape.load.is_some());
    let best = hard()
        .filter(|it| it.case.shape.load.is_some() == loaded)
        .min_by(|one, other| one.worst_ns.total_cmp(&other.worst_ns))?;
    let clients = settings.ends().iter().map(usize::to_string).collect::<Vec<_>>().join(" to ");
    let (mut serve, mut fail, mut breaks) = (Vec::new(), Vec::new(), Vec::new());
    for transport in CONTENDERS {
        let own: Vec<&Outcome> = outcomes.iter().filter(|it| it.case.transport == transport).collect();
        let late: Vec<&&Outcome> = own.iter().filter(|it| !it.is_in_time()).collect();
        match late[..] {
            _ if own.is_empty() => {}
            [] => serve.push(words(transport)),
            // The table has the rest: the first is what it does not stand, and the mildest.
            [first, ref rest @ ..] => {
                fail.push(words(transport));
                let rows = if rest.len() == 1 { "row" } else { "rows" };
                let more = if rest.is_empty() {
                    String::new()
                } else {
                    format!(", and in {} more {rows}", rest.len())
                };
                let (who, where_) = (words(transport), first.case.situation(found));
                breaks.push(format!("{who} breaks at {where_} ({}){more}", first.why()));
            }
        }
    }
    let others = match (serve.is_empty(), fail.is_empty()) {
        (false, false) => format!("; {} did not", fail.join(", ")),
        _ => String::new(),
    };
    let who = if serve.is_empty() { "none".to_owned() } else { serve.join(", ") };
    let finding = format!(
        "{who} reached {clients} clients within a tick of 1 ms, 999 times in 1000, wherever measured{others}"
    );
    breaks.extend(sleep_adds(found, settings));
    let situation = if loaded { "loaded" } else { "idle" };
    Some(Answer {
        here: found.measured(&best.case.id(), quantity::LATENCY_MAX).map(|it| it.map(|ns| ns / 1e3).here()),
        figure_id: Some(best.case.id()),
        finding,
        why: breaks.join("; "),
        ..asked(
            DOCUMENT.founding.name,
            "in_time",
            format!(
                "longest that {} by {} waits, {situation}",
                counted(settings.most()),
                words(best.case.transport)
            ),
            "us",
        )
    })
}

#[cfg(test)]
mod tests;
