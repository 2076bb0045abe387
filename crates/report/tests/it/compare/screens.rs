//! What is shown of a comparison.

use crate::written::{Says, fits, flat, style, written};
use oscost_report::compare::{
    Comparison, Rules, compare, comparison, comparison_markdown, comparison_whole, matrix, matrix_whole,
};
use oscost_report::{Named, Style};
use oscost_results::RunResult;

use super::surroundings::of_another_core;
use super::{against, figure_mut, scaled, stored};

/// A table names what a cell lacks, whichever result has it.
#[test]
fn cells_without_a_number_say_what_is_there_instead() {
    let a = stored();
    let queue = |result: &mut RunResult| {
        let monotonic = figure_mut(result).clone();
        let queue = result.figures.iter_mut().find(|figure| figure.id == "semaphore/posix_queue").unwrap();
        *queue = oscost_results::Figure { id: queue.id.clone(), ..monotonic };
    };
    let (mut b, mut c) = (stored(), stored());
    queue(&mut b);
    c.figures.retain(|figure| figure.id != "clock/monotonic");
    let shown =
        written(|out| matrix(&[against(&a, &a), against(&a, &b), against(&a, &c)], &style(120, false), out));
    let line = |id: &str| flat(shown.lines().find(|line| line.trim().starts_with(id)).unwrap());
    assert!(line("semaphore/posix_queue").ends_with("e unsupported unsupported measured unsupported"));
    assert_eq!(line("clock/monotonic "), "clock/monotonic 22.2 ns within within not there");
}

/// The price of another machine stood beside cycles of the first: nobody can hold ns against those.
#[test]
fn values_of_another_machine_stand_beside_the_time_of_the_first() {
    let of = |factor: f64| {
        let mut result = of_another_core(factor);
        let quantities = &mut figure_mut(&mut result).quantities;
        let mut cycles = quantities["quiet"].clone();
        "cycles".clone_into(&mut cycles.unit);
        cycles.estimate.value = 400.0;
        quantities.insert("cycles".to_owned(), cycles);
        result
    };
    let (a, mut elsewhere) = (of(1.0), of(2.0));
    elsewhere.machine.cpu_model = "another one".into();
    let pairs = [against(&a, &a), against(&a, &elsewhere)];
    assert_eq!(pairs.each_ref().map(|pair| &*super::row(pair, super::MONOTONIC).unit), ["cycles", "ns"]);
    let shown = |pairs: &[Comparison<'_>]| written(|out| matrix(pairs, &style(200, false), out));
    let line = |shown: &str| {
        flat(shown.lines().find(|line| line.trim().starts_with("clock/monotonic ")).expect("its row"))
    };
    let both = shown(&pairs);
    assert_eq!(line(&both), "clock/monotonic 400 cycles, 22.2 ns within ? 44.4 ns");
    both.says("second value: for ? without change");
    let alike = shown(&[against(&a, &a), against(&a, &a)]);
    assert_eq!(line(&alike), "clock/monotonic 400 cycles within within");
    alike.lacks("second value");
}

/// Question marks alone answer nothing: above them stand the reason and what to run.
#[test]
fn a_table_of_question_marks_says_why_and_what_to_run() {
    let single = |factor: f64| {
        let mut result = scaled(stored(), "clock/monotonic", factor);
        for figure in &mut result.figures {
            figure.launches.truncate(1);
        }
        result
    };
    let (a, b, c) = (single(1.0), single(1.01), single(1.02));
    let shown = |comparisons: &[Comparison<'_>]| written(|out| matrix(comparisons, &style(200, false), out));
    let blind = shown(&[against(&a, &b), against(&a, &c)]);
    let above = blind.split("figure  ").next().unwrap();
    assert!(
        above.contains("no row can be judged: too few launches") && above.contains("--thorough"),
        "{blind}"
    );
    let (a, b) = (stored(), scaled(stored(), "clock/monotonic", 1.5));
    let judged = shown(&[against(&a, &b), against(&a, &a)]);
    judged.lacks("no row can be judged");
}

/// The fixture, and the same with a slower clock, a faster semaphore and another kernel.
fn changed() -> (RunResult, RunResult) {
    let mut b = scaled(stored(), "clock/monotonic", 1.142);
    b.conditions.kernel = "Linux 6.19.0".into();
    figure_mut(&mut b).evidence.system_calls.insert("clock_gettime".into(), 1.0);
    (stored(), scaled(b, "semaphore/posix_named", 0.9))
}

fn text(pair: &Comparison<'_>, style: Style) -> String {
    written(|out| comparison(pair, &style, out))
}

#[test]
fn the_screens_of_a_comparison() {
    let (a, b) = changed();
    let pair = against(&a, &b);
    for width in [60, 80, 100, 160] {
        let style = style(width, true);
        insta::assert_snapshot!(format!("unicode_{width}"), text(&pair, style));
        let ascii = Style { unicode: false, ..style };
        insta::assert_snapshot!(format!("ascii_{width}"), text(&pair, ascii));
    }
    for width in [80, 100] {
        let style = Style { width, unicode: true, colour: true };
        insta::assert_snapshot!(format!("colour_{width}"), text(&pair, style));
    }
    insta::assert_snapshot!("comparison_markdown", written(|out| comparison_markdown(&pair, out)));
}

/// Several results against one: a line a figure at every width, and the answer of each result at the end.
#[test]
fn the_screens_of_several_results() {
    let (a, b) = changed();
    let short = [against(&a, &b), against(&a, &a)];
    let base = Named { name: "2026-11-22T16-40-25Z-5fc13a066b852dbb", result: &a };
    let names = [41, 42, 43, 44, 45, 46].map(|minute| format!("2026-11-22T16-{minute}-16Z-57338a414dffdc2c"));
    let of = |name| compare(&base, &Named { name, result: &b }, Rules::default());
    let all: Vec<Comparison<'_>> = names.iter().map(|name| of(name)).collect();
    let shown = |all: &[Comparison<'_>], width| written(|out| matrix(all, &style(width, width > 60), out));
    for width in [60, 80, 100, 160] {
        insta::assert_snapshot!(format!("matrix_{width}"), shown(&short, width));
    }
    insta::assert_snapshot!("matrix_of_six_80", shown(&all, 80));
    fits(|width| shown(&all, width));
    let whole = written(|out| matrix_whole(&all, &style(80, false), out));
    assert!((1..=6).all(|run| whole.contains(&format!(" run {run}"))), "{whole}");
}

/// At any width a row is one line with its change, and what differs is told whole: the answer may not be what is cut.
#[test]
fn no_line_of_a_comparison_is_wider_than_the_page_and_no_answer_is_cut() {
    let (a, mut b) = changed();
    b.conditions.command_line = Some("mds=a_word ".repeat(60));
    b.tool.build_id = "another".into();
    let pair = against(&a, &b);
    let at = |width| text(&pair, style(width, true));
    fits(at);
    for width in [60, 80, 100, 160] {
        let shown = at(width);
        let heads: Vec<&str> = shown.lines().filter(|line| line.contains(" before ")).collect();
        assert_eq!(heads.len(), 3, "slower, faster, unclear at {width}:\n{shown}");
        let right = |line: &str, word: &str| line.find(word).map(|at| at + word.len());
        let end = right(heads[2], " now").unwrap();
        let row = shown.lines().find(|line| line.starts_with("  context_sw")).unwrap();
        assert!(row.get(..end).is_some_and(|start| start.ends_with(" us")), "{width}:\n{shown}");
        assert!(heads.iter().all(|head| head.contains(" change")), "{width}:\n{shown}");
    }
    let whole = written(|out| comparison_whole(&pair, &style(80, true), out));
    assert_eq!(whole.matches("a_word").count(), 60, "{whole}");
    for width in [60, 80, 100, 200] {
        let shown = at(width);
        assert!(!whole.contains("...") && !shown.contains("..."), "{shown}");
        assert_eq!(shown.matches("a_word").count(), 60, "{shown}");
        let changes = |shown: &str| shown.matches(" %").count();
        assert!(
            flat(&shown).contains("9 within 5 %, 3 unclear, 1 slower, 1 faster, 2 not measured in both"),
            "{shown}"
        );
        assert!(changes(&shown) >= 6, "{shown}");
    }
}

/// What nobody asked about is left out, and the verdict on a figure that was asked about alone rests on no other.
#[test]
fn only_what_was_asked_about_is_judged() {
    let (a, b) = changed();
    let only = ["clock/monotonic".to_owned()].into();
    let rules = Rules { only: Some(&only), ..Rules::default() };
    let named = |result| Named { name: "x", result };
    let alone = compare(&named(&a), &named(&b), rules);
    let ids: Vec<&str> = alone.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["clock/monotonic"]);
    assert!(alone.one_sided.is_empty() && alone.neither.is_empty());
    assert!(alone.pairs.iter().all(|row| row.id.starts_with("clock/monotonic ")), "{:?}", alone.pairs);
    assert_eq!(alone.conditions, compare(&named(&a), &named(&b), Rules::default()).conditions);
    let level = |comparison: &Comparison<'_>| {
        comparison.rows.iter().find(|row| row.id == "clock/monotonic").unwrap().change.unwrap().level
    };
    assert!(level(&alone) < level(&against(&a, &b)), "of one figure less is asked than of many");
}

/// The largest group leads, reasons are told once, and a row's numbers point where its change does.
#[test]
fn the_heading_leads_with_the_largest_group_and_reasons_are_told_once() {
    let a = stored();
    let shown = |b: &RunResult| {
        let style = style(100, false);
        written(|out| comparison(&against(&a, b), &style, out))
    };
    let same = shown(&stored());
    let heading = same.lines().find(|line| line.contains(" within ")).unwrap();
    assert!(
        heading.starts_with("  1") && heading.find("within").unwrap() < heading.find("slower").unwrap(),
        "{same}"
    );
    let mut boots = stored();
    boots.conditions.boot_id = Some("another".into());
    for id in ["clock/monotonic", "semaphore/posix_named", "semaphore/system_v"] {
        boots = scaled(boots, id, 1.5);
    }
    let boots = shown(&boots);
    assert_eq!(boots.matches("differs between these two boots").count(), 1, "{boots}");
    for (b, sign) in
        [(scaled(stored(), "clock/monotonic", 1.2), '+'), (scaled(stored(), "clock/monotonic", 0.8), '-')]
    {
        let pair = against(&a, &b);
        for row in pair.rows.iter().filter(|row| row.changed) {
            let change = row.change.unwrap().change;
            assert!((row.b.value - row.a.value) * change > 0.0, "{row:?}");
        }
        let shown = shown(&b);
        let row = shown.lines().find(|line| line.starts_with("  clock/monotonic ")).unwrap();
        assert!(row.contains(sign), "{row}");
    }
}
