//! What mandatory locks cost where a kernel still has them: document 001's program in an emulated machine, counted in instructions,
//! with all four ways to lock side by side.

use oscost_families::record_database::{Cell, Locking};
use oscost_results::{Figure, Status, quantity};

use super::cell;
use super::published::FIGURE_20_7;
use crate::found::{Rows, Value, grouped};

const TABLE: &str = "Figure 20.7's ways on one emulated CPU with mandatory locks: 10^6 instructions, by contrib/laboratory/run mandatory, \
                     never judged";

/// A run of the program by one process in the laboratory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaboratoryRun {
    kernel: String,
    locking: Locking,
    nrec: u32,
    instructions: u64,
    io_calls: u64,
}

impl LaboratoryRun {
    /// The runs of a result of the laboratory, whose kernel is named.
    ///
    /// # Errors
    /// In words: a result without them.
    pub fn all(kernel: &str, figures: &[Figure]) -> Result<Vec<Self>, String> {
        let measured = figures.iter().filter(|figure| figure.status == Status::Measured);
        let of = |figure: &Figure| {
            let Cell { locking, records: nrec, processes: 1, .. } = cell::of_single(&figure.id)? else {
                return None;
            };
            let count = |name: &str| Some(figure.quantities.get(name)?.estimate.value as u64);
            Some(Self {
                kernel: kernel.to_owned(),
                locking,
                nrec,
                instructions: count(quantity::CPU)?,
                io_calls: count(quantity::IO_CALLS)?,
            })
        };
        let all: Vec<Self> = measured.filter_map(of).collect();
        match all.iter().any(|it| it.locking == Locking::Mandatory) {
            true => Ok(all),
            false => {
                Err("no run with mandatory locks: contrib/laboratory/run mandatory makes one".to_owned())
            }
        }
    }
}

/// A row for each number of records, and what the book has of the same quotient.
pub(super) fn tell(counted: &[LaboratoryRun], rows: &mut Rows) {
    let mut sizes: Vec<u32> = counted.iter().map(|it| it.nrec).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for nrec in sizes {
        let of = |locking| counted.iter().find(|it| it.nrec == nrec && it.locking == locking);
        let Some(first) = counted.iter().find(|it| it.nrec == nrec) else { continue };
        let row = format!("{} records, {}", grouped(u64::from(nrec)), first.kernel);
        for locking in Locking::ALL {
            let literal = of(locking).map(|it| it.instructions as f64 / 1e6);
            rows.value(Value { literal, ..Value::in_table(TABLE, &row, locking.name(), "") });
        }
        let both = of(Locking::Mandatory).zip(of(Locking::Fine));
        let more = both.map(|(mandatory, fine)| mandatory.instructions as f64 - fine.instructions as f64);
        let added = more.zip(both).map(|(more, (_, fine))| more / fine.instructions as f64 * 100.0);
        let each = more.zip(both).map(|(more, (mandatory, _))| more / mandatory.io_calls.max(1) as f64);
        let place = |column| Value::in_table(TABLE, &row, column, "");
        rows.value(Value { literal: added, ..place("mandatory over fine, added %") });
        rows.value(Value {
            literal: each,
            because: "the locks are checked in each read and write: instructions more for each of them"
                .to_owned(),
            ..place("more an I/O call")
        });
    }
    if counted.is_empty() {
        rows.note(
            "mandatory locks",
            "contrib/laboratory/run mandatory counts them on Linux 5.10, and --with mandatory=FILE shows its numbers here",
        );
        return;
    }
    let added = FIGURE_20_7.iter().map(|row| {
        let both = |way: usize| row.times[way][0] + row.times[way][1];
        format!("{:.0}", (both(3) / both(2) - 1.0) * 100.0)
    });
    let added: Vec<String> = added.collect();
    rows.note(
        "in the document (ours)",
        format!(
            "user and sys of mandatory over fine advisory locking: {} % more at nrec 2 000, 6 000, 12 000 (Figure 20.7)",
            added.join(", ")
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::test::{figure, set};

    fn run(locking: Locking, instructions: u64) -> LaboratoryRun {
        LaboratoryRun { kernel: "5.10".to_owned(), locking, nrec: 300, instructions, io_calls: 1000 }
    }

    #[test]
    fn mandatory_locks_stand_beside_the_other_ways_and_are_not_judged() {
        let counted = [
            run(Locking::None, 50_000_000),
            run(Locking::Fine, 80_000_000),
            run(Locking::Mandatory, 90_000_000),
        ];
        let mut rows = Rows::of("apue");
        tell(&counted, &mut rows);
        let literal = |column: &str| {
            let at = |cell: &oscost_results::Cell| cell.row.contains("300 records") && cell.column == column;
            rows.rows.iter().find(|row| row.cell.as_ref().is_some_and(at)).and_then(|row| row.literal)
        };
        assert_eq!(literal("none"), Some(50.0));
        assert_eq!(literal("coarse"), None, "it was not run");
        assert_eq!(literal("mandatory over fine, added %"), Some(12.5));
        assert_eq!(literal("more an I/O call"), Some(10_000.0));
        assert!(rows.rows.iter().all(|row| row.verdict.is_none() && row.measured.is_none()));
        assert!(rows.rows.iter().any(|row| row.because.contains("12, 15, 14 % more")));
    }

    #[test]
    fn a_result_without_mandatory_locks_is_refused() {
        let figures = |locks: &str| {
            let mut one =
                figure(&format!("apue/literal/book/seek/{locks}/processes_1/nrec_300"), "cpu", 8e7, None);
            set(&mut one, "io_calls", 1000.0);
            [one]
        };
        assert!(LaboratoryRun::all("Linux 5.10", &figures("fine_fcntl")).is_err());
        let expected =
            LaboratoryRun { kernel: "Linux 5.10".to_owned(), ..run(Locking::Mandatory, 80_000_000) };
        assert_eq!(LaboratoryRun::all("Linux 5.10", &figures("mandatory_fcntl")), Ok(vec![expected]));
    }
}
