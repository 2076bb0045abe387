//! The view of contention: grid, classes, crossing, and what it says of lost updates.

use crate::fixture;
use crate::written::{Says, flat, listed, paged, style, written};

use oscost_report::{RowChoice, price_list, price_list_markdown};
use oscost_results::{Figure, PairedValue, RunResult, Status, Verdict};
use serde_json::json;

/// A cell: lock, hold time, time a turn, owner changes, lost updates.
fn cell(lock: &str, hold: u32, time: f64, changes: f64, lost: f64) -> Figure {
    cell_of(&format!("{lock}/contended/processes_4/hold_us_{hold}/think_0"), time, changes, lost)
}

/// The cell with this id as a run leaves it: where its claim about updates does not hold, it has no number.
fn cell_of(id: &str, time: f64, changes: f64, lost: f64) -> Figure {
    let quantity = |value: f64, unit| fixture::quantity([value * 0.99, value, value * 1.01], unit);
    let (expected, holds) = if id.starts_with("lock/none/") {
        (json!({"at_least": 1.0, "at_most": f64::MAX}), lost >= 1.0)
    } else {
        (json!(0.0), lost == 0.0)
    };
    let mut figure = fixture::figure(
        id,
        json!({"placement": "spread", "headline": "time_per_operation", "quantities": {
            "time_per_operation": quantity(time, "ns"), "owner_change_share": quantity(changes, "share"),
            "blocked_share": quantity(0.9, "share"), "fairness": quantity(0.5, "ratio"),
            "longest_wait": quantity(2e6, "ns"), "handover_p50": quantity(4e3, "ns"),
            "ideal_share": quantity(0.5, "share"), "lost_updates": quantity(lost, "count"),
            "workers_per_cpu": quantity(2.0, "ratio"),
        }, "evidence": {"claims": [
            {"claim": "post_condition:lost_updates", "expected": expected, "observed": lost, "holds": holds},
        ]}}),
    );
    if !holds {
        (figure.status, figure.evidence.verdict) = (Status::Contradicted, Verdict::Contradicted);
        figure.quantities.clear();
    }
    figure
}

fn result() -> RunResult {
    let mut result = fixture::of(Vec::new());
    for (hold, posix, system_v) in
        [(0, 280.0, 4400.0), (1, 2000.0, 5300.0), (30, 32_000.0, 40_000.0), (300, 309e3, 320e3)]
    {
        result.figures.push(cell("semaphore/posix_named", hold, posix, 0.1, 0.0));
        result.figures.push(cell("semaphore/system_v", hold, system_v, 1.0, 0.0));
        let id = |lock: &str| format!("semaphore/{lock}/contended/processes_4/hold_us_{hold}/think_0");
        let ratio = system_v / posix;
        result.ratios.push(PairedValue {
            of: id("system_v"),
            to: id("posix_named"),
            quantity: "time_per_operation".into(),
            unit: "ratio".into(),
            value: Some(ratio),
            low: Some(ratio * 0.98),
            high: Some(ratio * 1.02),
            ..PairedValue::default()
        });
    }
    result.figures.push(cell("lock/none", 0, 6.0, 0.0, 900.0));
    result
}

#[test]
fn the_view_at_two_widths_and_in_markdown() {
    insta::assert_snapshot!("contention_100", listed(&result(), 100, true));
    insta::assert_snapshot!("contention_60_ascii", listed(&result(), 60, false));
    insta::assert_snapshot!("contention_markdown", written(|out| price_list_markdown(&result(), None, out)));
}

#[test]
fn the_crossing_is_bracketed_and_the_classes_named() {
    let text = listed(&result(), 200, true);
    assert!(flat(&text).contains("falls below 2 between a hold of 1 us (2.65x"), "{text}");
    assert!(flat(&text).contains("falls below 1.1 between a hold of 30 us (1.25x"), "{text}");
    assert!(
        flat(&text).contains("15.7x what POSIX ones do at a hold of 0 us, and 1.04x at 300 us"),
        "{text}"
    );
    let class =
        |lock: &str| text.lines().filter(|line| line.contains(lock)).any(|line| line.contains("hand-off"));
    assert!(class("semaphore/system_v") && !class("semaphore/posix_named"), "{text}");
    text.says("2.00 workers per CPU");
}

/// A read lock, which four hold at once, was said to be the fastest of all locks.
#[test]
fn the_heading_of_a_page_compares_locks_that_one_worker_alone_may_hold() {
    let mut few = fixture::of(vec![
        cell("semaphore/posix_named", 3, 5000.0, 0.1, 0.0),
        cell("semaphore/system_v", 3, 9000.0, 1.0, 0.0),
        cell("lock/none", 3, 4100.0, 0.5, 900.0),
        cell("lock/rwlock_read", 3, 4200.0, 0.5, 0.0),
    ]);
    few.reproductions.clear();
    few.figures[3].quantities.remove("owner_change_share");
    let page = paged(&few);
    let heading = page.split("<h1").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap();
    heading.says("5.00").says("9.00").lacks("4.10").lacks("4.20");
}

#[test]
fn any_run_says_where_it_was_saved_and_what_to_ask_next() {
    let text =
        written(|out| price_list(&result(), Some("@-1"), RowChoice::default(), &style(100, false), out));
    text.says("Saved as @-1. Next: oscost explain semaphore/posix_named/contended/");
    // What was not measured has less to tell.
    let mut rows = fixture::result();
    rows.figures.iter_mut().skip(1).for_each(|figure| figure.status = Status::Unsupported);
    let first = rows.figures[0].id.clone();
    let text = written(|out| price_list(&rows, Some("@-1"), RowChoice::default(), &style(100, false), out));
    text.says(&format!("Saved as @-1. Next: oscost explain {first}"));
}

#[test]
fn a_lock_that_loses_updates_is_named_and_a_control_that_loses_none_too() {
    let told = |result: &RunResult| flat(&listed(result, 200, true));
    let good = "No lock lost an update; the control without a lock did.";
    told(&result()).says(good).lacks("LOST UPDATES").lacks("prove nothing here");
    let lost = "lock/futex/contended/processes_4/hold_us_1/think_0 LOST UPDATES";
    let mut bad = result();
    bad.figures.push(cell("lock/futex", 1, 2000.0, 0.5, 3.0));
    told(&bad).says(lost).lacks(good).lacks("prove nothing here");
    let mut blind = result();
    *blind.figures.last_mut().unwrap() = cell("lock/none", 0, 6.0, 0.0, 0.0);
    // The claim has the first launch that lost none: others may have lost some.
    told(&blind).says("lost no update in a launch, so zero lost updates prove nothing here").lacks(good);
    // What others lose says nothing of these.
    let mut elsewhere = result();
    elsewhere.figures.push(cell_of("lock/futex/contended/threads_2/hold_us_1/think_0", 2000.0, 0.5, 3.0));
    told(&elsewhere).says(good);
    // An older result states no claim: its quantity counts.
    let mut older = result();
    older.figures.iter_mut().for_each(|figure| figure.evidence.claims.clear());
    told(&older).says(good);
    older.figures.last_mut().unwrap().quantities.get_mut("lost_updates").unwrap().estimate.value = 0.0;
    told(&older).says("prove nothing here");
}

/// The table leaves out the cells without a hold, and the text named the wait of one.
#[test]
fn the_longest_wait_is_one_that_the_table_has() {
    let mut longer = result();
    let wait =
        |figure: &mut Figure, ns| figure.quantities.get_mut("longest_wait").unwrap().estimate.value = ns;
    wait(&mut longer.figures[0], 57e6);
    wait(&mut longer.figures[2], 43e6);
    let text = flat(&listed(&longer, 200, true));
    text.says("The longest wait that was timed was 43.0 ms (semaphore/posix_named, hold 1 us)")
        .lacks("57.0 ms");
    text.says("Classes, fairness and waits are of the other cells.");
    longer.figures.retain(|figure| figure.id.contains("hold_us_0"));
    flat(&listed(&longer, 200, true)).says("57.0 ms").lacks("of the other cells");
}

/// Two workers that think for longer than one holds take turns whatever the lock does; so they may without a hold.
#[test]
fn a_class_needs_a_hold_and_no_thinking() {
    let class = |lock: &str, cell: &str, changes: Option<f64>| {
        let id = format!("{lock}/contended/threads_2/{cell}");
        let mut figure = cell_of(&id, 2000.0, changes.unwrap_or_default(), 0.0);
        figure.quantities.retain(|name, _| changes.is_some() || name != "owner_change_share");
        let text = flat(&listed(&fixture::of(vec![figure]), 400, true));
        let said = |class: &&str| text.contains(&format!("{lock} {class} "));
        ["hand-off", "barging", "shared"].into_iter().find(said)
    };
    for changes in [0.3, 1.0] {
        assert_eq!(class("lock/spin", "hold_us_1/think_2_holds", Some(changes)), None);
        assert_eq!(class("lock/spin", "hold_us_0/think_0", Some(changes)), None);
    }
    assert_eq!(class("lock/spin", "hold_us_1/think_0", Some(0.3)), Some("barging"));
    assert_eq!(class("lock/spin", "hold_us_1/think_0", Some(1.0)), Some("hand-off"));
    assert_eq!(class("lock/rwlock_read", "hold_us_1/think_2_holds", None), Some("shared"));
}
