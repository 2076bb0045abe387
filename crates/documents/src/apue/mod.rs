//! Document 001, APUE 20.9: what record locking costs a small database, by one process and by several.

mod cell;
mod measured;
mod model;
mod plan;
mod published;
mod statements;
mod values;

pub(crate) use cell::resolve;
pub use plan::{Amount, Plan};

use oscost_results::Reproduction;

use crate::Document;
use crate::found::{Found, Rows};
use crate::parameters::Parameters;

/// The document.
pub static DOCUMENT: Document = Document {
    name: "apue",
    number: "001",
    parameters: &[],
    figures: &["record_lock/fcntl"],
    literal,
    judge,
};

fn literal(parameters: &Parameters) -> Vec<String> {
    parameters.apue.cells().into_iter().map(|(cell, runs)| cell::id(&cell, runs)).collect()
}

fn judge(found: &Found<'_>, parameters: &Parameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.name);
    values::values(found, &parameters.apue, &mut rows);
    statements::statements(found, &parameters.apue, &mut rows);
    rows.rows
}

#[cfg(test)]
mod tests {
    use oscost_families::record_database::Locking;
    use oscost_results::{Figure, Judgement, LaunchRecord, Status};

    use super::cell::{Runs, id};
    use super::published::{COUNTED, FIGURE_20_7};
    use super::*;
    use crate::found::test::{figure, set};
    use oscost_recorddb::workload::Kind;

    /// User and system time of a way to lock, s.
    type Spent = fn(usize, Locking) -> (f64, f64);

    /// What a machine would have found that spends so much at each number of records of Figure 20.7.
    fn machine(spent: Spent, ways: &[Locking]) -> Vec<Figure> {
        let plan = Plan { effort: Amount::Thorough, ..Plan::default() };
        let mut figures = Vec::new();
        for (row, published) in FIGURE_20_7.iter().enumerate() {
            for &way in ways {
                let cell = plan.cell(way, 1, published.nrec);
                let (user, system) = spent(row, way);
                let times = f64::from(published.nrec) / 2000.0;
                let calls: u64 = Kind::ALL
                    .iter()
                    .zip(COUNTED)
                    .map(|(kind, count)| cell.lock_rule().map_or(0, |rule| rule(*kind)) * count)
                    .sum();
                let quantities = [
                    ("cpu", (user + system) * 1e9),
                    ("user", user * 1e9),
                    ("system", system * 1e9),
                    ("clock", (user + system) * 1e9),
                    ("cpu_share", 1.0),
                    ("visits", 0.15 * f64::from(published.nrec).powi(2)),
                    ("operations", 43_929.0 * times),
                    ("lock_calls", calls as f64 * times),
                    ("io_calls", 2e6 * times * times),
                ];
                let mut figure = figure(&id(&cell, Runs::Repeated), "cpu", 1.0, None);
                quantities.into_iter().for_each(|(name, value)| set(&mut figure, name, value));
                figure.evidence.voluntary_switches = Some(0.0001);
                figure.launches = (1..=6)
                    .map(|sequence| LaunchRecord {
                        sequence,
                        quantities: quantities.map(|(name, value)| (name.to_owned(), value)).into(),
                        ..LaunchRecord::default()
                    })
                    .collect();
                figures.push(figure);
            }
        }
        figures
    }

    fn parameters() -> Parameters {
        let apue = Plan { effort: Amount::Thorough, ..Plan::default() };
        Parameters { apue, ..Parameters::default() }
    }

    fn verdict(figures: &[Figure], words: &str) -> (Judgement, String) {
        let rows = judge(&Found::of(figures, &[], &[]), &parameters());
        let row =
            rows.into_iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
        let row = row.unwrap_or_else(|| panic!("no statement with {words:?}"));
        (row.verdict.expect("judged"), row.because)
    }

    /// The document's own table, held against its own sentences: all hold but that of the user time.
    #[test]
    fn the_document_agrees_with_itself_but_for_the_user_time() {
        let own: Spent = |row, way| {
            let [user, system, _] = FIGURE_20_7[row].times[way as usize];
            (user, system)
        };
        let figures = machine(own, &Locking::ALL);
        for (words, expected) in [
            ("approximately equals the clock", Judgement::Holds),
            ("CPU limited", Judgement::Holds),
            ("six columns", Judgement::Holds),
            ("by 32% to 73%", Judgement::Holds),
            ("about the same", Judgement::DoesNotHold),
            ("by 13% to 19%", Judgement::Holds),
            ("from the reads and writes", Judgement::Holds),
            ("so much a call, whatever nrec", Judgement::DoesNotHold),
        ] {
            assert_eq!(verdict(&figures, words).0, expected, "{words}: {}", verdict(&figures, words).1);
        }
    }

    /// A call of locking costs 0.35 us, a record 0.7 us, whatever nrec; locks are not mandatory.
    #[test]
    fn a_machine_with_one_price_a_call_does_not_agree() {
        let priced: Spent = |row, way| {
            let nrec = f64::from(FIGURE_20_7[row].nrec);
            let calls = [0.0, 87_858.0, 115_520.0, 115_520.0][way as usize] * nrec / 2000.0;
            let visits = 0.15 * nrec * nrec * 0.7e-6;
            (visits * 0.3, visits * 0.7 + calls * 0.35e-6)
        };
        let mut figures = machine(priced, &[Locking::None, Locking::Coarse, Locking::Fine]);
        let mandatory = id(&parameters().apue.cell(Locking::Mandatory, 1, 2000), Runs::Repeated);
        let mut unsupported = figure(&mandatory, "cpu", 1.0, None);
        unsupported.status = Status::Unsupported;
        unsupported.why = Some("mandatory locks are ignored".into());
        unsupported.remedy = Some("another kernel".into());
        figures.push(unsupported);
        assert_eq!(verdict(&figures, "by 32% to 73%").0, Judgement::DoesNotHold);
        assert_eq!(verdict(&figures, "so much a call, whatever nrec").0, Judgement::Holds);
        assert_eq!(verdict(&figures, "about the same").0, Judgement::Holds);
        assert_eq!(verdict(&figures, "within 10 % of a model").0, Judgement::Holds);
        let told = verdict(&figures, "by 13% to 19%");
        assert_eq!(
            told,
            (Judgement::NotTestableHere, "mandatory locks are ignored; another kernel".to_owned())
        );
    }

    #[test]
    fn one_who_was_kept_from_the_cpu_says_nothing_of_clocks() {
        let own: Spent = |row, way| {
            let [user, system, _] = FIGURE_20_7[row].times[way as usize];
            (user, system)
        };
        let mut figures = machine(own, &[Locking::None, Locking::Coarse, Locking::Fine]);
        figures.iter_mut().for_each(|figure| set(figure, "cpu_share", 0.5));
        assert_eq!(verdict(&figures, "approximately equals the clock").0, Judgement::NotTestableHere);
        assert_eq!(verdict(&figures, "CPU limited").0, Judgement::Holds, "it never waited");
        figures.iter_mut().for_each(|figure| figure.evidence.voluntary_switches = Some(0.5));
        assert_eq!(verdict(&figures, "approximately equals the clock").0, Judgement::DoesNotHold);
        assert_eq!(verdict(&figures, "CPU limited").0, Judgement::DoesNotHold);
    }

    #[test]
    fn published_values_stand_whatever_was_measured() {
        let rows = judge(&Found::of(&[], &[], &[]), &Parameters::default());
        let of = |table: &str| {
            let cells =
                rows.iter().filter(|row| row.cell.as_ref().is_some_and(|cell| cell.table.contains(table)));
            cells.filter_map(|row| row.published).count()
        };
        assert_eq!((of("Figure 20.7"), of("Figure 20.6")), (36, 27));
        // Of 16 rows 3 times three, and two of per cent; two of the last row are damaged.
        assert_eq!(of("Figure 20.8"), 16 * 11 - 2);
        assert!(rows.iter().filter_map(|row| row.verdict).all(|it| it == Judgement::NotTestableHere));
        assert!(rows.iter().any(|row| row.because.contains("damaged in the public text")));
        let thorough = rows.iter().filter(|row| row.because == "not measured: --thorough").count();
        assert!(thorough > 10, "{thorough}");
    }
}
