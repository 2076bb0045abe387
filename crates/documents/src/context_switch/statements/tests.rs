//! Bounds of document 004's verdicts, a case on each side of each and one on it, and the numbers that are told beside them.

use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged, Unclear};

use super::*;
use crate::context_switch::DOCUMENT;
use crate::context_switch::tests::figures;
use crate::found::test::{figure, judged_by, of, repeat, set, set_within};

#[test]
fn a_tail_is_long_from_thirty_means_on() {
    for (gap, expected) in [
        ((1200.0, 1300.0), [Holds, DoesNotHold]),
        ((1300.0, 1500.0), [Holds, DoesNotHold]),
        ((1100.0, 1300.0), [Unclear, NotJudged]),
        ((1000.0, 1190.0), [DoesNotHold, NotJudged]),
    ] {
        let mut figures = figures(0.0);
        set_within(of(&mut figures, STEP), "step", 1000.0, 1000.0);
        set_within(of(&mut figures, STEP), "largest_step", gap.0 + 1000.0, gap.1 + 1000.0);
        set_within(of(&mut figures, "clock/gettimeofday"), "typical", 40.0, 40.0);
        let judged = ["long-tailed", "exponential"].map(|words| judged_by(&DOCUMENT, &figures, words));
        assert_eq!(judged.each_ref().map(|it| it.0), expected, "{gap:?}: {}", judged[0].1);
        assert!(judged[1].1.ends_with(&judged[0].1), "{}", judged[1].1);
        let grain = judged[1].1.starts_with("this clock steps by 1 us");
        assert_eq!(grain, expected[0] != Holds, "{}", judged[1].1);
    }
    let mut figures = figures(0.0);
    set_within(of(&mut figures, STEP), "step", 1000.0, 1000.0);
    set_within(of(&mut figures, STEP), "largest_step", 500.0, 1000.0);
    set_within(of(&mut figures, "clock/gettimeofday"), "typical", 1.0, 1.0);
    let told = judged_by(&DOCUMENT, &figures, "long-tailed").1;
    let expected =
        "the largest gap of a launch is 0.0x a call; an exponential distribution exceeds 30 times its mean";
    assert!(told.starts_with(expected), "no gap is shorter than nothing: {told}");
}

#[test]
fn all_runs_are_near_the_minimum_where_nineteen_of_twenty_are() {
    for (share, expected) in [
        ((0.95, 1.0), Holds),
        ((0.96, 0.98), Holds),
        ((0.94, 0.96), Unclear),
        ((0.96, 1.2), Unclear),
        ((0.9, 0.94), DoesNotHold),
    ] {
        let mut figures = figures(0.0);
        for (count, _) in READS {
            let one = of(&mut figures, &reads(count));
            set_within(one, "near_minimum", share.0, share.1);
            repeat(one, 6);
        }
        assert_eq!(judged_by(&DOCUMENT, &figures, "all the runs").0, expected, "{share:?}");
    }
    let mut figures = figures(0.0);
    for ((count, _), low) in READS.into_iter().zip([0.90, 0.94, 0.96]) {
        let one = of(&mut figures, &reads(count));
        set_within(one, "near_minimum", low, low + 0.02);
        repeat(one, 6);
    }
    let (judgement, told) = judged_by(&DOCUMENT, &figures, "all the runs");
    assert_eq!(judgement, HoldsInPart, "{told}");
    assert!(
        told.starts_with(
            "near the minimum are 91 % (90 .. 92), 95 % (94 .. 96), 97 % (96 .. 98) of the runs"
        ),
        "{told}"
    );
}

#[test]
fn steps_are_rare_from_one_to_a_hundredth_of_all() {
    let id = timestamps("cold", &DocumentParameters::default());
    for (steps, samples, expected) in [
        ((1.0, 1000.0), 100_000, Holds),
        ((1.2, 1.4), 100_000, Holds),
        ((0.5, 2.0), 100_000, Unclear),
        ((900.0, 1100.0), 100_000, Unclear),
        ((1100.0, 1400.0), 100_000, DoesNotHold),
        ((0.0, 0.9), 100_000, Unclear),
        // Of fifty steps a half is a hundredth.
        ((0.6, 0.9), 50, Unclear),
        ((0.6, 1.0), 50, DoesNotHold),
        ((0.6, 1.2), 50, DoesNotHold),
    ] {
        let mut cold = figure(&id, "steps_over_10us", 1.0, None);
        set_within(&mut cold, "steps_over_10us", steps.0, steps.1);
        repeat(&mut cold, 6);
        let (judgement, told) =
            judged_rare(&Found::of(&[cold], &[], &[]), &id, samples).expect("often enough");
        assert_eq!(judgement, expected, "{steps:?} of {samples}: {told}");
        if steps.1 == 1100.0 {
            assert!(
                told.starts_with("1000 (900 .. 1100) of 100 000 steps are over 10 us; one and more"),
                "{told}"
            );
        }
    }
}

#[test]
fn a_barrier_gains_significantly_from_a_tenth_on_and_more_for_few_switches() {
    for (few, many, expected) in [
        ((1.1, 1.2), (1.0, 1.05), Holds),
        ((1.2, 1.4), (1.0, 1.1), Holds),
        ((1.05, 1.2), (1.0, 1.04), Unclear),
        ((1.05, 1.09), (1.0, 1.04), HoldsInPart),
        ((1.2, 1.4), (1.5, 1.6), HoldsInPart),
        ((1.0, 1.09), (1.5, 1.6), DoesNotHold),
    ] {
        let mut figures = figures(0.0);
        for (count, gain) in [(20, few), (20_000, many)] {
            for (kind, (low, high)) in [("barrier", (1.0, 1.0)), ("no_barrier", gain)] {
                let one = of(&mut figures, &switches("same_cpu", kind, count));
                set_within(one, "minimum", low, high);
                repeat(one, 6);
            }
        }
        let (judgement, told) = judged_by(&DOCUMENT, &figures, "significantly lower");
        assert_eq!(judgement, expected, "{few:?} {many:?}: {told}");
    }
}

/// Runs of the programs with these minima, us: of 20, 200 and 20 000 switches.
#[test]
fn the_minima_of_the_programs_are_told_in_us() {
    let mut figures = figures(0.0);
    let mut minimum = |tag, kind, count, us: f64| {
        set(of(&mut figures, &switches(tag, kind, count)), "minimum", us * 1e3);
    };
    for (count, with, without) in [(20, 50.0, 70.0), (200, 440.0, 500.0), (20_000, 48_239.0, 50_000.0)] {
        minimum("same_cpu", "barrier", count, with);
        minimum("same_cpu", "no_barrier", count, without);
    }
    minimum("unpinned", "barrier", 20_000, 39_691.0);
    for (array, ns) in [("cold", 16_000.0), ("touched", 9000.0)] {
        set(of(&mut figures, &timestamps(array, &DocumentParameters::default())), "largest_step", ns);
    }
    set_within(of(&mut figures, STEP), "equal_run_length", 20.0, 30.0);
    for (words, expected) in [
        ("25 consecutive", "there 25 equal readings in a row, here 25 (20 .. 30)"),
        (
            "39691",
            "there ~2 us, here 39 691 us total, 1.98 us/switch: the minimum, as there, in a single run",
        ),
        (
            "48239",
            "there ~2.4 us, here 48 239 us total, 2.41 us/switch: the minimum, as there, in a single run",
        ),
        (
            "significantly lower",
            "minima, as there: a switch without the barrier takes, on one CPU, 20 in a row 3.50 instead of 2.50 us, 200 in a \
             row 2.50 instead of 2.20 us, 20 000 in a row 2.50 instead of 2.41 us; fewer than 6 runs, so no verdict",
        ),
        (
            "around 50",
            "there 50 us, here 16 us with a new array, 9 us with one touched before, each in a single run; 50 us in the \
             launches of the price list (touched)",
        ),
    ] {
        assert_eq!(judged_by(&DOCUMENT, &figures, words).1, expected);
    }
}

#[test]
fn what_was_not_run_is_not_told() {
    let bare = |words| judged_by(&DOCUMENT, &[], words);
    for words in ["around 50", "~2 microseconds", "20%", "clock adjustments", "215 times", "~300"] {
        assert_eq!(
            bare(words),
            (Judgement::NotTestableHere, "a figure that it needs was not measured in this run".to_owned()),
            "{words}"
        );
    }
    assert_eq!(bare("(2)").1, "Linux has no affinity tags");
    assert!(
        bare("about as long").1.ends_with("follows from (3), so no verdict"),
        "{}",
        bare("about as long").1
    );
}
