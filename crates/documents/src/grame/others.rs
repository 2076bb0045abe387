//! Sessions that other systems had, beside the published rows.

use std::collections::BTreeMap;

use oscost_harness::Sink;
use oscost_results::quantity;
use oscost_stats::peaks::frequency;

use super::derive;
use super::elsewhere::{Elsewhere, Unit};
use super::settings::Settings;
use super::tables::counted;
use crate::found::{Rows, Value};

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
        rows.note(
            table,
            "Windows messages, Darwin sockets, Mach messages: no session was given. contrib/elsewhere builds for the first \
             two, and contrib/laboratory/run mach boots GNU Mach; --with elsewhere=FILE shows their values here",
        );
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
    use super::super::elsewhere::tests::session;
    use super::*;

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
}
