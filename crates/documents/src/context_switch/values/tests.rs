//! Every value of document 004's tables, from numbers that are known.

use oscost_results::AnswerHere::{Literal, Measured};
use oscost_results::Reproduction;

use super::*;
use crate::context_switch::tests::figures;
use crate::context_switch::{DOCUMENT, judge};
use crate::found::test::{cell, figure, of, set};

/// Table, row and column of a value; published, literal, and what answers it.
type Told<'a> = (&'a str, &'a str, &'a str, Option<f64>, Option<f64>, Option<(&'a str, f64)>);

fn assert_told(rows: &[Reproduction], expected: &[Told<'_>]) {
    for &(table, row, column, published, literal, answer) in expected {
        let it = cell(rows, table, row, column).unwrap_or_else(|| panic!("no {table}: {row}, {column}"));
        let answered = it.figure_id.as_deref().zip(it.measured.map(|it| it.value));
        assert_eq!(
            (it.published, it.literal, answered),
            (published, literal, answer),
            "{table}: {row}, {column}"
        );
    }
}

fn judged(figures: &[oscost_results::Figure]) -> Vec<Reproduction> {
    judge(&Found::of(figures, &[], &[]), &DocumentParameters::default())
}

#[test]
fn readings_of_the_clock_are_told_of_both_arrays_and_of_the_price_list() {
    const STEP: &str = "clock/step/gettimeofday";
    let mut figures = figures(2.0);
    for (array, factor) in [("cold", 1.0), ("touched", 2.0)] {
        let one = of(&mut figures, &timestamps(array, &DocumentParameters::default()));
        for (name, value) in [
            ("equal_run_length", 25.0),
            ("mean", 40.0),
            ("largest_step", 50_000.0),
            ("faults", 390.0),
            ("backward_steps", 3.0),
        ] {
            set(one, name, value * factor);
        }
    }
    let rows = judged(&figures);
    for (row, published, literal, listed) in [
        ("equal readings in a row", Some(25.0), [25.0, 50.0], Some((STEP, 25.0))),
        ("time of a call", Some(40.0), [40.0, 80.0], Some(("clock/gettimeofday", 40.0))),
        ("steps over 1 us", None, [215.0, 2.0], None),
        ("steps of many us (over 10)", Some(215.0), [215.0, 2.0], None),
        ("largest step", Some(50.0), [50.0, 100.0], Some((STEP, 50_000.0))),
        ("backward steps", None, [3.0, 6.0], Some((STEP, 2.0))),
        ("page faults", None, [390.0, 780.0], None),
    ] {
        let table = "Precision of gettimeofday";
        assert_told(
            &rows,
            &[
                (table, row, "cold", published, Some(literal[0]), None),
                (table, row, "touched (ours)", None, Some(literal[1]), None),
            ],
        );
        assert_eq!(cell(&rows, table, row, "price list").is_some(), listed.is_some(), "{row}");
        if listed.is_some() {
            assert_told(&rows, &[(table, row, "price list", None, None, listed)]);
        }
    }
}

#[test]
fn reads_and_placements_are_told_beside_the_price_list() {
    let mut figures = figures(0.0);
    for (count, _) in READS {
        set(of(&mut figures, &reads(count)), "minimum", 300.0 + count as f64);
    }
    figures.extend(
        [("syscall/read0_pipe", 350.0), ("syscall/read0_file", 380.0)]
            .map(|(id, ns)| figure(id, "floor", ns, None)),
    );
    for (id, typical) in [(SAME, 2100.0), (UNPINNED, 5000.0)] {
        set(of(&mut figures, id), "typical", typical);
        of(&mut figures, id).evidence.switches = Some(1.25);
    }
    let rows = judged(&figures);
    let (read, placed) = ("read of 0 bytes in a row", "Did affinity do anything?");
    assert_told(
        &rows,
        &[
            (read, "100 of /dev/zero", "minimum a read", Some(330.0), Some(400.0), Some((READ, 300.0))),
            (read, "10 000 of /dev/zero", "minimum a read", Some(302.0), Some(10_300.0), Some((READ, 300.0))),
            (read, "1 000 of /dev/zero", "runs near it", None, Some(99.0), None),
            (read, "an empty pipe (ours)", "minimum a read", None, None, Some(("syscall/read0_pipe", 350.0))),
            (
                read,
                "a regular file (ours)",
                "minimum a read",
                None,
                None,
                Some(("syscall/read0_file", 380.0)),
            ),
            (placed, "on one CPU", "a switch", None, None, Some((SAME, 2000.0))),
            (placed, "across two CPUs", "a switch", None, None, Some((CROSS, 9000.0))),
            (placed, "placed by the scheduler", "a switch", None, None, Some((UNPINNED, 2000.0))),
            (placed, "on one CPU", "typical", None, None, Some((SAME, 2100.0))),
            (placed, "across two CPUs", "typical", None, None, None),
        ],
    );
    let words = |row, column| cell(&rows, placed, row, column).and_then(|it| it.measured_words.clone());
    assert_eq!(words("on one CPU", "switches counted").as_deref(), Some("1.25"));
    assert_eq!(words("across two CPUs", "switches counted"), None);
    assert_eq!(words("placed by the scheduler", "ended on one CPU").as_deref(), Some("97 % of literal runs"));
    assert_eq!(words("on one CPU", "ended on one CPU"), None, "it is by construction");
    let drawn = cell(&rows, read, "100 of /dev/zero", "minimum a read")
        .and_then(|it| it.cell.clone()?.axis)
        .expect("an axis");
    assert_eq!((drawn.at, drawn.short_title.as_deref()), (100, Some("The cost of a system call")));
}

#[test]
fn switches_are_told_in_total_and_each() {
    let mut figures = figures(0.0);
    for (tag, _) in TAGS {
        for (count, ..) in SWITCHES {
            for (kind, ns) in [("barrier", 2e3), ("no_barrier", 3e3)] {
                let one = of(&mut figures, &switches(tag, kind, count));
                set(one, "minimum", ns * count as f64);
                set(one, "median", 2.0 * ns * count as f64);
            }
        }
    }
    let rows = judged(&figures);
    let (free, same) = ("(context_switch): without affinity tags", "(context_switch): the same affinity tag");
    assert_told(
        &rows,
        &[
            (free, "20 in a row", "in total", Some(49.0), Some(40.0), None),
            (free, "20 000 in a row", "in total", Some(39_691.0), Some(40_000.0), None),
            (free, "20 000 in a row", "a switch", Some(2.0), Some(2.0), None),
            (same, "200 in a row", "in total", Some(505.0), Some(400.0), None),
            (same, "20 000 in a row", "a switch", Some(2.4), Some(2.0), Some((SAME, 2000.0))),
            (same, "20 in a row", "median", None, Some(4.0), None),
            (free, "20 in a row", "on one CPU", None, Some(97.0), None),
            (same, "200 in a row", "no barrier", None, Some(3.0), None),
            (same, "200 in a row", "no barrier, median", None, Some(6.0), None),
        ],
    );
    let axis = |column| cell(&rows, same, "200 in a row", column).and_then(|it| it.cell.clone()?.axis);
    assert_eq!(
        (axis("in total").map(|it| it.at), axis("a switch").map(|it| it.at), axis("median")),
        (Some(200), Some(200), None)
    );
    let heading = cell(&rows, same, "200 in a row", "no barrier").and_then(|it| it.cell.clone()?.heading);
    assert_eq!(heading, Some(["no barrier", "least"].map(str::to_owned)));
    assert_eq!(rows.iter().filter(|row| row.place.starts_with("differs: ")).count(), 4);
    for place in ["steps", "not in the document", "a switch on one CPU without the pipe (ours)"] {
        assert!(rows.iter().any(|row| row.place == place && !row.because.is_empty()), "{place}");
    }
}

#[test]
fn the_programs_are_run_in_every_way_that_the_document_has() {
    let ids = (DOCUMENT.literal)(&DocumentParameters { samples: 7, ..DocumentParameters::default() });
    assert_eq!(
        ids[..2],
        ["cold", "touched"].map(|array| format!("context-switch/literal/gettimeofday/{array}/samples_7"))
    );
    assert_eq!(ids[2..5], [100, 1000, 10_000].map(reads));
    let mut switched = Vec::new();
    for tag in ["unpinned", "same_cpu"] {
        for count in [20, 200, 20_000] {
            switched.extend(["barrier", "no_barrier"].map(|kind| switches(tag, kind, count)));
        }
    }
    assert_eq!(ids[5..], switched);
}

#[test]
fn questions_are_answered_by_the_figure_and_else_by_the_longest_program() {
    let mut all = figures(0.0);
    set(of(&mut all, &reads(10_000)), "minimum", 310.0);
    for (tag, us) in [("unpinned", 39_691.0), ("same_cpu", 48_239.0)] {
        set(of(&mut all, &switches(tag, "barrier", 20_000)), "minimum", us * 1e3);
    }
    let cold = of(&mut all, &timestamps("cold", &DocumentParameters::default()));
    set(cold, "equal_run_length", 24.0);
    let asked = |figures: &[oscost_results::Figure], key: &str| {
        let answers = (DOCUMENT.answers)(&Found::of(figures, &[], &[]), &DocumentParameters::default());
        answers.into_iter().find(|answer| answer.key == key).expect("a question").here
    };
    assert_eq!(asked(&all, "same_cpu"), Some(Measured { value: 2.0, low: 1.99, high: 2.01 }));
    assert_eq!(asked(&all, "free"), Some(Literal { value: 39_691.0 / 20_000.0 }));
    assert!(matches!(asked(&all, "read"), Some(Measured { value: 300.0, .. })));
    assert!(matches!(asked(&all, "gettimeofday"), Some(Measured { value: 40.0, .. })));
    assert_eq!(asked(&all, "equal_readings"), Some(Literal { value: 24.0 }));
    assert_eq!(asked(&all, "long_steps"), Some(Literal { value: 215.0 }));
    all.retain(|figure| figure.id.contains("/literal/"));
    assert_eq!(asked(&all, "same_cpu"), Some(Literal { value: 48_239.0 / 20_000.0 }));
    assert_eq!(asked(&all, "read"), Some(Literal { value: 310.0 }));
    assert_eq!(asked(&[], "free"), None);
}
