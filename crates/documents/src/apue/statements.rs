//! Document 001's statements and what this machine says of them.

mod ours;

use oscost_families::record_database::{Cell, Locking};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

use super::cell::name_of;
use super::measured::{self, quantity, ratio, together, value};
use super::plan::ApuePlan;
use super::published::FIGURE_20_7;
use crate::found::{
    Found, Judged, Quoted, Rows, WAITS_COUNTED, beside, grouped, holds_if, judged, of_parts, within,
};
use crate::measured::Measured;

const PLACE: &str = "section 20.9, Single-Process Results";
/// Times whose ratio lies between this and its inverse are about equal.
const ALMOST: f64 = 1.1;
/// The same of what is "about the same".
const ABOUT: f64 = 1.25;
/// An operation that waits for a disk gives up its CPU; this seldom, and none did.
const WAITS: f64 = 0.01;

/// All of them, in the order of the document: what was counted by `all` cells, the rest by those of `found`, with their intervals.
pub(super) fn statements(all: &Found<'_>, found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    let counted = one_child(all, plan);
    let cells = one_child(found, plan);
    let share = cells.iter().find_map(|cell| measured::repeated(found, cell, quantity::CPU_SHARE));
    rows.statement(
        PLACE,
        Quoted(
            "In all cases, the user CPU time plus the system CPU time approximately equals the clock time",
        ),
        judged(cpu_is_clock(found, &cells)),
    );
    if let Some((id, quantity, share)) = share {
        rows.by(&id, quantity, share.map(Measured::estimate));
    }
    rows.statement(
        PLACE,
        Quoted("This set of tests was CPU limited and not disk limited"),
        judged(cpu_limited(all, &counted)),
    );
    by_waits(all, &counted, rows);
    rows.statement(
        PLACE,
        Quoted("The six columns under ... are almost equal for each row"),
        judged(advisory(found, plan)),
    );
    rows.statement(
        PLACE,
        Quoted("adding the locking calls increases the system CPU time"),
        judged(added_system_time(found, plan)),
    );
    let system = over_none(found, plan, "system");
    rows.statement(
        PLACE,
        Quoted("by 32% to 73%"),
        beside("+32 to +73 %", (!system.is_empty()).then(|| each(&repeated(&system)))),
    );
    rows.statement(
        PLACE,
        Quoted("Even though the locks arenever used"),
        judged(never_waited_for(all, &counted)),
    );
    by_waits(all, &with_locks(&counted), rows);
    rows.statement(
        PLACE,
        Quoted("the user CPU time is about the same for all four versions of locking"),
        judged(user_time(found, plan)),
    );
    rows.statement(
        PLACE,
        Quoted("mandatory locking increases the system CPU time"),
        mandatory((all, found), plan, mandatory_adds),
    );
    rows.statement(
        PLACE,
        Quoted("by 13% to 19% compared to advisory locking"),
        again((all, found), plan, |found, pairs| {
            Some(beside("+13 to +19 %", Some(mandatory_adds(found, pairs)?.1)))
        }),
    );
    rows.statement(
        PLACE,
        Quoted(
            "Since the number of locking calls is the same for advisory fine-grained locking and mandatory fine-grained locking, the additional \
             system call overhead must be from the reads and writes",
        ),
        again((all, found), plan, reads_and_writes),
    );
    ours::ours(found, plan, rows);
}

/// Cells of one child that were measured.
fn one_child(found: &Found<'_>, plan: &ApuePlan) -> Vec<Cell> {
    let cells = plan.each_cell().into_iter();
    cells.filter(|cell| cell.processes == 1 && measured::figure(found, cell).is_some()).collect()
}

/// Records of one child that were run.
fn sizes(plan: &ApuePlan) -> Vec<u32> {
    let run = |nrec: &u32| plan.cells().iter().any(|(cell, _)| cell.processes == 1 && cell.records == *nrec);
    plan.rows_of_one_child().into_iter().filter(run).collect()
}

fn percent(ratio: f64) -> String {
    format!("{} %", signed(ratio))
}

/// What a ratio adds, in whole per cent: "+8", and "+0" for less than nothing by under half of one.
fn signed(ratio: f64) -> String {
    let text = format!("{:+.0}", (ratio - 1.0) * 100.0);
    if text == "-0" { "+0".to_owned() } else { text }
}

/// "+8 % (+6 .. +11 %)", or "+8 % in a single run".
fn added(ratio: &Estimate) -> String {
    if ratio.extremes && ratio.low == ratio.high {
        return format!("{} in a single run", percent(ratio.value));
    }
    format!("{} ({} .. {})", percent(ratio.value), signed(ratio.low), percent(ratio.high))
}

/// A single run: its bounds are its value, so it has no interval.
fn single(estimate: &Estimate) -> bool {
    estimate.extremes && estimate.low == estimate.high
}

/// What all cells say together; one that ran once decides nothing, and where all did nothing is decided. `None` without a
/// cell.
fn every(judgements: impl IntoIterator<Item = (Estimate, Judgement)>) -> Option<Judgement> {
    let judgements: Vec<(Estimate, Judgement)> = judgements.into_iter().collect();
    let repeated = || judgements.iter().filter(|(estimate, _)| !single(estimate));
    let decide: Vec<Judgement> = repeated().map(|(_, judgement)| *judgement).collect();
    match (judgements.is_empty(), decide.is_empty()) {
        (true, _) => None,
        (_, true) => Some(Judgement::NotJudged),
        _ => Some(of_parts(&decide)),
    }
}

/// "1 cell", "2 cells".
fn of_cells(count: usize) -> String {
    format!("{count} {}", if count == 1 { "cell" } else { "cells" })
}

fn cpu_is_clock(found: &Found<'_>, cells: &[Cell]) -> Option<Judged> {
    let shares: Vec<Estimate> =
        cells.iter().filter_map(|cell| Some(quantity(found, cell, quantity::CPU_SHARE)?.1)).collect();
    let judgement = every(shares.iter().map(|share| (*share, within(share, 0.9, 1.1))))?;
    // Whose interval decides is told by its ends.
    let least = shares.iter().map(|share| share.low).fold(f64::MAX, f64::min);
    let most = shares.iter().map(|share| share.high).fold(0.0, f64::max);
    let words = format!(
        "CPU is {:.1} to {:.1} % of the clock in {}, by their intervals; 90 to 110 count as holding; one process that waits for nothing has no choice",
        least * 100.0,
        most * 100.0,
        of_cells(shares.len())
    );
    // Who never waits and yet is not on a CPU was kept from it.
    if !matches!(judgement, Judgement::Holds | Judgement::NotJudged) && waits(found, cells) < WAITS {
        let words = format!("{words}; the program did not wait: other processes had its CPU");
        return Some((Judgement::NotTestableHere, words));
    }
    Some((judgement, words))
}

/// Waits an operation of those cells in which they were counted.
fn counted_waits<'f>(found: &'f Found<'_>, cells: &[Cell]) -> Vec<(&'f str, f64)> {
    let figures = cells.iter().filter_map(|cell| measured::figure(found, cell));
    figures.filter_map(|figure| Some((&*figure.id, figure.evidence.voluntary_switches?))).collect()
}

/// The most of them.
fn waits(found: &Found<'_>, cells: &[Cell]) -> f64 {
    counted_waits(found, cells).into_iter().map(|(_, waits)| waits).fold(0.0, f64::max)
}

/// Names the most waits as what decides the statement added last.
fn by_waits(found: &Found<'_>, cells: &[Cell], rows: &mut Rows) {
    if let Some((id, waits)) = counted_waits(found, cells).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        rows.by(id, WAITS_COUNTED, Some(Measured::counted(waits).estimate()));
    }
}

fn with_locks(cells: &[Cell]) -> Vec<Cell> {
    cells.iter().copied().filter(|cell| cell.locking != Locking::None).collect()
}

fn cpu_limited(found: &Found<'_>, cells: &[Cell]) -> Option<Judged> {
    let counted = counted_waits(found, cells).len();
    let waits = waits(found, cells);
    let words = format!("{waits:.4} waits an operation at most; fewer than {WAITS} count as none");
    (counted > 0).then(|| match found.file_system {
        None | Some("tmpfs" | "ramfs") => (
            Judgement::NotTestableHere,
            format!("the files are in memory, where no disk can limit (--set directory=DIR puts them on a disk); {words}"),
        ),
        Some(kind) => (holds_if(waits < WAITS), format!("{words}; the files are on {kind}")),
    })
}

/// Locks that one child takes and nobody else wants: it never sleeps for one.
fn never_waited_for(found: &Found<'_>, cells: &[Cell]) -> Option<Judged> {
    let locked = with_locks(cells);
    let counted = counted_waits(found, &locked).len();
    let waits = waits(found, &locked);
    let words = format!(
        "{waits:.4} waits an operation at most, of whatever kind, in {} with locks",
        of_cells(counted)
    );
    (counted > 0).then(|| match found.file_system {
        _ if waits < WAITS => (Judgement::Holds, words),
        None | Some("tmpfs" | "ramfs") => (Judgement::DoesNotHold, words),
        Some(kind) => (
            Judgement::NotTestableHere,
            format!("{words}; the files are on {kind}, whose disk is waited for, too"),
        ),
    })
}

fn advisory(found: &Found<'_>, plan: &ApuePlan) -> Option<Judged> {
    let mut told = Vec::new();
    let mut judgements = Vec::new();
    for nrec in sizes(plan) {
        let [coarse, fine] = [Locking::Coarse, Locking::Fine].map(|way| plan.cell(way, 1, nrec));
        let Some(cpu) = ratio(found, &fine, &coarse, "cpu") else { continue };
        // Nobody waits for a lock of one process: what the clock shows beyond the CPU time is other programs'.
        let is_documents = FIGURE_20_7.iter().any(|row| row.nrec == nrec);
        judgements.push((is_documents, cpu, within(&cpu, 1.0 / ALMOST, ALMOST)));
        let clock = ratio(found, &fine, &coarse, "clock").map_or(String::new(), |clock| added(&clock));
        told.push(format!("{}: CPU {}, clock {clock}", grouped(u64::from(nrec)), added(&cpu)));
    }
    // "Each row" is a row of its table, unless this run has none of them.
    let any = judgements.iter().any(|(is_documents, cpu, _)| *is_documents && !single(cpu));
    let counted = judgements.into_iter().filter(|(is_documents, ..)| *is_documents || !any);
    Some((
        every(counted.map(|(_, cpu, judgement)| (cpu, judgement)))?,
        format!(
            "fine over coarse at {}; the document's numbers of records decide, where they ran often enough; within 10 % of CPU counts as almost equal (its own user times at 2 000 are 0.17 and \
             0.13 s)",
            told.join("; ")
        ),
    ))
}

/// Ratios of one time, coarse and fine over none, of every number of records.
fn over_none(found: &Found<'_>, plan: &ApuePlan, name: &'static str) -> Vec<(Cell, Estimate)> {
    let mut ratios = Vec::new();
    for nrec in sizes(plan) {
        let none = plan.cell(Locking::None, 1, nrec);
        for locking in [Locking::Coarse, Locking::Fine] {
            let cell = plan.cell(locking, 1, nrec);
            ratios.extend(ratio(found, &cell, &none, name).map(|ratio| (cell, ratio)));
        }
    }
    ratios
}

fn each(ratios: &[(Cell, Estimate)]) -> String {
    ratios
        .iter()
        .map(|(cell, ratio)| format!("{} {}", name_of(cell), added(ratio)))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Those of repeated runs; where there are none, all.
fn repeated(ratios: &[(Cell, Estimate)]) -> Vec<(Cell, Estimate)> {
    let repeated: Vec<_> = ratios.iter().copied().filter(|(_, ratio)| !single(ratio)).collect();
    if repeated.is_empty() { ratios.to_vec() } else { repeated }
}

fn added_system_time(found: &Found<'_>, plan: &ApuePlan) -> Option<Judged> {
    let ratios = over_none(found, plan, "system");
    Some((
        every(ratios.iter().map(|(_, ratio)| (*ratio, within(ratio, 1.0, f64::MAX))))?,
        format!(
            "{}; ours: reads and writes of an operation grow with nrec and its calls of locking do not, so the share falls",
            each(&ratios)
        ),
    ))
}

fn user_time(found: &Found<'_>, plan: &ApuePlan) -> Option<Judged> {
    let ratios = over_none(found, plan, "user");
    let [first, ..] = FIGURE_20_7 else { return None };
    let published = first.times[1][0] / first.times[0][0];
    let own = format!("its own table contradicts it: 0.10 and 0.17 s at 2 000, {}", percent(published));
    let judgement = every(ratios.iter().map(|(_, ratio)| (*ratio, within(ratio, 1.0 / ABOUT, ABOUT))))?;
    Some((judgement, format!("{}; within 25 % counts as about the same; {own}", each(&ratios))))
}

/// What is judged of fine mandatory against fine advisory locking.
type OfMandatory = fn(&Found<'_>, &[(Cell, Cell)]) -> Option<Judged>;

/// The cells of both that were measured.
fn mandatory_and_fine(found: &Found<'_>, plan: &ApuePlan) -> Vec<(Cell, Cell)> {
    let ran = |cell: &Cell| measured::figure(found, cell).is_some();
    let pairs = sizes(plan)
        .into_iter()
        .map(|nrec| [Locking::Mandatory, Locking::Fine].map(|way| plan.cell(way, 1, nrec)));
    pairs.filter(|cells| cells.iter().all(ran)).map(|[mandatory, fine]| (mandatory, fine)).collect()
}

/// By the cells of the second, where the first has any.
fn mandatory((all, found): (&Found<'_>, &Found<'_>), plan: &ApuePlan, judge: OfMandatory) -> Judged {
    if mandatory_and_fine(all, plan).is_empty() {
        let asked = plan.cells().into_iter().map(|(cell, _)| cell);
        let why = asked
            .filter(|cell| cell.locking == Locking::Mandatory)
            .find_map(|cell| measured::unsupported(all, &cell));
        let why = why.unwrap_or_else(|| {
            "no mandatory locks in this run; Linux has none since 5.15, and contrib/laboratory/run mandatory measures them on 5.10".to_owned()
        });
        return (Judgement::NotTestableHere, why);
    }
    judged(judge(found, &mandatory_and_fine(found, plan)))
}

/// The same where the statement before has said why there are none.
fn again(of: (&Found<'_>, &Found<'_>), plan: &ApuePlan, judge: OfMandatory) -> Judged {
    match mandatory_and_fine(of.0, plan).is_empty() {
        true => (Judgement::NotTestableHere, "there are no mandatory locks here, as said before".to_owned()),
        false => mandatory(of, plan, judge),
    }
}

fn mandatory_adds(found: &Found<'_>, pairs: &[(Cell, Cell)]) -> Option<Judged> {
    let mut told = Vec::new();
    let mut judgements = Vec::new();
    for (mandatory, fine) in pairs {
        let cpu = ratio(found, mandatory, fine, "cpu")?;
        let system = ratio(found, mandatory, fine, "system")?;
        judgements.push((system, within(&system, 1.0, f64::MAX)));
        told.push(format!(
            "{}: sys {}, CPU {}",
            grouped(u64::from(fine.records)),
            added(&system),
            added(&cpu)
        ));
    }
    Some((every(judgements)?, told.join("; ")))
}

fn reads_and_writes(found: &Found<'_>, pairs: &[(Cell, Cell)]) -> Option<Judged> {
    let mut told = Vec::new();
    let mut judgements = Vec::new();
    for (mandatory, fine) in pairs {
        let more = together(found, (mandatory, fine), (quantity::LOCK_CALLS, |of, to| of - to))?;
        let added = together(found, (mandatory, fine), ("cpu", |of, to| of - to))?;
        let calls = value(found, fine, quantity::IO_CALLS)?;
        let judgement = match () {
            () if more.low != 0.0 || more.high != 0.0 => Judgement::DoesNotHold,
            () if added.low > 0.0 => Judgement::Holds,
            () if added.high < 0.0 => Judgement::DoesNotHold,
            () => Judgement::Unclear,
        };
        judgements.push((added, judgement));
        told.push(format!(
            "{}: {:.0} more calls of locking, {:.0} ns more a call of I/O",
            grouped(u64::from(fine.records)),
            more.value,
            added.value / calls
        ));
    }
    Some((every(judgements)?, told.join("; ")))
}

#[cfg(test)]
mod tests;
