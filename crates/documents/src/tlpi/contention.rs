//! The other half of TLPI's sentence: POSIX and System V semaphores where they are contended, judged where both block.

use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

use super::{POSIX, SYSTEM_V};
use crate::found::{Found, Judged, Quoted, Rows, Value, of_parts, times, within};

/// Hold times of the cells, us, and the ids of both semaphores there, with four processes that never pause.
macro_rules! cells {
    ($($hold:literal),*) => {
        /// Ids of all cells: POSIX, then System V, by hold time.
        pub(super) const CELLS: &[(u32, &str, &str)] = &[$((
            $hold,
            concat!("semaphore/posix_named/contended/processes_4/hold_us_", $hold, "/think_0"),
            concat!("semaphore/system_v/contended/processes_4/hold_us_", $hold, "/think_0"),
        )),*];
    };
}
cells!(0, 1, 3, 10, 30, 100, 300);

/// Share of operations that must block on either side before a cell is what TLPI speaks of.
const BLOCKED: f64 = 0.2;
/// Times whose ratio lies between this and its inverse are similar; one beyond it is considerably better.
pub(super) const SIMILAR: f64 = 1.5;
const PLACE: &str = "TLPI 53.5";

/// A cell in which both were measured.
struct Cell {
    hold_us: u32,
    ratio: Estimate,
    blocked: [f64; 2],
}

fn cell(found: &Found<'_>, &(hold_us, posix, system_v): &(u32, &str, &str)) -> Option<Cell> {
    let blocked = |id| Some(found.quantity(id, quantity::BLOCKED_SHARE)?.value);
    let ratio = found.ratio_of(system_v, posix, quantity::TIME_PER_OPERATION)?;
    Some(Cell { hold_us, ratio, blocked: [blocked(posix)?, blocked(system_v)?] })
}

/// What was found of each cell, beside a document that has none.
pub(super) fn values(found: &Found<'_>, rows: &mut Rows) {
    let plot = format!("Contended by 4 processes{}: a turn by hold time", found.on_cpus());
    let table = format!("{plot} (not in the document)");
    for cell @ &(hold_us, posix, system_v) in CELLS {
        let row = format!("{hold_us} us");
        for (name, id) in [("POSIX", posix), ("System V", system_v)] {
            let time = found.measured(id, quantity::TIME_PER_OPERATION);
            rows.value(Value {
                answer: Some((id.to_owned(), quantity::TIME_PER_OPERATION, time)),
                because: if time.is_some() { String::new() } else { "not measured here".to_owned() },
                ..Value::in_table(&table, &row, name, "ns")
            });
        }
        rows.computed(
            Value::in_table(&table, &row, "System V / POSIX", "ratio")
                .on_axis(hold_us.into(), "us held")
                .called(&plot),
            self::cell(found, cell).map(|cell| cell.ratio),
        );
        for (name, id) in [("POSIX blocked", posix), ("System V blocked", system_v)] {
            let share = found.measured(id, quantity::BLOCKED_SHARE);
            rows.value(Value {
                words: [None, None, share.map(|it| format!("{:.0} %", it.estimate().value * 100.0))],
                answer: Some((id.to_owned(), quantity::BLOCKED_SHARE, share)),
                ..Value::in_table(&table, &row, name, "share")
            });
        }
    }
}

/// The statement: judged by the cells in which both block often, with the others beside.
pub(super) fn statement(found: &Found<'_>, rows: &mut Rows) {
    let cells: Vec<Cell> = CELLS.iter().filter_map(|ids| cell(found, ids)).collect();
    rows.statement(
        PLACE,
        Quoted("the performance of POSIX semaphores and System V semaphores is similar"),
        judged(&cells),
    );
    let longest = CELLS.last().map_or(SYSTEM_V, |cell| cell.2);
    rows.by(longest, quantity::TIME_PER_OPERATION, found.quantity(longest, quantity::TIME_PER_OPERATION));
}

fn judged(cells: &[Cell]) -> Judged {
    if cells.is_empty() {
        let words = "no contended cell was measured: that takes two CPUs, and a run that nobody ends early";
        return (Judgement::NotTestableHere, words.to_owned());
    }
    let (often, seldom): (Vec<&Cell>, Vec<&Cell>) =
        cells.iter().partition(|cell| cell.blocked.iter().all(|share| *share >= BLOCKED));
    let told = |cells: &[&Cell]| -> String {
        let each = |cell: &&Cell| format!("{} us {}", cell.hold_us, times(&cell.ratio));
        cells.iter().map(each).collect::<Vec<_>>().join(", ")
    };
    let beside = if seldom.is_empty() {
        String::new()
    } else {
        format!("; much competition but little blocking, not judged: {}", told(&seldom))
    };
    if often.is_empty() {
        let words =
            format!("in no cell do both block in {:.0} % of their operations{beside}", BLOCKED * 100.0);
        return (Judgement::NotTestableHere, words);
    }
    let similar = |cell: &&&Cell| cell.ratio.high <= SIMILAR && cell.ratio.low >= 1.0 / SIMILAR;
    let parts: Vec<Judgement> =
        often.iter().map(|cell| within(&cell.ratio, 1.0 / SIMILAR, SIMILAR)).collect();
    let judgement = of_parts(&parts);
    let from = often.iter().rev().take_while(|cell| similar(cell)).last().map_or(String::new(), |cell| {
        format!("; similar (within {SIMILAR}x) from a hold of {} us on", cell.hold_us)
    });
    let words = format!(
        "where both block in {:.0} % and more, by hold time: {}{from}; a turn holds the hold time, so any two locks come close as \
         it grows; System V hands the token to who waits and pays a switch for it, POSIX lets the running process take it \
         first{beside}",
        BLOCKED * 100.0,
        told(&often)
    );
    (judgement, words)
}

/// What the statements rest on: four of them on the two semaphores, and one on a cell of short turns and on two of long ones.
pub(super) const FIRST: [&str; 9] =
    [POSIX, SYSTEM_V, super::ENTRY, CELLS[5].1, CELLS[5].2, CELLS[1].1, CELLS[1].2, CELLS[6].1, CELLS[6].2];

/// Every id that is needed.
pub(super) const FIGURES: [&str; 4 + 2 * CELLS.len()] = {
    let mut ids = [POSIX; 4 + 2 * CELLS.len()];
    ids[1] = SYSTEM_V;
    ids[2] = super::ONE_CALL;
    ids[3] = super::ENTRY;
    let mut index = 0;
    while index < CELLS.len() {
        ids[4 + 2 * index] = CELLS[index].1;
        ids[5 + 2 * index] = CELLS[index].2;
        index += 1;
    }
    ids
};

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(hold_us: u32, ratio: f64, blocked: [f64; 2]) -> Cell {
        let ratio = Estimate { value: ratio, low: ratio * 0.98, high: ratio * 1.02, extremes: false };
        Cell { hold_us, ratio, blocked }
    }

    #[test]
    fn only_cells_in_which_both_block_decide() {
        let seldom = cell(0, 27.0, [0.05, 1.0]);
        assert_eq!(judged(&[]).0, Judgement::NotTestableHere);
        assert_eq!(judged(std::slice::from_ref(&seldom)).0, Judgement::NotTestableHere);
        let (judgement, words) = judged(&[seldom, cell(30, 1.1, [0.9, 1.0]), cell(100, 1.05, [0.9, 1.0])]);
        assert_eq!(judgement, Judgement::Holds);
        assert!(words.contains("similar (within 1.5x) from a hold of 30 us on"), "{words}");
        assert!(words.contains("not judged: 0 us 27"), "{words}");
    }

    #[test]
    fn a_sentence_that_holds_from_some_hold_time_on_holds_in_part() {
        let (judgement, words) = judged(&[cell(1, 2.6, [0.9, 1.0]), cell(100, 1.1, [1.0, 1.0])]);
        assert_eq!(judgement, Judgement::HoldsInPart);
        assert!(words.contains("from a hold of 100 us on"), "{words}");
        assert_eq!(judged(&[cell(1, 2.6, [0.9, 1.0])]).0, Judgement::DoesNotHold);
        assert_eq!(judged(&[cell(1, 1.5, [0.9, 1.0])]).0, Judgement::Unclear, "the interval holds the bound");
        assert_eq!(
            judged(&[cell(1, 0.5, [0.9, 1.0])]).0,
            Judgement::DoesNotHold,
            "System V may be the cheaper one"
        );
    }

    #[test]
    fn both_block_often_from_a_fifth_of_their_operations_on() {
        for (blocked, decides) in [
            ([0.2, 0.2], true),
            ([0.25, 0.9], true),
            ([0.9, 0.25], true),
            ([0.19, 0.9], false),
            ([0.9, 0.19], false),
        ] {
            let (judgement, words) = judged(&[cell(10, 1.1, blocked)]);
            let expected = if decides { Judgement::Holds } else { Judgement::NotTestableHere };
            assert_eq!(judgement, expected, "{blocked:?}: {words}");
            assert_eq!(words.contains("much competition but little blocking"), !decides, "{words}");
        }
    }

    #[test]
    fn times_are_similar_within_one_and_a_half() {
        let of = |hold_us, low, high| Cell {
            hold_us,
            ratio: Estimate { value: 1.0, low, high, extremes: false },
            blocked: [1.0, 1.0],
        };
        for (low, high, expected) in [
            (1.0 / 1.5, 1.5, Judgement::Holds),
            (0.7, 1.4, Judgement::Holds),
            (1.4, 1.6, Judgement::Unclear),
            (1.6, 1.7, Judgement::DoesNotHold),
            (0.5, 0.6, Judgement::DoesNotHold),
        ] {
            let (judgement, words) = judged(&[of(1, 2.0, 2.1), of(3, low, high)]);
            let similar = expected == Judgement::Holds;
            assert_eq!(words.contains("from a hold of 3 us on"), similar, "{words}");
            assert_eq!(judged(&[of(3, low, high)]).0, expected, "{low} to {high}");
            let together = if similar { Judgement::HoldsInPart } else { expected };
            assert_eq!(judgement, together, "{low} to {high}, beside one that does not hold");
        }
        // The first of those that are similar without a break up to the longest.
        let broken = [of(1, 1.0, 1.1), of(3, 2.0, 2.1), of(10, 1.0, 1.1), of(30, 1.0, 1.1)];
        assert!(judged(&broken).1.contains("from a hold of 10 us on"), "{}", judged(&broken).1);
        assert!(!judged(&broken[..2]).1.contains("from a hold"), "the longest is not similar");
    }
}
