//! What document 004 published, beside its programs' literal runs and the figures of the price list.

use super::{ALONE, CROSS, READ, READS, SAME, SWITCHES, TAGS, UNPINNED, reads, switches, timestamps};
use crate::found::{Answer, Found, Rows, Value, grouped};
use crate::parameters::DocumentParameters;
use oscost_results::quantity;

const PRECISION: &str =
    "Precision of gettimeofday (gettimeofday_runtimes): array cold as in the document, or touched before";

/// The floor of a figure as an answer.
fn floor<'a>(found: &Found<'_>, id: &str) -> Option<Answer<'a>> {
    Some((id.to_owned(), quantity::FLOOR, found.measured(id, quantity::FLOOR)))
}

/// Section "Precision of gettimeofday".
pub(super) fn precision(found: &Found<'_>, parameters: &DocumentParameters, rows: &mut Rows) {
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
    let of_steps = |quantity: &'static str| Some((step.to_owned(), quantity, found.measured(step, quantity)));
    let call = floor(found, "clock/gettimeofday");
    row(
        "equal readings in a row",
        "count",
        quantity::EQUAL_RUN_LENGTH,
        Some(25.0),
        of_steps(quantity::EQUAL_RUN_LENGTH),
    );
    row("time of a call", "ns", "mean", Some(40.0), call);
    row("steps over 1 us", "count", quantity::STEPS_OVER_1US, None, None);
    row("steps of many us (over 10)", "count", quantity::STEPS_OVER_10US, Some(215.0), None);
    row("largest step", "us", quantity::LARGEST_STEP, Some(50.0), of_steps(quantity::LARGEST_STEP));
    row("backward steps", "count", quantity::BACKWARD_STEPS, None, of_steps(quantity::BACKWARD_STEPS));
    row("page faults", "count", "faults", None, None);
    rows.note(
        "steps",
        format!(
            "published are 215 of 100 000 readings, here of {}; the document does not say how many us are \"many\"; the largest step is \"usually around 50 us\", on the very \
             occasional run almost 2000",
            grouped(parameters.samples)
        ),
    );
}

const READ_TABLE: &str = "The cost of a system call (read_system_call): read of 0 bytes in a row";
const READ_PLOT: &str = "The cost of a system call";
const SWITCH_PLOT: &str = "The cost of a context switch";

/// Section "The cost of a system call".
pub(super) fn system_call(found: &Found<'_>, rows: &mut Rows) {
    for (count, published) in READS {
        let id = reads(count);
        let name = format!("{} of /dev/zero", grouped(count));
        rows.value(Value {
            published: Some(published),
            literal: found.literal(&id, quantity::MINIMUM),
            answer: floor(found, READ),
            ..Value::in_table(READ_TABLE, &name, "minimum a read", "ns")
                .on_axis(count, "of /dev/zero")
                .called(READ_PLOT)
        });
        rows.value(Value {
            literal: found.literal(&id, quantity::NEAR_MINIMUM).map(|share| share * 100.0),
            ..Value::in_table(READ_TABLE, &name, "runs near it", "%")
        });
    }
    for (id, object) in [("syscall/read0_pipe", "an empty pipe"), ("syscall/read0_file", "a regular file")] {
        rows.value(Value {
            answer: floor(found, id),
            ..Value::in_table(READ_TABLE, &format!("{object} (ours)"), "minimum a read", "ns")
        });
    }
    rows.note(
        "not in the document",
        "what the document reads from; near: within 5 % of the minimum, or a step of the clock",
    );
}

/// The document's question whether its affinity tags did anything, with what a tag cannot do: a CPU that is pinned.
fn placements(found: &Found<'_>, rows: &mut Rows) {
    let table =
        "Did affinity do anything? A switch by placement (ours): the document pinned nothing, and asks";
    let free = switches("unpinned", "barrier", 200);
    for (name, id) in
        [("on one CPU", SAME), ("across two CPUs", CROSS), ("placed by the scheduler", UNPINNED)]
    {
        rows.value(Value { answer: floor(found, id), ..Value::in_table(table, name, "a switch", "ns") });
        rows.value(Value {
            answer: found
                .measured(id, quantity::TYPICAL)
                .map(|it| (id.to_owned(), quantity::TYPICAL, Some(it))),
            ..Value::in_table(table, name, "typical", "ns")
        });
        let counted = found.figure(id).and_then(|figure| figure.evidence.switches);
        rows.value(Value {
            words: [None, None, counted.map(|count| format!("{count:.2}"))],
            ..Value::in_table(table, name, "switches counted", "count")
        });
        let shared = (id == UNPINNED).then(|| found.literal(&free, quantity::SHARED_CPU)).flatten();
        rows.value(Value {
            words: [None, None, shared.map(|share| format!("{:.0} % of literal runs", share * 100.0))],
            ..Value::in_table(table, name, "ended on one CPU", "")
        });
    }
}

/// Section "The cost of a context switch".
pub(super) fn switch_values(found: &Found<'_>, rows: &mut Rows) {
    placements(found, rows);
    for (index, (tag, words)) in TAGS.into_iter().enumerate() {
        let table = format!("The cost of a context switch (context_switch): {words}");
        let figure = if index == 0 { UNPINNED } else { SAME };
        for (count, totals, published) in SWITCHES {
            let name = format!("{} in a row", grouped(count));
            let id = switches(tag, "barrier", count);
            let each = |total_ns: f64| total_ns / 1000.0 / count as f64;
            rows.value(Value {
                published: Some(totals[index]),
                literal: found.literal(&id, quantity::MINIMUM).map(|total| total / 1000.0),
                ..Value::in_table(&table, &name, "in total", "us")
                    .on_axis(count, "in a row")
                    .called(SWITCH_PLOT)
            });
            rows.value(Value {
                published: Some(published[index]),
                literal: found.literal(&id, quantity::MINIMUM).map(each),
                // Where the scheduler places both, a floor is the luckiest placement, and no price of a switch.
                answer: floor(found, figure).filter(|_| figure != UNPINNED),
                ..Value::in_table(&table, &name, "a switch", "us")
                    .on_axis(count, "in a row")
                    .called(SWITCH_PLOT)
            });
            let no_barrier = switches(tag, "no_barrier", count);
            rows.value(Value {
                literal: found.literal(&id, quantity::MEDIAN).map(each),
                ..Value::in_table(&table, &name, "median", "us")
            });
            rows.value(Value {
                literal: found.literal(&id, quantity::SHARED_CPU).map(|share| share * 100.0),
                ..Value::in_table(&table, &name, "on one CPU", "%")
            });
            for (quantity, column, short) in [
                (quantity::MINIMUM, "no barrier", "least"),
                (quantity::MEDIAN, "no barrier, median", "median"),
            ] {
                rows.value(
                    Value {
                        literal: found.literal(&no_barrier, quantity).map(each),
                        ..Value::in_table(&table, &name, column, "us")
                    }
                    .with_cell(|cell| cell.heading = Some(["no barrier", short].map(str::to_owned))),
                );
            }
        }
    }
    rows.value(Value {
        answer: Some((SAME.to_owned(), "less the pipe", found.difference(SAME, ALONE))),
        because: "what lmbench's lat_ctx -s 0 2 is to be compared with".to_owned(),
        ..Value::at("a switch on one CPU without the pipe (ours)", "ns")
    });
    rows.deviations(&[
        ("programs", "written from the document's words: it prints none of its three programs"),
        (
            "CPU",
            "gettimeofday and read run on one CPU; the same affinity tag is one CPU, for Linux has no tags",
        ),
        (
            "runs",
            "the least of 300 runs of reads, and of 2 to 6 pairs of children; the document does not say how many",
        ),
        (
            "ends of pipes",
            "each child closes the ends that it does not use, so that no child waits for one that has ended",
        ),
    ]);
    rows.note(
        "not in the document",
        "the three programs: their loops here are written from the document's words",
    );
}

#[cfg(test)]
mod tests;
