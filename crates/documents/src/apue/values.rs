//! Document 001's tables beside this machine's, and what the program counted here.

use oscost_families::record_database::{ACCESSES, Cell, LAYOUTS, Locking, PRIMITIVES, WORKLOADS, word};
use oscost_harness::Level;
use oscost_recorddb::workload::{OperationKind, Workload};
use oscost_recorddb::{Access, Layout};
use oscost_results::{CellSeries, quantity};

use super::cell::{Runs, heading, id, name_of};
use super::laboratory;
use super::measured::{self, Fits, repeated, side_by_side, single, value};
use super::model::Model;
use super::plan::ApuePlan;
use super::published::{
    COUNTED, DAMAGED, FIGURE_20_7, FIGURE_20_8, NREC_20_8, OneChild, PROVENANCE, Times, added_by_the_book,
};
use crate::found::{Found, Rows, Value, grouped};
use crate::measured::Measured;

/// Columns of the document's tables, and the quantities that answer.
const TIMES: [(&str, &str); 3] = [("user", "user"), ("sys", "system"), ("clock", "clock")];
/// The time that is drawn.
const CLOCK: &str = "clock";
const CHILDREN: &str = "children";
const MODEL: &str = "The cost model, fitted to this run (ours): CPU = records visited, calls of locking, operations at a price each";

/// All of them, in the order of the document.
pub(super) fn values(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    conditions(found, plan, rows);
    figure_20_7(found, plan, rows);
    over_no_locking(found, plan, rows);
    laboratory::tell(&plan.laboratory, rows);
    figure_20_6(found, plan, rows);
    per_operation(found, plan, rows);
    growth(found, plan, rows);
    lock_calls(found, plan, rows);
    model(found, plan, rows);
    figure_20_8(found, plan, rows);
    children(found, plan, rows);
}

fn conditions(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    let files = found.file_system.map_or("in memory".to_owned(), |kind| format!("on {kind}"));
    let (layout, access) = (word(&LAYOUTS, plan.layout), word(&ACCESSES, plan.access));
    let (primitive, workload) = (word(&PRIMITIVES, plan.primitive), word(&WORKLOADS, plan.workload));
    let own = plan.layout == Layout::Book && plan.access == Access::SeekRead;
    let other = if own { "" } else { ": not the document's program, to which the published figures belong" };
    rows.note(
        "measured here",
        format!(
            "layout {layout}, io {access}, locks of {primitive}, workload {workload}, files {files}{other}"
        ),
    );
    rows.note(
        "literal",
        "single runs of the book's program, as the document made them: no interval, no pairs; measured: several launches of \
         all ways to lock side by side, in random order, with the same operations",
    );
    rows.deviations(&[
        ("program", "written from the book's description, for its source is not in the document"),
        ("files", "they lie in memory unless --set directory=DIR names a folder on a disk"),
        ("start", "all children begin together, and their launches alternate between the ways to lock"),
    ]);
    // Layout fast has no rule for its locks, and no windows.
    if plan.layout == Layout::Book {
        rows.deviations(&[
            ("lengths", "every launch is checked: counters, calls of locking, and the database at the end"),
            (
                "measured from 2 000 records on",
                "16 parts of the run in each launch, which the ways to lock run in turn, each on a database that was prepared \
                 in memory and checked afterwards; put together by the records that they read",
            ),
        ]);
    }
    rows.note(
        "user and sys",
        "their sum is exact: the run time that the scheduler counts. Literal, the kernel's timer samples how it divides, as in the \
         document: a sample that is due while a call returns counts as user",
    );
    if plan.access != Access::Mapped {
        rows.note("user, measured", "the time between calls, by stamps in one operation of 16");
    }
}

/// Why a cell has no number, where it has none.
fn because(found: &Found<'_>, plan: &ApuePlan, cell: &Cell) -> String {
    if measured::figure(found, cell).is_some() {
        return String::new();
    }
    match measured::unsupported(found, cell) {
        Some(why) => why,
        None if plan.cells().iter().any(|(known, _)| known == cell) => String::new(),
        None if !plan.is_default() => "not asked for".to_owned(),
        None if plan.effort == Level::Quick => "not measured with --quick".to_owned(),
        None => "not measured: --thorough".to_owned(),
    }
}

/// A value that is drawn with those of the other ways to lock.
fn in_series<'a>(value: Value<'a>, locking: Locking, title: &str) -> Value<'a> {
    let series = CellSeries { key: locking.name().to_owned(), title: title.to_owned() };
    value.with_cell(|cell| cell.series = Some(series))
}

/// User, system and clock time of one cell in three columns.
fn times(
    found: &Found<'_>,
    plan: &ApuePlan,
    (table, row, under): (&str, &str, Option<&'static str>),
    cell: &Cell,
    axis: (u64, &'static str),
    published: [Option<f64>; 3],
    rows: &mut Rows,
) {
    let mut because = because(found, plan, cell);
    for ((column, name), published) in TIMES.into_iter().zip(published) {
        let name_of_column = under.map_or_else(|| column.to_owned(), |under| format!("{under}: {column}"));
        let place = Value::in_table(table, row, &name_of_column, "s").on_axis(axis.0, axis.1);
        let place = place.with_cell(|it| it.heading = under.map(|under| [under, column].map(str::to_owned)));
        let title =
            under.map_or_else(|| format!("nrec {NREC_20_8}, {}", heading(cell.locking)), str::to_owned);
        let place = if name == CLOCK { in_series(place, cell.locking, &title) } else { place };
        rows.value(Value {
            published,
            literal: found.literal(&id(cell, Runs::Single), name).map(|ns| ns / 1e9),
            answer: repeated(found, cell, name),
            because: std::mem::take(&mut because),
            ..place
        });
    }
}

fn figure_20_7(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    for nrec in plan.rows_of_one_child() {
        let published = FIGURE_20_7.iter().find(|row| row.nrec == nrec);
        for (number, locking) in Locking::ALL.into_iter().enumerate() {
            let place = ("Figure 20.7, by nrec", &*row_of(nrec), Some(heading(locking)));
            let times_there = all(published.map(|row| row.times[number]));
            let axis = (u64::from(nrec), "nrec");
            times(found, plan, place, &plan.cell(locking, 1, nrec), axis, times_there, rows);
        }
    }
}

/// A row of the figure, or one of ours.
fn row_of(nrec: u32) -> String {
    let ours = if FIGURE_20_7.iter().any(|row| row.nrec == nrec) { "" } else { " (ours)" };
    format!("{}{ours}", grouped(u64::from(nrec)))
}

/// One time over another.
const OVER: fn(f64, f64) -> f64 = |of, to| of / to;

/// What locking makes of the clock time, launch by launch; literal, of the two single runs.
fn over_no_locking(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    const TABLE: &str = "Figure 20.7, clock time with locks / without, by nrec (quotients: ours)";
    const WAYS: [(Locking, usize); 2] = [(Locking::Coarse, 1), (Locking::Fine, 2)];
    for nrec in plan.rows_of_one_child() {
        let row = row_of(nrec);
        let there = FIGURE_20_7.iter().find(|row| row.nrec == nrec);
        for (locking, way) in WAYS {
            let published = there.map(|row| over_none(row, way));
            let [with, none] = [locking, Locking::None].map(|way| plan.cell(way, 1, nrec));
            let one = |cell| found.literal(&id(cell, Runs::Single), "clock");
            let literal = one(&with).zip(one(&none)).map(|(with, none)| with / none);
            let place = Value { published, literal, ..Value::in_table(TABLE, &row, locking.name(), "ratio") };
            rows.computed(
                place,
                side_by_side(found, (&with, &none), ("clock", OVER)).map(Measured::estimate),
            );
        }
    }
}

/// Its clock time by a way to lock over that without locks: two digits behind the point, as its times have.
pub(super) fn over_none(row: &OneChild, way: usize) -> f64 {
    (row.times[way][2] / row.times[0][2] * 100.0).round() / 100.0
}

fn all(times: Option<Times>) -> [Option<f64>; 3] {
    times.map_or([None; 3], |times| times.map(Some))
}

/// Calls of fcntl by kind, which every launch of layout `book` is held to, and how often each kind occurred.
fn figure_20_6(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    let table = format!("Figure 20.6, kinds of operations ({PROVENANCE})");
    let cell = [Locking::Fine, Locking::Coarse, Locking::None]
        .map(|locking| plan.cell(locking, 1, NREC_20_8))
        .into_iter()
        .find(|cell| measured::figure(found, cell).is_some());
    for (kind, published) in OperationKind::ALL.into_iter().zip(COUNTED) {
        let row = kind.name().replace('_', " ");
        for (column, calls) in
            [("fcntl coarse", kind.coarse_lock_calls()), ("fcntl fine", kind.fine_lock_calls())]
        {
            rows.value(Value {
                published: Some(calls as f64),
                ..Value::in_table(&table, &row, column, "count")
            });
        }
        rows.value(Value {
            published: Some(published as f64),
            literal: cell.and_then(|cell| single(found, &cell, kind.name())),
            answer: cell.and_then(|cell| repeated(found, &cell, kind.name())),
            ..Value::in_table(&table, &row, "operations at nrec 2000", "count")
        });
    }
    let reading = match plan.workload {
        Workload::Figure => {
            "the book's program is not published: this reading of its words fits 6 of the 9 counters; it makes 16 % \
             fewer fetches, 26 % fewer replaces and 6 % fewer deletes of missing records"
        }
        Workload::Text => {
            "the book's words taken literally: 5 times the published fetches of missing records"
        }
    };
    rows.note("operations", reading);
    if plan.layout == Layout::Book {
        rows.note(
            "calls of fcntl",
            "every launch counts only if its calls of locking are exactly these, summed over its operations; the audit \
             holds each counter of the database against the calls that the kernel saw",
        );
    }
}

/// How I/O calls go with the system calls of the evidence.
const COUNTED_WHERE: &str = "I/O calls are those of the whole run, and grow with the records that an operation visits; the system calls of the \
     evidence, below, are counted in a run of 50 and one of 100 records";

/// Every cell that was run, with what an operation took.
fn per_operation(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    let table = format!("An operation here{} (ours)", found.on_cpus());
    const COLUMNS: [(&str, &str, &str); 5] = [
        ("CPU", quantity::CPU_PER_OPERATION, "ns"),
        ("lock calls", quantity::LOCK_CALLS_PER_OPERATION, "count"),
        ("I/O calls", quantity::IO_CALLS_PER_OPERATION, "count"),
        ("visited", quantity::VISITS_PER_OPERATION, "count"),
        ("switches", quantity::SWITCHES_PER_OPERATION, "count"),
    ];
    for cell in plan.each_cell().into_iter().filter(|cell| measured::figure(found, cell).is_some()) {
        for (column, name, unit) in COLUMNS {
            let locks = cell.locking != Locking::None || name != quantity::LOCK_CALLS_PER_OPERATION;
            let answer = repeated(found, &cell, name).filter(|_| locks);
            let literal = single(found, &cell, name).filter(|_| locks);
            // Rare events line up as shares; their intervals stand in the result.
            let short = |it: &(String, &str, Option<Measured>)| {
                Some(format!("{:.4}", it.2?.estimate().value))
                    .filter(|_| name == quantity::SWITCHES_PER_OPERATION)
            };
            let words = [None, None, answer.as_ref().and_then(short)];
            rows.value(Value {
                words,
                answer,
                literal,
                because: if name == quantity::IO_CALLS_PER_OPERATION {
                    COUNTED_WHERE.to_owned()
                } else {
                    String::new()
                },
                ..Value::in_table(&table, &name_of(&cell), column, unit)
            });
        }
    }
}

/// Added time a call of locking: the document's own numbers, and this machine's.
fn lock_calls(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    const TABLE: &str = "Time that locking adds, by call of fcntl (ours)";
    for nrec in plan.rows_of_one_child() {
        let none = plan.cell(Locking::None, 1, nrec);
        for locking in [Locking::Coarse, Locking::Fine] {
            let cell = plan.cell(locking, 1, nrec);
            let Some(calls) = value(found, &cell, quantity::LOCK_CALLS).filter(|calls| *calls > 0.0) else {
                continue;
            };
            let added = side_by_side(found, (&cell, &none), ("cpu", |of, to| of - to));
            let Some(added) = added else { continue };
            let place = Value::in_table(TABLE, &grouped(u64::from(nrec)), locking.name(), "ns");
            rows.computed(place, Some(added.map(|ns| ns / calls).estimate()));
        }
    }
    rows.note(
        "differences",
        "a call costs the CPU time of the launches that lock, less that of those right beside them that do not; of single runs \
         no such difference is made, for what disturbed one of them would be the price",
    );
    let book = added_by_the_book();
    let of = |way: usize| book.iter().map(|(_, us)| format!("{:.2}", us[way])).collect::<Vec<_>>().join(", ");
    rows.note(
        "in the document (ours)",
        format!(
            "{} us of added sys a call coarse, {} us fine, at nrec 2 000, 6 000, 12 000: the more records, the dearer a \
             call (from its table, and the counted operations of Figure 20.6)",
            of(0),
            of(1)
        ),
    );
    let pair = found.measured("record_lock/fcntl", quantity::FLOOR);
    rows.value(Value {
        answer: pair.map(|pair| ("record_lock/fcntl".to_owned(), "floor", Some(pair))),
        because: "a lock and an unlock, two calls, with nothing else on the file".to_owned(),
        ..Value::at("a pair of calls alone (ours)", "ns")
    });
}

/// How CPU time and records visited grow with nrec: the exponents of a power, 1 is in proportion.
fn growth(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    const TABLE: &str = "Growth with nrec (ours): the exponent; 1 is linear, 2 is quadratic";
    let cells = plan.each_cell().into_iter().filter(|cell| cell.processes == 1);
    let cells: Vec<Cell> = cells.filter(|cell| repeated(found, cell, "cpu").is_some()).collect();
    for locking in Locking::ALL {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.locking == locking).collect();
        let ([first, .., last], true) = (own.as_slice(), own.len() > 1) else { continue };
        let [from, to] = [first, last].map(|cell| grouped(u64::from(cell.records)));
        let row = format!("{}, {from} to {to}", locking.name());
        let power = (f64::from(last.records) / f64::from(first.records)).ln();
        for (column, name) in [("CPU", "cpu"), ("records visited", "visits"), ("operations", "operations")] {
            let [from, to] = [first, last].map(|cell| repeated(found, cell, name).and_then(|(.., it)| it));
            let ratio = to.zip(from).and_then(|(to, from)| to.quotient(from));
            let exponent = ratio.map(|ratio| ratio.map(|times| times.ln() / power));
            rows.computed(Value::in_table(TABLE, &row, column, ""), exponent.map(Measured::estimate));
        }
    }
}

/// The model of each launch of the cells that were repeated: their numbers have intervals as those of the cells have. How far off
/// it is stands there only where it could be.
fn model(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    let fits = Fits::of_repeated(found, plan);
    type Price = fn(&Model) -> f64;
    let prices: [(&str, Price); 3] = [
        ("a record visited (ours)", |model| model.visit_ns),
        ("a call of locking (ours)", |model| model.lock_call_ns),
        ("what else an operation takes (ours)", |model| model.operation_ns),
    ];
    for (place, price) in prices {
        let price = Measured::of_runs(&fits.prices(price));
        if price.is_some_and(|price| price.estimate().high > 0.0) {
            rows.computed(Value::at(place, "ns"), price.map(Measured::estimate));
        }
    }
    for (cell, points) in fits.cells.iter().filter(|_| fits.can_be_off()) {
        let row = name_of(cell);
        let answer = repeated(found, cell, "cpu");
        rows.value(Value { answer, ..Value::in_table(MODEL, &row, "CPU", "ns") });
        let by_model = Measured::of_runs(&fits.each(points, |by_model, _| by_model));
        rows.computed(Value::in_table(MODEL, &row, "by the model", "ns"), by_model.map(Measured::estimate));
        let off = Measured::of_runs(&fits.off(points)).map(|times| times.map(|times| times - 1.0));
        rows.computed(Value::in_table(MODEL, &row, "off", "share"), off.map(Measured::estimate));
    }
}

fn figure_20_8(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    // It stands in the book alone: 48 rows of it with nothing beside them would hide what was measured.
    if !plan.cells().iter().any(|(cell, _)| cell.processes > 1 && cell.records == NREC_20_8) {
        rows.note(
            "Figure 20.8",
            "the book's times of 1 to 16 children at nrec 2 000, which document 001 does not have: --thorough runs them and sets them beside",
        );
        return;
    }
    let title = |locking: Locking| {
        format!("Figure 20.8, nrec 2000, {}, by children ({PROVENANCE})", heading(locking))
    };
    for locking in [Locking::Coarse, Locking::Fine, Locking::Mandatory] {
        let table = title(locking);
        for row in FIGURE_20_8 {
            let name = row.children.to_string();
            let cell = plan.cell(locking, row.children, NREC_20_8);
            let (published, percent) = match locking {
                Locking::Coarse => (row.coarse.map(Some), None),
                Locking::Mandatory => {
                    (row.mandatory, Some(("sys over advisory, added %", row.system_percent)))
                }
                _ => (row.fine.map(Some), Some(("clock of coarse, added %", Some(row.clock_percent)))),
            };
            let axis = (u64::from(row.children), CHILDREN);
            times(found, plan, (&table, &name, None), &cell, axis, published, rows);
            if let Some((column, published)) = percent {
                rows.value(Value { published, ..Value::in_table(&table, &name, column, "") });
            }
        }
    }
    rows.note("Figure 20.8", DAMAGED);
}

/// Figure 20.8's shape with fewer records.
fn children(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    for (nrec, numbers) in plan.shapes_of_children() {
        let at = grouped(u64::from(nrec));
        let cpus = found.on_cpus();
        let table = format!("Figure 20.8's shape at nrec {at}, by children{cpus} (ours)");
        for &count in &numbers {
            let row = count.to_string();
            let [coarse, fine] = [Locking::Coarse, Locking::Fine].map(|way| plan.cell(way, count, nrec));
            for cell in [coarse, fine] {
                let (answer, literal) = (repeated(found, &cell, CLOCK), single(found, &cell, CLOCK));
                let column = format!("{} clock", cell.locking.name());
                let place = Value::in_table(&table, &row, &column, "s").on_axis(u64::from(count), CHILDREN);
                let title = format!("{}, nrec {}", cell.locking.name(), grouped(u64::from(nrec)));
                let literal = literal.map(|ns| ns / 1e9);
                rows.value(Value { answer, literal, ..in_series(place, cell.locking, &title) });
            }
            let times = side_by_side(found, (&coarse, &fine), (CLOCK, OVER));
            rows.computed(
                Value::in_table(&table, &row, "coarse / fine", "ratio"),
                times.map(Measured::estimate),
            );
        }
        let table = format!("Switches an operation at nrec {at}, by children{cpus} (ours)");
        for &count in &numbers {
            let row = count.to_string();
            for cell in [Locking::Coarse, Locking::Fine].map(|way| plan.cell(way, count, nrec)) {
                const NAME: &str = quantity::SWITCHES_PER_OPERATION;
                let (answer, literal) = (repeated(found, &cell, NAME), single(found, &cell, NAME));
                let column = cell.locking.name();
                rows.value(Value { answer, literal, ..Value::in_table(&table, &row, column, "count") });
            }
        }
    }
}
