//! What document 000 asks: how many times as long System V semaphores take, how long its programs do, at which rates.

use oscost_results::{Answer, quantity};

use super::{DOCUMENT, PROGRAMS, RESULTS, ResultsRow, SYSTEM_V, elapsed_s, id};
use crate::answer::{asked, figure_or, literal, printed};
use crate::found::{Found, grouped};
use crate::parameters::DocumentParameters;

/// Operations a second as published, in millions: the document rounds them.
const RATES: [f64; 2] = [220.0, 4.5];
/// Why one takes so many times as long, where the counts of this run say so.
const WHY: &str = "System V enters the kernel twice a cycle, and POSIX never without contention";

/// The questions that this run asks, the one that the document is about first.
pub(super) fn answers(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Answer> {
    let asked = |key: &str, question: String, unit: &str| asked(DOCUMENT.founding.name, key, question, unit);
    let runs = |row: &&ResultsRow| parameters.operations.contains(&row.operations);
    let literal_s = |method: &str, row: &ResultsRow| elapsed_s(found, method, row.operations);
    let quotient = |row: &ResultsRow| {
        let [posix, system_v] = PROGRAMS.map(|(_, method, _)| literal_s(method, row));
        Some(system_v? / posix.filter(|seconds| *seconds > 0.0)?)
    };
    let mut all = Vec::new();
    if let Some(row) = RESULTS.last().filter(runs) {
        let paired = id("paired", row.operations);
        let question = format!("System V time divided by POSIX time, {} cycles", grouped(row.operations));
        all.push(Answer {
            published: printed(row.speed_up),
            here: figure_or(found.measured(&paired, quantity::RATIO), quotient(row)),
            figure_id: Some(paired),
            finding: "System V takes {here} POSIX's time here, {there} as published".to_owned(),
            why: if found.calls(SYSTEM_V) == Some(2.0) { WHY.to_owned() } else { String::new() },
            ..asked("speed_up", question, "ratio")
        });
    }
    if let Some(row) = RESULTS.first().filter(runs) {
        let question =
            format!("System V time divided by POSIX time, only {} cycles", grouped(row.operations));
        all.push(Answer {
            published: printed(row.speed_up),
            here: literal(quotient(row)),
            ..asked("speed_up_short", question, "ratio")
        });
    }
    if let Some(row) = RESULTS.last().filter(runs) {
        let published = [row.posix_s, row.system_v_s];
        for ((key, published), (program, method, _)) in
            ["posix_time", "system_v_time"].into_iter().zip(published).zip(PROGRAMS)
        {
            all.push(Answer {
                published: printed(published),
                here: literal(literal_s(method, row)),
                ..asked(key, format!("{program}, {} cycles", grouped(row.operations)), "s")
            });
        }
    }
    for ((key, published), (program, _, figure)) in
        ["posix_rate", "system_v_rate"].into_iter().zip(RATES).zip(PROGRAMS)
    {
        // Two operations a cycle.
        let rate = found.measured(figure, quantity::FLOOR).map(|floor| floor.map(|ns| 2e3 / ns));
        all.push(Answer {
            published: printed(published),
            here: figure_or(rate, None),
            figure_id: Some(figure.to_owned()),
            ..asked(key, format!("{program} operations, in millions a second"), "M/s")
        });
    }
    all
}
