//! Document 001, APUE 20.9: what record locking costs a small database, by one process and by several.

mod answers;
mod cell;
mod laboratory;
mod measured;
mod model;
pub(crate) mod plan;
mod published;
mod statements;
mod values;

pub(crate) use cell::{repeated_id, resolve};
pub use laboratory::LaboratoryRun;
pub use plan::ApuePlan;

use oscost_results::{Answer, Figure, Judgement, Reproduction, Status, document};

use crate::found::{Found, LEAST_RUNS, Rows};
use crate::parameters::DocumentParameters;
use crate::{Document, UNMEASURED};

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::APUE,
    settings: plan::SETTINGS,
    figures: &["record_lock/fcntl"],
    first: |_| Vec::new(),
    literal,
    rows: judge,
    answers,
};

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    parameters.apue.cells().into_iter().map(|(cell, runs)| cell::id(&cell, runs)).collect()
}

fn answers(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Answer> {
    answers::answers(found, &parameters.apue)
}

fn judge(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.founding.name);
    values::values(found, &parameters.apue, &mut rows);
    let is_few = |it: &&Figure| {
        it.status == Status::Measured && cell::is_repeated(&it.id) && it.launches.len() < LEAST_RUNS
    };
    let (few, enough): (Vec<&Figure>, Vec<&Figure>) = found.figures.iter().partition(is_few);
    let enough: Vec<Figure> = enough.into_iter().cloned().collect();
    statements::statements(found, &Found { figures: &enough, ..*found }, &parameters.apue, &mut rows);
    without_intervals(&few, &mut rows);
    rows.rows
}

/// Tells of cells that were launched too seldom for an interval, where time was short: no statement rests on them.
fn without_intervals(few: &[&Figure], rows: &mut Rows) {
    let told: Vec<String> = few.iter().map(|it| format!("{} {}", it.id, it.launches.len())).collect();
    if told.is_empty() {
        return;
    }
    for row in rows.rows.iter_mut().filter(|it| it.verdict == UNMEASURED && it.because.is_empty()) {
        row.verdict = Some(Judgement::NotJudged);
        row.because = format!("no cell that it needs has the {LEAST_RUNS} launches of an interval");
    }
    let told = told.join(", ");
    rows.note(
        "not judged",
        format!("cells with fewer than {LEAST_RUNS} launches (--thorough has more): {told}"),
    );
}

#[cfg(test)]
mod tests {
    use oscost_families::record_database::Locking;
    use oscost_harness::Level;
    use oscost_results::LaunchRecord;

    use super::cell::{Runs, id};
    use super::published::{COUNTED, FIGURE_20_7};
    use super::*;
    use crate::found::test::{self, figure, set};
    use oscost_recorddb::workload::OperationKind;
    use oscost_recorddb::{Access, Layout};

    /// User and system time of a way to lock, s.
    type Spent = fn(usize, Locking) -> (f64, f64);

    /// What a machine would have found that spends so much at each number of records of Figure 20.7.
    fn machine(spent: Spent, ways: &[Locking]) -> Vec<Figure> {
        let plan = ApuePlan { effort: Level::Thorough, ..ApuePlan::default() };
        let mut figures = Vec::new();
        for (row, published) in FIGURE_20_7.iter().enumerate() {
            for &way in ways {
                let cell = plan.cell(way, 1, published.nrec);
                let (user, system) = spent(row, way);
                let times = f64::from(published.nrec) / 2000.0;
                let calls: u64 = OperationKind::ALL
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

    fn parameters() -> DocumentParameters {
        let apue = ApuePlan { effort: Level::Thorough, ..ApuePlan::default() };
        DocumentParameters { apue, ..DocumentParameters::default() }
    }

    fn verdict(figures: &[Figure], words: &str) -> (Judgement, String) {
        let found = Found { file_system: Some("ext4"), ..Found::of(figures, &[], &[]) };
        test::verdict(&judge(&found, &parameters()), words)
    }

    /// What the document's own machine spent.
    fn own(row: usize, way: Locking) -> (f64, f64) {
        let [user, system, _] = FIGURE_20_7[row].times[way as usize];
        (user, system)
    }

    /// The document's own table, held against its own sentences: all rules hold, that of the user time at 12 000 alone.
    #[test]
    fn the_document_agrees_with_itself_but_for_the_user_time() {
        let figures = machine(own, &Locking::ALL);
        for (words, expected) in [
            ("approximately equals the clock", Judgement::Holds),
            ("CPU limited", Judgement::Holds),
            ("six columns", Judgement::Holds),
            ("adding the locking calls increases", Judgement::Holds),
            ("by 32% to 73%", Judgement::ItsMachine),
            ("about the same", Judgement::HoldsInPart),
            ("mandatory locking increases", Judgement::Holds),
            ("by 13% to 19%", Judgement::ItsMachine),
            ("from the reads and writes", Judgement::Holds),
            ("adds the same time, whatever nrec", Judgement::DoesNotHold),
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
        assert_eq!(verdict(&figures, "adding the locking calls increases").0, Judgement::Holds);
        assert_eq!(verdict(&figures, "by 32% to 73%").0, Judgement::ItsMachine);
        assert_eq!(verdict(&figures, "adds the same time, whatever nrec").0, Judgement::Holds);
        assert_eq!(verdict(&figures, "about the same").0, Judgement::Holds);
        assert_eq!(verdict(&figures, "within 10 % of a model").0, Judgement::Holds);
        let unsupported =
            (Judgement::NotTestableHere, "mandatory locks are ignored; another kernel".to_owned());
        assert_eq!(verdict(&figures, "mandatory locking increases"), unsupported);
        assert!(verdict(&figures, "by 13% to 19%").1.ends_with("as said before"));
    }

    #[test]
    fn single_runs_are_shown_and_not_judged() {
        let mut figures = machine(own, &Locking::ALL);
        for figure in &mut figures {
            figure.launches.truncate(1);
            figure.quantities.values_mut().for_each(|quantity| {
                let value = quantity.estimate.value;
                quantity.estimate =
                    oscost_results::Estimate { value, low: value, high: value, extremes: true };
            });
        }
        for words in [
            "approximately equals",
            "six columns",
            "adding the locking calls increases",
            "about the same",
            "mandatory locking increases",
            "from the reads and writes",
            "adds the same time, whatever nrec",
        ] {
            assert_eq!(verdict(&figures, words).0, Judgement::NotJudged, "{words}");
        }
    }

    #[test]
    fn five_launches_decide_nothing_but_what_was_counted() {
        let mut figures = machine(own, &Locking::ALL);
        let last = figures.iter_mut().filter(|figure| figure.id.ends_with("nrec_12000"));
        last.for_each(|figure| figure.launches.truncate(5));
        for words in ["approximately equals", "six columns", "adding the locking calls"] {
            let (judgement, because) = verdict(&figures, words);
            assert_eq!(judgement, Judgement::Holds, "{words}: by the other cells");
            assert!(!because.contains("12 000"), "{because}");
        }
        let rows = judge(&Found::of(&figures, &[], &[]), &parameters());
        let told = rows.iter().find(|row| row.place == "not judged").expect("who has few is told");
        assert!(told.because.contains("nrec_12000 5"), "{}", told.because);
        figures.iter_mut().for_each(|figure| figure.launches.truncate(5));
        for words in ["approximately equals", "six columns", "about the same", "adds the same time"] {
            let (judgement, because) = verdict(&figures, words);
            assert_eq!(judgement, Judgement::NotJudged, "{words}");
            assert!(because.contains("the 6 launches"), "{because}");
        }
        for counted in ["arenever used", "CPU limited"] {
            assert_eq!(verdict(&figures, counted).0, Judgement::Holds, "{counted}: waits are counted");
        }
    }

    #[test]
    fn where_the_files_lie_in_memory_no_disk_could_limit() {
        let figures = machine(|_, _| (1.0, 2.0), &[Locking::None]);
        for file_system in [None, Some("tmpfs"), Some("ramfs")] {
            let found = Found { file_system, ..Found::of(&figures, &[], &[]) };
            let (judgement, words) = test::verdict(&judge(&found, &parameters()), "CPU limited");
            assert_eq!(judgement, Judgement::NotTestableHere, "{words}");
        }
        assert_eq!(verdict(&figures, "CPU limited").0, Judgement::Holds);
    }

    #[test]
    fn one_who_was_kept_from_the_cpu_says_nothing_of_clocks() {
        let mut figures = machine(own, &[Locking::None, Locking::Coarse, Locking::Fine]);
        figures.iter_mut().for_each(|figure| set(figure, "cpu_share", 0.5));
        assert_eq!(verdict(&figures, "approximately equals the clock").0, Judgement::NotTestableHere);
        assert_eq!(verdict(&figures, "CPU limited").0, Judgement::Holds, "it never waited");
        figures.iter_mut().for_each(|figure| figure.evidence.voluntary_switches = Some(0.5));
        assert_eq!(verdict(&figures, "approximately equals the clock").0, Judgement::DoesNotHold);
        assert_eq!(verdict(&figures, "CPU limited").0, Judgement::DoesNotHold);
    }

    /// Layout fast has no rule for its locks and no windows, and mapped files leave too few calls to stamp.
    #[test]
    fn no_check_is_told_that_is_not_made() {
        let told = |layout: Layout, access: Access| {
            let apue = ApuePlan { layout, access, ..ApuePlan::default() };
            let parameters = DocumentParameters { apue, ..DocumentParameters::default() };
            let rows = judge(&Found::of(&[], &[], &[]), &parameters);
            let windows = "differs: measured from 2 000 records on";
            ["differs: lengths", windows, "calls of fcntl", "user, measured"]
                .map(|place| rows.iter().any(|row| row.place == place))
        };
        assert_eq!(told(Layout::Book, Access::SeekRead), [true; 4]);
        assert_eq!(told(Layout::Fast, Access::SeekRead), [false, false, false, true]);
        assert_eq!(told(Layout::Fast, Access::Mapped), [false; 4]);
    }

    #[test]
    fn published_values_stand_whatever_was_measured() {
        let rows = judge(&Found::of(&[], &[], &[]), &parameters());
        let of = |table: &str| {
            let cells =
                rows.iter().filter(|row| row.cell.as_ref().is_some_and(|cell| cell.table.contains(table)));
            cells.filter_map(|row| row.published).count()
        };
        assert_eq!((of("Figure 20.7, by nrec"), of("Figure 20.6")), (36, 27));
        // Three sizes, coarse and fine: quotients of its times.
        assert_eq!(of("with locks / without"), 3 * 2);
        // Of 16 rows 3 times three, and two of per cent; two of the last row are damaged.
        assert_eq!(of("Figure 20.8"), 16 * 11 - 2);
        assert!(rows.iter().filter_map(|row| row.verdict).all(|it| it == Judgement::NotTestableHere));
        assert!(rows.iter().any(|row| row.because.contains("damaged in the public text")));
        let fewer = judge(&Found::of(&[], &[], &[]), &DocumentParameters::default());
        let has = |words: &str| fewer.iter().any(|row| row.because.contains(words));
        assert!(has("which document 001 does not have") && !has("damaged in the public text"));
    }
}
