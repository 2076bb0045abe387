//! Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended and contended.

mod contention;
mod statements;

use oscost_results::quantity;
use oscost_results::{Reproduction, document};

use crate::Document;
use crate::found::{Found, Rows, Value, grouped};
use crate::parameters::{DocumentParameters, OPERATIONS};

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::TLPI,
    parameters: &[OPERATIONS],
    figures: &contention::FIGURES,
    literal,
    judge,
};

const POSIX: &str = "semaphore/posix_named";
const SYSTEM_V: &str = "semaphore/system_v";
const ONE_CALL: &str = "semaphore/system_v_one_call";
const ENTRY: &str = "syscall/invalid";

/// One row of the document's Results.
struct Row {
    operations: u64,
    posix_s: f64,
    system_v_s: f64,
    speed_up: f64,
}

/// Results, the table of benchmark_comparison.sh.
const RESULTS: &[Row] = &[
    Row { operations: 1000, posix_s: 0.000_013, system_v_s: 0.000_437, speed_up: 33.6 },
    Row { operations: 10_000, posix_s: 0.000_093, system_v_s: 0.004_251, speed_up: 45.7 },
    Row { operations: 100_000, posix_s: 0.000_944, system_v_s: 0.044_541, speed_up: 47.1 },
    Row { operations: 1_000_000, posix_s: 0.009_119, system_v_s: 0.439_309, speed_up: 48.1 },
];

fn id(method: &str, operations: u64) -> String {
    format!("tlpi/{method}/operations_{operations}")
}

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    let methods = ["literal/posix_named", "literal/system_v", "paired"];
    let of_count = |&operations: &u64| methods.map(|method| id(method, operations));
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
                ..Value::in_table(TABLE, &name, &format!("{program} time"), "s")
            });
        }
        let paired = id("paired", operations);
        rows.value(Value {
            published: row.map(|row| row.speed_up),
            literal: match elapsed {
                [Some(posix), Some(system_v)] if posix > 0.0 => Some(system_v / posix),
                _ => None,
            },
            answer: Some((paired.clone(), quantity::RATIO, found.quantity(&paired, quantity::RATIO))),
            because:
                "the literal runs are single; measured: the same counts warm and in turn, ratio by ratio"
                    .to_owned(),
            ..Value::in_table(TABLE, &name, "speed-up", "ratio")
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
            answer: Some((figure.to_owned(), "floor", found.floor(figure))),
            ..Value::in_table(CYCLE, name, "time", "ns")
        });
        rows.value(Value {
            answer: found.counted(figure),
            ..Value::in_table(CYCLE, name, "system calls", "count")
        });
    }
    contention::values(found, rows);
    rows.value(Value {
        because:
            "tlpi_hdr.h and semun.h, which both programs include; machine, compiler and kernel of the results"
                .to_owned(),
        ..Value::at("not in the document", "")
    });
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
mod tests {
    use super::statements::{growth, remainders, split, stable};
    use super::*;
    use crate::found::test::{figure, result, set};
    use oscost_results::Judgement;

    fn found_with(ratio: f64, calls: f64) -> (Vec<oscost_results::Figure>, Vec<oscost_results::PairedValue>) {
        let mut figures = vec![
            figure(POSIX, "floor", 10.0, Some(0.0)),
            figure(SYSTEM_V, "floor", 10.0 * ratio, Some(calls)),
            figure("syscall/invalid", "floor", 100.0, Some(1.0)),
        ];
        for row in RESULTS {
            figures.push(figure(
                &id("literal/posix_named", row.operations),
                "elapsed",
                row.posix_s * 1e9,
                None,
            ));
            figures.push(figure(
                &id("literal/system_v", row.operations),
                "elapsed",
                row.system_v_s * 1e9,
                None,
            ));
            figures.push(figure(&id("paired", row.operations), "ratio", ratio, None));
        }
        (figures, vec![result::ratio(SYSTEM_V, POSIX, ratio)])
    }

    fn verdicts(ratio: f64, calls: f64) -> Vec<(String, Judgement)> {
        let (figures, ratios) = found_with(ratio, calls);
        let found = Found::of(&figures, &ratios, &[]);
        let rows = judge(&found, &DocumentParameters::default());
        rows.into_iter().filter_map(|row| Some((row.statement?, row.verdict?))).collect()
    }

    fn verdict(verdicts: &[(String, Judgement)], words: &str) -> Judgement {
        verdicts.iter().find(|(statement, _)| statement.contains(words)).expect("a statement").1
    }

    #[test]
    fn the_published_speed_ups_are_the_published_times_ratios_cut_by_bc() {
        for row in RESULTS {
            assert_eq!(
                ((row.system_v_s / row.posix_s) * 10.0).floor() / 10.0,
                row.speed_up,
                "{}",
                row.operations
            );
        }
    }

    #[test]
    fn the_published_remainders_are_scatter_but_for_the_first() {
        let counts = [1000, 10_000, 100_000, 1_000_000];
        let seconds = |count: u64| RESULTS.iter().find(|row| row.operations == count).map(|row| row.posix_s);
        assert_eq!(remainders(&counts, seconds).as_deref(), Some("3.9, 1.8, 32.1"));
    }

    #[test]
    fn growth_of_single_runs_is_shown_and_stability_is_judged_by_intervals() {
        let judged = |of: [f64; 4]| {
            let (mut figures, ratios) = found_with(47.0, 2.0);
            for (row, ratio) in RESULTS.iter().zip(of) {
                let id = id("paired", row.operations);
                figures
                    .iter_mut()
                    .filter(|figure| figure.id == id)
                    .for_each(|figure| set(figure, "ratio", ratio));
            }
            let found = Found::of(&figures, &ratios, &[]);
            let parameters = DocumentParameters::default();
            let judged = [growth(&found, &parameters), stable(&found, &parameters)];
            let [growth, stable] = judged.map(|judged| judged.expect("all figures are there").0);
            (growth, stable)
        };
        let all = [
            ([33.6, 45.7, 47.1, 48.1], Judgement::Holds),
            ([47.0, 47.5, 40.0, 47.0], Judgement::DoesNotHold),
        ];
        for (ratios, expected) in all.into_iter().chain([([47.0, 47.5, 47.0, 49.2], Judgement::Unclear)]) {
            assert_eq!(judged(ratios), (Judgement::NotJudged, expected), "{ratios:?}");
        }
        let one = DocumentParameters { operations: vec![5], ..DocumentParameters::default() };
        let nothing = Found::of(&[], &[], &[]);
        for judged in [growth(&nothing, &one), stable(&nothing, &one)] {
            assert_eq!(judged.expect("one count").0, Judgement::NotTestableHere);
        }
    }

    #[test]
    fn a_machine_like_the_documents_agrees_with_it() {
        let verdicts = verdicts(47.5, 2.0);
        for words in
            ["stabilizes", "order of magnitude", "considerably better", "always require", "only requires"]
        {
            assert_eq!(verdict(&verdicts, words), Judgement::Holds, "{words}");
        }
        assert_eq!(verdict(&verdicts, "increases with operation count"), Judgement::NotJudged);
        assert_eq!(verdict(&verdicts, "is similar"), Judgement::NotTestableHere);
    }

    #[test]
    fn another_machine_does_not() {
        let verdicts = verdicts(5.0, 1.0);
        for words in ["order of magnitude", "always require"] {
            assert_eq!(verdict(&verdicts, words), Judgement::DoesNotHold, "{words}");
        }
        // Its numbers are its own, whatever this machine has.
        for words in ["33-48x", "220M", "4.5M"] {
            assert_eq!(verdict(&verdicts, words), Judgement::ItsMachine, "{words}");
        }
        assert_eq!(verdict(&verdicts, "stabilizes"), Judgement::Holds, "at whatever number");
        assert_eq!(verdict(&verdicts, "system call overhead"), Judgement::Holds);
    }

    #[test]
    fn a_cause_that_is_named_alone_has_to_be_the_larger_part() {
        // Two entries are 200 ns of the cycle.
        for (cycle, expected) in [
            (390.0, Judgement::Holds),
            (400.0, Judgement::Unclear),
            (1000.0, Judgement::HoldsInPart),
            (2000.0, Judgement::Unclear),
            (3000.0, Judgement::DoesNotHold),
        ] {
            let (mut figures, _) = found_with(47.0, 2.0);
            figures
                .iter_mut()
                .filter(|figure| figure.id == SYSTEM_V)
                .for_each(|figure| set(figure, "floor", cycle));
            let (judgement, words) = split(&Found::of(&figures, &[], &[])).expect("all is there");
            assert_eq!(judgement, expected, "{words}");
            assert!(words.contains("the entries alone would make 20x"), "{words}");
        }
    }

    #[test]
    fn without_figures_nothing_is_judged_and_the_document_still_stands() {
        let found = Found::of(&[], &[], &[]);
        let rows = judge(&found, &DocumentParameters::default());
        assert!(
            rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere)
        );
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        for value in [0.000013, 0.439309, 33.6, 48.1] {
            assert!(published.contains(&value), "{value}");
        }
        assert_eq!(script_table(&found, &DocumentParameters::default()), "");
    }

    #[test]
    fn the_scripts_table_is_the_documents() {
        let (figures, ratios) = found_with(48.0, 2.0);
        let found = Found::of(&figures, &ratios, &[]);
        let table = script_table(&found, &DocumentParameters::default());
        assert!(table.contains("|       1000 |       0.000013 |          0.000437 |    33.6x |"), "{table}");
        assert!(table.contains("|    1000000 |       0.009119 |          0.439309 |    48.1x |"), "{table}");
    }

    /// Numbers that follow from 10 ns a POSIX cycle, 475 ns a System V one, 100 ns a kernel entry.
    #[test]
    fn the_numbers_that_decide_are_told() {
        let (figures, ratios) = found_with(47.5, 2.0);
        let rows = judge(&Found::of(&figures, &ratios, &[]), &DocumentParameters::default());
        for (words, expected) in [
            ("33-48x", "there 33 to 48x, here 47.5x (47.3 .. 47.7), paired"),
            ("220M", "200.0 M/s (199.0 .. 201.0), two operations a cycle"),
            ("4.5M", "4.2 M/s (4.2 .. 4.2), two operations a cycle"),
            ("stabilizes", "47.5x (47.3 .. 47.7) at 100 000 cycles and 47.5x (47.3 .. 47.7) at 1 000 000"),
            (
                "increases with operation count",
                "3.9, 1.8, 32.1 us more at 1 000, 10 000, 100 000 (published: 3.9, 1.8, 32.1 us",
            ),
            ("only requires", "0.000 system calls a cycle"),
            ("always require", "2.000 system calls a cycle of two operations"),
            (
                "system call overhead",
                "of 475 ns a cycle two empty kernel entries are 200 ns: 42 % (42 .. 43; 50 to all counts as holding, 10 to 50 as in \
                 part); semop's own work is 275 ns; the entries alone would make 20x",
            ),
        ] {
            let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
            let told = &row.expect("a statement").because;
            assert!(told.contains(expected), "{words}: {told}");
        }
    }

    #[test]
    fn a_speed_up_is_stable_within_five_per_cent_either_way() {
        let judged = |before: f64, last: f64| {
            let (mut figures, _) = found_with(47.0, 2.0);
            for (count, ratio) in [(100_000, before), (1_000_000, last)] {
                let exact =
                    oscost_results::Estimate { value: ratio, low: ratio, high: ratio, extremes: false };
                let id = id("paired", count);
                for figure in figures.iter_mut().filter(|figure| figure.id == id) {
                    figure.quantities.get_mut("ratio").into_iter().for_each(|it| it.estimate = exact);
                }
            }
            stable(&Found::of(&figures, &[], &[]), &DocumentParameters::default()).map(|judged| judged.0)
        };
        assert_eq!(judged(40.0, 41.9), Some(Judgement::Holds));
        assert_eq!(judged(41.9, 40.0), Some(Judgement::Holds));
        assert_eq!(judged(40.0, 42.1), Some(Judgement::DoesNotHold));
        assert_eq!(judged(42.1, 40.0), Some(Judgement::DoesNotHold));
    }
}
