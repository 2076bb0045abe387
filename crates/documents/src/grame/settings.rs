//! What document 002 can be set to: what a session of its own method may be asked for, and the ids that hold it.

use oscost_families::realtime_ipc::{self, FRAMES, Load, RATE, RAW_DIR};
use oscost_harness::{Given, Level, Setting, Takes};
use oscost_sys::scheduling::Policy;

use super::elsewhere::Elsewhere;
use super::shape::{CLIENTS_RANGE, DISCARD, PREFIX, Shape, TICK_NS, TICKS, TICKS_RANGE};

/// Number of clients of the document's sessions.
const CLIENTS: [usize; 7] = [1, 2, 3, 4, 5, 7, 10];
/// The same with `--quick`: one client has figures 3 to 22, five have figure 23, ten have figures 31 and 32.
const CLIENTS_QUICK: [usize; 3] = [1, 5, 10];
/// The same with `--quick`.
const TICKS_QUICK: usize = 165;
const DISCARD_QUICK: usize = 15;
/// Sessions of each kind with `--thorough`, of which the median one is shown.
const SESSIONS_THOROUGH: u32 = 5;

const TICK_RANGE: std::ops::RangeInclusive<u64> = 100_000..=1_000_000_000;
/// Longest session, ns.
const LONGEST_NS: u64 = 120_000_000_000;
/// Most values of a session: what its table has room for.
const MOST_VALUES: usize = 2_000_000;

/// The document's keys.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "clients",
        what: "numbers of clients: a session each",
        takes: Takes::Number { least: *CLIENTS_RANGE.start() as u64, most: *CLIENTS_RANGE.end() as u64 },
        many: true,
        default: "1,2,3,4,5,7,10, with --quick 1,5,10",
    },
    Setting {
        key: "tick",
        what: "how long its server sleeps",
        takes: Takes::Time { least: *TICK_RANGE.start(), most: *TICK_RANGE.end() },
        many: false,
        default: "10ms",
    },
    RATE,
    FRAMES,
    Setting {
        key: "ticks",
        what: "values that each client collects",
        takes: Takes::Number { least: *TICKS_RANGE.start() as u64, most: *TICKS_RANGE.end() as u64 },
        many: false,
        default: "1100, with --quick 165",
    },
    Setting {
        key: "discard",
        what: "how many of them do not count, the first ones",
        takes: Takes::Number { least: 0, most: *TICKS_RANGE.end() as u64 },
        many: false,
        default: "100, with --quick 15",
    },
    Setting {
        key: "policy",
        what: "real-time scheduling, by SCHED_RR or SCHED_FIFO",
        takes: Takes::Word(|| vec!["rr", "fifo"]),
        many: false,
        default: "rr",
    },
    Setting {
        key: "send_mode",
        what: "whether its server waits for room in a queue",
        takes: Takes::Word(|| vec!["nonblocking", "blocking"]),
        many: false,
        default: "nonblocking",
    },
    Setting {
        key: "drop_policy",
        what: "what a full queue is: an end of its client (document), or a counted drop (ours)",
        takes: Takes::Word(|| vec!["document", "ours"]),
        many: false,
        default: "document",
    },
    RAW_DIR,
];

/// What the sessions of the document's own method are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Numbers of clients, a session each.
    pub clients: Vec<usize>,
    /// How long the server sleeps between two sendings, ns.
    pub tick_ns: u64,
    /// Values that each client collects.
    pub ticks: usize,
    /// The first of them that do not count.
    pub discard: usize,
    /// Scheduling of the sender (99), the listener (97) and the clients (98).
    pub policy: Policy,
    /// The server waits where a queue is full (the document's source without non_blocking_send).
    pub waits: bool,
    /// A full queue is a counted drop; the document takes the client off its list at any error.
    pub patient: bool,
    /// Sessions of each kind.
    pub sessions: u32,
    /// Shorter than the document's by `--quick`.
    pub quick: bool,
    /// Whether idle CPUs are kept awake in sessions over several CPUs: one of each.
    pub awake: Vec<bool>,
    /// Sessions that explain a surprise besides: by `--experiments`.
    pub experiments: bool,
    /// Sessions that other systems had, to be shown beside.
    pub elsewhere: Vec<Elsewhere>,
}

impl Default for Settings {
    /// As the document has them.
    fn default() -> Self {
        Self {
            clients: CLIENTS.to_vec(),
            tick_ns: TICK_NS,
            ticks: TICKS,
            discard: DISCARD,
            policy: Policy::RoundRobin,
            waits: false,
            patient: false,
            sessions: 1,
            quick: false,
            awake: vec![false, true],
            experiments: false,
            elsewhere: Vec::new(),
        }
    }
}

impl Settings {
    /// As the document has them, or fewer values, or several sessions.
    #[must_use]
    pub fn at(effort: Level) -> Self {
        let default = Self::default();
        match effort {
            Level::Quick => Self {
                clients: CLIENTS_QUICK.to_vec(),
                ticks: TICKS_QUICK,
                discard: DISCARD_QUICK,
                quick: true,
                ..default
            },
            Level::Thorough => Self { sessions: SESSIONS_THOROUGH, ..default },
            _ => default,
        }
    }

    /// The settings of these values.
    ///
    /// # Errors
    /// In words, with the range: values that do not go together.
    pub fn of(given: &Given, effort: Level) -> Result<Self, String> {
        let default = Self::at(effort);
        let count = |number: u64| usize::try_from(number).ok();
        let mut clients: Vec<usize> =
            given.numbers("clients").iter().filter_map(|&number| count(number)).collect();
        clients.sort_unstable();
        clients.dedup();
        let sound = realtime_ipc::sound_tick_ns(given)?;
        let settings = Self {
            clients: if clients.is_empty() { default.clients } else { clients },
            tick_ns: sound.or(given.number("tick")).unwrap_or(default.tick_ns),
            ticks: given.number("ticks").and_then(count).unwrap_or(default.ticks),
            discard: given.number("discard").and_then(count).unwrap_or(default.discard),
            policy: if given.word("policy") == Some("fifo") { Policy::Fifo } else { default.policy },
            waits: given.word("send_mode") == Some("blocking"),
            patient: given.word("drop_policy") == Some("ours"),
            ..default
        };
        settings.check().map(|()| settings)
    }

    /// How long the server sleeps, in words: "10 ms".
    pub(super) fn tick(&self) -> String {
        format!("{} ms", self.tick_ns as f64 / 1e6)
    }

    /// Whether its values go together.
    ///
    /// # Errors
    /// In words, with the range.
    pub(super) fn check(&self) -> Result<(), String> {
        if !TICK_RANGE.contains(&self.tick_ns) {
            return Err(format!("a tick of {} ns: 100us to 1s are possible", self.tick_ns));
        }
        if self.discard.saturating_add(2) > self.ticks {
            return Err(format!(
                "discard={}: of {} values at least two must be left, so 0 to {} are possible",
                self.discard,
                self.ticks,
                self.ticks - 2
            ));
        }
        if self.ticks as u64 * self.tick_ns > LONGEST_NS {
            return Err(format!(
                "{} values, one in {} ns, take longer than 120 s: ticks=10 to {} are possible",
                self.ticks,
                self.tick_ns,
                (LONGEST_NS / self.tick_ns).min(*TICKS_RANGE.end() as u64)
            ));
        }
        match self.clients.iter().find(|&&clients| clients * self.ticks > MOST_VALUES) {
            None => Ok(()),
            Some(clients) => Err(format!(
                "{clients} clients with {} values each: {MOST_VALUES} in all are possible",
                self.ticks
            )),
        }
    }

    /// The idle session with so many clients, the `session`-th of its kind.
    #[must_use]
    pub fn shape(&self, clients: usize, session: u32) -> Shape {
        Shape {
            clients,
            tick_ns: self.tick_ns,
            ticks: self.ticks,
            discard: self.discard,
            policy: self.policy,
            waits: self.waits,
            patient: self.patient,
            load: None,
            below: false,
            tail: false,
            session,
        }
    }

    /// The session with so many clients whose sender runs below its readers.
    #[must_use]
    pub fn below(&self, clients: usize) -> Shape {
        Shape { below: true, ..self.shape(clients, 1) }
    }

    /// The session with so many clients that are served in the order in which they came.
    #[must_use]
    pub fn tail(&self, clients: usize) -> Shape {
        Shape { tail: true, ..self.shape(clients, 1) }
    }

    /// The session with one client under a load.
    #[must_use]
    pub fn loaded(&self, load: Load, session: u32) -> Shape {
        Shape { load: Some(load), ..self.shape(1, session) }
    }
}

impl Shape {
    /// The session of an id; `None` where it is none, or is written in another way than [`Shape::id`] does.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let mut parts = id.strip_prefix(PREFIX)?.split('/');
        let clients = parts.next()?.strip_prefix("clients_")?.parse().ok()?;
        let mut shape = Settings::default().shape(clients, 1);
        for part in parts {
            match part.split_once('_')? {
                ("tick", tick) => shape.tick_ns = tick.strip_suffix("ns")?.parse().ok()?,
                ("values", values) => {
                    let (ticks, discard) = values.split_once('_')?;
                    (shape.ticks, shape.discard) = (ticks.parse().ok()?, discard.parse().ok()?);
                }
                ("policy", "fifo") => shape.policy = Policy::Fifo,
                ("policy", "other") => shape.policy = Policy::Other,
                ("send", "blocking") => shape.waits = true,
                ("drop", "ours") => shape.patient = true,
                ("load", load) => shape.load = Some(Load::parse(load)?),
                ("sender", "96") => shape.below = true,
                ("order", "tail") => shape.tail = true,
                ("session", number) => shape.session = number.parse().ok()?,
                _ => return None,
            }
        }
        let settings = Settings {
            clients: vec![clients],
            tick_ns: shape.tick_ns,
            ticks: shape.ticks,
            discard: shape.discard,
            ..Settings::default()
        };
        let fits = CLIENTS_RANGE.contains(&clients)
            && TICKS_RANGE.contains(&shape.ticks)
            && settings.check().is_ok()
            && (1..=SESSIONS_THOROUGH).contains(&shape.session);
        (fits && shape.id() == id).then_some(shape)
    }
}

/// Ticks that count of a session of the family under a load, 1 ms apart: half of them under it.
const LOADED: usize = 600;
const LOADED_QUICK: usize = 300;

/// Id of a session of the price list's family with one client under a load, at 1 ms.
#[must_use]
pub(super) fn loaded_id(load: Load, settings: &Settings) -> String {
    let ticks = Some(if settings.quick { LOADED_QUICK } else { LOADED });
    let shape = realtime_ipc::Shape { load: Some(load), ticks, ..realtime_ipc::Shape::of(false, 1) };
    realtime_ipc::id_of("unix_datagram", &shape)
}

/// Id of a session of the price list's family on one CPU: what the statements are judged by.
#[must_use]
pub(super) fn family_id(transport: &str, clients: usize, tick_ns: u64, policy: Policy) -> String {
    let shape = realtime_ipc::Shape { tick_ns, policy, ..realtime_ipc::Shape::of(false, clients) };
    realtime_ipc::id_of(transport, &shape)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn given(settings: &[(&str, &str)]) -> Given {
        let mut given = Given::default();
        for (key, text) in settings {
            let setting = SETTINGS.iter().find(|setting| setting.key == *key).expect("a key");
            given.set(setting, OsStr::new(text)).expect("a value");
        }
        given
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let document = Settings::default().shape(5, 1);
        assert_eq!(document.id(), "grame/literal/clients_5");
        let settings = [
            ("tick", "1ms"),
            ("policy", "fifo"),
            ("send_mode", "blocking"),
            ("drop_policy", "ours"),
            ("clients", "3,1,3"),
        ];
        let other = Settings::of(&given(&settings), Level::Quick).expect("they fit");
        assert_eq!(other.clients, [1, 3]);
        let full = other.shape(3, 2);
        assert_eq!(
            full.id(),
            "grame/literal/clients_3/tick_1000000ns/values_165_15/policy_fifo/send_blocking/drop_ours/session_2"
        );
        let loaded = Settings::default().loaded(Load::Transfer, 1);
        assert_eq!(loaded.id(), "grame/literal/clients_1/load_transfer");
        for shape in [document, full, loaded] {
            assert_eq!(Shape::parse(&shape.id()), Some(shape));
        }
        for id in [
            "grame/literal/clients_0",
            "grame/literal/clients_1000",
            "grame/literal/clients_05",
            "grame/literal/clients_5/session_1",
            "grame/literal/clients_5/session_6",
            "grame/literal/clients_5/values_9_0",
            "grame/literal/clients_5/values_30_29",
            "grame/literal/clients_5/values_30_18446744073709551615",
            "grame/literal/clients_5/tick_1ns",
            "grame/literal/clients_5/x",
            "grame/literal/clients_1/load_pigeon",
            "tlpi/literal/system_v/operations_5",
        ] {
            assert_eq!(Shape::parse(id), None, "{id}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_range() {
        for (settings, words) in [
            (&[("ticks", "20000")][..], "10 to 12000 are possible"),
            (&[("discard", "1099")], "0 to 1098 are possible"),
            (&[("rate", "44100")], "frames="),
            (&[("rate", "1000000"), ("frames", "1")], "100us to 1s are possible"),
            (&[("clients", "999"), ("ticks", "10000")], "2000000 in all"),
        ] {
            let refused = Settings::of(&given(settings), Level::Default).expect_err(words);
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn a_sound_server_s_buffer_makes_a_tick() {
        let given = given(&[("rate", "44100"), ("frames", "64")]);
        assert_eq!(Settings::of(&given, Level::Default).map(|it| it.tick_ns), Ok(1_451_247));
    }
}
