//! Document 000 held against machines whose numbers are known.

use super::statements::{growth, remainders, split, stable};
use super::*;
use crate::found::test::{
    assert_named, cell, figure, of, of as of_figures, repeat, result, set, set_within, statement,
};
use oscost_results::Judgement;

mod told;

fn found_with(ratio: f64, calls: f64) -> (Vec<oscost_results::Figure>, Vec<oscost_results::PairedValue>) {
    let mut figures = vec![
        figure(POSIX, "floor", 10.0, Some(0.0)),
        figure(SYSTEM_V, "floor", 10.0 * ratio, Some(calls)),
        figure("syscall/invalid", "floor", 100.0, Some(1.0)),
    ];
    for row in RESULTS {
        figures.push(figure(&id("literal/posix_named", row.operations), "elapsed", row.posix_s * 1e9, None));
        figures.push(figure(&id("literal/system_v", row.operations), "elapsed", row.system_v_s * 1e9, None));
        figures.push(figure(&id("paired", row.operations), "ratio", ratio, None));
    }
    (figures, vec![result::ratio(SYSTEM_V, POSIX, ratio)])
}

fn verdicts(ratio: f64, calls: f64) -> Vec<(String, Judgement)> {
    let (figures, ratios) = found_with(ratio, calls);
    let found = Found::of(&figures, &ratios, &[]);
    let rows = judge(&found, &DocumentParameters::default());
    rows.into_iter().filter_map(|row| Some((row.statement?, row.verdict?))).collect()
}

fn verdict(verdicts: &[(String, Judgement)], words: &str) -> Judgement {
    verdicts.iter().find(|(statement, _)| statement.contains(words)).expect("a statement").1
}

#[test]
fn the_published_speed_ups_are_the_published_times_ratios_cut_by_bc() {
    for row in RESULTS {
        assert_eq!(
            ((row.system_v_s / row.posix_s) * 10.0).floor() / 10.0,
            row.speed_up,
            "{}",
            row.operations
        );
    }
}

#[test]
fn the_published_remainders_are_scatter_but_for_the_first() {
    let counts = [1000, 10_000, 100_000, 1_000_000];
    let seconds = |count: u64| RESULTS.iter().find(|row| row.operations == count).map(|row| row.posix_s);
    assert_eq!(remainders(&counts, seconds).as_deref(), Some("3.9, 1.8, 32.1"));
}

#[test]
fn growth_of_cold_programs_is_judged_where_they_ran_often_enough() {
    let judged = |runs: u32, of: [f64; 4]| {
        let (mut figures, _) = found_with(47.0, 2.0);
        for (row, ratio) in RESULTS.iter().zip(of) {
            for (method, ns) in [("literal/posix_named", 1e6), ("literal/system_v", ratio * 1e6)] {
                let one = of_figures(&mut figures, &id(method, row.operations));
                set(one, "elapsed", ns);
                repeat(one, runs);
            }
        }
        growth(&Found::of(&figures, &[], &[]), &DocumentParameters::default()).expect("all are there").0
    };
    assert_eq!(judged(6, [33.6, 45.7, 47.1, 48.1]), Judgement::Holds);
    assert_eq!(judged(1, [33.6, 45.7, 47.1, 48.1]), Judgement::NotJudged, "single runs");
    assert_eq!(judged(6, [33.6, 60.0, 40.0, 48.1]), Judgement::HoldsInPart, "it falls on the way");
    assert_eq!(judged(6, [33.6, 40.0, 60.0, 48.1]), Judgement::HoldsInPart, "it falls at the end");
    assert_eq!(judged(6, [48.1, 47.0, 40.0, 33.6]), Judgement::DoesNotHold);
    assert_eq!(judged(6, [48.0, 48.1, 48.0, 48.1]), Judgement::Unclear);
}

/// Ten cycles of POSIX take less than the us of its clock: that was told as programs that ran once.
#[test]
fn a_run_that_is_too_short_for_its_clock_takes_no_verdict_from_the_others() {
    let judged = |operations: &[u64], runs: u32| {
        let mut figures = Vec::new();
        for &count in operations {
            // 10 ns a cycle of POSIX, 400 to 480 ns one of System V.
            let [posix, system_v] = [10.0, 480.0 - 8e4 / count as f64].map(|ns| ns * count as f64);
            let whole_us = |ns: f64| (ns / 1e3).floor() * 1e3;
            for (method, ns) in [("literal/posix_named", posix), ("literal/system_v", system_v)] {
                let mut one = figure(&id(method, count), "elapsed", whole_us(ns.max(0.0)), None);
                repeat(&mut one, runs);
                figures.push(one);
            }
        }
        let parameters = DocumentParameters { operations: operations.to_vec(), ..Default::default() };
        growth(&Found::of(&figures, &[], &[]), &parameters).expect("all are there")
    };
    let (judgement, because) = judged(&[10, 1000, 1_000_000], 6);
    assert_eq!(judgement, Judgement::Holds, "{because}");
    let told = "40.0x (39.6 .. 40.4) at 1 000, 48.0x (47.5 .. 48.5) at 1 000 000; at 10 POSIX is too short";
    assert!(because.contains(told), "{because}");
    let (judgement, because) = judged(&[10, 50, 1000], 6);
    assert_eq!(judgement, Judgement::NotTestableHere, "{because}");
    assert!(because.ends_with("; at 10, 50 POSIX is too short for its clock of whole us"), "{because}");
    let seldom = [
        (1, "each in a single run: no verdict. At the longest"),
        (3, "each in 3 runs, their median: no verdict. At the longest"),
    ];
    for (runs, words) in seldom {
        let (judgement, because) = judged(&[10, 100], runs);
        assert_eq!(judgement, Judgement::NotJudged, "{because}");
        assert!(because.contains(words), "{because}");
    }
}

/// With --thorough each program runs again and again.
#[test]
fn a_speed_up_says_how_often_the_programs_ran() {
    for (runs, words) in [(1, "each program in a single run;"), (6, "each program in 6 runs, their median")] {
        let (mut figures, ratios) = found_with(47.0, 2.0);
        figures.iter_mut().for_each(|figure| repeat(figure, runs));
        let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
        let because = &cell(&rows, "Results by cycles", "1 000", "speed-up").expect("a cell").because;
        assert!(because.contains(words), "{because}");
    }
}

#[test]
fn growth_of_single_runs_is_shown_and_stability_is_judged_by_intervals() {
    let judged = |of: [f64; 4]| {
        let (mut figures, ratios) = found_with(47.0, 2.0);
        for (row, ratio) in RESULTS.iter().zip(of) {
            let id = id("paired", row.operations);
            figures
                .iter_mut()
                .filter(|figure| figure.id == id)
                .for_each(|figure| set(figure, "ratio", ratio));
        }
        let found = Found::of(&figures, &ratios, &[]);
        let parameters = DocumentParameters::default();
        let judged = [growth(&found, &parameters), stable(&found, &parameters)];
        let [growth, stable] = judged.map(|judged| judged.expect("all figures are there").0);
        (growth, stable)
    };
    let all =
        [([33.6, 45.7, 47.1, 48.1], Judgement::Holds), ([47.0, 47.5, 40.0, 47.0], Judgement::DoesNotHold)];
    for (ratios, expected) in all.into_iter().chain([([47.0, 47.5, 47.0, 49.2], Judgement::Unclear)]) {
        assert_eq!(judged(ratios), (Judgement::NotJudged, expected), "{ratios:?}");
    }
    let one = DocumentParameters { operations: vec![5], ..DocumentParameters::default() };
    let nothing = Found::of(&[], &[], &[]);
    for judged in [growth(&nothing, &one), stable(&nothing, &one)] {
        assert_eq!(judged.expect("one count").0, Judgement::NotTestableHere);
    }
}

#[test]
fn a_machine_like_the_documents_agrees_with_it() {
    let verdicts = verdicts(47.5, 2.0);
    for words in
        ["stabilizes", "order of magnitude", "considerably better", "always require", "only requires"]
    {
        assert_eq!(verdict(&verdicts, words), Judgement::Holds, "{words}");
    }
    assert_eq!(verdict(&verdicts, "increases with operation count"), Judgement::NotJudged);
    assert_eq!(verdict(&verdicts, "is similar"), Judgement::NotTestableHere);
}

#[test]
fn another_machine_does_not() {
    let verdicts = verdicts(5.0, 1.0);
    for words in ["order of magnitude", "always require"] {
        assert_eq!(verdict(&verdicts, words), Judgement::DoesNotHold, "{words}");
    }
    // Its numbers are its own, whatever this machine has.
    for words in ["33-48x", "220M", "4.5M"] {
        assert_eq!(verdict(&verdicts, words), Judgement::ItsMachine, "{words}");
    }
    assert_eq!(verdict(&verdicts, "stabilizes"), Judgement::Holds, "at whatever number");
    assert_eq!(verdict(&verdicts, "system call overhead"), Judgement::Holds);
}

#[test]
fn a_cause_that_is_named_alone_has_to_be_the_larger_part() {
    // Two entries are 200 ns of the cycle.
    for (cycle, expected) in [
        (390.0, Judgement::Holds),
        (400.0, Judgement::Unclear),
        (1000.0, Judgement::HoldsInPart),
        (2000.0, Judgement::Unclear),
        (3000.0, Judgement::DoesNotHold),
    ] {
        let (mut figures, _) = found_with(47.0, 2.0);
        figures
            .iter_mut()
            .filter(|figure| figure.id == SYSTEM_V)
            .for_each(|figure| set(figure, "floor", cycle));
        let (judgement, words) = split(&Found::of(&figures, &[], &[])).expect("all is there");
        assert_eq!(judgement, expected, "{words}");
        assert!(words.contains("the entries alone would make 20x"), "{words}");
    }
}

#[test]
fn without_figures_nothing_is_judged_and_the_document_still_stands() {
    let found = Found::of(&[], &[], &[]);
    let rows = judge(&found, &DocumentParameters::default());
    assert!(rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere));
    let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
    for value in [0.000013, 0.439309, 33.6, 48.1] {
        assert!(published.contains(&value), "{value}");
    }
    assert_eq!(script_table(&found, &DocumentParameters::default()), "");
}

#[test]
fn the_scripts_table_is_the_documents() {
    let (figures, ratios) = found_with(48.0, 2.0);
    let found = Found::of(&figures, &ratios, &[]);
    let table = script_table(&found, &DocumentParameters::default());
    assert!(table.contains("|       1000 |       0.000013 |          0.000437 |    33.6x |"), "{table}");
    assert!(table.contains("|    1000000 |       0.009119 |          0.439309 |    48.1x |"), "{table}");
}

/// Numbers that follow from 10 ns a POSIX cycle, 475 ns a System V one, 100 ns a kernel entry.
#[test]
fn the_numbers_that_decide_are_told() {
    let (figures, ratios) = found_with(47.5, 2.0);
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    for (words, expected) in [
        (
            "33-48x",
            "there 33 to 48x, here 47.5x (47.3 .. 47.7) in the batches of the price list; 47.5x (47.3 .. 47.7) by the script's \
             loop of 1 000 000 cycles",
        ),
        ("220M", "200.0 M/s (199.0 .. 201.0), two operations a cycle"),
        ("4.5M", "4.21 M/s (4.19 .. 4.23), two operations a cycle"),
        ("stabilizes", "47.5x (47.3 .. 47.7) at 100 000 cycles and 47.5x (47.3 .. 47.7) at 1 000 000"),
        (
            "increases with operation count",
            "POSIX takes 3.9, 1.8, 32.1 us longer at 1 000, 10 000, 100 000 (published: 3.9, 1.8, 32.1 us",
        ),
        ("only requires", "0.000 system calls a cycle"),
        ("always require", "2.000 system calls a cycle of two operations"),
        (
            "system call overhead",
            "a cycle takes 475 ns; two empty kernel entries take 200 ns of it, 42 % (42 .. 43); 50 % and more counts as holding, \
             10 to 50 % as in part; semop's own work is 275 ns. If overhead means all of the call, it holds; the entries \
             alone would make 20x",
        ),
    ] {
        let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
        let told = &row.expect("a statement").because;
        assert!(told.contains(expected), "{words}: {told}");
    }
}

#[test]
fn a_speed_up_is_stable_within_five_per_cent_either_way() {
    let judged = |before: f64, last: f64| {
        let (mut figures, _) = found_with(47.0, 2.0);
        for (count, ratio) in [(100_000, before), (1_000_000, last)] {
            let exact = oscost_results::Estimate { value: ratio, low: ratio, high: ratio, extremes: false };
            let id = id("paired", count);
            for figure in figures.iter_mut().filter(|figure| figure.id == id) {
                figure.quantities.get_mut("ratio").into_iter().for_each(|it| it.estimate = exact);
            }
        }
        stable(&Found::of(&figures, &[], &[]), &DocumentParameters::default()).map(|judged| judged.0)
    };
    assert_eq!(judged(40.0, 41.9), Some(Judgement::Holds));
    assert_eq!(judged(41.9, 40.0), Some(Judgement::Holds));
    assert_eq!(judged(40.0, 42.1), Some(Judgement::DoesNotHold));
    assert_eq!(judged(42.1, 40.0), Some(Judgement::DoesNotHold));
}

/// The verdict where a System V cycle costs so many times a POSIX one, between these very ends.
fn at_ratio(low: f64, high: f64, words: &str) -> Judgement {
    let (figures, mut ratios) = found_with(47.0, 2.0);
    (ratios[0].low, ratios[0].high) = (Some(low), Some(high));
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    statement(&rows, words).verdict.expect("judged")
}

#[test]
fn bounds_are_where_the_sentences_have_them() {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, Unclear};
    for (low, high, expected) in
        [(10.0, 12.0, Holds), (9.0, 12.0, Unclear), (8.0, 9.9, DoesNotHold), (11.0, 200.0, Holds)]
    {
        assert_eq!(at_ratio(low, high, "order of magnitude"), expected, "{low} to {high}");
    }
    for (low, high, expected) in [(1.5, 2.0, Holds), (1.4, 2.0, Unclear), (1.0, 1.49, DoesNotHold)] {
        assert_eq!(at_ratio(low, high, "considerably better"), expected, "{low} to {high}");
    }
    // Of a cycle of 1000 ns two entries are so many per cent.
    for (low, high, expected) in [
        (60.0, 70.0, Holds),
        (50.0, 50.0, Holds),
        (40.0, 50.0, Unclear),
        (40.0, 60.0, Unclear),
        (20.0, 49.0, HoldsInPart),
        (12.0, 14.0, HoldsInPart),
        (10.0, 12.0, HoldsInPart),
        (5.0, 12.0, Unclear),
        (5.0, 10.0, Unclear),
        (5.0, 9.0, DoesNotHold),
    ] {
        let (mut figures, _) = found_with(47.0, 2.0);
        set_within(of(&mut figures, SYSTEM_V), "floor", 1000.0, 1000.0);
        set_within(of(&mut figures, ENTRY), "floor", low * 5.0, high * 5.0);
        let (judgement, words) = split(&Found::of(&figures, &[], &[])).expect("all is there");
        assert_eq!(judgement, expected, "{low} to {high}: {words}");
    }
}

#[test]
fn who_enters_the_kernel_without_contention_contradicts() {
    let (mut figures, ratios) = found_with(47.0, 2.0);
    *of(&mut figures, POSIX) = figure(POSIX, "floor", 10.0, Some(1.0));
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    assert_eq!(statement(&rows, "only requires").verdict, Some(Judgement::DoesNotHold));
}

#[test]
fn counts_of_a_run_are_taken_once_and_in_their_order() {
    let (figures, ratios) = found_with(47.0, 2.0);
    let found = Found::of(&figures, &ratios, &[]);
    let of =
        |operations: &[u64]| DocumentParameters { operations: operations.to_vec(), ..Default::default() };
    let (judgement, words) = growth(&found, &of(&[1_000_000, 1000, 1_000_000])).expect("two counts");
    assert_eq!(judgement, Judgement::NotJudged);
    assert!(
        words.contains("47.0x (46.8 .. 47.2) at 1 000, 47.0x (46.8 .. 47.2) at 1 000 000. At the"),
        "{words}"
    );
    assert!(words.contains("3.9 us longer at 1 000 (published"), "{words}");
    let (_, words) = stable(&found, &of(&[1_000_000, 1000])).expect("two counts");
    assert!(words.contains("at 1 000 cycles and 47.0x (46.8 .. 47.2) at 1 000 000"), "{words}");
    for judged in [growth(&found, &of(&[1000, 1000])), stable(&found, &of(&[1000, 1000]))] {
        assert_eq!(judged.expect("one count").0, Judgement::NotTestableHere);
    }
}

#[test]
fn a_statement_names_what_decides_it() {
    let (mut figures, mut ratios) = found_with(47.0, 2.0);
    let longest = contention::CELLS.last().expect("cells");
    figures.extend(contention::FIGURES.iter().skip(4).map(|id| {
        let mut cell = figure(id, "time_per_operation", 1000.0, None);
        set(&mut cell, "blocked_share", 0.9);
        cell
    }));
    for (_, posix, system_v) in contention::CELLS {
        let ratio = result::ratio(system_v, posix, 1.1);
        ratios.push(oscost_results::PairedValue { quantity: "time_per_operation".into(), ..ratio });
    }
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    let named = [
        ("33-48x", SYSTEM_V, "paired"),
        ("~220M", POSIX, "floor"),
        ("~4.5M", SYSTEM_V, "floor"),
        ("order of magnitude", SYSTEM_V, "paired"),
        ("considerably better", SYSTEM_V, "paired"),
        ("only requires", POSIX, "system_calls"),
        ("always require", SYSTEM_V, "system_calls"),
        ("is similar", longest.2, "time_per_operation"),
    ];
    assert_named(&rows, &named);
    for (words, value) in [
        ("33-48x", 47.0),
        ("~220M", 10.0),
        ("~4.5M", 470.0),
        ("order of magnitude", 47.0),
        ("considerably better", 47.0),
        ("only requires", 0.0),
        ("always require", 2.0),
        ("is similar", 1000.0),
    ] {
        assert_eq!(statement(&rows, words).measured.map(|it| it.value), Some(value), "{words}");
    }
    assert_eq!(statement(&rows, "is similar").verdict, Some(Judgement::Holds));
}

#[test]
fn every_contended_cell_has_its_times_and_its_ratio() {
    let (_, posix, system_v) = contention::CELLS[1];
    let mut one = figure(posix, "time_per_operation", 1000.0, None);
    set(&mut one, "blocked_share", 0.25);
    let mut other = figure(system_v, "time_per_operation", 2600.0, None);
    set(&mut other, "blocked_share", 0.75);
    let ratio = result::ratio(system_v, posix, 2.6);
    let ratios = [oscost_results::PairedValue { quantity: "time_per_operation".into(), ..ratio }];
    let figures = [one, other];
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    let told = |row: &str, column: &str| {
        let row = cell(&rows, "Contended by 4", row, column).expect("a cell");
        (
            row.figure_id.as_deref(),
            row.quantity.as_deref(),
            row.measured.map(|it| it.value),
            row.because.as_str(),
        )
    };
    let time = Some("time_per_operation");
    assert_eq!(told("1 us", "POSIX"), (Some(posix), time, Some(1000.0), ""));
    assert_eq!(told("1 us", "System V"), (Some(system_v), time, Some(2600.0), ""));
    assert_eq!(told("1 us", "System V / POSIX").2, Some(2.6));
    for (column, id, share) in [("POSIX blocked", posix, 0.25), ("System V blocked", system_v, 0.75)] {
        assert_eq!(told("1 us", column), (Some(id), Some("blocked_share"), Some(share), ""));
    }
    let (_, posix, system_v) = contention::CELLS[0];
    assert_eq!(told("0 us", "POSIX"), (Some(posix), time, None, "not measured here"));
    assert_eq!(told("0 us", "System V blocked"), (Some(system_v), Some("blocked_share"), None, ""));
}
