//! What is told beside document 000's verdicts, and only where it was measured.

use super::*;

#[test]
fn a_part_that_was_not_measured_is_not_told() {
    let (mut figures, ratios) = found_with(47.0, 2.0);
    let with = |figures: &[oscost_results::Figure], words| {
        let rows = judge(&Found::of(figures, &ratios, &[]), &DocumentParameters::default());
        statement(&rows, words).because.clone()
    };
    assert!(!with(&figures, "system call overhead").contains("in one semop"));
    figures.push(figure(ONE_CALL, "floor", 250.0, None));
    let told = with(&figures, "system call overhead");
    assert!(
        told.ends_with("; both operations in one semop cost 250 ns; the entries alone would make 20x"),
        "{told}"
    );
    figures.retain(|figure| figure.id != POSIX && !figure.id.contains("paired"));
    assert!(with(&figures, "system call overhead").ends_with("in one semop cost 250 ns"));
    assert_eq!(
        with(&figures, "33-48x"),
        "there 33 to 48x, here 47.0x (46.8 .. 47.2) in the batches of the price list"
    );
    assert!(
        with(&figures, "increases with operation count")
            .contains("in a single run: no verdict. At the longest")
    );
}

#[test]
fn a_contended_cell_is_drawn_over_its_hold_time() {
    let (_, posix, _) = contention::CELLS[3];
    let mut one = figure(posix, "time_per_operation", 1000.0, None);
    set(&mut one, "blocked_share", 0.25);
    let figures = [one];
    let rows =
        judge(&Found { cpus: Some(4), ..Found::of(&figures, &[], &[]) }, &DocumentParameters::default());
    let table = "Contended by 4 processes on 4 CPUs: a turn by hold time";
    let blocked = cell(&rows, table, "10 us", "POSIX blocked").expect("a cell");
    assert_eq!(blocked.measured_words.as_deref(), Some("25 %"));
    let ratio =
        cell(&rows, table, "10 us", "System V / POSIX").and_then(|row| row.cell.clone()).expect("a cell");
    let axis = ratio.axis.expect("an axis");
    assert_eq!((axis.at, axis.counts.as_str(), axis.short_title.as_deref()), (10, "us held", Some(table)));
}

#[test]
fn how_often_programs_ran_is_told_of_the_longest() {
    let (mut figures, _) = found_with(47.0, 2.0);
    repeat(of(&mut figures, &id("literal/posix_named", 1_000_000)), 3);
    let told =
        growth(&Found::of(&figures, &[], &[]), &DocumentParameters::default()).expect("all are there").1;
    assert!(told.contains("each in 3 runs, their median: no verdict"), "{told}");
}

#[test]
fn every_value_of_the_programs_stands_in_its_place() {
    let (mut figures, ratios) = found_with(40.0, 2.0);
    figures.push(figure(ONE_CALL, "floor", 250.0, Some(1.0)));
    let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
    for (table, row, column, published, literal, answer) in [
        ("the script's table", "1 000", "POSIX time", Some(0.000_013), Some(0.000_013), None),
        ("the script's table", "1 000 000", "System V time", Some(0.439_309), Some(0.439_309), None),
        ("the script's table", "1 000 000", "speed-up", Some(48.1), Some(0.439_309 / 0.009_119), Some(40.0)),
        ("other lines by cycles", "1 000 000", "POSIX rate", None, Some((2e6_f64 / 0.009_119).round()), None),
        ("other lines by cycles", "1 000 000", "System V each", None, Some(219.6545), None),
        ("A cycle", "POSIX", "time", None, Some(9.119), Some(10.0)),
        ("A cycle", "System V", "time", None, Some(439.309), Some(400.0)),
        ("A cycle", "System V in one semop (ours)", "time", None, None, Some(250.0)),
        ("A cycle", "an empty kernel entry (ours)", "time", None, None, Some(100.0)),
        ("A cycle", "System V", "system calls", None, None, Some(2.0)),
        ("A cycle", "System V in one semop (ours)", "system calls", None, None, Some(1.0)),
    ] {
        let it = cell(&rows, table, row, column).expect("a cell");
        assert_eq!(it.published, published, "{row}, {column}");
        assert_eq!(it.measured.map(|it| it.value), answer, "{row}, {column}");
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let told = it.literal.zip(literal).map_or(it.literal == literal, |(a, b)| close(a, b));
        assert!(told, "{row}, {column}: {:?}", it.literal);
    }
    assert_eq!(rows.iter().filter(|row| row.place.starts_with("differs: ")).count(), 4);
    assert!(rows.iter().any(|row| row.place == "not in the document"));
}

#[test]
fn a_run_that_took_no_time_has_neither_rate_nor_ratio() {
    let (mut figures, _) = found_with(40.0, 2.0);
    set(of(&mut figures, &id("literal/posix_named", 1000)), "elapsed", 0.0);
    let found = Found::of(&figures, &[], &[]);
    let rows = judge(&found, &DocumentParameters::default());
    let literal = |table, column| cell(&rows, table, "1 000", column).expect("a cell").literal;
    assert_eq!(
        (literal("the script's table", "speed-up"), literal("other lines", "POSIX rate")),
        (None, None)
    );
    assert_eq!(literal("other lines", "POSIX each"), Some(0.0));
    let table = script_table(&found, &DocumentParameters::default());
    assert!(table.contains("|       1000 |       0.000000 |          0.000437 |        - |"), "{table}");
}

#[test]
fn questions_are_answered_by_what_was_measured_and_else_by_the_programs() {
    use oscost_results::AnswerHere::{Literal, Measured};
    let (mut figures, _) = found_with(40.0, 2.0);
    let asked = |figures: &[oscost_results::Figure], operations: &[u64]| {
        let parameters = DocumentParameters { operations: operations.to_vec(), ..Default::default() };
        (DOCUMENT.answers)(&Found::of(figures, &[], &[]), &parameters)
    };
    let here = |answers: &[oscost_results::Answer], key: &str| {
        answers.iter().find(|answer| answer.key == key).expect("a question").here
    };
    let all = asked(&figures, &[1000, 1_000_000]);
    assert!(matches!(here(&all, "speed_up"), Some(Measured { value: 40.0, .. })), "{all:?}");
    assert!(all[0].why.starts_with("System V enters the kernel twice a cycle"), "it was counted");
    assert!(
        matches!(here(&all, "speed_up_short"), Some(Literal { value }) if (value - 437.0 / 13.0).abs() < 1e-6)
    );
    assert!(matches!(here(&all, "posix_time"), Some(Literal { value }) if (value - 0.009_119).abs() < 1e-9));
    assert!(
        matches!(here(&all, "system_v_time"), Some(Literal { value }) if (value - 0.439_309).abs() < 1e-9)
    );
    assert!(
        matches!(here(&all, "posix_rate"), Some(Measured { value: 200.0, low, high }) if low < 200.0 && high > 200.0)
    );
    assert!(matches!(here(&all, "system_v_rate"), Some(Measured { value: 5.0, .. })));
    figures.retain(|figure| figure.id.contains("literal"));
    assert!(
        matches!(here(&asked(&figures, &[1_000_000]), "speed_up"), Some(Literal { value }) if (value - 48.175).abs() < 1e-3)
    );
    let keys: Vec<String> = asked(&figures, &[5]).into_iter().map(|answer| answer.key).collect();
    assert_eq!(keys, ["posix_rate", "system_v_rate"], "counts that were not run are not asked");
}
