//! Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended.

use oscost_results::{Judgement, Reproduction};

use crate::Document;
use crate::found::{Found, Judged, Rows, Value, holds_if, judged, times, within};
use crate::parameters::{OPERATIONS, Parameters};

/// The document.
pub static DOCUMENT: Document = Document {
    name: "tlpi",
    number: "000",
    parameters: &[OPERATIONS],
    figures: &[
        "semaphore/posix_named",
        "semaphore/system_v",
        "semaphore/system_v_one_call",
        "syscall/invalid",
    ],
    literal,
    judge,
};

const POSIX: &str = "semaphore/posix_named";
const SYSTEM_V: &str = "semaphore/system_v";

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

/// Operations a second that the Key Findings quote, of the longest runs, as its table gives them.
const RATES: &[(u64, &str, f64)] = &[(1_000_000, "POSIX", 219e6), (1_000_000, "System V", 4.55e6)];

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

fn values(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    for &operations in &parameters.operations {
        let published = RESULTS.iter().position(|row| row.operations == operations);
        let place = |what: &str| match published {
            Some(index) => format!("row {}, {operations}: {what}", index + 1),
            None => format!("no row, {operations}: {what}"),
        };
        let row = published.map(|index| &RESULTS[index]);
        let programs = [
            ("POSIX", "literal/posix_named", POSIX, row.map(|row| row.posix_s)),
            ("System V", "literal/system_v", SYSTEM_V, row.map(|row| row.system_v_s)),
        ];
        let mut elapsed = [None, None];
        for (index, (name, method, figure, published)) in programs.into_iter().enumerate() {
            let seconds = elapsed_s(found, method, operations);
            elapsed[index] = seconds;
            // The program counts a wait and a post as two operations; the figure is of the cycle of both.
            let rate =
                |seconds: f64| if seconds > 0.0 { Some(operations as f64 * 2.0 / seconds) } else { None };
            rows.value(Value {
                published,
                literal: seconds,
                ..Value::at(place(&format!("{name} elapsed")), "s")
            });
            rows.value(Value {
                published: RATES
                    .iter()
                    .find(|known| (known.0, known.1) == (operations, name))
                    .map(|known| known.2),
                literal: seconds.and_then(rate),
                ..Value::at(place(&format!("{name} per second")), "1/s")
            });
            rows.value(Value {
                literal: seconds.map(|seconds| seconds * 1e9 / (operations as f64 * 2.0)),
                answer: Some((figure.to_owned(), "floor", found.floor(figure))),
                because: if parameters.operations.first() == Some(&operations) && index == 0 {
                    "the figure is of a cycle: one wait and one post, two of the document's operations"
                        .to_owned()
                } else {
                    String::new()
                },
                ..Value::at(place(&format!("{name} per operation")), "ns")
            });
        }
        let literal = match elapsed {
            [Some(posix), Some(system_v)] if posix > 0.0 => Some(system_v / posix),
            _ => None,
        };
        let paired = id("paired", operations);
        rows.value(Value {
            published: row.map(|row| row.speed_up),
            literal,
            answer: Some((paired.clone(), "ratio", found.quantity(&paired, "ratio"))),
            ..Value::at(place("speed-up"), "ratio")
        });
    }
}

fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let ratio = found.ratio(SYSTEM_V, POSIX);
    let findings = "Key Findings";
    rows.statement(
        findings,
        "POSIX semaphores are 33-48x faster than System V semaphores",
        judged(ratio.map(|ratio| (within(&ratio, 33.0, 48.0), format!("{}, paired", times(&ratio))))),
    );
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
            Some((judgement, format!("{} at {operations} cycles, warm and paired", times(&ratio))))
        })),
    );
    rows.statement(findings, "POSIX achieves ~220M operations/second", judged(rate(found, POSIX, 220.0)));
    rows.statement(findings, "System V's ~4.5M operations/second", judged(rate(found, SYSTEM_V, 4.5)));
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
    rows.statement(
        "Why, last sentence",
        "The 47x performance difference reflects the cost of system call overhead versus direct memory access",
        judged(split(found)),
    );
    rows.statement(
        "TLPI 53.5",
        "under a high degree of contention the performance of POSIX semaphores and System V semaphores is similar",
        (
            Judgement::NotTestableHere,
            "this run has no contended figures: both primitives must be seen to block in 20 % of their operations"
                .to_owned(),
        ),
    );
}

fn largest(parameters: &Parameters) -> Option<u64> {
    parameters.operations.iter().copied().max()
}

/// Growth of the speed-up: judged from warm, paired ratios. The remainders over the slope show what grows instead.
fn growth(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let mut counts = parameters.operations.clone();
    counts.sort_unstable();
    let (first, last) = (*counts.first()?, *counts.last()?);
    if first == last {
        return Some((
            Judgement::NotTestableHere,
            "one count has no growth: give --operations several".to_owned(),
        ));
    }
    let at = |operations: u64| found.quantity(&id("paired", operations), "ratio");
    let (small, large) = (at(first)?, at(last)?);
    let judgement = if large.low > small.high { Judgement::Holds } else { Judgement::DoesNotHold };
    let ratios: Vec<String> =
        counts.iter().filter_map(|&count| at(count)).map(|ratio| format!("{:.1}", ratio.value)).collect();
    // What the literal run needs beyond the slope of its longest one: start-up, and the clock's step of 1 us.
    let slope = elapsed_s(found, "literal/posix_named", last)? / last as f64;
    let remainder = elapsed_s(found, "literal/posix_named", first)? - slope * first as f64;
    Some((
        judgement,
        format!(
            "warm, paired ratios at {} cycles: {}; the literal POSIX run of {first} cycles takes {:.1} us more than its \
             slope says (published: 3.9 us): start-up, not the semaphore",
            counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            ratios.join(", "),
            remainder * 1e6,
        ),
    ))
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

/// A System V cycle is two kernel entries and what semop does; only the first part is system-call overhead.
fn split(found: &Found<'_>) -> Option<Judged> {
    let cycle = found.floor(SYSTEM_V)?;
    let entry = found.floor("syscall/invalid")?;
    let entries = 2.0 * entry.value;
    let share = entries / cycle.value;
    let one_call = found
        .floor("semaphore/system_v_one_call")
        .map_or(String::new(), |one| format!("; both operations in one semop cost {:.0} ns", one.value));
    Some((
        holds_if(share > 0.5),
        format!(
            "of {:.0} ns a cycle two empty kernel entries are {entries:.0} ns ({:.0} %), semop's own work is {:.0} ns{one_call}",
            cycle.value,
            share * 100.0,
            cycle.value - entries,
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
        // A run shorter than the clock's step has no ratio.
        let speed_up = if posix > 0.0 { format!("{:7.1}x", system_v / posix) } else { format!("{:>8}", "-") };
        table.push_str(&format!("| {operations:>10} | {posix:>14.6} | {system_v:>17.6} | {speed_up} |\n"));
    }
    if table.len() == empty { String::new() } else { table }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::test::{figure, result};

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
        let found = Found { figures: &figures, ratios: &ratios, differences: &[] };
        let rows = judge(&found, &Parameters::default());
        rows.into_iter().filter_map(|row| Some((row.statement?, row.verdict?))).collect()
    }

    fn verdict(verdicts: &[(String, Judgement)], words: &str) -> Judgement {
        verdicts.iter().find(|(statement, _)| statement.contains(words)).expect("a statement").1
    }

    #[test]
    fn the_published_speed_ups_are_the_published_times_ratios() {
        for row in RESULTS {
            assert!((row.system_v_s / row.posix_s - row.speed_up).abs() < 0.1, "{}", row.operations);
        }
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
        let found = Found { figures: &[], ratios: &[], differences: &[] };
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
        let found = Found { figures: &figures, ratios: &ratios, differences: &[] };
        let table = script_table(&found, &Parameters::default());
        assert!(table.contains("|       1000 |       0.000013 |          0.000437 |    33.6x |"), "{table}");
        assert!(table.contains("|    1000000 |       0.009119 |          0.439309 |    48.2x |"), "{table}");
    }
}
