//! The parameters of a figure, by name: they distinguish it from others of its family.
//!
//! A card states them, and a result carries them. Older results have them in the id alone: [`parameters_of_id`] reads those.

use std::fmt;

use serde_json::Value;

use crate::Figure;

/// Value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameter<'a> {
    /// A count, or a quantity whose name ends in its unit ("tick_ns").
    Number(u64),
    /// A name ("unix_datagram").
    Text(&'a str),
}

/// Parameters by name. A name means the same in every family.
pub type Parameters<'a> = Vec<(&'static str, Parameter<'a>)>;

impl<'a> Parameter<'a> {
    /// The number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(_) => None,
        }
    }

    /// The name, if it is one.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    fn of(value: &'a Value) -> Option<Self> {
        value.as_u64().map(Self::Number).or_else(|| value.as_str().map(Self::Text))
    }
}

impl fmt::Display for Parameter<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Text(text) => text.fmt(out),
        }
    }
}

impl From<Parameter<'_>> for Value {
    fn from(parameter: Parameter<'_>) -> Self {
        match parameter {
            Parameter::Number(number) => number.into(),
            Parameter::Text(text) => text.into(),
        }
    }
}

impl Figure {
    /// The parameter of this name. An older figure has none of its own: what its id says counts.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<Parameter<'_>> {
        if !self.parameters.is_empty() {
            return Parameter::of(self.parameters.get(name)?);
        }
        parameters_of_id(&self.id).into_iter().find_map(|(known, value)| (known == name).then_some(value))
    }
}

/// How a value is written in an id.
#[derive(Clone, Copy)]
enum Written {
    Number,
    Text,
    /// A number of ns, us or ms with its unit.
    Time,
    /// A number of holds.
    Holds,
}

/// Parts of an id that begin with a name: (the beginning, the parameter, how its value is written).
const NAMED: [(&str, &str, Written); 24] = [
    ("clients_", "clients", Written::Number),
    ("tick_", "tick_ns", Written::Time),
    ("size_", "size", Written::Number),
    ("policy_", "policy", Written::Text),
    ("ticks_", "ticks", Written::Number),
    ("load_", "load", Written::Text),
    ("idle_", "idle_cpu", Written::Text),
    ("values_", "values", Written::Text),
    ("send_", "send", Written::Text),
    ("drop_", "drop", Written::Text),
    ("sender_", "sender", Written::Number),
    ("order_", "order", Written::Text),
    ("session_", "session", Written::Number),
    ("processes_", "processes", Written::Number),
    ("threads_", "threads", Written::Number),
    ("hold_us_", "hold_us", Written::Number),
    ("think_", "think_holds", Written::Holds),
    ("nrec_", "nrec", Written::Number),
    ("workload_", "workload", Written::Text),
    ("calls_", "calls", Written::Number),
    ("operations_", "operations", Written::Number),
    ("iterations_", "iterations", Written::Number),
    ("samples_", "samples", Written::Number),
    ("in_a_row_", "in_a_row", Written::Number),
];
/// Periods of servers whose ids name none, ns.
const TICK_NS: u64 = 1_000_000;
const TICK_OF_GRAME_NS: u64 = 10_000_000;

/// The parameters that an id names; none where it is not of a form that oscost ever wrote.
#[must_use]
pub fn parameters_of_id(id: &str) -> Parameters<'_> {
    read(id).unwrap_or_default()
}

fn read(id: &str) -> Option<Parameters<'_>> {
    let mut found = Vec::new();
    let database = ["record_database/", "apue/literal/", "apue/"];
    let mut parts = if let Some(rest) = id.strip_prefix("realtime_ipc/") {
        let mut parts = rest.split('/');
        found.push(("transport", Parameter::Text(parts.next()?)));
        found.push(("placement", Parameter::Text(parts.next()?)));
        parts
    } else if let Some((lock, rest)) = id.split_once("/contended/") {
        found.push(("lock", Parameter::Text(lock)));
        rest.split('/')
    } else if let Some(rest) = database.iter().find_map(|prefix| id.strip_prefix(prefix)) {
        let mut parts = rest.split('/');
        found.push(("layout", Parameter::Text(parts.next()?)));
        found.push(("access", Parameter::Text(parts.next()?)));
        let locks = parts.next()?;
        let (locking, primitive) = locks.split_once('_').map_or((locks, None), |(one, two)| (one, Some(two)));
        found.push(("locking", Parameter::Text(locking)));
        found.extend(primitive.map(|primitive| ("primitive", Parameter::Text(primitive))));
        parts
    } else if let Some(rest) = id.strip_prefix("grame/literal/") {
        rest.split('/')
    } else {
        // One parameter at the end of a path, or none.
        let part = id.rsplit('/').next()?;
        return Some(named(part).into_iter().collect());
    };
    for part in parts.by_ref() {
        found.push(named(part)?);
    }
    let has = |name: &str| found.iter().any(|(known, _)| *known == name);
    if has("clients") && !has("tick_ns") {
        let tick_ns = if has("transport") { TICK_NS } else { TICK_OF_GRAME_NS };
        found.push(("tick_ns", Parameter::Number(tick_ns)));
    }
    Some(found)
}

fn named(part: &str) -> Option<(&'static str, Parameter<'_>)> {
    let found = NAMED.iter().find_map(|known| Some((known, part.strip_prefix(known.0)?)));
    let ((_, name, written), text) = found?;
    let value = match written {
        Written::Text => Parameter::Text(text),
        Written::Number => Parameter::Number(text.parse().ok()?),
        Written::Holds => Parameter::Number(text.strip_suffix("_holds").unwrap_or(text).parse().ok()?),
        Written::Time => Parameter::Number(nanoseconds(text)?),
    };
    Some((name, value))
}

/// A time as ids write it ("10ms", "1450us", "1451247ns"), in ns.
#[must_use]
pub fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let unit = match &text[digits.len()..] {
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}
