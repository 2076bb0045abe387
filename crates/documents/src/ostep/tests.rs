//! Document 003 held against machines whose numbers are known.

use super::*;
use crate::found::test::{assert_named, figure, judged_by, of, repeat, set, set_within, statement};

fn figures(call: f64, calls: f64) -> Vec<oscost_results::Figure> {
    let parameters = DocumentParameters::default();
    let mut figures = vec![
        figure(CALL, "floor", call, Some(calls)),
        figure("syscall/getpid", "floor", call * 0.9, Some(calls)),
        figure("instrument/empty_loop", "floor", 0.3, Some(0.0)),
        figure("clock/monotonic", "floor", 22.0, Some(0.0)),
        figure("clock/step/gettimeofday", "step", 1000.0, Some(0.0)),
        figure("clock/step/monotonic", "step", 1.0, Some(0.0)),
        figure("clock/step/tsc", "step", if calls > 0.0 { 0.3 } else { 10.0 }, Some(0.0)),
        figure(&one_shot(), "difference", 900.0, Some(1.0)),
    ];
    for (id, typical) in [(CALL, call), ("syscall/getpid", call * 0.9)] {
        set(of(&mut figures, id), "typical", typical * 1.1);
    }
    for (form, _) in FORMS {
        figures.push(figure(&looped("loop", form, &parameters), "average", call * 1.5, Some(calls)));
        let mut minus = figure(&looped("loop_minus_loop", form, &parameters), "average", call * 1.4, None);
        set(&mut minus, "with_call", call * 1.5);
        set(&mut minus, "without_call", call * 0.1);
        figures.push(minus);
    }
    figures
}

fn verdict(figures: &[oscost_results::Figure], words: &str) -> Judgement {
    judged_by(&DOCUMENT, figures, words).0
}

#[test]
fn a_call_that_enters_the_kernel_is_told_from_one_that_does_not() {
    let real = figures(140.0, 1.0);
    assert_eq!(verdict(&real, "// system call"), Judgement::Holds);
    assert_eq!(verdict(&real, ".539 GHz"), Judgement::DoesNotHold);
    assert_eq!(verdict(&real, "sub-nano"), Judgement::DoesNotHold);
    assert_eq!(verdict(&real, "might not provide"), Judgement::Holds, "1000 ns for 140");
    assert_eq!(verdict(&real, "StackOverflow"), Judgement::Holds, "1000 ns and 1 ns");
    assert_eq!(verdict(&real, "is too low"), Judgement::DoesNotHold, "1 ns for 140");
    let cached = figures(1.9, 0.0);
    assert_eq!(verdict(&cached, "// system call"), Judgement::DoesNotHold);
    assert_eq!(verdict(&cached, ".539 GHz"), Judgement::Holds);
    assert_eq!(verdict(&cached, "sub-nano"), Judgement::Holds);
}

/// A clock that follows a timer steps as far by either name.
#[test]
fn advice_helps_where_the_clock_that_is_advised_steps_by_less() {
    let mut figures = figures(140.0, 1.0);
    let told = |figures: &[oscost_results::Figure]| judged_by(&DOCUMENT, figures, "StackOverflow");
    let (judgement, because) = told(&figures);
    assert!(judgement == Judgement::Holds && because.contains("here, so the advice helps;"), "{because}");
    for clock in ["clock/step/gettimeofday", "clock/step/monotonic"] {
        set_within(of(&mut figures, clock), "step", 4e6, 4e6);
    }
    let (judgement, because) = told(&figures);
    assert_ne!(judgement, Judgement::Holds);
    assert!(because.contains("steps of 4000000 ns and 4000000 ns here;"), "{because}");
    let disturbs = |step: f64| {
        let mut figures = figures.clone();
        set_within(of(&mut figures, "clock/step/monotonic"), "step", step, step);
        judged_by(&DOCUMENT, &figures, "is too low").1.contains("disturb more")
    };
    assert_eq!([1.0, 40.0, 4e6].map(disturbs), [true, false, false], "a reading takes 22 ns");
}

#[test]
fn numbers_of_its_machine_and_of_single_runs_are_not_judged() {
    let figures = figures(140.0, 1.0);
    for words in ["produces 0 ns", "order of magnitude higher", "more than half"] {
        assert_eq!(verdict(&figures, words), Judgement::ItsMachine, "{words}");
    }
    for words in ["extra time", "should just be"] {
        assert_eq!(verdict(&figures, words), Judgement::NotJudged, "{words}");
    }
}

#[test]
fn a_loop_that_a_compiler_deletes_was_not_kept() {
    let words = "optimizing out the loop";
    let compiled = |o3: f64, runs: u32| {
        let mut all = figures(140.0, 1.0);
        for (level, pass) in [("o2", 0.3), ("o3", o3)] {
            let mut one = figure(&format!("c/loop_alone_{level}"), "converted", pass, None);
            repeat(&mut one, runs);
            all.push(one);
        }
        verdict(&all, words)
    };
    assert_eq!(verdict(&figures(140.0, 1.0), words), Judgement::NotTestableHere, "no --c");
    assert_eq!(compiled(0.000_002, 5), Judgement::NotTestableHere, "five runs have no interval");
    assert_eq!(compiled(0.000_002, 6), Judgement::HoldsInPart, "-O3 deletes it");
    assert_eq!(compiled(0.3, 6), Judgement::Holds);
}

#[test]
fn published_values_stand_whatever_was_measured() {
    let found = Found::of(&[], &[], &[]);
    let rows = judge(&found, &DocumentParameters::default());
    let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
    assert_eq!(published, [0.0, 3.120, 1.855, 0.286, 3.120, 1.855, 300.0]);
    assert!(rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere));
}

/// Numbers that follow from 140 ns a call, 0.3 ns a pass of the empty loop, 22 ns a reading.
#[test]
fn the_numbers_that_decide_are_told() {
    let mut figures = figures(140.0, 1.0);
    let o0 = looped("loop_minus_loop", "o0", &DocumentParameters::default());
    figures.iter_mut().filter(|figure| figure.id == o0).for_each(|figure| set(figure, "without_call", 42.0));
    for (words, expected) in [
        ("produces 0 ns", "900 ns, cold and once"),
        ("might not provide", "its step is 1000 ns, the call costs 140 ns"),
        ("StackOverflow", "steps of 1000 ns and 1 ns"),
        (
            "is too low",
            "the step here is 1 ns, 1 % of the call's 140 ns; the reading's own 22 ns and the cold first call disturb more",
        ),
        ("// system call", "here each call enters the kernel 1.000 times"),
        ("sub-nano", "the time stamp counter, steps by 0.300 ns"),
        ("order of magnitude higher", "210.0 ns a pass in a single run, 700 times a cycle of 0.300 ns"),
        (
            "extra time",
            "42.00 ns a pass as -O0 leaves it (20.0 % of the result), 14.00 ns as -O2 does (6.7 %)",
        ),
        ("should just be", "196.0 ns beside the 154.0 ns that the call through libc typically takes: +27 %"),
        ("should just be", "the call inline takes 138.6 ns"),
        ("more than half", "93 % in a single run"),
        (
            ".539 GHz",
            "1 / 140 ns = 0.0071 GHz; the clock runs at 3.3 GHz here, 466.7x (462.0 .. 471.4) as fast",
        ),
    ] {
        let told = judged_by(&DOCUMENT, &figures, words).1;
        assert!(told.contains(expected), "{words}: {told}");
    }
}

#[test]
fn programs_that_ran_often_enough_are_judged() {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged};
    let judged = |runs: u32, without: f64, left: f64| {
        let mut figures = figures(140.0, 1.0);
        for (form, _) in FORMS {
            let one = of(&mut figures, &looped("loop_minus_loop", form, &DocumentParameters::default()));
            set(one, "with_call", 150.0);
            set(one, "without_call", without);
            set(one, "average", left);
            repeat(one, runs);
        }
        ["extra time", "should just be"].map(|words| verdict(&figures, words))
    };
    assert_eq!(judged(5, 60.0, 140.0), [NotJudged; 2], "five runs have no interval of 95 %");
    assert_eq!(judged(6, 60.0, 154.0), [Holds, Holds]);
    assert_eq!(judged(6, 5.0, 180.0), [HoldsInPart, DoesNotHold], "time that changes little");
}

#[test]
fn bounds_are_where_the_document_has_them() {
    use Judgement::{DoesNotHold, Holds, Unclear};
    for ((low, high), expected) in
        [((1.0, 2.0), Holds), ((1.2, 1.4), Holds), ((0.9, 1.2), Unclear), ((0.8, 0.99), DoesNotHold)]
    {
        let mut figures = figures(140.0, 1.0);
        set_within(of(&mut figures, "clock/step/tsc"), "step", low, high);
        assert_eq!(verdict(&figures, "sub-nano"), expected, "{low} to {high}");
    }
    // Cycles that a call takes, where one takes 1 ns to the last bit.
    for ((low, high), expected) in [
        ((0.1, 10.0), Holds),
        ((0.11, 0.12), Holds),
        ((9.0, 11.0), Unclear),
        ((11.0, 12.0), DoesNotHold),
        ((0.08, 0.09), DoesNotHold),
    ] {
        let mut figures = figures(140.0, 1.0);
        set_within(of(&mut figures, "instrument/empty_loop"), "floor", 1.0, 1.0);
        set_within(of(&mut figures, CALL), "floor", low, high);
        assert_eq!(verdict(&figures, ".539 GHz"), expected, "{low} to {high}");
    }
}

#[test]
fn a_statement_names_what_decides_it() {
    let figures = figures(140.0, 1.0);
    let rows = judge(&Found::of(&figures, &[], &[]), &DocumentParameters::default());
    let named = [
        ("might not provide", "clock/step/gettimeofday", "step"),
        ("StackOverflow", "clock/step/monotonic", "step"),
        ("is too low", "clock/step/monotonic", "step"),
        ("// system call", CALL, "system_calls"),
        ("sub-nano", "clock/step/tsc", "step"),
        (".539 GHz", CALL, "floor"),
    ];
    assert_named(&rows, &named);
    for (words, id, quantity) in named.into_iter().filter(|(.., quantity)| *quantity != "system_calls") {
        let own = figures.iter().find(|figure| figure.id == id).expect("a figure");
        assert_eq!(statement(&rows, words).measured, Some(own.quantities[quantity].estimate), "{words}");
    }
    assert_eq!(statement(&rows, "// system call").measured.map(|it| it.value), Some(1.0));
}

/// A value as the tables have it: row and column or place, published, literal, and what answers it.
type Told<'a> = (&'a str, Option<f64>, Option<f64>, Option<(&'a str, f64)>);

#[test]
fn every_value_stands_in_its_place() {
    const SAME: &str = "context_switch/pipe/same_cpu";
    const CROSS: &str = "context_switch/pipe/cross_cpu";
    let mut figures = figures(140.0, 1.0);
    set(of(&mut figures, &one_shot()), "over_second", -9e8);
    figures.extend([
        figure(ENTRY, "floor", 80.0, Some(1.0)),
        figure(READ, "floor", 150.0, Some(1.0)),
        figure("clock/step/monotonic_raw", "step", 2.0, None),
        figure("clock/step/monotonic_coarse", "step", 4e6, None),
        figure("clock/step/realtime", "step", 3.0, None),
        figure(SAME, "floor", 2000.0, None),
        figure(CROSS, "floor", 9000.0, None),
    ]);
    let rows = judge(&Found::of(&figures, &[], &[]), &DocumentParameters::default());
    let call = Some((CALL, 140.0));
    let empty_loop = Some(("instrument/empty_loop", 0.3));
    let expected: [Told<'_>; 39] = [
        ("1 one shot, getpid", Some(0.0), Some(900.0), call),
        ("1 one shot, kernel entries", None, Some(1.0), None),
        ("1 over a second: its flaw (ours), getpid", None, Some(-9e8), None),
        ("1 over a second: its flaw (ours), kernel entries", None, Some(1.0), None),
        ("2 loop, -O0 form, getpid", Some(3.120), Some(210.0), call),
        ("2 loop, -O0 form, kernel entries", None, Some(1.0), None),
        ("2 loop, -O2 form, getpid", None, Some(210.0), call),
        ("2 loop, -O2 form, kernel entries", None, Some(1.0), None),
        ("3 loop minus loop, -O0 form, getpid", Some(1.855), Some(196.0), call),
        ("3 loop minus loop, -O0 form, kernel entries", None, None, None),
        ("3 loop minus loop, -O2 form, getpid", None, Some(196.0), call),
        ("3 loop minus loop, -O2 form, kernel entries", None, None, None),
        ("flaws", None, None, None),
        ("damaged, or not in the document", None, None, None),
        ("a simple operation under ideal conditions", Some(0.286), None, empty_loop),
        ("003: getpid, the loop, price", Some(3.120), None, call),
        ("003: getpid, the loop, kernel entries here", None, None, Some((CALL, 1.0))),
        ("003: getpid, loop minus loop, price", Some(1.855), None, call),
        ("003: getpid, loop minus loop, kernel entries here", None, None, Some((CALL, 1.0))),
        ("004: a read of 0 bytes, price", Some(300.0), None, Some((READ, 150.0))),
        ("004: a read of 0 bytes, kernel entries here", None, None, Some((READ, 1.0))),
        ("a call that the kernel refuses (ours), price", None, None, Some((ENTRY, 80.0))),
        ("a call that the kernel refuses (ours), kernel entries here", None, None, Some((ENTRY, 1.0))),
        ("gettimeofday, step", None, None, Some(("clock/step/gettimeofday", 1000.0))),
        ("monotonic, step", None, None, Some(("clock/step/monotonic", 1.0))),
        ("monotonic_raw, step", None, None, Some(("clock/step/monotonic_raw", 2.0))),
        ("monotonic_coarse, step", None, None, Some(("clock/step/monotonic_coarse", 4e6))),
        ("realtime, step", None, None, Some(("clock/step/realtime", 3.0))),
        ("tsc, step", None, None, Some(("clock/step/tsc", 0.3))),
        ("two pipes, both pinned to one CPU, a message", None, None, Some((SAME, 2000.0))),
        ("two pipes, both pinned to one CPU, switches", None, None, None),
        ("two pipes, both pinned to one CPU, system calls", None, None, None),
        ("two pipes, two CPUs, a message", None, None, Some((CROSS, 9000.0))),
        ("two pipes, two CPUs, switches", None, None, None),
        ("two pipes, two CPUs, system calls", None, None, None),
        ("the same calls in one process, a message", None, None, None),
        ("the same calls in one process, switches", None, None, None),
        ("the same calls in one process, system calls", None, None, None),
        ("the switch alone, a message", None, None, None),
    ];
    let differs = |row: &&Reproduction| row.place.starts_with("differs: ");
    assert_eq!(rows.iter().filter(differs).count(), 4);
    let is_value = |row: &&Reproduction| row.statement.is_none() && !differs(row);
    let values: Vec<&Reproduction> = rows.iter().filter(is_value).collect();
    assert_eq!(values.len(), expected.len());
    for (row, (name, published, literal, answer)) in values.into_iter().zip(expected) {
        let place = row.cell.as_ref().map_or(row.place.clone(), |it| format!("{}, {}", it.row, it.column));
        assert_eq!((place.as_str(), row.published, row.literal), (name, published, literal));
        let answered = row.figure_id.as_deref().zip(row.measured.map(|it| it.value));
        assert_eq!(answered, answer, "{name}");
        let of_entry = name.starts_with("a call that the kernel refuses (ours), kernel");
        assert_eq!(row.because.contains("has not entered the kernel"), of_entry, "{name}: {}", row.because);
    }
}

#[test]
fn the_three_programs_are_run_by_the_passes_that_were_asked_for() {
    let parameters = DocumentParameters { iterations: 7, ..DocumentParameters::default() };
    let expected = [
        "ostep/literal/one_shot/iterations_1",
        "ostep/literal/loop/o0/iterations_7",
        "ostep/literal/loop_minus_loop/o0/iterations_7",
        "ostep/literal/loop/o2/iterations_7",
        "ostep/literal/loop_minus_loop/o2/iterations_7",
    ];
    assert_eq!(literal(&parameters), expected);
}

/// A program that ran six times, whose quantities have these very ends.
fn often(form: &str, quantities: &[(&str, (f64, f64))]) -> Vec<oscost_results::Figure> {
    let mut figures = figures(140.0, 1.0);
    set_within(of(&mut figures, CALL), "typical", 100.0, 100.0);
    let one = of(&mut figures, &looped("loop_minus_loop", form, &DocumentParameters::default()));
    for (quantity, (low, high)) in quantities {
        set_within(one, quantity, *low, *high);
    }
    repeat(one, 6);
    figures
}

#[test]
fn a_tenth_is_noticeable() {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, Unclear};
    for (without, expected) in [
        ((14.0, 16.0), Holds),
        ((17.0, 19.0), Holds),
        ((13.0, 15.0), HoldsInPart),
        ((0.5, 9.5), HoldsInPart),
        ((0.0, 10.0), DoesNotHold),
    ] {
        let figures = often("o0", &[("with_call", (150.0, 150.0)), ("without_call", without)]);
        let (judgement, because) = judged_by(&DOCUMENT, &figures, "extra time");
        assert_eq!(judgement, expected, "{without:?}: {because}");
    }
    let told = judged_by(&DOCUMENT, &often("o0", &[("with_call", (150.0, 150.0))]), "extra time").1;
    assert!(
        told.starts_with("the -O0 loop without the call takes 14.00 ns a pass: 9.3 % of the result; under"),
        "{told}"
    );
    for (left, expected) in [
        ((90.0, 110.0), Holds),
        ((91.0, 109.0), Holds),
        ((88.0, 95.0), Unclear),
        ((105.0, 112.0), Unclear),
        ((86.0, 89.0), DoesNotHold),
        ((111.0, 114.0), DoesNotHold),
    ] {
        let (judgement, because) = judged_by(&DOCUMENT, &often("o2", &[("average", left)]), "should just be");
        assert_eq!(judgement, expected, "{left:?}: {because}");
    }
}

#[test]
fn a_loop_is_kept_that_takes_a_tenth_of_a_cycle_in_both_builds() {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, Unclear};
    let judged = |passes: [(f64, f64); 2]| {
        let mut figures = figures(140.0, 1.0);
        set_within(of(&mut figures, EMPTY_LOOP), "floor", 1.0, 1.0);
        for (level, (low, high)) in ["o2", "o3"].into_iter().zip(passes) {
            let mut one = figure(&format!("c/loop_alone_{level}"), "converted", 1.0, None);
            set_within(&mut one, "converted", low, high);
            repeat(&mut one, 6);
            figures.push(one);
        }
        judged_by(&DOCUMENT, &figures, "optimizing out the loop")
    };
    let (kept, deleted) = ((0.1, 0.14), (0.08, 0.09));
    assert_eq!(judged([kept, kept]).0, Holds);
    assert_eq!(judged([deleted, kept]).0, HoldsInPart);
    assert_eq!(judged([kept, (0.09, 0.12)]).0, Unclear);
    let (judgement, because) = judged([deleted, deleted]);
    assert_eq!(judgement, DoesNotHold);
    assert!(because.contains("takes 0.085000 ns at -O2 and 0.085000 ns at -O3"), "{because}");
}

#[test]
fn a_step_is_held_against_what_it_has_to_measure() {
    use Judgement::{DoesNotHold, Holds, Unclear};
    for (day, monotonic, expected) in [
        (1000.0, 35.0, [Holds, Holds, DoesNotHold]),
        (20.0, 1000.0, [DoesNotHold, DoesNotHold, Holds]),
        (140.0, 140.0, [Unclear; 3]),
    ] {
        let mut figures = figures(140.0, 1.0);
        set(of(&mut figures, "clock/step/gettimeofday"), "step", day);
        set(of(&mut figures, "clock/step/monotonic"), "step", monotonic);
        let judged =
            ["might not provide", "StackOverflow", "is too low"].map(|words| verdict(&figures, words));
        assert_eq!(judged, expected, "{day} {monotonic}");
        let share = format!("here is {monotonic} ns, {:.0} % of the call's 140 ns", monotonic / 1.4);
        let told = judged_by(&DOCUMENT, &figures, "is too low").1;
        assert!(told.contains(&share), "{told}");
    }
}
