//! The parameters of a session, and the id that states them.

use oscost_harness::{Parameter, nanoseconds};
use oscost_sys::scheduling::Policy;

use super::load::Load;

/// Beginning of every session that does not count, ns.
const DISCARDED_NS: u64 = 100_000_000;
/// Ticks that count in a launch, and in one of `--quick`.
const TICKS: usize = 100;
const TICKS_QUICK: usize = 50;
/// Time that counts in a session with a load, and in one of `--quick`, ns.
const LOADED_NS: u64 = 3_000_000_000;
const LOADED_QUICK_NS: u64 = 600_000_000;
/// Time between ticks where none is given, ns.
const TICK_NS: u64 = 1_000_000;
/// Bytes of a message where none is given: document 002's message has as many.
const SIZE: usize = 24;
/// What a session may be asked for.
pub(super) const TICKS_NS: std::ops::RangeInclusive<u64> = 50_000..=1_000_000_000;
pub(super) const SIZES: std::ops::RangeInclusive<usize> = 16..=65_536;
pub(super) const CLIENTS: std::ops::RangeInclusive<usize> = 1..=999;
pub(super) const COUNTS: std::ops::RangeInclusive<usize> = 10..=100_000;
/// Fewest ticks with a load: each part of such a session has to have some.
const LEAST_LOADED: usize = 60;
/// Most words of a session's table of receptions: 64 MiB.
const MOST_WORDS: usize = 8 << 20;
/// Longest session, ns.
const LONGEST_NS: u64 = 300_000_000_000;

/// The parameters of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Over several CPUs, or all on one.
    pub spread: bool,
    /// How many clients.
    pub clients: usize,
    /// Time between ticks, ns.
    pub tick_ns: u64,
    /// Bytes of a message.
    pub size: usize,
    /// Scheduling of server and clients.
    pub policy: Policy,
    /// Ticks that count; `None`: as many as the effort of the run has.
    pub ticks: Option<usize>,
    /// What keeps the machine busy in the middle of it.
    pub load: Option<Load>,
    /// Idle CPUs are kept awake.
    pub awake: bool,
}

impl Shape {
    /// So many clients, with the defaults of everything else.
    #[must_use]
    pub const fn of(spread: bool, clients: usize) -> Self {
        Self {
            spread,
            clients,
            tick_ns: TICK_NS,
            size: SIZE,
            policy: Policy::RoundRobin,
            ticks: None,
            load: None,
            awake: false,
        }
    }

    /// The end of the id, from the placement on; what has its default is left out.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            format!("{}/clients_{}", if self.spread { "spread" } else { "same_cpu" }, self.clients);
        if self.tick_ns != TICK_NS {
            text.push_str(&match self.tick_ns {
                ns if ns.is_multiple_of(1_000_000) => format!("/tick_{}ms", ns / 1_000_000),
                ns if ns.is_multiple_of(1_000) => format!("/tick_{}us", ns / 1_000),
                ns => format!("/tick_{ns}ns"),
            });
        }
        if self.size != SIZE {
            text.push_str(&format!("/size_{}", self.size));
        }
        if let Some(policy) = policy_name(self.policy) {
            text.push_str(&format!("/policy_{policy}"));
        }
        if let Some(ticks) = self.ticks {
            text.push_str(&format!("/ticks_{ticks}"));
        }
        if let Some(load) = self.load {
            text.push_str(&format!("/load_{}", load.text()));
        }
        if self.awake {
            text.push_str("/idle_poll");
        }
        text
    }

    /// What the id says, and the period even where it is the default.
    pub(super) fn parameters(&self) -> Vec<(&'static str, Parameter<'static>)> {
        let placement = if self.spread { "spread" } else { "same_cpu" };
        let mut parameters = vec![
            ("placement", Parameter::Text(placement)),
            ("clients", Parameter::Number(self.clients as u64)),
            ("tick_ns", Parameter::Number(self.tick_ns)),
        ];
        if self.size != SIZE {
            parameters.push(("size", Parameter::Number(self.size as u64)));
        }
        parameters.extend(policy_name(self.policy).map(|policy| ("policy", Parameter::Text(policy))));
        parameters.extend(self.ticks.map(|ticks| ("ticks", Parameter::Number(ticks as u64))));
        parameters.extend(self.load.map(|load| ("load", Parameter::Text(load.text().leak()))));
        parameters.extend(self.awake.then_some(("idle_cpu", Parameter::Text("poll"))));
        parameters
    }

    /// The shape of the end of an id; `None` where it is none, or is written in another way than [`Shape::text`] does.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let spread = match parts.next()? {
            "same_cpu" => false,
            "spread" => true,
            _ => return None,
        };
        let mut shape = Self::of(spread, parts.next()?.strip_prefix("clients_")?.parse().ok()?);
        for part in parts {
            match part.split_once('_')? {
                ("tick", tick) => shape.tick_ns = nanoseconds(tick)?,
                ("size", size) => shape.size = size.parse().ok()?,
                ("policy", "fifo") => shape.policy = Policy::Fifo,
                ("policy", "other") => shape.policy = Policy::Other,
                ("ticks", ticks) => shape.ticks = Some(ticks.parse().ok()?),
                ("load", load) => shape.load = Some(Load::parse(load)?),
                ("idle", "poll") => shape.awake = true,
                _ => return None,
            }
        }
        (shape.misfit().is_none() && shape.text() == text).then_some(shape)
    }

    /// What is out of its bounds, in words.
    #[must_use]
    pub fn misfit(&self) -> Option<String> {
        let ticks = self.ticks.unwrap_or(100);
        // A load makes a session as long as it needs, and the table holds what is discarded, too.
        Some(match () {
            () if !CLIENTS.contains(&self.clients) => {
                format!("{} clients: use 1 to 999", self.clients)
            }
            () if !TICKS_NS.contains(&self.tick_ns) => {
                format!("a tick of {} ns: use 50us to 1s", self.tick_ns)
            }
            () if !SIZES.contains(&self.size) || !self.size.is_multiple_of(8) => {
                format!("messages of {} bytes: use 16 to 65536, in steps of 8", self.size)
            }
            () if self.load.is_some() && self.ticks.is_some_and(|ticks| ticks < LEAST_LOADED) => {
                format!("{ticks} ticks: a session with a load needs at least {LEAST_LOADED}")
            }
            () if self.awake && !self.spread => {
                "idle_cpu=poll is for CPUs that the server wakes: --set placement=spread".to_owned()
            }
            () if !COUNTS.contains(&ticks) => format!("{ticks} ticks: use 10 to 100000"),
            () if self.clients * planned(self, false).1 > MOST_WORDS => {
                let (discarded, most) = planned(self, false);
                format!(
                    "{most} ticks, {discarded} of which are discarded, for {} clients are too many: at most {MOST_WORDS} \
                     latencies fit",
                    self.clients
                )
            }
            () if self.tick_ns * ticks as u64 > LONGEST_NS => {
                format!("{ticks} ticks of {} ns take longer than 300 s", self.tick_ns)
            }
            () => return None,
        })
    }
}

/// The policy's name in ids; the default has none.
#[must_use]
pub fn policy_name(policy: Policy) -> Option<&'static str> {
    match policy {
        Policy::RoundRobin => None,
        Policy::Fifo => Some("fifo"),
        Policy::Other => Some("other"),
    }
}

/// Ticks of one launch: those that are discarded at the beginning, and all.
pub fn planned(shape: &Shape, quick: bool) -> (usize, usize) {
    let lasting = |ns: u64| usize::try_from(ns / shape.tick_ns).unwrap_or(usize::MAX);
    let counted = match (shape.ticks, shape.load) {
        (Some(ticks), _) => ticks,
        (None, Some(_)) => lasting(if quick { LOADED_QUICK_NS } else { LOADED_NS }).max(60),
        (None, None) if quick => TICKS_QUICK,
        (None, None) => TICKS,
    };
    let discarded = usize::try_from(DISCARDED_NS.div_ceil(shape.tick_ns)).unwrap_or(usize::MAX);
    // A client that ends delays the others: the last tick does not count.
    (discarded, discarded + counted + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let full = Shape {
            tick_ns: 1_451_247,
            size: 1024,
            policy: Policy::Fifo,
            ticks: Some(1000),
            load: Load::command("sleep 1"),
            awake: true,
            ..Shape::of(true, 7)
        };
        assert_eq!(
            full.text(),
            "spread/clients_7/tick_1451247ns/size_1024/policy_fifo/ticks_1000/load_command_sleep%201/idle_poll"
        );
        // 62001 ticks, of which 2000 are discarded, and 100 clients fit.
        let long = Shape { tick_ns: 50_000, load: Some(Load::Cpu), ..Shape::of(false, 100) };
        let slow = Shape { tick_ns: 10_000_000, ..Shape::of(false, 10) };
        for shape in [Shape::of(false, 1), slow, full, long] {
            assert_eq!(Shape::parse(&shape.text()), Some(shape));
        }
    }

    #[test]
    fn what_is_out_of_bounds_or_written_otherwise_is_none() {
        for text in [
            "same_cpu",
            "same_cpu/clients_0",
            "same_cpu/clients_1000",
            "same_cpu/clients_01",
            "elsewhere/clients_1",
            "same_cpu/clients_1/tick_1ms",
            "same_cpu/clients_1/tick_10000us",
            "same_cpu/clients_1/tick_49us",
            "same_cpu/clients_1/tick_2s",
            "same_cpu/clients_1/size_8",
            "same_cpu/clients_1/size_17",
            "same_cpu/clients_1/size_65544",
            "same_cpu/clients_1/ticks_9",
            "same_cpu/clients_1/policy_rr",
            "same_cpu/clients_1/ticks_100/size_64",
            "same_cpu/clients_999/ticks_100000",
            "same_cpu/clients_999/tick_50us/load_cpu",
            // With the 2000 ticks that are discarded, they are more than fit.
            "same_cpu/clients_999/tick_50us/ticks_8396",
            "same_cpu/clients_1/load_pigeon",
            "same_cpu/clients_1/idle_poll",
            "spread/clients_1/idle_halt",
            "same_cpu/clients_1/load_cpu/ticks_100",
            "same_cpu/clients_1/ticks_50/load_cpu",
            "same_cpu/clients_1/",
        ] {
            assert_eq!(Shape::parse(text), None, "{text}");
        }
    }
}
