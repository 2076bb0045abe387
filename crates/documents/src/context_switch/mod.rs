//! Document 004: the precision of gettimeofday, a read of 0 bytes, the context switch by two pipes.

mod methods;

pub use methods::{Reads, Switches, Timestamps};

use oscost_results::{Judgement, Reproduction};

use crate::Document;
use crate::found::{Found, Judged, Rows, Value, holds_if, judged};
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
const CROSS: &str = "context_switch/pipe/cross_cpu";
const UNPINNED: &str = "context_switch/pipe/unpinned";
/// Reads in a row, and ns a read as published.
const READS: [(u64, f64); 3] = [(100, 330.0), (1000, 302.0), (10_000, 302.0)];
/// Switches in a row; us in total as published without affinity tags, and with the same one.
const SWITCHES: [(u64, f64, f64); 3] = [(20, 49.0, 49.0), (200, 463.0, 505.0), (20_000, 39_691.0, 48_239.0)];
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

/// Section "Precision of gettimeofday".
fn precision(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    let step = "clock/step/gettimeofday";
    let section = "Precision of gettimeofday";
    let beside_touched = |quantity: &str| match found.literal(&touched, quantity) {
        Some(value) => format!("{value:.0} with the array touched before"),
        None => String::new(),
    };
    rows.value(Value {
        published: Some(25.0),
        literal: found.literal(&cold, "equal_run_length"),
        answer: Some((step.to_owned(), "equal_run_length", found.quantity(step, "equal_run_length"))),
        because: beside_touched("equal_run_length"),
        ..Value::at(format!("{section}: calls in a row that return the same value"), "count")
    });
    rows.value(Value {
        published: Some(40.0),
        literal: found.literal(&cold, "mean"),
        answer: Some(("clock/gettimeofday".into(), "floor", found.floor("clock/gettimeofday"))),
        because: "published: 1 us / 25 calls; literal: mean over the array; measured: the call in a batch"
            .to_owned(),
        ..Value::at(format!("{section}: time of a call"), "ns")
    });
    rows.value(Value {
        published: Some(215.0),
        literal: found.literal(&cold, "steps_over_1us"),
        because: match (found.literal(&cold, "faults"), found.literal(&touched, "faults")) {
            (Some(cold), Some(touched)) => format!(
                "of {} readings; {}; page faults {cold:.0} and {touched:.0} (ours)",
                parameters.samples,
                beside_touched("steps_over_1us")
            ),
            _ => String::new(),
        },
        ..Value::at(format!("{section}: steps of many us"), "count")
    });
    rows.value(Value {
        published: Some(50_000.0),
        literal: found.literal(&cold, "largest_step"),
        answer: Some((step.to_owned(), "largest_step", found.quantity(step, "largest_step"))),
        because: "published: around 50 us, once in a while almost 2000 us".to_owned(),
        ..Value::at(format!("{section}: largest step"), "ns")
    });
    rows.value(Value {
        literal: found.literal(&cold, "backward_steps"),
        answer: Some((step.to_owned(), "backward_steps", found.quantity(step, "backward_steps"))),
        ..Value::at(format!("{section}: backward steps (not in the document)"), "count")
    });
}

/// Section "The cost of a system call".
fn system_call(found: &Found<'_>, rows: &mut Rows) {
    for (count, published) in READS {
        let id = reads(count);
        rows.value(Value {
            published: Some(published),
            literal: found.literal(&id, "minimum"),
            answer: Some((READ.to_owned(), "floor", found.floor(READ))),
            because: found.literal(&id, "near_minimum").map_or(String::new(), |share| {
                format!(
                    "{:.0} % of the runs within 5 % of the minimum, or a step of the clock",
                    share * 100.0
                )
            }),
            ..Value::at(format!("The cost of a system call: {count} reads in a row"), "ns")
        });
    }
    for (id, object) in [("syscall/read0_pipe", "an empty pipe"), ("syscall/read0_file", "a regular file")] {
        rows.value(Value {
            answer: Some((id.to_owned(), "floor", found.floor(id))),
            because: "the document does not say what it reads from; ours above is /dev/zero".to_owned(),
            ..Value::at(format!("The cost of a system call: {object} (not in the document)"), "ns")
        });
    }
}

/// Section "The cost of a context switch".
fn switch_values(found: &Found<'_>, rows: &mut Rows) {
    for (index, (tag, words)) in TAGS.into_iter().enumerate() {
        let figure = if index == 0 { UNPINNED } else { SAME };
        for (count, free, tagged) in SWITCHES {
            let total_us = if index == 0 { free } else { tagged };
            let id = switches(tag, "barrier", count);
            let per_switch = |total_ns: f64| total_ns / count as f64;
            let mut because: Vec<String> = vec![format!("published: {total_us} us in total")];
            if let Some(total) = found.literal(&id, "minimum") {
                because.push(format!("literal: {:.0} us", total / 1000.0));
            }
            if let Some(share) = found.literal(&id, "shared_cpu") {
                because.push(format!("both children ended on one CPU in {:.0} % of the runs", share * 100.0));
            }
            if let Some(total) = found.literal(&switches(tag, "no_barrier", count), "median") {
                because
                    .push(format!("median without the start barrier {:.0} ns a switch", per_switch(total)));
            }
            rows.value(Value {
                published: Some(total_us * 1000.0 / count as f64),
                literal: found.literal(&id, "minimum").map(per_switch),
                answer: Some((figure.to_owned(), "floor", found.floor(figure))),
                because: because.join("; "),
                ..Value::at(
                    format!("The cost of a context switch, {words}: {count} in a row, a switch"),
                    "ns",
                )
            });
        }
    }
    rows.value(Value {
        answer: Some((CROSS.to_owned(), "floor", found.floor(CROSS))),
        because: "what the document could not pin".to_owned(),
        ..Value::at("The cost of a context switch, two CPUs (not in the document): a switch", "ns")
    });
}

fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    rows.statement(
        "Precision of gettimeofday",
        "very rarely there can be a difference of many microseconds between two calls (215 times, ~0.2%)",
        judged(found.literal(&cold, "steps_over_1us").zip(found.literal(&touched, "steps_over_1us")).map(
            |(cold, touched)| {
                let of = |steps: f64| steps / parameters.samples as f64 * 100.0;
                (
                    holds_if(cold > 0.0 && of(cold) < 1.0),
                    format!(
                        "{:.3} % with the document's cold array, {:.3} % with the array touched before: most of them are page \
                         faults of the array (ours)",
                        of(cold),
                        of(touched)
                    ),
                )
            },
        )),
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
                holds_if((36.0..=44.0).contains(&floor.value)),
                format!("{:.1} ns here; the clock itself counts us", floor.value),
            )
        })),
    );
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
                holds_if((270.0..=330.0).contains(&read.value)),
                format!(
                    "a read of 0 bytes costs {:.0} ns here, of which {:.0} ns are an empty kernel entry",
                    read.value, entry.value
                ),
            )
        })),
    );
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
    let hypotheses = [
        ("hypothesis 1: both child processes are being scheduled to different processors", 0.0, 0.1),
        ("hypothesis 2: ... the same processor", 0.9, 1.0),
        (
            "hypothesis 3: the same processor for one setting of the tag and different ones for the other",
            0.1,
            0.9,
        ),
    ];
    for (words, least, most) in hypotheses {
        rows.statement("The cost of a context switch", words, judged(shared(found, least, most)));
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
        format!("by {:.0} % to {:.0} % over the runs of each kind", least * 100.0, most * 100.0),
    ))
}

/// The document could not see where its children ran; here both said so at the end.
fn shared(found: &Found<'_>, least: f64, most: f64) -> Option<Judged> {
    let share = |tag: &str| -> Option<f64> {
        let shares: Option<Vec<f64>> = SWITCHES
            .iter()
            .map(|&(count, ..)| found.literal(&switches(tag, "barrier", count), "shared_cpu"))
            .collect();
        let shares = shares?;
        Some(shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let (free, tagged) = (share("unpinned")?, share("same_cpu")?);
    // The third speaks of a difference between the two settings, the others of the free one.
    let holds =
        if least > 0.0 && most < 1.0 { free < 0.1 && tagged > 0.9 } else { (least..=most).contains(&free) };
    Some((
        holds_if(holds),
        format!(
            "both children ended on one CPU in {:.0} % of the runs without tags, in {:.0} % with the same tag (here: pinned)",
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
            "hypothesis 2",
        ];
        for words in holding {
            assert_eq!(verdict(&like, words), Judgement::Holds, "{words}");
        }
        for words in ["hypothesis 1", "hypothesis 3"] {
            assert_eq!(verdict(&like, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&like, "lmbench"), Judgement::NotTestableHere);
    }

    #[test]
    fn another_machine_does_not() {
        let other = figures(5000.0, 0.9, 0.5, 0.0, 3.0);
        for words in ["many microseconds", "exponential", "all the runs", "20%", "hypothesis 2"] {
            assert_eq!(verdict(&other, words), Judgement::DoesNotHold, "{words}");
        }
        assert_eq!(verdict(&other, "hypothesis 1"), Judgement::Holds);
        assert_eq!(verdict(&other, "hypothesis 3"), Judgement::Holds);
    }

    #[test]
    fn every_published_number_is_there_without_a_measurement() {
        let found = Found { figures: &[], ratios: &[], differences: &[] };
        let rows = judge(&found, &Parameters::default());
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        for value in [25.0, 40.0, 215.0, 330.0, 302.0, 2450.0, 2315.0, 1984.55, 2525.0, 2411.95] {
            assert!(published.iter().any(|found| (found - value).abs() < 1e-6), "{value}");
        }
        assert!(
            rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere)
        );
    }
}
