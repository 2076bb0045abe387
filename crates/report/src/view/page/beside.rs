//! The newest result beside those before it, as what it is: prices, counts of instructions, or a bill.

use super::against;
use crate::blocks::page::{Page, Section};
use crate::blocks::{Part, View};
use crate::judge::{BillChanges, Changes, Comparison, Rules, compare, is_count};
use crate::named::Named;
use crate::view::{bill_changes, counts};
use crate::words::{capital, plain};

/// What a page is called whose heading is what became of the figures.
pub(super) const COMPARED: &str = "compared";
/// Most comparisons that a page has room for: the newest result against its predecessors.
const MOST_COMPARED: usize = 6;

/// Says on the page of `newest` what it is beside `others` of its kind, the nearest first; the sections that show it.
pub(super) fn others(page: &mut Page, others: &[&Named<'_>], newest: &Named<'_>) -> Vec<Section> {
    let Some(nearest) = others.first() else { return Vec::new() };
    if let (Some(before), Some(now)) = (nearest.result.bill.as_deref(), newest.result.bill.as_deref()) {
        let view = bill_changes::view(&BillChanges::between(before, now), true);
        headed(page, newest, capital(&view.title));
        page.chips.insert(0, against::pair_chip(nearest.name, newest.name));
        // It may be a bill of another program: what is told of one bill says of which.
        let name = plain(newest.name, true);
        page.sizes = format!("savings of {name}");
        for section in &mut page.sections {
            if let Section::View(view) = section {
                view.title = format!("{}: {name}", view.title);
            }
        }
        return vec![exactly(view, nearest, newest)];
    }
    if is_count(newest.result) {
        let view = counts::changes(&Changes::between(nearest.result, newest.result), true);
        headed(page, newest, capital(&view.title));
        page.chips.insert(0, against::pair_chip(nearest.name, newest.name));
        return vec![exactly(view, nearest, newest)];
    }
    let all: Vec<Comparison<'_>> =
        others.iter().take(MOST_COMPARED).map(|other| compare(other, newest, Rules::default())).collect();
    if let Some(first) = all.first() {
        let (heading, cards) = against::answer(first);
        headed(page, newest, heading);
        page.chips.splice(0..0, against::chips(first));
        page.warnings.extend(first.warnings.iter().map(|it| format!("warning: {}", plain(it, true))));
        page.cards = cards;
    }
    all.iter().map(|it| Section::Compared(against::forest(it, newest.result))).collect()
}

/// Makes what became of the figures the heading of a page.
fn headed(page: &mut Page, newest: &Named<'_>, heading: String) {
    page.kind = COMPARED;
    page.title = format!("{}: {heading}", plain(newest.name, true));
    page.heading = heading;
    page.sizes = String::new();
}

/// What was counted exactly on two sides, under their names.
fn exactly(view: View, before: &Named<'_>, now: &Named<'_>) -> Section {
    let title = capital(&view.title);
    let mut parts = vec![Part::Words(against::pair(before.name, now.name))];
    parts.extend(view.parts);
    Section::View(View { title, parts, ..view })
}
