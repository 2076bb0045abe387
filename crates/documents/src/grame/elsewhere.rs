//! Sessions of document 002 on systems where oscost measures nothing: what `contrib/elsewhere` wrote, read as if anybody had
//! written it, and shown beside the published row.

use std::collections::BTreeMap;

use oscost_harness::Sink;
use oscost_results::quantity;
use oscost_stats::peaks::frequency;

use super::derive;
use super::published::{SINGLE, System};
use super::record::ClientValue;
use super::settings::{CLIENTS_RANGE, Settings, TICKS_RANGE};
use super::tables::counted;
use crate::found::{Rows, Value};

/// The first line of a session.
const HEAD: &str = "oscost elsewhere 1";
/// Most sessions of a file, and longest name of a system. The laboratory writes 28.
const MOST_SESSIONS: usize = 60;
const LONGEST: usize = 80;

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    /// Of an emulated CPU.
    Instructions,
}

/// One session that another system had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The system, as it calls itself.
    pub(super) system: String,
    pub(super) way: String,
    priority: String,
    pub(super) unit: Unit,
    /// Messages that were not taken.
    pub(super) refused: u64,
    /// Values of each client, in us or in instructions; the number of the message stands for its stamp.
    pub(super) clients: Vec<Vec<ClientValue>>,
}

impl Elsewhere {
    /// The sessions of a file.
    ///
    /// # Errors
    /// In words, with the line: the first thing that is no session.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let mut lines = text.lines().enumerate().peekable();
        let mut sessions = Vec::new();
        while let Some((at, line)) = lines.next() {
            let wrong = |what: &str| format!("line {}: {what}", at + 1);
            if line != HEAD {
                return Err(wrong(&format!("'{HEAD}' is expected")));
            }
            if sessions.len() == MOST_SESSIONS {
                return Err(wrong(&format!("more than {MOST_SESSIONS} sessions")));
            }
            let mut field = |name: &str| {
                let value = lines.next().and_then(|(_, line)| line.strip_prefix(name)?.strip_prefix(' '));
                let value = value.filter(|value| value.len() <= LONGEST && !value.contains(char::is_control));
                value.map(str::to_owned).ok_or_else(|| wrong(&format!("a session without its '{name}'")))
            };
            let (system, way, priority) = (field("system")?, field("way")?, field("priority")?);
            let refused = field("refused")?.parse().map_err(|_| wrong("refused is no number"))?;
            let clients: usize = field("clients")?.parse().map_err(|_| wrong("clients is no number"))?;
            if !CLIENTS_RANGE.contains(&clients) {
                return Err(wrong("a number of clients that cannot be"));
            }
            // The programs of contrib/elsewhere have ns, and say nothing of it.
            let counted = lines.next_if(|(_, line)| *line == "unit instructions").is_some();
            let (unit, each) = if counted { (Unit::Instructions, 1) } else { (Unit::Nanoseconds, 1000) };
            let mut values = vec![Vec::new(); clients];
            while let Some((at, line)) = lines.next_if(|(_, line)| *line != HEAD) {
                let wrong = || format!("line {}: no value of a client", at + 1);
                let numbers: Vec<u64> = line.split(' ').map_while(|number| number.parse().ok()).collect();
                let [client, sequence, latency] = numbers[..] else { return Err(wrong()) };
                let client = usize::try_from(client).ok().and_then(|client| values.get_mut(client));
                let client = client.filter(|values| values.len() < *TICKS_RANGE.end()).ok_or_else(wrong)?;
                let latency_us = i64::try_from(latency / each).map_err(|_| wrong())?;
                if client.last().is_some_and(|before: &ClientValue| before.stamp_us >= sequence) {
                    return Err(format!("{}: its number does not grow", wrong()));
                }
                client.push(ClientValue { stamp_us: sequence, latency_us });
            }
            if values.iter().any(|values| values.len() < 2) {
                return Err(wrong("a session with a client that has no values"));
            }
            sessions.push(Self { system, way, priority, unit, refused, clients: values });
        }
        if sessions.is_empty() { Err("no session is in it".to_owned()) } else { Ok(sessions) }
    }

    /// The published system that went the same way.
    fn published(&self) -> Option<&'static System> {
        let name = match &*self.way {
            "messages" => "windows 2000",
            "sockets" if self.system.starts_with("Darwin") => "Darwin socket",
            _ => return None,
        };
        SINGLE.iter().flat_map(|single| single.systems).find(|system| system.name == name)
    }

    /// Messages between the first and the last one of a client that did not come.
    pub(super) fn lost(&self) -> u64 {
        let gaps = |values: &Vec<ClientValue>| {
            let span =
                values.last().zip(values.first()).map_or(0, |(last, first)| last.stamp_us - first.stamp_us);
            span.saturating_add(1).saturating_sub(values.len() as u64)
        };
        self.clients.iter().map(gaps).fold(0, u64::saturating_add)
    }
}

/// The quantities of a session, by name: in ns, or in thousandths of an instruction.
#[derive(Default)]
pub(super) struct Quantities(pub(super) BTreeMap<&'static str, f64>);

impl Quantities {
    pub(super) fn of(session: &Elsewhere, settings: &Settings) -> Self {
        let mut quantities = Self::default();
        derive::tell(&session.clients, &[], &settings.shape(session.clients.len(), 1), &mut quantities);
        quantities
    }
}

impl Sink for Quantities {
    fn quantity(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, value);
    }
    fn observation(&mut self, _: f64) {}
    fn operations(&mut self, _: u64) {}
}

/// The sessions that were given, or how to come by some.
pub(super) fn tell(settings: &Settings, rows: &mut Rows) {
    let table = "Other systems: sessions of contrib/elsewhere, 10 ms, never judged";
    if settings.elsewhere.is_empty() {
        rows.value(Value {
            because: "Windows messages, Darwin sockets, Mach messages: no session was given. contrib/elsewhere builds for the \
                      first two, and contrib/laboratory/run mach boots GNU Mach; --with elsewhere=FILE shows their values here"
                .to_owned(),
            ..Value::at(table, "")
        });
    }
    for session in settings.elsewhere.iter().filter(|session| session.unit == Unit::Nanoseconds) {
        let clients = session.clients.len();
        let row = format!("{}: {}, {}", session.system, session.way, counted(clients));
        let Quantities(of) = Quantities::of(session, settings);
        let published = session.published().filter(|_| clients == 1);
        for (column, quantity, published) in [
            ("mean", quantity::LATENCY_MEAN, published.map(|system| system.mean)),
            ("width", quantity::LATENCY_WIDTH, published.map(|system| system.width)),
            ("peaks from", quantity::PEAKS_LOW, published.map(|system| system.peaks.0)),
            ("peaks to", quantity::PEAKS_HIGH, published.map(|system| system.peaks.1)),
            ("first client", quantity::CLIENT_FIRST, None),
            ("next", quantity::CLIENT_NEXT, None),
        ] {
            let literal = of.get(quantity).map(|ns| ns / 1000.0);
            rows.value(Value { published, literal, ..Value::in_table(table, &row, column, "us") });
        }
        let rate = of.get(quantity::PEAKS_PER_THOUSAND).copied();
        let same = of.get(quantity::SAME_ORDER_SHARE).map_or(String::new(), |share| {
            format!("; the order of service stays the same in {:.0} % of the ticks", share * 100.0)
        });
        let there = published
            .map_or(String::new(), |system| format!("published on {}: {}; ", system.name, system.frequency));
        rows.value(Value {
            literal: rate,
            because: format!(
                "{there}here {}; {} messages did not come, {} were refused{same}; priority {}",
                frequency(rate.unwrap_or(0.0)),
                session.lost(),
                session.refused,
                session.priority
            ),
            ..Value::in_table(table, &row, "peaks in 1000", "count")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(system: &str, way: &str, clients: usize, values: &str) -> String {
        format!(
            "{HEAD}\nsystem {system}\nway {way}\npriority TIME_CRITICAL\nrefused 3\nclients {clients}\n{values}"
        )
    }

    fn rows(sessions: &str) -> Vec<oscost_results::Reproduction> {
        let elsewhere = Elsewhere::parse(sessions).expect("sessions");
        let mut rows = Rows::of("grame");
        tell(&Settings { elsewhere, ..Settings::default() }, &mut rows);
        rows.rows
    }

    #[test]
    fn a_session_stands_beside_the_published_row() {
        let wine = session(
            "Wine 8.0 (not Windows; it says 10.0.19041)",
            "messages",
            1,
            "0 100 30000\n0 101 50000\n0 103 40900\n",
        );
        let rows = rows(&wine);
        let cell = |column: &str| {
            let found = rows.iter().find(|row| row.cell.as_ref().is_some_and(|cell| cell.column == column));
            found.expect("a cell")
        };
        assert_eq!((cell("mean").literal, cell("mean").published), (Some(40.0), Some(17.0)));
        assert_eq!(cell("width").published, Some(14.0));
        let words = &cell("peaks in 1000").because;
        assert!(words.contains("published on windows 2000: medium; here none"), "{words}");
        assert!(words.contains("1 messages did not come, 3 were refused"), "{words}");
        assert!(rows.iter().all(|row| row.verdict.is_none() && row.measured.is_none()));
    }

    #[test]
    fn the_order_of_several_clients_is_told_and_darwin_has_its_own_row() {
        let values = "0 5 10000\n0 6 10000\n0 7 90000\n1 5 20000\n1 6 30000\n1 7 20000\n";
        let rows = rows(
            &(session("Darwin 23.1", "sockets", 2, values)
                + &session("Darwin 23.1", "sockets", 1, "0 1 1000\n0 2 1000\n")),
        );
        assert!(rows.iter().any(|row| row.because.contains("stays the same in 50 % of the ticks")));
        assert!(rows.iter().any(|row| row.published == Some(131.0) && row.literal == Some(1.0)));
    }

    #[test]
    fn without_a_session_it_says_how_to_come_by_one() {
        let mut rows = Rows::of("grame");
        tell(&Settings::default(), &mut rows);
        assert!(rows.rows[0].because.contains("--with elsewhere=FILE"));
    }

    #[test]
    fn what_is_no_session_is_refused_with_its_line() {
        let good = session("x", "messages", 1, "0 1 1\n0 2 1\n");
        for (text, expected) in [
            (String::new(), "no session"),
            ("rubbish".to_owned(), "line 1: 'oscost elsewhere 1' is expected"),
            (good.replace("way ", "path "), "without its 'way'"),
            (good.replace("clients 1\n", "clients 1\nunit us\n"), "line 7: no value"),
            (good.replace("clients 1", "clients 0"), "cannot be"),
            (good.replace("clients 1", "clients x"), "no number"),
            (good.replace("0 2 1", "1 2 1"), "line 8: no value"),
            (good.replace("0 2 1", "0 1 1"), "does not grow"),
            (good.replace("0 2 1", "0 2 x"), "no value"),
            (good.replace("0 2 1\n", ""), "has no values"),
            (good.replace("system x", &format!("system {}", "x".repeat(99))), "without its 'system'"),
        ] {
            let told = Elsewhere::parse(&text).expect_err(&text);
            assert!(told.contains(expected), "{text}: {told}");
        }
        assert_eq!(Elsewhere::parse(&good.repeat(2)).map(|sessions| sessions.len()), Ok(2));
        assert!(Elsewhere::parse(&good.repeat(61)).is_err());
    }
}
