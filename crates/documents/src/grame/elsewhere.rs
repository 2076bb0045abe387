//! Sessions of document 002 on systems where oscost measures nothing: what `contrib/elsewhere` wrote, read as if anybody had
//! written it.

use super::published::{SINGLE, System};
use super::record::ClientValue;
use super::shape::{CLIENTS_RANGE, TICKS_RANGE};

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
    pub(super) priority: String,
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
                let numbers: Option<Vec<u64>> = line.split(' ').map(|number| number.parse().ok()).collect();
                let Some([client, sequence, latency]) = numbers.as_deref() else { return Err(wrong()) };
                let (client, sequence, latency) = (*client, *sequence, *latency);
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
    pub(super) fn published(&self) -> Option<&'static System> {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn session(system: &str, way: &str, clients: usize, values: &str) -> String {
        format!(
            "{HEAD}\nsystem {system}\nway {way}\npriority TIME_CRITICAL\nrefused 3\nclients {clients}\n{values}"
        )
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
            (good.replace("0 2 1", "0 2 1 us"), "line 8: no value"),
            (good.replace("0 2 1", "0 2 1 "), "line 8: no value"),
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
