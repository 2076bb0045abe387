//! What document 003 asks: the price of a call of getpid, what its three programs print, and a simple operation.

use oscost_results::{Answer, quantity};

use super::{CALL, DOCUMENT, EMPTY_LOOP, looped, one_shot};
use crate::answer::{asked, figure_or, literal, printed};
use crate::found::Found;
use crate::parameters::DocumentParameters;

/// The questions, the one that the document is about first.
pub(super) fn answers(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Answer> {
    let asked = |key: &str, question: &str, unit: &str, published: f64| Answer {
        published: printed(published),
        ..asked(DOCUMENT.founding.name, key, question, unit)
    };
    let average = |method: &str| found.literal(&looped(method, "o0", parameters), quantity::AVERAGE);
    let (looped, without) = (average("loop"), average("loop_minus_loop"));
    let figure = |id: &str, program: Option<f64>| figure_or(found.measured(id, quantity::FLOOR), program);
    vec![
        Answer {
            here: figure(CALL, None),
            figure_id: Some(CALL.to_owned()),
            finding: "a call of getpid takes {here} here, {there} as published".to_owned(),
            why: "a call that takes 1.855 ns has not entered the kernel; here every call enters it"
                .to_owned(),
            ..asked("getpid", "a call of getpid", "ns", 1.855)
        },
        Answer {
            here: literal(found.literal(&one_shot(), quantity::DIFFERENCE)),
            ..asked(
                "one_shot",
                "program 1: one getpid between two readings of a clock (on macOS in steps of 1000 ns)",
                "ns",
                0.0,
            )
        },
        Answer {
            here: literal(looped),
            ..asked("loop", "program 2: one pass of its loop, getpid in it", "ns", 3.120)
        },
        Answer {
            here: literal(without),
            ..asked(
                "loop_minus_loop",
                "program 3: one pass of its loop minus one of an empty loop",
                "ns",
                1.855,
            )
        },
        Answer {
            here: literal(without.zip(looped).map(|(without, looped)| without / looped * 100.0)),
            ..asked("share", "program 3 divided by program 2", "%", 59.0)
        },
        Answer {
            here: figure(EMPTY_LOOP, None),
            figure_id: Some(EMPTY_LOOP.to_owned()),
            ..asked("simple_operation", "a simple operation", "ns", 0.286)
        },
    ]
}
