//! What document 001 asks: what locks make of the time of a whole workload, by one process and by several.

use oscost_families::record_database::Locking;
use oscost_results::{Answer, AnswerHere};

use super::DOCUMENT;
use super::cell::{Runs, id};
use super::measured::side_by_side;
use super::plan::ApuePlan;
use super::published::{Children, FIGURE_20_7, FIGURE_20_8, NREC_20_8, OneChild, PROVENANCE};
use super::values::over_none;
use crate::answer::{asked, duration, figure_or, printed};
use crate::found::{Found, grouped};

/// The questions that this run asks, the one that the document is about first. Each is asked of the largest size that was repeated
/// here, else of the largest that ran once.
pub(super) fn answers(found: &Found<'_>, plan: &ApuePlan) -> Vec<Answer> {
    let sizes = plan.rows_of_one_child();
    let asked_of: Vec<&OneChild> = FIGURE_20_7.iter().rev().filter(|row| sizes.contains(&row.nrec)).collect();
    let ratio = |way: usize, locking: Locking, words: &str, key: &str, finding: &str| -> Option<Answer> {
        let of = |row: &&OneChild| {
            let nrec = grouped(u64::from(row.nrec));
            let question = format!("time with {words} / without locks, {nrec} records");
            Answer {
                published: printed(over_none(row, way)),
                here: over(found, plan, (locking, Locking::None), 1, row.nrec),
                finding: finding.replace("{nrec}", &nrec),
                ..asked(DOCUMENT.founding.name, key, question, "ratio")
            }
        };
        chosen(asked_of.iter().map(of).collect())
    };
    let coarse =
        "with {nrec} records, coarse locks take {here} the time of no locks here, {there} as published";
    let mut all: Vec<Answer> = Vec::new();
    all.extend(ratio(1, Locking::Coarse, "coarse locks", "coarse_over_none", coarse));
    if let Some(first) = all.first_mut() {
        first.why = added(found, plan, &asked_of).unwrap_or_default();
    }
    all.extend(ratio(2, Locking::Fine, "fine locks", "fine_over_none", ""));
    all.extend(of_children(found, plan));
    for (way, locking, words, key) in [
        (0, Locking::None, "no locks", "none_time"),
        (1, Locking::Coarse, "coarse locks", "coarse_time"),
        (2, Locking::Fine, "fine locks", "fine_time"),
    ] {
        let of = |row: &&OneChild| Answer {
            published: printed(row.times[way][2]),
            here: clock(found, plan, locking, row.nrec),
            figure_id: Some(id(&plan.cell(locking, 1, row.nrec), Runs::Repeated)),
            ..asked(
                DOCUMENT.founding.name,
                key,
                format!("{} records, {words}", grouped(u64::from(row.nrec))),
                "s",
            )
        };
        all.extend(chosen(asked_of.iter().map(of).collect()));
    }
    all
}

/// The first that was measured, else the first that ran at all, else the first.
fn chosen(all: Vec<Answer>) -> Option<Answer> {
    let is_measured = |it: &Answer| matches!(it.here, Some(AnswerHere::Measured { .. }));
    let place =
        all.iter().position(is_measured).or_else(|| all.iter().position(|answer| answer.here.is_some()));
    all.into_iter().nth(place.unwrap_or(0))
}

/// Clock time, s: of several launches, else of the single run.
fn clock(found: &Found<'_>, plan: &ApuePlan, locking: Locking, nrec: u32) -> Option<AnswerHere> {
    let cell = plan.cell(locking, 1, nrec);
    let measured = found.measured(&id(&cell, Runs::Repeated), "clock");
    let single = found.literal(&id(&cell, Runs::Single), "clock");
    figure_or(measured.map(|it| it.map(|ns| ns / 1e9)), single.map(|ns| ns / 1e9))
}

/// Clock time of one way to lock divided by that of another, launch by launch, else of the single runs.
fn over(
    found: &Found<'_>,
    plan: &ApuePlan,
    ways: (Locking, Locking),
    children: u32,
    nrec: u32,
) -> Option<AnswerHere> {
    let [of, to] = [ways.0, ways.1].map(|way| plan.cell(way, children, nrec));
    let single = |cell| found.literal(&id(cell, Runs::Single), "clock");
    let literal = single(&of).zip(single(&to)).map(|(of, to)| of / to);
    figure_or(side_by_side(found, (&of, &to), ("clock", |of, to| of / to)), literal)
}

fn of_children(found: &Found<'_>, plan: &ApuePlan) -> Option<Answer> {
    let of = |row: &Children| Answer {
        published: printed(row.fine[2] / row.coarse[2]),
        here: over(found, plan, (Locking::Fine, Locking::Coarse), row.children, NREC_20_8),
        remark: format!("Our quotient of Figure 20.8, {PROVENANCE}"),
        ..asked(
            DOCUMENT.founding.name,
            "fine_over_coarse",
            format!("time with fine / with coarse locks, {} children", row.children),
            "ratio",
        )
    };
    // One child waits for nobody.
    let rows = FIGURE_20_8.iter().rev().filter(|row| row.children > 1);
    chosen(rows.map(of).collect())
}

/// What coarse locks add to what the rest takes, here and there: of the most records that ran repeatedly here.
fn added(found: &Found<'_>, plan: &ApuePlan, rows: &[&OneChild]) -> Option<String> {
    let (there, here) = rows.iter().find_map(|row| {
        let here = [Locking::None, Locking::Coarse].map(|way| clock(found, plan, way, row.nrec));
        let [
            Some(AnswerHere::Measured { value: none, .. }),
            Some(AnswerHere::Measured { value: coarse, .. }),
        ] = here
        else {
            return None;
        };
        Some(([row.times[0][2], row.times[1][2]], [none, coarse]))
    })?;
    let told = |[none, coarse]: [f64; 2]| {
        (coarse > none).then(|| format!("{} to {}", duration(coarse - none), duration(none)))
    };
    Some(format!("coarse locks add {} here, {} there", told(here)?, told(there)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_document_does_not_have_says_where_it_is_from() {
        let all = answers(&Found::of(&[], &[], &[]), &ApuePlan::default());
        let elsewhere = all.iter().filter(|answer| answer.remark.contains(PROVENANCE));
        assert_eq!(elsewhere.map(|answer| &*answer.key).collect::<Vec<_>>(), ["fine_over_coarse"]);
    }
}
