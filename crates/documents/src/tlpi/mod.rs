//! Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended and contended.

mod answers;
mod contention;
mod statements;

use oscost_results::quantity;
use oscost_results::{Reproduction, document};

use crate::Document;
use crate::found::{Found, Rows, Value, grouped};
use crate::literal::LEAST_PAIRED;
use crate::parameters::{DocumentParameters, OPERATIONS};

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::TLPI,
    settings: &[OPERATIONS],
    figures: &contention::FIGURES,
    first: |parameters| {
        let mut ids: Vec<String> = contention::FIRST.iter().map(|&id| id.to_owned()).collect();
        // The speed-up is judged at the two largest counts.
        ids.extend(
            statements::counts(parameters).iter().rev().take(2).rev().map(|&count| id("paired", count)),
        );
        ids
    },
    literal,
    rows: judge,
    answers: answers::answers,
};

const POSIX: &str = "semaphore/posix_named";
const SYSTEM_V: &str = "semaphore/system_v";
const ONE_CALL: &str = "semaphore/system_v_one_call";
const ENTRY: &str = "syscall/invalid";

/// One row of the document's Results.
struct ResultsRow {
    operations: u64,
    posix_s: f64,
    system_v_s: f64,
    speed_up: f64,
}

/// Results, the table of benchmark_comparison.sh.
const RESULTS: &[ResultsRow] = &[
    ResultsRow { operations: 1000, posix_s: 0.000_013, system_v_s: 0.000_437, speed_up: 33.6 },
    ResultsRow { operations: 10_000, posix_s: 0.000_093, system_v_s: 0.004_251, speed_up: 45.7 },
    ResultsRow { operations: 100_000, posix_s: 0.000_944, system_v_s: 0.044_541, speed_up: 47.1 },
    ResultsRow { operations: 1_000_000, posix_s: 0.009_119, system_v_s: 0.439_309, speed_up: 48.1 },
];

fn id(method: &str, operations: u64) -> String {
    format!("tlpi/{method}/operations_{operations}")
}

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    let methods = ["literal/posix_named", "literal/system_v", "paired"];
    let of_count = |&operations: &u64| {
        let can_be_timed = move |method: &&str| *method != "paired" || operations >= LEAST_PAIRED;
        methods.into_iter().filter(can_be_timed).map(move |method| id(method, operations))
    };
    parameters.operations.iter().flat_map(of_count).collect()
}

/// Elapsed time of a literal run, s.
fn elapsed_s(found: &Found<'_>, method: &str, operations: u64) -> Option<f64> {
    found.literal(&id(method, operations), quantity::ELAPSED).map(|ns| ns / 1e9)
}

fn judge(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.founding.name);
    values(found, parameters, &mut rows);
    statements::statements(found, parameters, &mut rows);
    rows.rows
}

/// Names of the document's table, and of what its programs print besides.
const TABLE: &str = "Results by cycles, the script's table";
const CYCLES: &str = "cycles";
const LINES: &str = "The programs' other lines by cycles: operations a second, time of each (the document quotes ~220M and ~4.5M)";
const CYCLE: &str = "A cycle, which the document counts as two operations";

/// The two programs: their names, their literal methods, the figures of the price list.
const PROGRAMS: [(&str, &str, &str); 2] =
    [("POSIX", "literal/posix_named", POSIX), ("System V", "literal/system_v", SYSTEM_V)];

fn values(found: &Found<'_>, parameters: &DocumentParameters, rows: &mut Rows) {
    for &operations in &parameters.operations {
        let row = RESULTS.iter().find(|row| row.operations == operations);
        let name = grouped(operations);
        let elapsed = PROGRAMS.map(|(_, method, _)| elapsed_s(found, method, operations));
        let published = [row.map(|row| row.posix_s), row.map(|row| row.system_v_s)];
        for (index, (program, ..)) in PROGRAMS.into_iter().enumerate() {
            rows.value(Value {
                published: published[index],
                literal: elapsed[index],
                ..Value::in_table(TABLE, &name, &format!("{program} time"), "s").on_axis(operations, CYCLES)
            });
        }
        let paired = id("paired", operations);
        rows.value(Value {
            published: row.map(|row| row.speed_up),
            literal: match elapsed {
                [Some(posix), Some(system_v)] if posix > 0.0 => Some(system_v / posix),
                _ => None,
            },
            answer: Some((paired.clone(), quantity::RATIO, found.measured(&paired, quantity::RATIO))),
            because: format!(
                "literal: each program in {}; measured: the same counts warm and in turn, ratio by ratio, \
                 in CPU time",
                found.runs(&id("literal/posix_named", operations))
            ),
            ..Value::in_table(TABLE, &name, "speed-up", "ratio").on_axis(operations, CYCLES)
        });
    }
    for &operations in &parameters.operations {
        for (program, method, _) in PROGRAMS {
            // The programs count a wait and a post as two operations.
            let count = operations as f64 * 2.0;
            let seconds = elapsed_s(found, method, operations);
            rows.value(Value {
                literal: seconds.filter(|&seconds| seconds > 0.0).map(|seconds| (count / seconds).round()),
                ..Value::in_table(LINES, &grouped(operations), &format!("{program} rate"), "1/s")
            });
            rows.value(Value {
                literal: seconds.map(|seconds| seconds * 1e9 / count),
                ..Value::in_table(LINES, &grouped(operations), &format!("{program} each"), "ns")
            });
        }
    }
    let longest = parameters.operations.iter().copied().max();
    let literal = |method: &str| Some(elapsed_s(found, method, longest?)? * 1e9 / longest? as f64);
    for (name, figure, literal) in [
        ("POSIX", POSIX, literal("literal/posix_named")),
        ("System V", SYSTEM_V, literal("literal/system_v")),
        ("System V in one semop (ours)", ONE_CALL, None),
        ("an empty kernel entry (ours)", ENTRY, None),
    ] {
        rows.value(Value {
            literal,
            answer: Some((figure.to_owned(), "floor", found.measured(figure, quantity::FLOOR))),
            ..Value::in_table(CYCLE, name, "time", "ns")
        });
        rows.value(Value {
            answer: found.counted(figure),
            ..Value::in_table(CYCLE, name, "system calls", "count")
        });
    }
    contention::values(found, rows);
    rows.deviations(&[
        ("CPU", "each program is pinned to one CPU; the document's run wherever the system puts them"),
        ("names", "semaphores have names and keys of their own, which go with the program however it ends"),
        ("language", "the loops are Rust around the same calls of the C library; --c DIR compiles your copies beside them"),
        ("repeats", "--thorough runs each program again and again as a fresh process, and judges it"),
    ]);
    rows.note(
        "not in the document",
        "tlpi_hdr.h and semun.h, which both programs include; machine, compiler and kernel of the results",
    );
}

/// The table that the document's script prints, from the literal runs; empty where there is none.
#[must_use]
pub fn script_table(found: &Found<'_>, parameters: &DocumentParameters) -> String {
    let mut table = String::from(
        "| Operations | POSIX Time (s) | System V Time (s) | Speedup |\n|------------|----------------|-------------------|----------|\n",
    );
    let empty = table.len();
    for &operations in &parameters.operations {
        let (Some(posix), Some(system_v)) = (
            elapsed_s(found, "literal/posix_named", operations),
            elapsed_s(found, "literal/system_v", operations),
        ) else {
            continue;
        };
        // The script divides by bc with scale=1, which cuts; a run shorter than the clock's step has no ratio.
        let cut = |ratio: f64| (ratio * 10.0).floor() / 10.0;
        let speed_up =
            if posix > 0.0 { format!("{:7.1}x", cut(system_v / posix)) } else { format!("{:>8}", "-") };
        table.push_str(&format!("| {operations:>10} | {posix:>14.6} | {system_v:>17.6} | {speed_up} |\n"));
    }
    if table.len() == empty { String::new() } else { table }
}

#[cfg(test)]
mod tests;
