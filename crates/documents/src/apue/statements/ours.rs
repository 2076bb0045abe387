//! What we say beside document 001: the price of a call of locking, a model, and several children.

use oscost_families::record_database::{Cell, Locking};
use oscost_recorddb::Layout;
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};
use oscost_stats::quantile::{median, sorted};

use super::super::cell::name_of;
use super::super::measured::{Fits, ratio, side_by_side, value};
use super::super::model::Model;
use super::super::plan::ApuePlan;
use super::super::published::added_by_the_book;
use super::{ALMOST, every, single, sizes};
use crate::found::{
    Found, Judged, Ours, Rows, grouped, judged, of_parts, ranged, times_to_hundredths, within,
};
use crate::measured::Measured;

const OURS: &str = "ours";

/// What the document does not say.
pub(super) fn ours(found: &Found<'_>, plan: &ApuePlan, rows: &mut Rows) {
    rows.statement(
        OURS,
        Ours("each call of locking adds the same time, whatever nrec is"),
        judged(a_call(found, plan)),
    );
    if plan.layout == Layout::Book {
        rows.statement(
            OURS,
            Ours("CPU time is within 10 % of a model of records visited and calls of locking"),
            judged(by_model(found, plan)),
        );
    }
    for (nrec, numbers) in plan.shapes_of_children() {
        let Some(most) = numbers.last() else { continue };
        let statement =
            format!("fine-grained locking is at least twice as fast as coarse-grained with {most} children");
        rows.statement(OURS, Ours(&statement), judged(twice(found, plan, nrec, *most)));
    }
}

pub(super) fn a_call(found: &Found<'_>, plan: &ApuePlan) -> Option<Judged> {
    let (mut told, mut judgements) = (Vec::new(), Vec::new());
    for (way, name) in [(Locking::Coarse, "coarse"), (Locking::Fine, "fine")] {
        let prices = prices_of_a_call(found, plan, way);
        let each = |(nrec, price): &(u32, Estimate)| {
            format!("{} at {}", ranged(price, 1e-3, 2, " us"), grouped(u64::from(*nrec)))
        };
        if !prices.is_empty() {
            told.push(format!("{name}: {}", prices.iter().map(each).collect::<Vec<_>>().join(", ")));
        }
        if let [(_, first), .., (_, last)] = prices.as_slice() {
            // A price below nothing is the machine's change between two ways, which the interval does not hold.
            let priced = prices.iter().all(|(_, price)| price.high > 0.0);
            judgements.push(if priced { one_price(first, last) } else { Judgement::Unclear });
        }
    }
    let book: Vec<String> = added_by_the_book().iter().map(|(_, us)| format!("{:.2}", us[1])).collect();
    let calls = |nrec: u32| value(found, &plan.cell(Locking::Fine, 1, nrec), quantity::LOCK_CALLS);
    let ran = sizes(plan).into_iter().filter_map(calls).any(|calls| calls > 0.0);
    told.push(format!("the document's own numbers make it {} us, fine", book.join(", ")));
    let words = told.join("; ");
    if judgements.is_empty() {
        let few = format!("{words}; this needs two numbers of records with repeated runs");
        return ran.then_some((Judgement::NotJudged, few));
    }
    Some((of_parts(&judgements), words))
}

/// Whether two prices are one to 10 %, wherever in their intervals they lie: wide intervals are of no price.
fn one_price(one: &Estimate, other: &Estimate) -> Judgement {
    let dearer = |one: f64, other: f64| one > ALMOST * other;
    if dearer(one.low, other.high) || dearer(other.low, one.high) {
        Judgement::DoesNotHold
    } else if dearer(one.high, other.low) || dearer(other.high, one.low) {
        Judgement::Unclear
    } else {
        Judgement::Holds
    }
}

/// What a call of locking adds to the CPU time, ns, by number of records that ran repeatedly: a difference of two single runs is
/// no price.
fn prices_of_a_call(found: &Found<'_>, plan: &ApuePlan, way: Locking) -> Vec<(u32, Estimate)> {
    let price = |nrec: u32| {
        let [none, locked] = [Locking::None, way].map(|way| plan.cell(way, 1, nrec));
        let added = side_by_side(found, (&locked, &none), ("cpu", |of, to| of - to))?;
        let calls = value(found, &locked, quantity::LOCK_CALLS).filter(|calls| *calls > 0.0)?;
        Some((nrec, added.map(|ns| ns / calls).estimate()))
    };
    sizes(plan).into_iter().filter_map(price).collect()
}

/// By the launches that the table of the model has, so that both say one number of a cell.
pub(super) fn by_model(found: &Found<'_>, plan: &ApuePlan) -> Option<Judged> {
    let repeated = Fits::of_repeated(found, plan);
    let fits = if repeated.cells.is_empty() { Fits::of_single(found, plan) } else { repeated };
    let price = |price: fn(&Model) -> f64| median(&sorted(fits.prices(price)));
    let prices = format!(
        "{:.2} us a record, {:.2} us a call of locking{}",
        price(|model| model.visit_ns)? / 1e3,
        price(|model| model.lock_call_ns)? / 1e3,
        match price(|model| model.operation_ns)? {
            0.0 => String::new(),
            ns => format!(", {:.2} us an operation", ns / 1e3),
        },
    );
    if !fits.can_be_off() {
        let why = "as many prices as rows fit whatever the rows cost; give more values of nrec= or lock=";
        return Some((Judgement::NotTestableHere, format!("{prices}: {why}")));
    }
    let off: Vec<(Cell, Estimate)> =
        fits.cells.iter().filter_map(|(cell, points)| Some((*cell, over_runs(&fits.off(points))?))).collect();
    let farthest =
        |distance: fn(&Estimate) -> f64| off.iter().max_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    let told = |(cell, ratio): &(Cell, Estimate)| format!("{}, {}", name_of(cell), share_off(ratio));
    let worst = farthest(|ratio| (ratio.value - 1.0).abs())?;
    // The end of an interval that is farthest off decides, and it may be another row's.
    let widest = farthest(|ratio| (ratio.high - 1.0).max(1.0 - ratio.low))?;
    let widest =
        if widest.0 == worst.0 { String::new() } else { format!("; least certain: {}", told(widest)) };
    Some((
        every(off.iter().map(|(_, ratio)| (*ratio, within(ratio, 0.9, 1.1))))?,
        format!("{prices}; farthest off: {}{widest}", told(worst)),
    ))
}

/// "-0.65 % (-5.04 .. 3.75)", as the table has it.
fn share_off(ratio: &Estimate) -> String {
    let off = |times: f64| times - 1.0;
    let Estimate { value, low, high, extremes } = *ratio;
    ranged(&Estimate { value: off(value), low: off(low), high: off(high), extremes }, 100.0, 2, " %")
}

/// Over several launches with their interval; of a single one the value, which has none.
fn over_runs(values: &[f64]) -> Option<Estimate> {
    match values {
        [value] => Some(Estimate { value: *value, low: *value, high: *value, extremes: true }),
        values => Measured::of_runs(values).map(Measured::estimate),
    }
}

pub(super) fn twice(found: &Found<'_>, plan: &ApuePlan, nrec: u32, children: u32) -> Option<Judged> {
    let [coarse, fine] = [Locking::Coarse, Locking::Fine].map(|way| plan.cell(way, children, nrec));
    let clock = ratio(found, &coarse, &fine, "clock")?;
    let switches = |cell| value(found, cell, quantity::SWITCHES_PER_OPERATION);
    let words = format!(
        "{} by the clock; {:.2} context switches an operation coarse, {:.3} fine",
        times_to_hundredths(&clock),
        switches(&coarse)?,
        switches(&fine)?
    );
    if found.cpus.is_some_and(|cpus| cpus < 4) {
        return Some((Judgement::NotTestableHere, format!("fewer than 4 CPUs; {words}")));
    }
    let judgement = if single(&clock) { Judgement::NotJudged } else { within(&clock, 2.0, f64::MAX) };
    Some((judgement, words))
}
