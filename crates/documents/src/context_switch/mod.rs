//! Document 004: the precision of gettimeofday, a read of 0 bytes, the context switch by two pipes.

mod answers;
mod methods;
mod statements;
mod values;

pub use methods::{Reads, Switches, Timestamps};

use oscost_results::{Reproduction, document};

use crate::Document;
use crate::found::{Found, Rows};
use crate::parameters::{DocumentParameters, SAMPLES};

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::CONTEXT_SWITCH,
    settings: &[SAMPLES],
    figures: &[
        "clock/gettimeofday",
        "clock/step/gettimeofday",
        "clock/step/gettimeofday/cold",
        "syscall/invalid",
        "syscall/read0_devzero",
        "syscall/read0_pipe",
        "syscall/read0_file",
        "context_switch/pipe/same_cpu",
        "context_switch/pipe/cross_cpu",
        "context_switch/pipe/unpinned",
    ],
    first: |_| {
        [SAME, CROSS, READ, "syscall/invalid", "clock/gettimeofday", statements::STEP]
            .map(str::to_owned)
            .to_vec()
    },
    literal,
    rows: judge,
    answers: answers::answers,
};

const READ: &str = "syscall/read0_devzero";
const SAME: &str = "context_switch/pipe/same_cpu";
const ALONE: &str = "context_switch/pipe_alone/same_cpu";
const CROSS: &str = "context_switch/pipe/cross_cpu";
const UNPINNED: &str = "context_switch/pipe/unpinned";
/// Reads in a row, and ns a read as published.
const READS: [(u64, f64); 3] = [(100, 330.0), (1000, 302.0), (10_000, 302.0)];
/// Switches in a row; us in total, and us a switch as the document rounds them: without affinity tags, with the same one.
const SWITCHES: [(u64, [f64; 2], [f64; 2]); 3] = [
    (20, [49.0, 49.0], [2.5, 2.5]),
    (200, [463.0, 505.0], [2.3, 2.5]),
    (20_000, [39_691.0, 48_239.0], [2.0, 2.4]),
];
/// Placements of the literal program, and the words for them.
const TAGS: [(&str, &str); 2] =
    [("unpinned", "without affinity tags"), ("same_cpu", "the same affinity tag (here: one CPU)")];

fn timestamps(array: &str, parameters: &DocumentParameters) -> String {
    format!("context-switch/literal/gettimeofday/{array}/samples_{}", parameters.samples)
}

fn reads(count: u64) -> String {
    format!("context-switch/literal/read0/in_a_row_{count}")
}

fn switches(tag: &str, barrier: &str, count: u64) -> String {
    format!("context-switch/literal/switches/{tag}/{barrier}/in_a_row_{count}")
}

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    let mut ids = vec![timestamps("cold", parameters), timestamps("touched", parameters)];
    ids.extend(READS.map(|(count, _)| reads(count)));
    for (tag, _) in TAGS {
        for (count, ..) in SWITCHES {
            ids.extend(["barrier", "no_barrier"].map(|barrier| switches(tag, barrier, count)));
        }
    }
    ids
}

fn judge(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.founding.name);
    values::precision(found, parameters, &mut rows);
    values::system_call(found, &mut rows);
    values::switch_values(found, &mut rows);
    statements::statements(found, parameters, &mut rows);
    rows.rows
}

#[cfg(test)]
mod tests {
    use oscost_results::Judgement;

    use super::statements::STEP;
    use super::*;
    use crate::found::test::{assert_named, figure, judged_by, of, repeat, set, set_within, statement};

    /// A machine like the document's, but for the clock, which may have been set back.
    pub(super) fn figures(backward: f64) -> Vec<oscost_results::Figure> {
        let parameters = DocumentParameters::default();
        let mut step = figure(STEP, "backward_steps", backward, None);
        for (name, value) in [("equal_run_length", 25.0), ("largest_step", 50_000.0)] {
            set(&mut step, name, value);
        }
        let mut figures = vec![
            figure(READ, "floor", 300.0, Some(1.0)),
            figure("syscall/invalid", "floor", 100.0, Some(1.0)),
            figure("clock/gettimeofday", "floor", 40.0, Some(0.0)),
            step,
            figure(UNPINNED, "floor", 2000.0, None),
            figure(SAME, "floor", 2000.0, None),
            figure(CROSS, "floor", 9000.0, None),
        ];
        for (array, steps) in [("cold", 215.0), ("touched", 2.0)] {
            let mut one = figure(&timestamps(array, &parameters), "steps_over_1us", steps, None);
            set(&mut one, "steps_over_10us", steps);
            set(&mut one, "backward_steps", 0.0);
            figures.push(one);
        }
        figures.extend(READS.map(|(count, _)| figure(&reads(count), "near_minimum", 0.99, None)));
        for (tag, share) in [("unpinned", 0.97), ("same_cpu", 1.0)] {
            for (count, ..) in SWITCHES {
                for (kind, median) in [("barrier", 100.0), ("no_barrier", 100.0 + 1000.0 / count as f64)] {
                    let mut one = figure(&switches(tag, kind, count), "median", median, None);
                    set(&mut one, "minimum", median);
                    set(&mut one, "shared_cpu", share);
                    set(&mut one, "spread", 0.19);
                    figures.push(one);
                }
            }
        }
        figures
    }

    fn verdict(figures: &[oscost_results::Figure], words: &str) -> Judgement {
        judged_by(&DOCUMENT, figures, words).0
    }

    #[test]
    fn what_follows_from_a_supposition_has_no_verdict() {
        for across in [2100.0, 9000.0] {
            let mut figures = figures(0.0);
            set(of(&mut figures, CROSS), "floor", across);
            assert_eq!(verdict(&figures, "about as long"), Judgement::NotJudged, "{across}");
        }
    }

    #[test]
    fn a_gap_that_no_exponential_distribution_has_is_a_long_tail() {
        let with = |largest: f64| {
            let mut figures = figures(0.0);
            set(of(&mut figures, STEP), "step", 1000.0);
            set(of(&mut figures, STEP), "largest_step", largest);
            set(of(&mut figures, "clock/gettimeofday"), "typical", 40.0);
            [verdict(&figures, "long-tailed"), verdict(&figures, "exponential")]
        };
        assert_eq!(with(50_000.0), [Judgement::Holds, Judgement::DoesNotHold]);
        assert_eq!(
            with(2200.0),
            [Judgement::Unclear, Judgement::NotJudged],
            "30 calls and a step of the clock"
        );
        assert_eq!(
            with(1000.0),
            [Judgement::DoesNotHold, Judgement::NotJudged],
            "nothing but the clock's step"
        );
    }

    #[test]
    fn a_machine_like_the_documents_agrees_with_it() {
        let mut like = figures(0.0);
        like.iter_mut().filter(|figure| figure.id == STEP).for_each(|figure| set(figure, "step", 1000.0));
        assert_eq!(
            verdict(&like, "seconds and microseconds"),
            Judgement::Unclear,
            "half a per cent is no step"
        );
        for figure in &mut like {
            let exact = oscost_results::Estimate { value: 1000.0, low: 999.9, high: 1000.1, extremes: false };
            figure.quantities.get_mut("step").into_iter().for_each(|step| step.estimate = exact);
            figure.evidence.switches = Some(1.0);
        }
        for words in ["different processors, which", "seconds and microseconds", "context switching between"]
        {
            assert_eq!(verdict(&like, words), Judgement::Holds, "{words}");
        }
        for words in ["(1)", "(2)", "(3)", "lmbench", "macOS"] {
            assert_eq!(verdict(&like, words), Judgement::NotTestableHere, "{words}");
        }
    }

    #[test]
    fn another_machine_does_not() {
        let mut other = figures(2.0);
        other.iter_mut().for_each(|figure| figure.evidence.switches = Some(0.2));
        assert_eq!(verdict(&other, "context switching between"), Judgement::DoesNotHold);
        set(of(&mut other, CROSS), "floor", 2050.0);
        assert_eq!(verdict(&other, "different processors, which"), Judgement::DoesNotHold);
    }

    /// A hop that is shorter than a switch is not one, either.
    #[test]
    fn a_result_is_wrong_in_both_directions() {
        use Judgement::{DoesNotHold, Holds, Unclear};
        for (cross, expected) in [
            ((1500.0, 1510.0), Holds),
            ((1800.0, 1830.0), Unclear),
            ((1830.0, 2190.0), DoesNotHold),
            ((2190.0, 2210.0), Unclear),
            ((2220.0, 9000.0), Holds),
        ] {
            let mut figures = figures(0.0);
            set_within(of(&mut figures, SAME), "floor", 2000.0, 2000.0);
            set_within(of(&mut figures, CROSS), "floor", cross.0, cross.1);
            assert_eq!(verdict(&figures, "different processors, which"), expected, "{cross:?}");
        }
    }

    #[test]
    fn numbers_of_its_machine_and_of_single_runs_are_not_judged() {
        let figures = figures(0.0);
        for words in [
            "25 consecutive",
            "roughly 40",
            "215 times",
            "around 50",
            "minimum of 40",
            "~300",
            "~2 microseconds",
            "~2.4",
            "20%",
            "clock adjustments",
        ] {
            assert_eq!(verdict(&figures, words), Judgement::ItsMachine, "{words}");
        }
        for words in
            ["many microseconds", "long-tailed", "exponential", "all the runs", "significantly lower"]
        {
            assert_eq!(verdict(&figures, words), Judgement::NotJudged, "{words}");
        }
    }

    #[test]
    fn every_published_number_is_there_without_a_measurement() {
        let found = Found::of(&[], &[], &[]);
        let rows = judge(&found, &DocumentParameters::default());
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        for value in [
            25.0, 40.0, 215.0, 50.0, 330.0, 302.0, 49.0, 463.0, 39_691.0, 505.0, 48_239.0, 2.5, 2.3, 2.0, 2.4,
        ] {
            assert!(published.iter().any(|found| (found - value).abs() < 1e-6), "{value}");
        }
        let judged = [Judgement::NotTestableHere, Judgement::NotJudged];
        assert!(rows.iter().filter_map(|row| row.verdict).all(|verdict| judged.contains(&verdict)));
    }

    /// Numbers that follow from the made-up figures by arithmetic.
    #[test]
    fn the_numbers_that_decide_are_told() {
        let mut figures = figures(2.0);
        figures.iter_mut().for_each(|figure| figure.evidence.switches = Some(0.2));
        figures.iter_mut().filter(|figure| figure.id == STEP).for_each(|figure| set(figure, "step", 1000.0));
        for (words, expected) in [
            ("seconds and microseconds", "its true step is 1000.0 ns"),
            ("25 consecutive", "there 25 equal readings in a row, here 25.0 (24.9 .. 25.1)"),
            ("roughly 40", "here 40.0 ns (39.8 .. 40.2)"),
            (
                "many microseconds",
                "0.215 % of the steps over 10 us, 0.215 % over 1 us; 0.002 % over 1 us with",
            ),
            ("215 times", "of 100 000, 215 over 1 us and 215 over 10 us, in a single run"),
            ("around 50", "50 us in the launches of the price list (touched)"),
            (
                "clock adjustments",
                "backward steps of the clock: 0 in the literal runs, 2 in the price list's series",
            ),
            ("all the runs", "99.0 %, 99.0 %, 99.0 % of the runs of 100"),
            (
                "~300",
                "a read of 0 bytes costs 300 ns (298 .. 301), of which 100 ns are an empty kernel entry",
            ),
            ("context switching between", "0.200 switches a message on one CPU"),
            ("different processors, which", "2.00 us on one CPU, 9.00 us across two"),
            ("significantly lower", "20 in a row 0.01 instead of 0.01 us, 200 in a row 0.00"),
            (
                "~2 microseconds",
                "there ~2 us, here 0 us total, 0.00 us/switch: the minimum, as there, in a single run",
            ),
            ("20%", "varies by 19 % on one CPU, by 19 % unpinned"),
            ("(1)", "the two ended on one CPU in 97 % of the runs"),
            ("about as long", "4.50x (4.46 .. 4.55) a switch on one"),
        ] {
            let told = judged_by(&DOCUMENT, &figures, words).1;
            assert!(told.contains(expected), "{words}: {told}");
        }
    }

    #[test]
    fn bounds_are_where_the_document_has_them() {
        use Judgement::{DoesNotHold, Holds, Unclear};
        for (step, expected) in [
            ((999.0, 1001.0), Holds),
            ((999.5, 1002.0), Unclear),
            ((1200.0, 1210.0), DoesNotHold),
            ((990.0, 998.0), DoesNotHold),
        ] {
            let mut figures = figures(0.0);
            set_within(of(&mut figures, STEP), "step", step.0, step.1);
            let (judgement, because) = judged_by(&DOCUMENT, &figures, "seconds and microseconds");
            assert_eq!(judgement, expected, "{step:?}");
            assert_eq!(because.contains(": a microsecond"), expected == Holds, "{because}");
        }
        for (switches, expected) in [(0.98, DoesNotHold), (0.99, Holds), (1.2, Holds)] {
            let mut figures = figures(0.0);
            of(&mut figures, SAME).evidence.switches = Some(switches);
            assert_eq!(verdict(&figures, "context switching between"), expected, "{switches}");
        }
    }

    #[test]
    fn programs_that_ran_often_enough_are_judged() {
        use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged, Unclear};
        let judged = |runs: u32, near: f64, steps: f64, gains: [f64; 2]| {
            let mut figures = figures(0.0);
            for (count, _) in READS {
                let one = of(&mut figures, &reads(count));
                set(one, "near_minimum", near);
                repeat(one, runs);
            }
            let cold = of(&mut figures, &timestamps("cold", &DocumentParameters::default()));
            set(cold, "steps_over_10us", steps);
            repeat(cold, runs);
            for (count, gain) in [20, 20_000].into_iter().zip(gains) {
                for (kind, median) in [("barrier", 100.0), ("no_barrier", 100.0 * gain)] {
                    let one = of(&mut figures, &switches("same_cpu", kind, count));
                    set(one, "minimum", median);
                    repeat(one, runs);
                }
            }
            ["all the runs", "many microseconds", "significantly lower"].map(|words| verdict(&figures, words))
        };
        assert_eq!(judged(6, 0.98, 215.0, [1.5, 1.0]), [Holds; 3]);
        assert_eq!(judged(5, 0.98, 215.0, [1.5, 1.0]), [NotJudged; 3]);
        assert_eq!(judged(6, 0.5, 5000.0, [1.5, 1.8]), [DoesNotHold, DoesNotHold, HoldsInPart]);
        assert_eq!(
            judged(6, 0.95, 0.0, [1.0, 1.5])[..2],
            [Unclear, Unclear],
            "what was not seen is not refuted"
        );
        assert_eq!(judged(6, 0.5, 1.0, [1.0, 1.5])[2], DoesNotHold);
    }

    /// With --thorough the programs run again and again.
    #[test]
    fn the_largest_steps_say_of_how_many_runs_they_are() {
        for (runs, words) in [(1, "touched before, each in a single run"), (6, "each in 6 runs")] {
            let mut figures = figures(0.0);
            for (array, ns) in [("cold", 16_000.0), ("touched", 9000.0)] {
                let one = of(&mut figures, &timestamps(array, &DocumentParameters::default()));
                set(one, "largest_step", ns);
                repeat(one, runs);
            }
            let told = judged_by(&DOCUMENT, &figures, "around 50").1;
            assert!(told.contains(words), "{told}");
        }
    }

    /// Whoever gave another number of readings was asked of 100 000.
    #[test]
    fn a_question_has_the_readings_of_the_run() {
        let asked = |samples, words: &str| {
            let parameters = DocumentParameters { samples, ..DocumentParameters::default() };
            let all = (DOCUMENT.answers)(&Found::of(&[], &[], &[]), &parameters);
            let asked = all.into_iter().find(|answer| answer.key == "long_steps").expect("a question");
            assert!(asked.question.ends_with(words), "{}", asked.question);
        };
        asked(100_000, "between 100 000 readings (there: of \"many\" \u{b5}s)");
        asked(5000, "between 5 000 readings (there: of \"many\" \u{b5}s, between 100 000)");
    }

    #[test]
    fn steps_of_both_runs_are_added() {
        let mut both = figures(0.0);
        for array in ["cold", "touched"] {
            set(of(&mut both, &timestamps(array, &DocumentParameters::default())), "backward_steps", 1.0);
        }
        assert!(
            judged_by(&DOCUMENT, &both, "clock adjustments").1.contains("of the clock: 2 in the literal")
        );
    }

    #[test]
    fn spreads_of_all_kinds_have_a_least_and_a_most() {
        let mut figures = figures(0.0);
        set(of(&mut figures, &switches("same_cpu", "barrier", 200)), "spread", 0.05);
        set(of(&mut figures, &switches("unpinned", "barrier", 20_000)), "spread", 0.4);
        let words = judged_by(&DOCUMENT, &figures, "vary by as much").1;
        assert!(words.contains("varies by 5 to 19 % on one CPU, by 19 to 40 % unpinned"), "{words}");
    }

    #[test]
    fn a_statement_names_what_decides_it() {
        let mut figures = figures(0.0);
        set(of(&mut figures, STEP), "step", 1000.0);
        let rows = judge(&Found::of(&figures, &[], &[]), &DocumentParameters::default());
        let named = [
            ("seconds and microseconds", STEP, "step"),
            ("25 consecutive", STEP, "equal_run_length"),
            ("roughly 40", "clock/gettimeofday", "floor"),
            ("around 50", STEP, "largest_step"),
            ("minimum of 40", "clock/gettimeofday", "floor"),
            ("~300", READ, "floor"),
            ("different processors, which", CROSS, "floor"),
            ("about as long", CROSS, "floor"),
        ];
        assert_named(&rows, &named);
        for (words, id, quantity) in named {
            let own = figures.iter().find(|figure| figure.id == id).expect("a figure");
            assert_eq!(statement(&rows, words).measured, Some(own.quantities[quantity].estimate), "{words}");
        }
    }
}
