//! What document 004 asks: a switch, a read of 0 bytes, a reading of the clock, and how even the clock is.

use oscost_results::{Answer, quantity};

use super::{DOCUMENT, READ, READS, SAME, SWITCHES, TAGS, reads, switches, timestamps};
use crate::answer::{asked, figure_or, literal, printed};
use crate::found::{Found, grouped};
use crate::parameters::DocumentParameters;

/// Readings of the document's own program.
const SAMPLED: u64 = 100_000;

/// The questions, the one that the document is about first.
pub(super) fn answers(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Answer> {
    let asked = |key: &str, question: &str, unit: &str, published: f64| Answer {
        published: printed(published),
        ..asked(DOCUMENT.founding.name, key, question, unit)
    };
    let cold = timestamps("cold", parameters);
    let of_cold = |quantity: &str| literal(found.literal(&cold, quantity));
    let floor = |id: &str| found.measured(id, quantity::FLOOR);
    // The longest programs are the surest.
    let [.., (in_a_row, _, us)] = SWITCHES;
    let [.., (most_reads, read_ns)] = READS;
    let there = if parameters.samples == SAMPLED { "" } else { ", between 100 000" };
    let a_switch = |tag: usize| {
        let total = found.literal(&switches(TAGS[tag].0, "barrier", in_a_row), quantity::MINIMUM);
        total.map(|ns| ns / 1e3 / in_a_row as f64)
    };
    vec![
        Answer {
            here: figure_or(floor(SAME).map(|it| it.map(|ns| ns / 1e3)), a_switch(1)),
            figure_id: Some(SAME.to_owned()),
            finding: "a switch on one CPU takes {here} here, {there} as published (same affinity tag)"
                .to_owned(),
            why: "the same tag is one CPU here; without it the kernel chooses the CPUs".to_owned(),
            ..asked("same_cpu", "a switch on one CPU (there: with the same affinity tag)", "us", us[1])
        },
        Answer {
            here: literal(a_switch(0)),
            ..asked("free", "a switch, CPUs chosen by the kernel", "us", us[0])
        },
        Answer {
            here: figure_or(floor(READ), found.literal(&reads(most_reads), quantity::MINIMUM)),
            figure_id: Some(READ.to_owned()),
            ..asked("read", "a read of 0 bytes", "ns", read_ns)
        },
        Answer {
            here: figure_or(floor("clock/gettimeofday"), None),
            figure_id: Some("clock/gettimeofday".to_owned()),
            ..asked("gettimeofday", "a call of gettimeofday", "ns", 40.0)
        },
        Answer {
            here: of_cold(quantity::EQUAL_RUN_LENGTH),
            ..asked("equal_readings", "equal readings of the clock in a row", "count", 25.0)
        },
        Answer {
            here: of_cold(quantity::STEPS_OVER_10US),
            ..asked(
                "long_steps",
                &format!(
                    "steps of over 10 \u{b5}s between {} readings (there: of \"many\" \u{b5}s{there})",
                    grouped(parameters.samples)
                ),
                "count",
                215.0,
            )
        },
    ]
}
