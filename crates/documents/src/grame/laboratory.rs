//! Document 002's comparison of systems on one footing: sessions that contrib/laboratory counted in instructions of one
//! emulated CPU, a row a system and way.

use oscost_results::quantity;

use super::elsewhere::{Elsewhere, Unit};
use super::others::Quantities;
use super::published::{NEXT, SINGLE};
use super::settings::Settings;
use super::tables::counted;
use crate::found::{Rows, Value};

const TABLE: &str =
    "One emulated CPU: instructions of a message, by contrib/laboratory/run mach, never judged";
/// The ways of the two systems that the document compares on one machine.
const MACH: &str = "mach_msg";
const SOCKET: &str = "unix_datagram";

/// What Mac350 had for a way, us: one client, and the next one.
fn published(way: &str) -> Option<(f64, f64)> {
    let (single, next) = match way {
        MACH => ("Mach msg", "mach"),
        SOCKET => ("Linux socket", "linux ppc"),
        _ => return None,
    };
    // The last of the tables is that machine's.
    let single = SINGLE.last()?.systems.iter().find(|system| system.name == single)?;
    let &(_, next, _) = NEXT.iter().find(|(name, ..)| *name == next)?;
    Some((single.mean, next))
}

/// The sessions of one way of one system, and what they say.
struct Way<'a> {
    system: &'a str,
    way: &'a str,
    sessions: Vec<&'a Elsewhere>,
    /// One client, and of most clients the next and the last one, instructions.
    one: Option<f64>,
    next: Option<f64>,
    last: Option<f64>,
    most: usize,
}

impl<'a> Way<'a> {
    fn of(sessions: Vec<&'a Elsewhere>, settings: &Settings) -> Option<Self> {
        let widest = *sessions.iter().max_by_key(|session| session.clients.len())?;
        let single = sessions.iter().find(|session| session.clients.len() == 1);
        let value = |session: &Elsewhere, quantity: &str| {
            Quantities::of(session, settings).0.get(quantity).map(|thousandths| thousandths / 1000.0)
        };
        Some(Self {
            system: &widest.system,
            way: &widest.way,
            one: single.and_then(|session| value(session, quantity::FIRST_P50)),
            next: value(widest, quantity::NEXT_P50),
            last: value(widest, quantity::LAST_P50),
            most: widest.clients.len(),
            sessions,
        })
    }

    fn tell(&self, rows: &mut Rows) {
        let row = format!("{}: {}", self.system, self.way);
        let published = published(self.way);
        let us = |us: f64| format!("{us:.0} us on Mac350");
        let last = format!("last of {}", self.most);
        for (column, literal, published) in [
            ("one client", self.one, published.map(|(one, _)| us(one))),
            ("next", self.next, published.map(|(_, next)| us(next))),
            (&*last, self.last, None),
        ] {
            let words = [published, None, None];
            rows.value(Value { literal, words, ..Value::in_table(TABLE, &row, column, "instructions") });
        }
        let lost: u64 = self.sessions.iter().map(|session| session.lost()).sum();
        let refused: u64 = self.sessions.iter().map(|session| session.refused).sum();
        let received: usize = self.sessions.iter().flat_map(|session| &session.clients).map(Vec::len).sum();
        rows.value(Value {
            literal: Some(received as f64),
            because: format!(
                "in {}; {lost} did not come, {refused} were refused",
                match self.sessions.len() {
                    1 => "one session".to_owned(),
                    many => format!("{many} sessions of up to {}", counted(self.most)),
                }
            ),
            ..Value::in_table(TABLE, &row, "messages", "count")
        });
    }
}

/// The rows of all ways, and what Mach's message is to Linux's datagram there and here.
pub(super) fn tell(settings: &Settings, rows: &mut Rows) {
    let mut found: Vec<Vec<&Elsewhere>> = Vec::new();
    for session in settings.elsewhere.iter().filter(|session| session.unit == Unit::Instructions) {
        let same = |of: &&mut Vec<&Elsewhere>| of[0].system == session.system && of[0].way == session.way;
        match found.iter_mut().find(same) {
            Some(sessions) => sessions.push(session),
            None => found.push(vec![session]),
        }
    }
    let ways: Vec<Way<'_>> = found.into_iter().filter_map(|sessions| Way::of(sessions, settings)).collect();
    ways.iter().for_each(|way| way.tell(rows));
    let of = |name: &str| ways.iter().find(|way| way.way == name).zip(published(name));
    let (Some((mach, there_mach)), Some((socket, there_socket))) = (of(MACH), of(SOCKET)) else { return };
    for (column, here, there) in [
        ("one client", mach.one.zip(socket.one), there_mach.0 / there_socket.0),
        ("next", mach.next.zip(socket.next), there_mach.1 / there_socket.1),
    ] {
        let literal = here.filter(|(_, socket)| *socket > 0.0).map(|(mach, socket)| mach / socket);
        rows.value(Value {
            published: Some(there),
            literal,
            because: "there times of Darwin 1.3 and Linux PPC 2.2.15, here instructions of GNU Mach, which is not Darwin, and of a \
                      Linux of today: no answer to the document, only the same comparison"
                .to_owned(),
            ..Value::in_table(TABLE, "a Mach message to a datagram of Linux", column, "ratio")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(system: &str, way: &str, clients: &[[u64; 2]]) -> String {
        let head = "oscost elsewhere 1\nsystem ";
        let count = clients.len();
        let mut text = format!(
            "{head}{system}\nway {way}\npriority fixed\nrefused 0\nclients {count}\nunit instructions\n"
        );
        for (client, [one, other]) in clients.iter().enumerate() {
            text += &format!("{client} 100 {one}\n{client} 101 {other}\n");
        }
        text
    }

    fn rows(sessions: &str) -> Vec<oscost_results::Reproduction> {
        let elsewhere = Elsewhere::parse(sessions).expect("sessions");
        let mut rows = Rows::of("grame");
        tell(&Settings { elsewhere, ..Settings::default() }, &mut rows);
        rows.rows
    }

    fn literal(rows: &[oscost_results::Reproduction], row: &str, column: &str) -> Option<f64> {
        let at = |cell: &oscost_results::Cell| cell.row.contains(row) && cell.column == column;
        rows.iter().find(|found| found.cell.as_ref().is_some_and(at)).expect("a row").literal
    }

    #[test]
    fn instructions_stay_whole_and_systems_are_compared() {
        let mach = "laboratory, GNU Mach 1.8, not Darwin";
        let rows = rows(
            &(session(mach, "mach_msg", &[[1803, 1803]])
                + &session(mach, "mach_msg", &[[2551, 2551], [3727, 3727]])
                + &session("laboratory, Linux 6.1", "unix_datagram", &[[9015, 9015]])
                + &session("laboratory, Linux 6.1", "unix_datagram", &[[16281, 16281], [20301, 20301]])),
        );
        assert_eq!(literal(&rows, mach, "one client"), Some(1803.0));
        assert_eq!(literal(&rows, mach, "next"), Some(1176.0));
        assert_eq!(literal(&rows, mach, "last of 2"), Some(3727.0));
        assert_eq!(literal(&rows, mach, "messages"), Some(6.0));
        assert_eq!(literal(&rows, "to a datagram", "one client"), Some(0.2));
        let published: Vec<_> = rows.iter().filter_map(|row| row.published).collect();
        assert_eq!(published, [41.0 / 16.0, 23.0 / 10.0]);
        assert!(rows.iter().any(|row| row.published_words.as_deref() == Some("41 us on Mac350")));
        assert!(rows.iter().all(|row| row.verdict.is_none() && row.measured.is_none()));
    }

    #[test]
    fn one_system_alone_is_compared_with_nothing() {
        let rows = rows(&session("laboratory, GNU Mach 1.8, not Darwin", "mach_msg", &[[1803, 1803]]));
        assert!(rows.iter().all(|row| row.published.is_none()));
        assert_eq!(literal(&rows, "GNU Mach", "next"), None);
    }
}
