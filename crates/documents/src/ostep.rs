//! Document 003, OSTEP chapter 6: the cost of a system call by getpid, the resolution of clocks.

use oscost_results::Reproduction;

use crate::Document;
use crate::found::{Found, Judged, Rows, Value, holds_if, judged, within};
use crate::parameters::{ITERATIONS, Parameters};

/// The document.
pub static DOCUMENT: Document = Document {
    name: "ostep",
    number: "003",
    parameters: &[ITERATIONS],
    figures: &[
        "instrument/empty_loop",
        "clock/monotonic",
        "syscall/invalid",
        "syscall/getpid",
        "syscall/getpid_libc",
        "syscall/read0_devzero",
        "clock/step/gettimeofday",
        "clock/step/monotonic",
        "clock/step/monotonic_raw",
        "clock/step/monotonic_coarse",
        "clock/step/realtime",
        "clock/step/tsc",
        "context_switch/pipe/same_cpu",
        "context_switch/pipe/cross_cpu",
    ],
    literal,
    judge,
};

const CALL: &str = "syscall/getpid_libc";
const ENTRY: &str = "syscall/invalid";
const READ: &str = "syscall/read0_devzero";
/// The forms in which a compiler leaves the loops.
const FORMS: [(&str, &str); 2] = [("o0", "-O0 form"), ("o2", "-O2 form")];

fn one_shot() -> String {
    "ostep/literal/one_shot/iterations_1".to_owned()
}

fn looped(method: &str, form: &str, parameters: &Parameters) -> String {
    format!("ostep/literal/{method}/{form}/iterations_{}", parameters.iterations)
}

fn literal(parameters: &Parameters) -> Vec<String> {
    let mut ids = vec![one_shot()];
    for (form, _) in FORMS {
        ids.extend(["loop", "loop_minus_loop"].map(|method| looped(method, form, parameters)));
    }
    ids
}

fn judge(found: &Found<'_>, parameters: &Parameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.name);
    values(found, parameters, &mut rows);
    statements(found, parameters, &mut rows);
    rows.rows
}

const PROGRAMS: &str =
    "The three programs (published: macOS, M2 Max, compiled in a way that the document does not tell)";
const SIDE: &str = "\"A system call\" in two documents, side by side";
const STEPS: &str = "Clock resolution: the true step, smallest difference that the clock counts by (ours)";
const SWITCH: &str = "\"Measuring the Cost of a Context Switch\": a heading without text in the document";

fn values(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let answer = |id: &str, quantity| Some((id.to_owned(), quantity, found.quantity(id, quantity)));
    let mut program = |name: &str, id: &str, quantity: &str, published: Option<f64>, figure: Option<&str>| {
        rows.value(Value {
            published,
            literal: found.literal(id, quantity),
            answer: figure.and_then(|figure| answer(figure, "floor")),
            ..Value::in_table(PROGRAMS, name, "getpid", "ns")
        });
        rows.value(Value {
            literal: found.calls(id),
            ..Value::in_table(PROGRAMS, name, "kernel entries", "count")
        });
    };
    program("1 one shot", &one_shot(), "difference", Some(0.0), Some(CALL));
    program("1 over a second's turn (ours)", &one_shot(), "over_second", None, None);
    for (method, name, published, figure) in
        [("loop", "2 loop", 3.120, CALL), ("loop_minus_loop", "3 loop minus loop", 1.855, "syscall/getpid")]
    {
        for (index, (form, words)) in FORMS.into_iter().enumerate() {
            let id = looped(method, form, parameters);
            program(
                &format!("{name}, {words}"),
                &id,
                "average",
                (index == 0).then_some(published),
                Some(figure),
            );
        }
    }
    rows.value(Value {
        because: "program 1 subtracts the ns parts alone: over the turn of a second that is negative; it lacks <time.h> too"
            .to_owned(),
        ..Value::at("flaws", "")
    });
    rows.value(Value {
        because: "a sign before .286 (three letters stand for \"about\"); compiler and its options"
            .to_owned(),
        ..Value::at("damaged, or not in the document", "")
    });
    rows.value(Value {
        published: Some(0.286),
        answer: answer("instrument/empty_loop", "floor"),
        because: "1 / 3.5 GHz in the document; here one pass of the empty loop, a cycle on most processors"
            .to_owned(),
        ..Value::at("a simple operation under ideal conditions", "ns")
    });
    for (row, published, id) in [
        ("003: getpid, the loop", Some(3.120), CALL),
        ("003: getpid, loop minus loop", Some(1.855), "syscall/getpid"),
        ("004: a read of 0 bytes", Some(300.0), READ),
        ("a call that the kernel refuses (ours)", None, ENTRY),
    ] {
        rows.value(Value {
            published,
            answer: answer(id, "floor"),
            ..Value::in_table(SIDE, row, "price", "ns")
        });
        rows.value(Value {
            answer: found.counted(id),
            because: if id == ENTRY {
                "what costs less than this has not entered the kernel".to_owned()
            } else {
                String::new()
            },
            ..Value::in_table(SIDE, row, "kernel entries here", "count")
        });
    }
    for clock in ["gettimeofday", "monotonic", "monotonic_raw", "monotonic_coarse", "realtime", "tsc"] {
        let id = format!("clock/step/{clock}");
        rows.value(Value { answer: answer(&id, "step"), ..Value::in_table(STEPS, clock, "step", "ns") });
    }
    for (id, words) in [
        ("context_switch/pipe/same_cpu", "two pipes, one CPU"),
        ("context_switch/pipe/cross_cpu", "two pipes, two CPUs"),
    ] {
        rows.value(Value { answer: answer(id, "floor"), ..Value::in_table(SWITCH, words, "a switch", "ns") });
    }
}

fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let call = found.floor(CALL);
    rows.statement(
        "first program",
        "Running this code produces 0 ns",
        judged(
            found
                .literal(&one_shot(), "difference")
                .map(|ns| (holds_if(ns == 0.0), format!("{ns:.0} ns in a single cold run (no interval)"))),
        ),
    );
    rows.statement(
        "introduction",
        "gettimeofday() might not provide the resolution needed to measure the cost of a system call",
        judged(found.quantity("clock/step/gettimeofday", "step").zip(call).map(|(step, call)| {
            let judgement = holds_if(step.value > call.value);
            (judgement, format!("its step is {:.0} ns, the call costs {:.0} ns", step.value, call.value))
        })),
    );
    rows.by("clock/step/gettimeofday", "step", found.quantity("clock/step/gettimeofday", "step"));
    rows.statement(
        "first program",
        "the nanosecond resolution of CLOCK_MONOTONIC is too low to measure the cost of a single system call",
        judged(resolution(found)),
    );
    rows.by("clock/step/monotonic", "step", found.quantity("clock/step/monotonic", "step"));
    rows.statement(
        "first program, comment",
        "int pid = getpid(); // system call",
        judged(found.calls(CALL).map(|calls| {
            (
                holds_if(calls == 1.0),
                format!(
                    "{calls:.3} kernel entries a call here; ours: 1.855 ns is less than any kernel entry costs, so there \
                     getpid was answered without one"
                ),
            )
        })),
    );
    rows.by_count(found, CALL);
    rows.statement(
        "first program",
        "I don't think I can find a clock with sub-nano precision",
        judged(found.quantity("clock/step/tsc", "step").map(|step| {
            // The finest clock of this machine; a tenth of a per cent under one is one.
            (
                within(&step, 0.95, f64::MAX),
                format!("the time stamp counter steps by {:.3} ns here", step.value),
            )
        })),
    );
    rows.by("clock/step/tsc", "step", found.quantity("clock/step/tsc", "step"));
    rows.statement(
        "second program",
        "3.120 ns, which is about an order of magnitude higher than the ideal time of .286 ns",
        judged(order_of_magnitude(found, parameters)),
    );
    rows.statement(
        "second program",
        "we're also performing the loop overhead: this adds extra time",
        judged(overhead(found, parameters)),
    );
    rows.statement(
        "third program",
        "the difference should just be the system call time",
        judged(difference(found, parameters)),
    );
    rows.statement(
        "third program",
        "1.855 ns, a little more than half of what we got before",
        judged(half(found, parameters)),
    );
    rows.statement(
        "third program",
        "This implies a clock speed of 1 / 1.855 = .539 GHz, which is definitely the right order of magnitude",
        judged(clock_speed(found)),
    );
    rows.by(CALL, "floor", call);
}

/// Too low if one step is more than a tenth of what is to be measured.
fn resolution(found: &Found<'_>) -> Option<Judged> {
    let step = found.quantity("clock/step/monotonic", "step")?;
    let reading = found.floor("clock/monotonic")?;
    let call = found.floor(CALL)?;
    Some((
        holds_if(step.value > call.value / 10.0),
        format!(
            "the step here is {:.0} ns, {:.0} % of the call's {:.0} ns; what is in the way is the reading's own cost of \
             {:.0} ns and the cold first call",
            step.value,
            step.value / call.value * 100.0,
            call.value,
            reading.value
        ),
    ))
}

fn order_of_magnitude(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let literal = found.literal(&looped("loop", "o2", parameters), "average")?;
    let cycle = found.floor("instrument/empty_loop")?;
    let ratio = literal / cycle.value;
    Some((
        holds_if((3.0..30.0).contains(&ratio)),
        format!(
            "the loop takes {literal:.1} ns a pass here, {ratio:.0} times a cycle of {:.3} ns",
            cycle.value
        ),
    ))
}

fn overhead(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let of = |form: &str| {
        let id = looped("loop_minus_loop", form, parameters);
        Some((found.literal(&id, "without_call")?, found.literal(&id, "with_call")?))
    };
    let (o0, o2) = (of("o0")?, of("o2")?);
    let share = |(without, with): (f64, f64)| without / with * 100.0;
    Some((
        holds_if(o0.0 > 0.0),
        format!(
            "{:.2} ns a pass as -O0 leaves it ({:.1} % of the result), {:.2} ns as -O2 does ({:.1} %)",
            o0.0,
            share(o0),
            o2.0,
            share(o2)
        ),
    ))
}

/// The wrapper and its misprediction stay in the difference: it is the price of the libc call, not of the kernel entry.
fn difference(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let literal = found.literal(&looped("loop_minus_loop", "o2", parameters), "average")?;
    let inline = found.floor("syscall/getpid")?;
    let off = literal / inline.value - 1.0;
    Some((
        holds_if(off.abs() <= 0.05),
        format!(
            "{literal:.1} ns in a single run beside {:.1} ns for the inline call: {:+.0} % (the wrapper, and a mean that holds \
             every interruption)",
            inline.value,
            off * 100.0
        ),
    ))
}

/// Where the call is a kernel entry the loop around it is next to nothing, and the subtraction takes little away.
fn half(found: &Found<'_>, parameters: &Parameters) -> Option<Judged> {
    let single = |method| found.literal(&looped(method, "o0", parameters), "average");
    let share = single("loop_minus_loop")? / single("loop")?;
    Some((
        holds_if((0.5..0.7).contains(&share)),
        format!(
            "{:.0} % of it here, in single runs; 50 to 70 count as holding (published: 59 %)",
            share * 100.0
        ),
    ))
}

fn clock_speed(found: &Found<'_>) -> Option<Judged> {
    let call = found.floor(CALL)?;
    let cycle = found.floor("instrument/empty_loop")?;
    let cycles = call.value / cycle.value;
    // A call of one cycle would make the inference right.
    Some((
        holds_if(cycles < 10.0),
        format!(
            "a call takes {cycles:.0} cycles here: its inverse, {:.4} GHz, is no clock speed",
            1.0 / call.value
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::test::{figure, set};
    use oscost_results::Judgement;

    fn figures(call: f64, calls: f64) -> Vec<oscost_results::Figure> {
        let parameters = Parameters::default();
        let mut figures = vec![
            figure(CALL, "floor", call, Some(calls)),
            figure("syscall/getpid", "floor", call * 0.9, Some(calls)),
            figure("instrument/empty_loop", "floor", 0.3, Some(0.0)),
            figure("clock/monotonic", "floor", 22.0, Some(0.0)),
            figure("clock/step/gettimeofday", "step", 1000.0, Some(0.0)),
            figure("clock/step/monotonic", "step", 1.0, Some(0.0)),
            figure("clock/step/tsc", "step", if calls > 0.0 { 0.3 } else { 10.0 }, Some(0.0)),
            figure(&one_shot(), "difference", 900.0, Some(1.0)),
        ];
        for (form, _) in FORMS {
            figures.push(figure(&looped("loop", form, &parameters), "average", call * 1.5, Some(calls)));
            let mut minus =
                figure(&looped("loop_minus_loop", form, &parameters), "average", call * 1.4, None);
            set(&mut minus, "with_call", call * 1.5);
            set(&mut minus, "without_call", call * 0.1);
            figures.push(minus);
        }
        figures
    }

    fn verdict(figures: &[oscost_results::Figure], words: &str) -> Judgement {
        let found = Found::of(figures, &[], &[]);
        let rows = judge(&found, &Parameters::default());
        let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
        row.and_then(|row| row.verdict).expect("a judged statement")
    }

    #[test]
    fn a_call_that_enters_the_kernel_is_told_from_one_that_does_not() {
        let real = figures(140.0, 1.0);
        assert_eq!(verdict(&real, "// system call"), Judgement::Holds);
        assert_eq!(verdict(&real, ".539 GHz"), Judgement::DoesNotHold);
        assert_eq!(verdict(&real, "0 ns"), Judgement::DoesNotHold);
        assert_eq!(verdict(&real, "order of magnitude higher"), Judgement::DoesNotHold);
        assert_eq!(verdict(&real, "sub-nano"), Judgement::DoesNotHold);
        assert_eq!(verdict(&real, "more than half"), Judgement::DoesNotHold);
        let mut halved = figures(1.9, 0.0);
        assert_eq!(verdict(&halved, "sub-nano"), Judgement::Holds);
        let minus = looped("loop_minus_loop", "o0", &Parameters::default());
        halved.iter_mut().filter(|figure| figure.id == minus).for_each(|figure| set(figure, "average", 1.7));
        assert_eq!(verdict(&halved, "more than half"), Judgement::Holds);
        let cached = figures(1.9, 0.0);
        assert_eq!(verdict(&cached, "// system call"), Judgement::DoesNotHold);
        assert_eq!(verdict(&cached, ".539 GHz"), Judgement::Holds);
        assert_eq!(verdict(&cached, "order of magnitude higher"), Judgement::Holds);
    }

    #[test]
    fn published_values_stand_whatever_was_measured() {
        let found = Found::of(&[], &[], &[]);
        let rows = judge(&found, &Parameters::default());
        let published: Vec<f64> = rows.iter().filter_map(|row| row.published).collect();
        assert_eq!(published, [0.0, 3.120, 1.855, 0.286, 3.120, 1.855, 300.0]);
        assert!(
            rows.iter().filter_map(|row| row.verdict).all(|verdict| verdict == Judgement::NotTestableHere)
        );
    }
}
