//! The options of document 002: what a session of its own method may be asked for, and the ids that hold it.

use oscost_families::realtime_ipc::{self, Load, policy_name};
use oscost_harness::Parameter;
use oscost_results::Untrusted;
use oscost_sys::scheduling::Policy;

/// Number of clients of the document's sessions.
const CLIENTS: [usize; 7] = [1, 2, 3, 4, 5, 7, 10];
/// The document's usleep (10000), ns.
pub(super) const TICK_NS: u64 = 10_000_000;
/// Values that a client collects (kMaxValues), and those of them that it leaves out (kIgnoreValues).
const TICKS: usize = 1100;
const DISCARD: usize = 100;
/// The same with `--quick`.
const TICKS_QUICK: usize = 330;
const DISCARD_QUICK: usize = 30;
/// Sessions of each kind with `--thorough`, of which the median one is shown.
const SESSIONS_THOROUGH: u32 = 5;

const CLIENTS_RANGE: std::ops::RangeInclusive<usize> = 1..=999;
const TICK_RANGE: std::ops::RangeInclusive<u64> = 100_000..=1_000_000_000;
const TICKS_RANGE: std::ops::RangeInclusive<usize> = 10..=20_000;
/// Longest session, ns.
const LONGEST_NS: u64 = 120_000_000_000;
/// Most values of a session: what its table has room for.
const MOST_VALUES: usize = 2_000_000;

/// Names of the document's options on the command line.
pub const OPTIONS: [&str; 9] =
    ["clients", "tick", "rate", "frames", "ticks", "discard", "policy", "send-mode", "drop-policy"];

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
    rate: Option<u64>,
    frames: Option<u64>,
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
            rate: None,
            frames: None,
        }
    }
}

fn shown(text: &str) -> String {
    Untrusted::new(text).terminal().to_string()
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let value: Option<u64> = text.trim().parse().ok().filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| format!("--{name} {}: a whole number from {least} to {most} is wanted", shown(text)))
}

/// "10ms" as ns.
fn duration_ns(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return None,
    };
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)?;
    Some((value * unit).round()).filter(|ns| *ns <= 1e12).map(|ns| ns as u64)
}

impl Settings {
    /// As the document has them, or fewer values, or several sessions.
    #[must_use]
    pub fn of(quick: bool, thorough: bool) -> Self {
        let default = Self::default();
        if quick {
            Self { ticks: TICKS_QUICK, discard: DISCARD_QUICK, quick, ..default }
        } else {
            Self { sessions: if thorough { SESSIONS_THOROUGH } else { 1 }, ..default }
        }
    }

    /// Sets the option of this name, one of [`OPTIONS`].
    ///
    /// # Errors
    /// In words, with the range.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let one_of = |words: [&str; 2]| {
            let position = words.iter().position(|word| *word == text);
            position
                .ok_or_else(|| format!("--{name} {}: {} or {} are possible", shown(text), words[0], words[1]))
        };
        match name {
            "clients" => {
                let (least, most) = (*CLIENTS_RANGE.start() as u64, *CLIENTS_RANGE.end() as u64);
                let counts: Result<Vec<u64>, String> =
                    text.split(',').map(|word| number(name, word, least, most)).collect();
                let mut counts: Vec<usize> = counts
                    .map_err(|wrong| format!("{wrong}, or several between commas"))?
                    .into_iter()
                    .filter_map(|count| usize::try_from(count).ok())
                    .collect();
                counts.sort_unstable();
                counts.dedup();
                self.clients = counts;
            }
            "tick" => {
                self.tick_ns = duration_ns(text).ok_or_else(|| {
                    format!("--tick {}: a time is wanted, 10ms, 1ms, 1450us; 100us to 1s", shown(text))
                })?;
            }
            "rate" => self.rate = Some(number(name, text, 1, 1_000_000)?),
            "frames" => self.frames = Some(number(name, text, 1, 1_000_000)?),
            "ticks" => {
                let (least, most) = (*TICKS_RANGE.start() as u64, *TICKS_RANGE.end() as u64);
                self.ticks = usize::try_from(number(name, text, least, most)?).unwrap_or(TICKS);
            }
            "discard" => {
                self.discard =
                    usize::try_from(number(name, text, 0, *TICKS_RANGE.end() as u64)?).unwrap_or(0);
            }
            "policy" => {
                self.policy = if one_of(["rr", "fifo"])? == 0 { Policy::RoundRobin } else { Policy::Fifo };
            }
            "send-mode" => self.waits = one_of(["nonblocking", "blocking"])? == 1,
            _ => self.patient = one_of(["document", "ours"])? == 1,
        }
        Ok(())
    }

    /// What fits only together, when all options are set.
    ///
    /// # Errors
    /// In words, with the range.
    pub fn settle(&mut self) -> Result<(), String> {
        match (self.rate, self.frames) {
            (Some(rate), Some(frames)) => self.tick_ns = (frames * 1_000_000_000 + rate / 2) / rate,
            (None, None) => {}
            _ => return Err("--rate and --frames make a tick together: 44100 and 64 are 1.45 ms".to_owned()),
        }
        if !TICK_RANGE.contains(&self.tick_ns) {
            return Err(format!("a tick of {} ns: 100us to 1s are possible", self.tick_ns));
        }
        if self.discard + 2 > self.ticks {
            return Err(format!(
                "--discard {}: of {} values at least two must be left, so 0 to {} are possible",
                self.discard,
                self.ticks,
                self.ticks - 2
            ));
        }
        if self.ticks as u64 * self.tick_ns > LONGEST_NS {
            return Err(format!(
                "{} values, one in {} ns, take longer than 120 s: --ticks 10 to {} are possible",
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
            session,
        }
    }

    /// The session with one client under a load.
    #[must_use]
    pub fn loaded(&self, load: Load, session: u32) -> Shape {
        Shape { load: Some(load), ..self.shape(1, session) }
    }
}

/// One session of the document's own method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many clients.
    pub clients: usize,
    /// See [`Settings`].
    pub tick_ns: u64,
    /// See [`Settings`].
    pub ticks: usize,
    /// See [`Settings`].
    pub discard: usize,
    /// See [`Settings`].
    pub policy: Policy,
    /// See [`Settings`].
    pub waits: bool,
    /// See [`Settings`].
    pub patient: bool,
    /// What keeps the machine busy in the middle of it.
    pub load: Option<Load>,
    /// Number among sessions of one kind, from 1 on.
    pub session: u32,
}

/// Beginning of the ids of sessions by the document's method.
pub const PREFIX: &str = "grame/literal/";

impl Shape {
    /// The id; what is as in the document is left out.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = format!("{PREFIX}clients_{}", self.clients);
        if self.tick_ns != TICK_NS {
            // The family writes times in ids the same way.
            id.push_str(&format!("/tick_{}ns", self.tick_ns));
        }
        if self.ticks != TICKS || self.discard != DISCARD {
            id.push_str(&format!("/values_{}_{}", self.ticks, self.discard));
        }
        if let Some(policy) = policy_name(self.policy) {
            id.push_str(&format!("/policy_{policy}"));
        }
        if self.waits {
            id.push_str("/send_blocking");
        }
        if self.patient {
            id.push_str("/drop_ours");
        }
        if let Some(load) = self.load {
            id.push_str(&format!("/load_{}", load.text()));
        }
        if self.session > 1 {
            id.push_str(&format!("/session_{}", self.session));
        }
        id
    }

    /// What the id says, and the period even where it is the document's.
    pub(super) fn parameters(&self) -> Vec<(&'static str, Parameter<'static>)> {
        let Self { clients, tick_ns, ticks, discard, .. } = *self;
        let values = (ticks != TICKS || discard != DISCARD).then(|| &*format!("{ticks}_{discard}").leak());
        let texts = [
            ("values", values),
            ("policy", policy_name(self.policy)),
            ("send", self.waits.then_some("blocking")),
            ("drop", self.patient.then_some("ours")),
            ("load", self.load.map(|load| &*load.text().leak())),
        ];
        let session = (self.session > 1).then_some(u64::from(self.session));
        let numbers = [("clients", Some(clients as u64)), ("tick_ns", Some(tick_ns)), ("session", session)];
        let numbers = numbers.into_iter().filter_map(|(name, it)| Some((name, Parameter::Number(it?))));
        numbers.chain(texts.into_iter().filter_map(|(name, it)| Some((name, Parameter::Text(it?))))).collect()
    }

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
                ("session", number) => shape.session = number.parse().ok()?,
                _ => return None,
            }
        }
        let mut settings = Settings {
            clients: vec![clients],
            tick_ns: shape.tick_ns,
            ticks: shape.ticks,
            discard: shape.discard,
            ..Settings::default()
        };
        let fits = CLIENTS_RANGE.contains(&clients)
            && TICKS_RANGE.contains(&shape.ticks)
            && settings.settle().is_ok()
            && (1..=SESSIONS_THOROUGH).contains(&shape.session);
        (fits && shape.id() == id).then_some(shape)
    }
}

/// Ticks that count of a session of the family under a load, 1 ms apart: half of them under it.
const LOADED: usize = 1200;
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
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let document = Settings::default().shape(5, 1);
        assert_eq!(document.id(), "grame/literal/clients_5");
        let mut other = Settings::of(true, false);
        for (name, text) in [
            ("tick", "1ms"),
            ("policy", "fifo"),
            ("send-mode", "blocking"),
            ("drop-policy", "ours"),
            ("clients", "3,1,3"),
        ] {
            other.set(name, text).expect("fits");
        }
        other.settle().expect("fits");
        assert_eq!(other.clients, [1, 3]);
        let full = other.shape(3, 2);
        assert_eq!(
            full.id(),
            "grame/literal/clients_3/tick_1000000ns/values_330_30/policy_fifo/send_blocking/drop_ours/session_2"
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
            "grame/literal/clients_5/tick_1ns",
            "grame/literal/clients_5/x",
            "grame/literal/clients_1/load_pigeon",
            "tlpi/literal/system_v/operations_5",
        ] {
            assert_eq!(Shape::parse(id), None, "{id}");
        }
    }

    #[test]
    fn ranges_are_kept_and_told() {
        let refused = |name: &str, text: &str| {
            let mut settings = Settings::default();
            let refused = settings.set(name, text).and_then(|()| settings.settle());
            refused.expect_err("out of range")
        };
        for (name, texts, range) in [
            ("clients", &["0", "1000", "-1", "x", "", "1,,2", "1.5"][..], "from 1 to 999"),
            ("tick", &["0ms", "soon", "10", "-1ms", "1min"][..], "100us to 1s"),
            ("tick", &["99us", "1001ms"][..], "100us to 1s are possible"),
            ("ticks", &["0", "9", "20001", "-5", "x"][..], "from 10 to 20000"),
            ("ticks", &["20000"][..], "10 to 12000 are possible"),
            ("discard", &["1099", "1100"][..], "0 to 1098 are possible"),
            ("discard", &["-1", "x"][..], "from 0 to 20000"),
            ("policy", &["other", "RR", ""][..], "rr or fifo"),
            ("send-mode", &["async"][..], "nonblocking or blocking"),
            ("drop-policy", &["theirs"][..], "document or ours"),
            ("rate", &["0", "x"][..], "from 1 to 1000000"),
            ("rate", &["44100"][..], "--rate and --frames"),
        ] {
            for text in texts {
                let words = refused(name, text);
                assert!(words.contains(range), "--{name} {text}: {words}");
            }
        }
    }

    #[test]
    fn a_sound_server_s_buffer_makes_a_tick() {
        let mut settings = Settings::default();
        settings.set("rate", "44100").expect("fits");
        settings.set("frames", "64").expect("fits");
        settings.settle().expect("fits");
        assert_eq!(settings.tick_ns, 1_451_247);
    }
}
