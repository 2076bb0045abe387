//! The document's cells as benchmarks: the family's program without a clock around its operations, once or in several launches.

use oscost_families::record_database::{Cell, Locking, Program, WINDOWS_MS};
use oscost_harness::{Benchmark, Card, Tier};
use oscost_recorddb::Layout;

use crate::found::grouped;

/// How often a cell is run: the document's way, once, or in several launches beside the other ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Single,
    Repeated,
}

const SINGLE: &str = "apue/literal/";
const REPEATED: &str = "apue/";
const FAMILY: &str = "record_database/";

/// An id or group of the family as one of the document.
fn own(of_family: &str, runs: Runs) -> String {
    let before = if runs == Runs::Single { SINGLE } else { REPEATED };
    format!("{before}{}", of_family.strip_prefix(FAMILY).unwrap_or(of_family))
}

/// The id of a cell.
pub(super) fn id(cell: &Cell, runs: Runs) -> String {
    own(&cell.id(), runs)
}

/// The cell of an id.
fn of_id(id: &str) -> Option<(Cell, Runs)> {
    let (rest, runs) = match id.strip_prefix(SINGLE) {
        Some(rest) => (rest, Runs::Single),
        None => (id.strip_prefix(REPEATED)?, Runs::Repeated),
    };
    Some((Cell::of_id(&format!("{FAMILY}{rest}"))?, runs))
}

/// Whether an id is a cell that is repeated.
pub(super) fn is_repeated(id: &str) -> bool {
    of_id(id).is_some_and(|(_, runs)| runs == Runs::Repeated)
}

/// The cell of an id that runs it once.
pub(super) fn of_single(id: &str) -> Option<Cell> {
    of_id(id).filter(|(_, runs)| *runs == Runs::Single).map(|(cell, _)| cell)
}

/// The id of the several launches of a cell that `id` runs once.
pub(crate) fn repeated_id(literal: &str) -> Option<String> {
    let (cell, runs) = of_id(literal)?;
    (runs == Runs::Single).then(|| id(&cell, Runs::Repeated))
}

/// The benchmark of an id; `None` for any other.
pub(crate) fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let (cell, runs) = of_id(id)?;
    // A program makes a handful of these in its life, and a card lives as long as the program.
    let card = Box::leak(Box::new(card(&cell, runs)));
    Some(Box::leak(Box::new(match runs {
        Runs::Single => Program::literal(cell, card),
        Runs::Repeated if is_by_windows(&cell, runs) => Program::by_windows(cell, card),
        Runs::Repeated => Program::bare(cell, card),
    })))
}

/// Whether a cell is measured by windows of its run: where the run would be too long for several launches. Other children
/// cannot be put into the middle of theirs.
pub(super) fn is_by_windows(cell: &Cell, runs: Runs) -> bool {
    let book = cell.layout == Layout::Book && cell.processes == 1;
    runs == Runs::Repeated && book && cell.records >= WINDOWS_FROM
}

/// Records from which on a run is measured by windows.
const WINDOWS_FROM: u32 = 2000;

fn card(cell: &Cell, runs: Runs) -> Card {
    let of_family = cell.card(Tier::Hidden);
    let by_windows = is_by_windows(cell, runs);
    let leak = |text: &str| -> &'static str { Box::leak(own(text, runs).into_boxed_str()) };
    Card {
        id: leak(of_family.id),
        group: leak(of_family.group),
        baseline: of_family.baseline.filter(|_| runs == Runs::Repeated).map(leak),
        launches: Some(LAUNCHES),
        // Of whole runs the planned launches, and no more. Windows go on until their ratios are narrow, or the time is over.
        budget_ms: if by_windows { None } else { Some(1) },
        launch_ms: if by_windows { WINDOWS_MS } else { cell.about_ms() },
        // A launch was a whole run once, then its windows by one way at a time; and a wait in a mutex was user time.
        revision: match runs {
            Runs::Repeated if by_windows => 3,
            Runs::Repeated if cell.waits_in_mutex() => 2,
            _ => 1,
        },
        remark: match runs {
            Runs::Single => "user and system time are samples of the kernel's timer",
            Runs::Repeated if by_windows => {
                "put together from 16 parts of the run, each on a database that was prepared and checked"
            }
            Runs::Repeated => "",
        },
        ..of_family
    }
}

/// Launches of a cell that is repeated: the fewest that give an interval.
const LAUNCHES: u32 = 6;

/// The heading of a way to lock in the document's figure.
pub(super) const fn heading(locking: Locking) -> &'static str {
    match locking {
        Locking::None => "no locking",
        Locking::Coarse => "advisory locking, coarse-grained",
        Locking::Fine => "advisory locking, fine-grained",
        Locking::Mandatory => "mandatory locking, fine-grained",
    }
}

/// A cell in few words.
pub(super) fn name_of(cell: &Cell) -> String {
    let children = match cell.processes {
        1 => String::new(),
        children => format!(", {children} children"),
    };
    format!("{}, {}{children}", grouped(u64::from(cell.records)), cell.locking.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_and_its_ids_are_each_others() {
        let of_family = "record_database/book/seek/fine_fcntl/processes_1/nrec_2000";
        let cell = Cell::of_id(of_family).expect("a cell");
        for (runs, text) in [
            (Runs::Single, "apue/literal/book/seek/fine_fcntl/processes_1/nrec_2000"),
            (Runs::Repeated, "apue/book/seek/fine_fcntl/processes_1/nrec_2000"),
        ] {
            assert_eq!(id(&cell, runs), text);
            assert_eq!(of_id(text), Some((cell, runs)));
        }
        assert_eq!(of_id(of_family), None);
        assert_eq!(of_id("apue/book/seek/fine_fcntl/processes_1"), None);
    }

    #[test]
    fn ways_of_one_cell_share_a_group_and_are_divided_within_it() {
        let cell = Cell::of_id("record_database/book/seek/none/processes_1/nrec_2000").expect("a cell");
        let cards = Locking::ALL.map(|locking| card(&cell.with(locking), Runs::Repeated));
        assert!(cards.iter().all(|card| card.group == cards[0].group && card.id.starts_with("apue/book/")));
        let baselines = cards.each_ref().map(|card| card.baseline);
        assert_eq!(baselines, [None, Some(cards[0].id), Some(cards[0].id), Some(cards[2].id)]);
    }
}
