//! Document 004: the precision of gettimeofday, a read of 0 bytes, the context switch by two pipes.

mod methods;

pub use methods::{Reads, Switches, Timestamps};

use oscost_results::{Judgement, Reproduction};

use crate::Document;
use crate::found::{Answer, Found, Judged, Rows, Value, grouped, holds_if, judged, within};
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
    precision(found, parameters, &mut rows);
    system_call(found, &mut rows);
    switch_values(found, &mut rows);
    statements(found, parameters, &mut rows);
    rows.rows
}

const PRECISION: &str =
    "Precision of gettimeofday (gettimeofday_runtimes): array cold as in the document, or touched before";

/// Section "Precision of gettimeofday".
fn precision(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    let step = "clock/step/gettimeofday";
    let mut row = |name: &str,
                   unit: &'static str,
                   quantity: &str,
                   published: Option<f64>,
                   answer: Option<Answer<'_>>| {
        // Times are kept in ns; the document speaks of us where steps are meant.
        let scale = if unit == "us" { 1000.0 } else { 1.0 };
        let value = |id: &str| found.literal(id, quantity).map(|value| value / scale);
        let columns = [("cold", published, value(&cold)), ("touched (ours)", None, value(&touched))];
        for (column, published, literal) in columns {
            rows.value(Value { published, literal, ..Value::in_table(PRECISION, name, column, unit) });
        }
        if let Some(answer) = answer {
            rows.value(Value {
                answer: Some(answer),
                ..Value::in_table(PRECISION, name, "price list", unit)
            });
        }
    };
    let of_steps = |quantity: &'static str| Some((step.to_owned(), quantity, found.quantity(step, quantity)));
    let call = Some(("clock/gettimeofday".to_owned(), "floor", found.floor("clock/gettimeofday")));
    row("equal readings in a row", "count", "equal_run_length", Some(25.0), of_steps("equal_run_length"));
    row("time of a call (mean)", "ns", "mean", Some(40.0), call);
    row("steps over 1 us", "count", "steps_over_1us", None, None);
    row("steps of many us (over 10)", "count", "steps_over_10us", Some(215.0), None);
    row("largest step", "us", "largest_step", Some(50.0), of_steps("largest_step"));
    row("backward steps", "count", "backward_steps", None, of_steps("backward_steps"));
    row("page faults", "count", "faults", None, None);
    rows.value(Value {
        because: format!(
            "published are 215 of 100 000 readings, here of {}; many us has no bound in the document; the largest step is \"usually around 50 us\", on the very \
             occasional run almost 2000",
            grouped(parameters.samples)
        ),
        ..Value::at("steps", "")
    });
}

const READ_TABLE: &str = "The cost of a system call (read_system_call): read of 0 bytes in a row";

/// Section "The cost of a system call".
fn system_call(found: &Found<'_>, rows: &mut Rows) {
    for (count, published) in READS {
        let id = reads(count);
        let name = format!("{} of /dev/zero", grouped(count));
        rows.value(Value {
            published: Some(published),
            literal: found.literal(&id, "minimum"),
            answer: Some((READ.to_owned(), "floor", found.floor(READ))),
            ..Value::in_table(READ_TABLE, &name, "minimum a read", "ns")
        });
        rows.value(Value {
            literal: found.literal(&id, "near_minimum").map(|share| share * 100.0),
            ..Value::in_table(READ_TABLE, &name, "runs near it", "%")
        });
    }
    for (id, object) in [("syscall/read0_pipe", "an empty pipe"), ("syscall/read0_file", "a regular file")] {
        rows.value(Value {
            answer: Some((id.to_owned(), "floor", found.floor(id))),
            ..Value::in_table(READ_TABLE, &format!("{object} (ours)"), "minimum a read", "ns")
        });
    }
    rows.value(Value {
        because: "what the document reads from; near: within 5 % of the minimum, or a step of the clock"
            .to_owned(),
        ..Value::at("not in the document", "")
    });
}

/// Section "The cost of a context switch".
fn switch_values(found: &Found<'_>, rows: &mut Rows) {
    for (index, (tag, words)) in TAGS.into_iter().enumerate() {
        let table = format!("The cost of a context switch (context_switch): {words}");
        let figure = if index == 0 { UNPINNED } else { SAME };
        for (count, totals, published) in SWITCHES {
            let name = format!("{} in a row", grouped(count));
            let id = switches(tag, "barrier", count);
            let each = |total_ns: f64| total_ns / 1000.0 / count as f64;
            rows.value(Value {
                published: Some(totals[index]),
                literal: found.literal(&id, "minimum").map(|total| total / 1000.0),
                ..Value::in_table(&table, &name, "in total", "us")
            });
            rows.value(Value {
                published: Some(published[index]),
                literal: found.literal(&id, "minimum").map(each),
                answer: Some((figure.to_owned(), "floor", found.floor(figure))),
                ..Value::in_table(&table, &name, "a switch", "us")
            });
            let no_barrier = found.literal(&switches(tag, "no_barrier", count), "median");
            rows.value(Value {
                literal: found.literal(&id, "median").map(each),
                ..Value::in_table(&table, &name, "median", "us")
            });
            rows.value(Value {
                literal: no_barrier.map(each),
                ..Value::in_table(&table, &name, "no barrier", "us")
            });
            rows.value(Value {
                literal: found.literal(&id, "shared_cpu").map(|share| share * 100.0),
                ..Value::in_table(&table, &name, "on one CPU", "%")
            });
        }
    }
    rows.value(Value {
        answer: Some((CROSS.to_owned(), "floor", found.floor(CROSS))),
        because: "what the document could not pin".to_owned(),
        ..Value::at("a switch across two CPUs (ours)", "ns")
    });
    rows.value(Value {
        answer: Some((SAME.to_owned(), "less the pipe", found.difference(SAME, ALONE))),
        because: "what lmbench's lat_ctx -s 0 2 is to be compared with".to_owned(),
        ..Value::at("a switch on one CPU without the pipe (ours)", "ns")
    });
    rows.value(Value {
        because: "the three programs: their loops here are written from the document's words".to_owned(),
        ..Value::at("not in the document", "")
    });
}

fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    rows.statement(
        "Precision of gettimeofday",
        "very rarely there can be a difference of many microseconds between two calls (215 times, ~0.2%)",
        judged(many(found, &cold, &touched, parameters.samples)),
    );
    rows.statement(
        "Precision of gettimeofday",
        "a long-tailed distribution with the approximate shape of an exponential distribution",
        judged(found.literal(&cold, "fit_distance").map(|distance| {
            (
                holds_if(distance < 0.1),
                format!(
                    "the distribution of the steps lies {distance:.2} from the exponential one of the same mean (Kolmogorov's \
                     distance; under 0.1 counts as approximate)"
                ),
            )
        })),
    );
    rows.statement(
        "Precision of gettimeofday",
        "it has a minimum of 40 nanoseconds",
        judged(found.floor("clock/gettimeofday").map(|floor| {
            (
                within(&floor, 36.0, 44.0),
                format!(
                    "{:.1} ns ({:.1} .. {:.1}) here; 36 to 44 count as holding",
                    floor.value, floor.low, floor.high
                ),
            )
        })),
    );
    rows.by("clock/gettimeofday", "floor", found.floor("clock/gettimeofday"));
    rows.statement(
        "The cost of a system call",
        "all the runs took the minimum amount of time or very close to it",
        judged(near_minimum(found)),
    );
    rows.statement(
        "The cost of a system call",
        "our best estimate of the overhead of a system call is ~300 nanoseconds",
        judged(found.floor(READ).zip(found.floor("syscall/invalid")).map(|(read, entry)| {
            (
                within(&read, 270.0, 330.0),
                format!(
                    "a read of 0 bytes costs {:.0} ns ({:.0} .. {:.0}) here, of which {:.0} ns are an empty kernel entry; 270 to \
                     330 count as holding",
                    read.value, read.low, read.high, entry.value
                ),
            )
        })),
    );
    rows.by(READ, "floor", found.floor(READ));
    rows.statement(
        "The cost of a context switch",
        "the two child processes might be scheduled onto different processors, which will give us the wrong result",
        judged(found.floor(SAME).zip(found.floor(CROSS)).map(|(same, cross)| {
            (
                holds_if(cross.low > same.high),
                format!("{:.2} us on one CPU, {:.2} us across two", same.value / 1000.0, cross.value / 1000.0),
            )
        })),
    );
    rows.by(CROSS, "floor", found.floor(CROSS));
    rows.statement(
        "The cost of a context switch",
        "a start barrier can significantly lower measurements, especially when only a small number of switches are measured",
        judged(barrier(found)),
    );
    rows.statement(
        "The cost of a context switch",
        "Running this multiple times produces outputs that vary by as much as 20%",
        judged(spread(found)),
    );
    for (words, hypothesis) in [
        (
            "(1) regardless of the tags, both are being scheduled to different processors",
            Hypothesis::Different,
        ),
        ("(2) regardless of the tags, ... the same processor", Hypothesis::Same),
        (
            "(3) the same processor for one setting of the tag and different ones for the other",
            Hypothesis::OneOfEach,
        ),
    ] {
        rows.statement("The cost of a context switch", words, judged(placed(found, hypothesis)));
    }
    rows.statement(
        "last sentence",
        "These results should be compared against the results given by the lmbench tool",
        (
            Judgement::NotTestableHere,
            "lmbench is not run here. Its lat_ctx -s 0 2 subtracts the pipe's price in one process: compare it with the hop \
             minus the pipe (context_switch/pipe, without pipe_alone); lat_pipe is a round trip: two hops; lat_syscall null is \
             getppid through libc, read is one byte: syscall/read1"
                .to_owned(),
        ),
    );
}

/// Rare is under one in a hundred.
fn many(found: &Found<'_>, cold: &str, touched: &str, samples: u64) -> Option<Judged> {
    let share = |id: &str, quantity: &str| Some(found.literal(id, quantity)? / samples as f64 * 100.0);
    let (far, over) = (share(cold, "steps_over_10us")?, share(cold, "steps_over_1us")?);
    let over_touched = share(touched, "steps_over_1us")?;
    Some((
        holds_if(far > 0.0 && far < 1.0),
        format!(
            "{far:.3} % of the steps over 10 us, {over:.3} % over 1 us; {over_touched:.3} % over 1 us with the array touched \
             before: what it does not have are page faults of the array (ours)"
        ),
    ))
}

fn near_minimum(found: &Found<'_>) -> Option<Judged> {
    let shares: Option<Vec<f64>> =
        READS.iter().map(|&(count, _)| found.literal(&reads(count), "near_minimum")).collect();
    let shares = shares?;
    let least = shares.iter().copied().fold(1.0, f64::min);
    let list: Vec<String> = shares.iter().map(|share| format!("{:.0} %", share * 100.0)).collect();
    Some((
        holds_if(least >= 0.95),
        format!("{} of the runs of 100, 1000 and 10 000 reads (95 % counts as all)", list.join(", ")),
    ))
}

fn barrier(found: &Found<'_>) -> Option<Judged> {
    let gain = |count: u64| -> Option<f64> {
        let with = found.literal(&switches("unpinned", "barrier", count), "median")?;
        let without = found.literal(&switches("unpinned", "no_barrier", count), "median")?;
        (with > 0.0).then(|| without / with - 1.0)
    };
    let (few, many) = (gain(20)?, gain(20_000)?);
    Some((
        holds_if(few > 0.1 && few > many),
        format!(
            "without it the median of 20 in a row is {:+.0} %, of 20 000 {:+.0} % (single runs, unpinned)",
            few * 100.0,
            many * 100.0
        ),
    ))
}

fn spread(found: &Found<'_>) -> Option<Judged> {
    let spreads: Option<Vec<f64>> = TAGS
        .iter()
        .flat_map(|(tag, _)| SWITCHES.map(|(count, ..)| switches(tag, "barrier", count)))
        .map(|id| found.literal(&id, "spread"))
        .collect();
    let spreads = spreads?;
    let (least, most) =
        (spreads.iter().copied().fold(f64::MAX, f64::min), spreads.iter().copied().fold(0.0, f64::max));
    Some((
        holds_if(most <= 0.2),
        format!(
            "the minimum that the program prints varies by {:.0} % to {:.0} % over 4 or 5 runs of each kind",
            least * 100.0,
            most * 100.0
        ),
    ))
}

/// Where the document supposes that its two children ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hypothesis {
    Different,
    Same,
    OneOfEach,
}

/// The document could not see where its children ran; here both said so at the end. A setting puts them on one CPU, or on
/// two, if nine runs in ten ended so.
fn placed(found: &Found<'_>, hypothesis: Hypothesis) -> Option<Judged> {
    let share = |tag: &str| -> Option<f64> {
        let shares: Option<Vec<f64>> = SWITCHES
            .iter()
            .map(|&(count, ..)| found.literal(&switches(tag, "barrier", count), "shared_cpu"))
            .collect();
        let shares = shares?;
        Some(shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let (free, tagged) = (share("unpinned")?, share("same_cpu")?);
    let (one, two) = (|share: f64| share >= 0.9, |share: f64| share <= 0.1);
    let holds = match hypothesis {
        Hypothesis::Different => two(free) && two(tagged),
        Hypothesis::Same => one(free) && one(tagged),
        Hypothesis::OneOfEach => (one(free) && two(tagged)) || (two(free) && one(tagged)),
    };
    Some((
        holds_if(holds),
        format!(
            "they ended on one CPU in {:.0} % of the runs without tags, in {:.0} % with the same tag (here: pinned)",
            free * 100.0,
            tagged * 100.0
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::test::{figure, set};

    fn figures(
        cold_steps: f64,
        fit: f64,
        near: f64,
        free_share: f64,
        spread: f64,
    ) -> Vec<oscost_results::Figure> {
        let parameters = Parameters::default();
        let mut figures = vec![
            figure(READ, "floor", 300.0, Some(1.0)),
            figure("syscall/invalid", "floor", 100.0, Some(1.0)),
            figure("clock/gettimeofday", "floor", 40.0, Some(0.0)),
            figure(SAME, "floor", 2000.0, None),
            figure(CROSS, "floor", 9000.0, None),
        ];
        for (array, steps) in [("cold", cold_steps), ("touched", 2.0)] {
            let mut one = figure(&timestamps(array, &parameters), "steps_over_1us", steps, None);
            set(&mut one, "steps_over_10us", steps);
            set(&mut one, "fit_distance", fit);
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

    fn verdict(figures: &[oscost_results::Figure], words: &str) -> Judgement {
        let found = Found { figures, ratios: &[], differences: &[] };
        let rows = judge(&found, &Parameters::default());
        let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
        row.and_then(|row| row.verdict).expect("a judged statement")
    }

    #[test]
    fn a_machine_like_the_documents_agrees_with_it() {
        let like = figures(215.0, 0.05, 0.99, 0.97, 0.19);
        let holding = [
            "many microseconds",
            "exponential",
            "40 nanoseconds",
            "all the runs",
            "~300",
            "different processors, which",
            "start barrier",
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
        let other = figures(5000.0, 0.9, 0.5, 0.0, 3.0);
        for words in ["many microseconds", "exponential", "all the runs", "20%", "(1)", "(2)"] {
            assert_eq!(verdict(&other, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&other, "(3)"), Judgement::Holds);
        // On a loaded machine the free children are a mixture: nothing of the three.
        let mixture = figures(215.0, 0.05, 0.99, 0.5, 0.19);
        for words in ["(1)", "(2)", "(3)"] {
            assert_eq!(verdict(&mixture, words), Judgement::DoesNotHold, "{words}");
        }
    }

    #[test]
    fn every_published_number_is_there_without_a_measurement() {
        let found = Found { figures: &[], ratios: &[], differences: &[] };
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
