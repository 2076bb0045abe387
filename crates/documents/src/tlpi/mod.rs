//! Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended and contended.

mod contention;

use oscost_results::{Judgement, Reproduction};

use crate::Document;
use crate::found::{Found, Judged, Rows, Value, grouped, holds_if, judged, times, within};
use crate::parameters::{OPERATIONS, Parameters};

/// The document.
pub static DOCUMENT: Document = Document {
    name: "tlpi",
    number: "000",
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

fn literal(parameters: &Parameters) -> Vec<String> {
    let methods = ["literal/posix_named", "literal/system_v", "paired"];
    let of_count = |&operations: &u64| methods.map(|method| id(method, operations));
    parameters.operations.iter().flat_map(of_count).collect()
}

/// Elapsed time of a literal run, s.
fn elapsed_s(found: &Found<'_>, method: &str, operations: u64) -> Option<f64> {
    found.literal(&id(method, operations), "elapsed").map(|ns| ns / 1e9)
}

fn judge(found: &Found<'_>, parameters: &Parameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.name);
    values(found, parameters, &mut rows);
    statements(found, parameters, &mut rows);
    rows.rows
}

/// Names of the document's table, and of what its programs print besides.
const TABLE: &str = "Results by cycles, the script's table";
const LINES: &str = "The programs' other lines by cycles: operations a second, time of each (the document quotes ~220M and ~4.5M)";
const CYCLE: &str = "A cycle, which the document counts as two operations";

/// The two programs: their names, their literal methods, the figures of the price list.
const PROGRAMS: [(&str, &str, &str); 2] =
    [("POSIX", "literal/posix_named", POSIX), ("System V", "literal/system_v", SYSTEM_V)];

fn values(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
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
            answer: Some((paired.clone(), "ratio", found.quantity(&paired, "ratio"))),
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
    let longest = largest(parameters);
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

fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let ratio = found.ratio(SYSTEM_V, POSIX);
    let findings = "Key Findings";
    rows.statement(
        findings,
        "POSIX semaphores are 33-48x faster than System V semaphores",
        judged(ratio.map(|ratio| (within(&ratio, 33.0, 48.0), format!("{}, paired", times(&ratio))))),
    );
    rows.by(SYSTEM_V, "paired", ratio);
    rows.statement(
        findings,
        "Performance difference increases with operation count (33.6x -> 48.1x)",
        judged(growth(found, parameters)),
    );
    rows.statement(
        findings,
        "The speedup stabilizes around 47-48x for larger operation counts",
        judged(largest(parameters).and_then(|operations| {
            let ratio = found.quantity(&id("paired", operations), "ratio")?;
            let judgement = within(&ratio, 46.5, 48.5);
            Some((judgement, format!("{} at {} cycles, warm and paired", times(&ratio), grouped(operations))))
        })),
    );
    for (figure, words, published) in [
        (POSIX, "POSIX achieves ~220M operations/second", 220.0),
        (SYSTEM_V, "System V's ~4.5M operations/second", 4.5),
    ] {
        rows.statement(findings, words, judged(rate(found, figure, published)));
        rows.by(figure, "floor", found.floor(figure));
    }
    rows.statement(
        "TLPI 53.5, and Key Findings",
        "the difference in performance is more than an order of magnitude",
        judged(ratio.map(|ratio| {
            let judgement = if ratio.low > 10.0 {
                Judgement::Holds
            } else if ratio.high < 10.0 {
                Judgement::DoesNotHold
            } else {
                Judgement::NotTestableHere
            };
            (judgement, times(&ratio))
        })),
    );
    rows.by(SYSTEM_V, "paired", ratio);
    rows.statement(
        "TLPI 53.5",
        "POSIX semaphores only require a system call when contention occurs",
        judged(found.calls(POSIX).map(|calls| {
            (
                holds_if(calls == 0.0),
                format!("the audit counted {calls:.3} system calls a cycle without contention"),
            )
        })),
    );
    rows.by_count(found, POSIX);
    rows.statement(
        "TLPI 53.5, and Why",
        "System V semaphore operations always require a system call, regardless of contention",
        judged(found.calls(SYSTEM_V).map(|calls| {
            (
                holds_if(calls == 2.0),
                format!("the audit counted {calls:.3} system calls a cycle of two operations"),
            )
        })),
    );
    rows.by_count(found, SYSTEM_V);
    rows.statement(
        "Why, last sentence",
        "The 47x performance difference reflects the cost of system call overhead versus direct memory access",
        judged(split(found)),
    );
    contention::statement(found, rows);
}

fn largest(parameters: &Parameters) -> Option<u64> {
    parameters.operations.iter().copied().max()
}

/// Growth of the speed-up beyond this is growth: published is one of 43 %.
const GROWTH: f64 = 1.05;

/// Growth of the speed-up: judged from warm, paired ratios of all counts. What the literal runs need beyond the slope of
/// the longest one shows what grows instead.
fn growth(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let mut counts = parameters.operations.clone();
    counts.sort_unstable();
    counts.dedup();
    let (first, last) = (*counts.first()?, *counts.last()?);
    if first == last {
        return Some((
            Judgement::NotTestableHere,
            "one count has no growth: give --operations several".to_owned(),
        ));
    }
    let at = |operations: u64| found.quantity(&id("paired", operations), "ratio");
    let ratios: Option<Vec<_>> = counts.iter().map(|&count| at(count)).collect();
    let ratios = ratios?;
    let (small, large) = (ratios.first()?, ratios.last()?);
    // Of the first to the last count, at the least and at the most that the intervals allow.
    let judgement = if large.low > small.high * GROWTH {
        Judgement::Holds
    } else if large.high < small.low * GROWTH {
        Judgement::DoesNotHold
    } else {
        Judgement::NotTestableHere
    };
    let list: Vec<String> = ratios
        .iter()
        .map(|ratio| format!("{:.1} ({:.1} .. {:.1})", ratio.value, ratio.low, ratio.high))
        .collect();
    Some((
        judgement,
        format!(
            "warm, paired: {}x; beyond the slope of the longest literal run POSIX takes {} us more at {} (published: {} us at \
             1 000, 10 000, 100 000): start-up and scatter, not the semaphore",
            list.join(", "),
            remainders(&counts, |count| elapsed_s(found, "literal/posix_named", count))?,
            counts.iter().take(counts.len() - 1).map(|&count| grouped(count)).collect::<Vec<_>>().join(", "),
            remainders(&RESULTS.iter().map(|row| row.operations).collect::<Vec<_>>(), |count| {
                RESULTS.iter().find(|row| row.operations == count).map(|row| row.posix_s)
            })?,
        ),
    ))
}

/// What each run but the longest takes beyond the longest one's time an operation, in us.
fn remainders(counts: &[u64], seconds: impl Fn(u64) -> Option<f64>) -> Option<String> {
    let (&last, shorter) = counts.split_last()?;
    let slope = seconds(last)? / last as f64;
    let beyond = |&count: &u64| Some(format!("{:.1}", (seconds(count)? - slope * count as f64) * 1e6));
    Some(shorter.iter().map(beyond).collect::<Option<Vec<_>>>()?.join(", "))
}

/// Operations a second, in millions, against a rounded number of the document: within a tenth of it.
fn rate(found: &Found<'_>, figure: &str, published: f64) -> Option<Judged> {
    let floor = found.floor(figure)?;
    let millions = |ns: f64| 2.0 * 1e3 / ns;
    let rate = oscost_results::Estimate {
        value: millions(floor.value),
        low: millions(floor.high),
        high: millions(floor.low),
        extremes: floor.extremes,
    };
    Some((
        within(&rate, published * 0.9, published * 1.1),
        format!("{:.1} M/s ({:.1} .. {:.1}) here, two operations a cycle", rate.value, rate.low, rate.high),
    ))
}

/// A System V cycle is two kernel entries and what semop does; only the first part is system-call overhead. Both
/// operations in one semop save one entry: what is left of that call beyond its entry is semop's work again.
fn split(found: &Found<'_>) -> Option<Judged> {
    let cycle = found.floor(SYSTEM_V)?;
    let entry = found.floor(ENTRY)?;
    let share = |entry: f64, cycle: f64| 2.0 * entry / cycle * 100.0;
    // The widest that the two intervals allow.
    let estimate = oscost_results::Estimate {
        value: share(entry.value, cycle.value),
        low: share(entry.low, cycle.high),
        high: share(entry.high, cycle.low),
        extremes: entry.extremes || cycle.extremes,
    };
    let judgement = within(&estimate, 50.0, f64::MAX);
    let one_call = found
        .floor(ONE_CALL)
        .map_or(String::new(), |one| format!("; both operations in one semop cost {:.0} ns", one.value));
    Some((
        judgement,
        format!(
            "of {:.0} ns a cycle two empty kernel entries are {:.0} ns: {:.0} % ({:.0} .. {:.0}; over half counts as holding); \
             semop's own work is {:.0} ns{one_call}",
            cycle.value,
            2.0 * entry.value,
            estimate.value,
            estimate.low,
            estimate.high,
            cycle.value - 2.0 * entry.value,
        ),
    ))
}

/// The table that the document's script prints, from the literal runs; empty where there is none.
#[must_use]
pub fn script_table(found: &Found<'_>, parameters: &Parameters) -> String {
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
    use super::*;
    use crate::found::test::{figure, result, set};

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
        let rows = judge(&found, &Parameters::default());
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
    fn growth_is_judged_by_intervals() {
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
            growth(&found, &Parameters::default()).expect("all figures are there").0
        };
        assert_eq!(judged([33.6, 45.7, 47.1, 48.1]), Judgement::Holds);
        assert_eq!(judged([47.0, 47.5, 47.1, 47.2]), Judgement::DoesNotHold);
        assert_eq!(judged([47.0, 47.5, 47.1, 49.2]), Judgement::NotTestableHere);
        let one = Parameters { operations: vec![5], ..Parameters::default() };
        let nothing = Found::of(&[], &[], &[]);
        assert_eq!(growth(&nothing, &one).expect("one count").0, Judgement::NotTestableHere);
    }

    #[test]
    fn a_machine_like_the_documents_agrees_with_it() {
        let verdicts = verdicts(47.5, 2.0);
        for words in ["33-48x", "stabilizes", "order of magnitude", "always require", "only require"] {
            assert_eq!(verdict(&verdicts, words), Judgement::Holds, "{words}");
        }
        assert_eq!(verdict(&verdicts, "increases with operation count"), Judgement::DoesNotHold);
        assert_eq!(verdict(&verdicts, "contention the performance"), Judgement::NotTestableHere);
    }

    #[test]
    fn another_machine_does_not() {
        let verdicts = verdicts(5.0, 1.0);
        for words in ["33-48x", "stabilizes", "order of magnitude", "always require", "4.5M"] {
            assert_eq!(verdict(&verdicts, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&verdicts, "system call overhead"), Judgement::Holds);
    }

    #[test]
    fn without_figures_nothing_is_judged_and_the_document_still_stands() {
        let found = Found::of(&[], &[], &[]);
        let rows = judge(&found, &Parameters::default());
        assert!(
            rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere)
        );
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        for value in [0.000013, 0.439309, 33.6, 48.1] {
            assert!(published.contains(&value), "{value}");
        }
        assert_eq!(script_table(&found, &Parameters::default()), "");
    }

    #[test]
    fn the_scripts_table_is_the_documents() {
        let (figures, ratios) = found_with(48.0, 2.0);
        let found = Found::of(&figures, &ratios, &[]);
        let table = script_table(&found, &Parameters::default());
        assert!(table.contains("|       1000 |       0.000013 |          0.000437 |    33.6x |"), "{table}");
        assert!(table.contains("|    1000000 |       0.009119 |          0.439309 |    48.1x |"), "{table}");
    }
}
