//! Document 004: the precision of gettimeofday, a read of 0 bytes, the context switch by two pipes.

mod methods;
mod statements;
mod values;

pub use methods::{Reads, Switches, Timestamps};

use oscost_results::Reproduction;

use crate::Document;
use crate::found::{Found, Rows};
use crate::parameters::{Parameters, SAMPLES};

/// The document.
pub static DOCUMENT: Document = Document {
    name: "context-switch",
    number: "004",
    parameters: &[SAMPLES],
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
    literal,
    judge,
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

fn timestamps(array: &str, parameters: &Parameters) -> String {
    format!("context-switch/literal/gettimeofday/{array}/samples_{}", parameters.samples)
}

fn reads(count: u64) -> String {
    format!("context-switch/literal/read0/in_a_row_{count}")
}

fn switches(tag: &str, barrier: &str, count: u64) -> String {
    format!("context-switch/literal/switches/{tag}/{barrier}/in_a_row_{count}")
}

fn literal(parameters: &Parameters) -> Vec<String> {
    let mut ids = vec![timestamps("cold", parameters), timestamps("touched", parameters)];
    ids.extend(READS.map(|(count, _)| reads(count)));
    for (tag, _) in TAGS {
        for (count, ..) in SWITCHES {
            ids.extend(["barrier", "no_barrier"].map(|barrier| switches(tag, barrier, count)));
        }
    }
    ids
}

fn judge(found: &Found<'_>, parameters: &Parameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.name);
    values::precision(found, parameters, &mut rows);
    values::system_call(found, &mut rows);
    values::switch_values(found, &mut rows);
    statements::statements(found, parameters, &mut rows);
    rows.rows
}

#[cfg(test)]
mod tests {
    use oscost_results::Judgement;

    use super::*;
    use crate::found::test::{figure, set};

    fn figures(
        cold_steps: f64,
        fit: f64,
        near: f64,
        free_share: f64,
        spread: f64,
        backward: f64,
    ) -> Vec<oscost_results::Figure> {
        let parameters = Parameters::default();
        let mut figures = vec![
            figure(READ, "floor", 300.0, Some(1.0)),
            figure("syscall/invalid", "floor", 100.0, Some(1.0)),
            figure("clock/gettimeofday", "floor", 40.0, Some(0.0)),
            figure("clock/step/gettimeofday", "backward_steps", 0.0, None),
            figure(SAME, "floor", 2000.0, None),
            figure(CROSS, "floor", 9000.0, None),
        ];
        for (array, steps) in [("cold", cold_steps), ("touched", 2.0)] {
            let mut one = figure(&timestamps(array, &parameters), "steps_over_1us", steps, None);
            set(&mut one, "steps_over_10us", steps);
            set(&mut one, "fit_distance", fit);
            set(&mut one, "backward_steps", backward);
            figures.push(one);
        }
        figures.extend(READS.map(|(count, _)| figure(&reads(count), "near_minimum", near, None)));
        for (tag, share) in [("unpinned", free_share), ("same_cpu", 1.0)] {
            for (count, ..) in SWITCHES {
                for (kind, median) in [("barrier", 100.0), ("no_barrier", 100.0 + 1000.0 / count as f64)] {
                    let mut one = figure(&switches(tag, kind, count), "median", median, None);
                    set(&mut one, "shared_cpu", share);
                    set(&mut one, "spread", spread);
                    figures.push(one);
                }
            }
        }
        figures
    }

    #[test]
    fn as_long_across_processors_is_judged_by_the_ratio() {
        let mut near = figures(215.0, 0.05, 0.99, 0.97, 0.19, 0.0);
        near.iter_mut().filter(|figure| figure.id == CROSS).for_each(|figure| set(figure, "floor", 2100.0));
        assert_eq!(verdict(&near, "about as long"), Judgement::Holds);
        near.iter_mut().filter(|figure| figure.id == CROSS).for_each(|figure| set(figure, "floor", 2500.0));
        assert_eq!(verdict(&near, "about as long"), Judgement::NotTestableHere);
    }

    fn verdict(figures: &[oscost_results::Figure], words: &str) -> Judgement {
        let found = Found::of(figures, &[], &[]);
        let rows = judge(&found, &Parameters::default());
        let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
        row.and_then(|row| row.verdict).expect("a judged statement")
    }

    #[test]
    fn a_machine_like_the_documents_agrees_with_it() {
        let like = figures(215.0, 0.05, 0.99, 0.97, 0.19, 0.0);
        let holding = [
            "many microseconds",
            "exponential",
            "40 nanoseconds",
            "all the runs",
            "~300",
            "different processors, which",
            "start barrier",
            "clock adjustments",
            "20%",
            "(2)",
        ];
        for words in holding {
            assert_eq!(verdict(&like, words), Judgement::Holds, "{words}");
        }
        for words in ["(1)", "(3)"] {
            assert_eq!(verdict(&like, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&like, "lmbench"), Judgement::NotTestableHere);
    }

    #[test]
    fn another_machine_does_not() {
        let other = figures(5000.0, 0.9, 0.5, 0.0, 3.0, 2.0);
        for words in [
            "many microseconds",
            "exponential",
            "all the runs",
            "adjustments",
            "20%",
            "(1)",
            "(2)",
            "about as long",
        ] {
            assert_eq!(verdict(&other, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&other, "(3)"), Judgement::Holds);
        // On a loaded machine the free children are a mixture: nothing of the three.
        let mixture = figures(215.0, 0.05, 0.99, 0.5, 0.19, 0.0);
        for words in ["(1)", "(2)", "(3)"] {
            assert_eq!(verdict(&mixture, words), Judgement::DoesNotHold, "{words}");
        }
    }

    #[test]
    fn every_published_number_is_there_without_a_measurement() {
        let found = Found::of(&[], &[], &[]);
        let rows = judge(&found, &Parameters::default());
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        for value in [
            25.0, 40.0, 215.0, 50.0, 330.0, 302.0, 49.0, 463.0, 39_691.0, 505.0, 48_239.0, 2.5, 2.3, 2.0, 2.4,
        ] {
            assert!(published.iter().any(|found| (found - value).abs() < 1e-6), "{value}");
        }
        assert!(
            rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere)
        );
    }
}
