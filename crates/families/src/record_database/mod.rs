//! The database of document 001 under its workload: by layout, way to the bytes, way to lock, processes and records.

mod cell;
mod in_turn;
mod latencies;
mod running;
mod windows;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oscost_harness::{Benchmark, Setting, Takes, Tier};
use oscost_recorddb::workload::Workload;
use oscost_recorddb::{Access, Layout, Primitive};

use crate::made;

pub use cell::{
    ACCESSES, Cell, LAYOUTS, Locking, MOST_PROCESSES, MOST_RECORDS, PRIMITIVES, WINDOWS_MS, WORKLOADS, named,
    word,
};
pub use running::Program;

/// Where the files go that are measured: databases of the family and of document 001, and single files.
pub const DIRECTORY: Setting = Setting {
    key: "directory",
    what: "folder for the measured files, on any file system",
    takes: Takes::Path,
    many: false,
    default: "in memory",
};

/// Document 001's: layout `book` by seek and read.
const BOOK: Cell = Cell {
    layout: Layout::Book,
    access: Access::SeekRead,
    workload: Workload::Figure,
    locking: Locking::None,
    primitive: Primitive::Fcntl,
    processes: 1,
    records: 500,
};
/// What would be built today: a mapped file and robust mutexes.
const FAST: Cell =
    Cell { layout: Layout::Fast, access: Access::Mapped, primitive: Primitive::RobustMutex, ..BOOK };

/// The benchmark of a cell, made once for each.
fn benchmark(cell: Cell, tier: Tier) -> &'static dyn Benchmark {
    made::once(&cell.id(), || made::benchmark(Program::new(cell, made::card(cell.card(tier)))))
}

/// The cells that tell the story: both layouts without locks, with one and with many, by one process and by four.
static LISTED: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
    let mut listed = Vec::new();
    for base in [BOOK, FAST] {
        for (processes, lockings) in [(1, &Locking::ADVISORY[..]), (4, &[Locking::Coarse, Locking::Fine][..])]
        {
            listed.extend(
                lockings.iter().map(|&locking| benchmark(Cell { processes, locking, ..base }, Tier::Family)),
            );
        }
    }
    // What of the book's price is its layout, and what its way to the bytes and to lock.
    let modern = Cell { access: Access::Mapped, primitive: Primitive::RobustMutex, ..BOOK };
    let fine = Cell { locking: Locking::Fine, ..modern };
    listed.extend([modern, fine].map(|cell| benchmark(cell, Tier::Family)));
    listed
});

/// The cells that are measured when the family is named.
pub fn listed() -> Vec<&'static dyn Benchmark> {
    LISTED.clone()
}

/// The whole grid but for the cells that are listed.
pub fn grid() -> Vec<&'static dyn Benchmark> {
    static GRID: LazyLock<Vec<&'static dyn Benchmark>> = LazyLock::new(|| {
        let listed: BTreeSet<&str> = LISTED.iter().map(|it| it.card().id).collect();
        let mut grid = Vec::new();
        for (layout, accesses, records) in [
            (Layout::Book, &ACCESSES[..], &[500, 2000][..]),
            (Layout::Fast, &[(Access::Mapped, "mapped")][..], &[500, 2000, 20_000][..]),
        ] {
            for &(access, _) in accesses {
                for &records in records {
                    for processes in [1, 2, 4, 8, 16] {
                        let cell = Cell { layout, access, records, processes, ..BOOK };
                        grid.extend(
                            ways(cell).into_iter().filter(|cell| !listed.contains(cell.id().as_str())),
                        );
                    }
                }
            }
        }
        grid.into_iter().map(|cell| benchmark(cell, Tier::Thorough)).collect()
    });
    GRID.clone()
}

/// A cell with every advisory way to lock.
fn ways(cell: Cell) -> Vec<Cell> {
    let locked = PRIMITIVES.iter().flat_map(|&(primitive, _)| {
        [Locking::Coarse, Locking::Fine].map(|locking| Cell { locking, primitive, ..cell })
    });
    let none = Cell { locking: Locking::None, primitive: Primitive::Fcntl, ..cell };
    std::iter::once(none).chain(locked).filter(|cell| cell.misfit().is_none()).collect()
}

/// The cell of any id, listed or not.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let cell = Cell::of_id(id)?;
    let listed = LISTED.iter().copied().find(|it| it.card().id == id);
    listed.or_else(|| Some(benchmark(cell, Tier::Thorough)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_found_by_its_id() {
        for benchmark in listed().into_iter().chain(grid()) {
            let card = benchmark.card();
            assert_eq!(resolve(card.id).map(|found| found.card().id), Some(card.id));
        }
        assert!(grid().len() > 300, "{}", grid().len());
    }

    #[test]
    fn a_baseline_is_a_member_of_the_group() {
        let all: Vec<_> = listed().into_iter().chain(grid()).collect();
        for card in all.iter().map(|it| it.card()) {
            let Some(baseline) = card.baseline else { continue };
            assert_eq!(resolve(baseline).map(|found| found.card().group), Some(card.group), "{}", card.id);
        }
    }

    /// System time by stamps divided by system time by samples is no ratio.
    #[test]
    fn cells_that_are_divided_by_one_another_are_measured_alike() {
        let cell = |id: &str| Cell::of_id(id).expect(id);
        for card in listed().into_iter().chain(grid()).map(|it| it.card()) {
            let own = cell(card.id);
            let separate = card.remark.ends_with("from a separate run");
            assert_eq!(own.runs_twice(), separate, "{}: {}", card.id, card.remark);
            if let Some(baseline) = card.baseline {
                assert_eq!(own.runs_twice(), cell(baseline).runs_twice(), "{} to {baseline}", card.id);
            }
        }
        let cards: Vec<_> = listed().into_iter().map(|it| it.card()).collect();
        assert!(cards.iter().all(|card| cell(card.id).runs_twice()));
        let revised: Vec<&str> = cards.iter().filter(|card| card.revision > 1).map(|card| card.id).collect();
        assert_eq!(revised, ["record_database/book/seek/coarse_fcntl/processes_4/nrec_500"]);
    }

    /// A wait in a mutex was user time where several processes had stamps, and nowhere else.
    #[test]
    fn what_waits_in_a_mutex_between_stamps_has_a_new_revision() {
        let revision = |id: &str| Cell::of_id(id).expect(id).card(Tier::Family).revision;
        for (lock, processes, expected) in [
            ("coarse_mutex", 4, 3),
            ("fine_mutex", 4, 2),
            ("fine_mutex", 1, 1),
            ("coarse_fcntl", 4, 2),
            ("fine_fcntl", 4, 1),
        ] {
            let id = format!("record_database/book/seek/{lock}/processes_{processes}/nrec_500");
            assert_eq!(revision(&id), expected, "{id}");
        }
        assert_eq!(revision("record_database/book/seek/fine_mutex/processes_16/nrec_2000"), 1, "sampled");
        assert_eq!(revision("record_database/fast/mapped/fine_mutex/processes_4/nrec_500"), 1, "sampled");
        assert_eq!(revision("record_database/fast/positioned/fine_mutex/processes_4/nrec_500"), 2);
    }

    /// A cell without calls of I/O has no stamps: it says so.
    #[test]
    fn a_remark_says_how_user_time_is_found() {
        let says = |cell: Cell, words: &str| {
            let remark = cell.card(Tier::Family).remark;
            assert!(remark.starts_with(words), "{}: {remark}", cell.id());
        };
        says(BOOK, "user time is what lies between calls;");
        says(Cell { access: Access::Mapped, ..BOOK }, "where page faults are few, user time is what");
        says(FAST, "user time is sampled by the kernel's timer;");
        says(Cell { access: Access::Positioned, ..FAST }, "user time is what lies between calls;");
        let long = Cell { records: 2000, processes: 16, locking: Locking::Fine, ..BOOK };
        says(long, "user time is sampled by the kernel's timer;");
    }
}
