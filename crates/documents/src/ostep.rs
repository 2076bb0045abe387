//! Document 003, OSTEP chapter 6: the cost of a system call by getpid, the resolution of clocks.

mod answers;

use oscost_results::quantity;
use oscost_results::{Estimate, Judgement, Reproduction, document};

use crate::Document;
use crate::found::{
    Found, Judged, Quoted, Rows, Value, beside, holds_if, judged, judged_or_shown, more, of_parts, quotient,
    ranged, times, within,
};
use crate::parameters::{DocumentParameters, ITERATIONS};

/// The document.
pub static DOCUMENT: Document = Document {
    founding: document::OSTEP,
    settings: &[ITERATIONS],
    figures: &[
        EMPTY_LOOP,
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
        SAME,
        ALONE,
        "context_switch/pipe/cross_cpu",
    ],
    first: |_| {
        [
            CALL,
            INLINE,
            "clock/step/gettimeofday",
            "clock/step/monotonic",
            "clock/monotonic",
            "clock/step/tsc",
            EMPTY_LOOP,
        ]
        .map(str::to_owned)
        .to_vec()
    },
    literal,
    rows: judge,
    answers: answers::answers,
};

const SAME: &str = "context_switch/pipe/same_cpu";
const ALONE: &str = "context_switch/pipe_alone/same_cpu";
const EMPTY_LOOP: &str = "instrument/empty_loop";
const CALL: &str = "syscall/getpid_libc";
const INLINE: &str = "syscall/getpid";
const ENTRY: &str = "syscall/invalid";
const READ: &str = "syscall/read0_devzero";
/// The forms in which a compiler leaves the loops.
const FORMS: [(&str, &str); 2] = [("o0", "-O0 form"), ("o2", "-O2 form")];

fn one_shot() -> String {
    "ostep/literal/one_shot/iterations_1".to_owned()
}

fn looped(method: &str, form: &str, parameters: &DocumentParameters) -> String {
    format!("ostep/literal/{method}/{form}/iterations_{}", parameters.iterations)
}

fn literal(parameters: &DocumentParameters) -> Vec<String> {
    let mut ids = vec![one_shot()];
    for (form, _) in FORMS {
        ids.extend(["loop", "loop_minus_loop"].map(|method| looped(method, form, parameters)));
    }
    ids
}

fn judge(found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
    let mut rows = Rows::of(DOCUMENT.founding.name);
    values(found, parameters, &mut rows);
    statements(found, parameters, &mut rows);
    rows.rows
}

const PROGRAMS: &str =
    "The three programs (published: macOS, M2 Max, compiled in a way that the document does not tell)";
const SIDE: &str = "\"A system call\" in two documents, side by side";
const STEPS: &str = "Clock resolution: the true step, smallest difference that the clock counts by (ours)";
const SWITCH: &str = "\"Measuring the Cost of a Context Switch\": a heading without text in the document";

fn values(found: &Found<'_>, parameters: &DocumentParameters, rows: &mut Rows) {
    let answer = |id: &str, quantity| Some((id.to_owned(), quantity, found.measured(id, quantity)));
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
    program("1 over a second: its flaw (ours)", &one_shot(), quantity::OVER_SECOND, None, None);
    for (method, name, published) in
        [("loop", "2 loop", 3.120), ("loop_minus_loop", "3 loop minus loop", 1.855)]
    {
        for (index, (form, words)) in FORMS.into_iter().enumerate() {
            let id = looped(method, form, parameters);
            program(
                &format!("{name}, {words}"),
                &id,
                quantity::AVERAGE,
                (index == 0).then_some(published),
                Some(CALL),
            );
        }
    }
    rows.deviations(&[
        ("CPU", "each program is pinned to one CPU; the document's run wherever the system puts them"),
        ("compiler", "the loops are Rust in the forms that -O0 and -O2 leave; --c DIR compiles your copies beside them"),
        ("call", "getpid through the C library of Linux, where every call enters the kernel"),
        ("repeats", "--thorough runs each program again and again as a fresh process, and judges it"),
    ]);
    rows.note(
        "flaws",
        "program 1 subtracts the ns parts alone: over the turn of a second that is negative; it lacks <time.h> too",
    );
    rows.note(
        "damaged, or not in the document",
        "a sign before .286 (three letters stand for \"about\"); compiler and its options",
    );
    rows.value(Value {
        published: Some(0.286),
        answer: answer(EMPTY_LOOP, "floor"),
        because: "1 / 3.5 GHz in the document; here one pass of the empty loop, a cycle on most processors"
            .to_owned(),
        ..Value::at("a simple operation under ideal conditions", "ns")
    });
    for (row, published, id) in [
        ("003: getpid, the loop", Some(3.120), CALL),
        ("003: getpid, loop minus loop", Some(1.855), CALL),
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
        rows.value(Value {
            answer: answer(&id, quantity::STEP),
            ..Value::in_table(STEPS, clock, "step", "ns")
        });
    }
    let counted = |count: Option<f64>| [None, None, count.map(|count| format!("{count:.2}"))];
    for (id, words) in [
        (SAME, "two pipes, both pinned to one CPU"),
        ("context_switch/pipe/cross_cpu", "two pipes, two CPUs"),
        (ALONE, "the same calls in one process"),
    ] {
        rows.value(Value {
            answer: answer(id, "floor"),
            ..Value::in_table(SWITCH, words, "a message", "ns")
        });
        rows.value(Value {
            words: counted(found.figure(id).and_then(|figure| figure.evidence.switches)),
            ..Value::in_table(SWITCH, words, "switches", "count")
        });
        rows.value(Value {
            words: counted(found.calls(id)),
            ..Value::in_table(SWITCH, words, "system calls", "count")
        });
    }
    rows.value(Value {
        answer: Some((SAME.to_owned(), "less the pipe", found.difference(SAME, ALONE))),
        because: "the first row less the third, taken in each round, and then the median: two floors may differ by less. \
                  lmbench's lat_ctx -s 0 2 means the same; --with lmbench=DIR sets it beside"
            .to_owned(),
        ..Value::in_table(SWITCH, "the switch alone", "a message", "ns")
    });
}

fn statements(found: &Found<'_>, parameters: &DocumentParameters, rows: &mut Rows) {
    let call = found.floor(CALL);
    rows.statement(
        "first program",
        Quoted("Running this code produces 0 ns"),
        beside("0 ns", found.literal(&one_shot(), quantity::DIFFERENCE).map(one_shot_words)),
    );
    rows.statement(
        "introduction",
        Quoted("gettimeofday() might not provide the resolution needed to measure the cost of a system call"),
        judged(found.quantity("clock/step/gettimeofday", quantity::STEP).zip(call).map(|(step, call)| {
            (
                more(&step, &call),
                format!("its step is {:.0} ns, the call costs {:.0} ns", step.value, call.value),
            )
        })),
    );
    rows.by(
        "clock/step/gettimeofday",
        quantity::STEP,
        found.quantity("clock/step/gettimeofday", quantity::STEP),
    );
    let steps = ["gettimeofday", "monotonic"]
        .map(|clock| found.quantity(&format!("clock/step/{clock}"), quantity::STEP));
    let [day, monotonic] = steps;
    rows.statement(
        "introduction",
        Quoted("StackOverflow thread confirms this issue and suggests using clock_gettime(CLOCK_MONOTONIC) instead"),
        judged(day.zip(monotonic).map(|(day, monotonic)| {
            let verdict = more(&day, &monotonic);
            let helps = if verdict == Judgement::Holds { ", so the advice helps" } else { "" };
            let words = format!(
                "steps of {:.0} ns and {:.0} ns here{helps}; the thread itself was not read",
                day.value, monotonic.value
            );
            (verdict, words)
        })),
    );
    rows.by("clock/step/monotonic", quantity::STEP, monotonic);
    rows.statement(
        "first program",
        Quoted("the nanosecond resolution of CLOCK_MONOTONIC is too low to measure the cost of a single system call"),
        judged(resolution(found)),
    );
    rows.by("clock/step/monotonic", quantity::STEP, found.quantity("clock/step/monotonic", quantity::STEP));
    rows.statement(
        "first program, comment",
        Quoted("int pid = getpid(); // system call"),
        judged(found.calls(CALL).map(|calls| {
            (
                holds_if(calls == 1.0),
                format!(
                    "here each call enters the kernel {calls:.3} times. There it did not, we infer: no entry takes only 1.855 ns"
                ),
            )
        })),
    );
    rows.by_count(found, CALL);
    rows.statement(
        "first program",
        Quoted("I don't think I can find a clock with sub-nano precision"),
        judged(found.quantity("clock/step/tsc", quantity::STEP).map(|step| {
            // The finest clock of this machine.
            (
                within(&step, 1.0, f64::MAX),
                format!("the finest clock tried here, the time stamp counter, steps by {:.3} ns", step.value),
            )
        })),
    );
    rows.by("clock/step/tsc", quantity::STEP, found.quantity("clock/step/tsc", quantity::STEP));
    rows.statement(
        "second program",
        Quoted("which is about an order of magnitude higher than the ideal time of .286 ns"),
        beside("3.120 / .286 = 11 times", order_of_magnitude(found, parameters)),
    );
    rows.statement(
        "second program",
        Quoted("This adds extra time and means that we're not strictly measuring the system call"),
        judged_or_shown(judged_overhead(found, parameters), overhead(found, parameters)),
    );
    rows.statement(
        "third program",
        Quoted("Find the difference, which should just be the system call time"),
        judged_or_shown(judged_difference(found, parameters), difference(found, parameters)),
    );
    rows.statement(
        "third program, comment",
        Quoted("Prevent compiler from optimizing out the loop"),
        loop_kept(found).unwrap_or_else(|| (Judgement::NotTestableHere, NO_COMPILER.to_owned())),
    );
    rows.statement(
        "third program",
        Quoted("1.855 ns, a little more than half of what we got before"),
        beside("59 %", half(found, parameters)),
    );
    rows.statement(
        "third program",
        Quoted("This implies a clock speed of 1 / 1.855 = .539 GHz, which is definitely the right order of magnitude"),
        judged(clock_speed(found)),
    );
    rows.by(CALL, "floor", call);
}

fn one_shot_words(ns: f64) -> String {
    format!(
        "{ns:.0} ns, cold and once. On macOS CLOCK_MONOTONIC steps by 1000 ns, so a short call reads 0 or 1000 there, we infer"
    )
}

/// Too low where one step is more than all that is to be measured: then a difference can be 0.
fn resolution(found: &Found<'_>) -> Option<Judged> {
    let step = found.quantity("clock/step/monotonic", quantity::STEP)?;
    let reading = found.floor("clock/monotonic")?;
    let call = found.floor(CALL)?;
    let share = step.value / call.value * 100.0;
    let mut words =
        format!("the step here is {:.0} ns, {share:.0} % of the call's {:.0} ns", step.value, call.value);
    if reading.value > step.value {
        words += &format!("; the reading's own {:.0} ns and the cold first call disturb more", reading.value);
    }
    Some((more(&step, &call), words + ". There it held, we infer: that clock steps by 1000 ns on macOS"))
}

fn order_of_magnitude(found: &Found<'_>, parameters: &DocumentParameters) -> Option<String> {
    let literal = found.literal(&looped("loop", "o0", parameters), quantity::AVERAGE)?;
    let cycle = found.floor(EMPTY_LOOP)?;
    let ratio = literal / cycle.value;
    let runs = found.runs(&looped("loop", "o0", parameters));
    Some(format!("{literal:.1} ns a pass in {runs}, {ratio:.0} times a cycle of {:.3} ns", cycle.value))
}

fn overhead(found: &Found<'_>, parameters: &DocumentParameters) -> Option<String> {
    let of = |form: &str| {
        let id = looped("loop_minus_loop", form, parameters);
        Some((found.literal(&id, quantity::WITHOUT_CALL)?, found.literal(&id, quantity::WITH_CALL)?))
    };
    let (o0, o2) = (of("o0")?, of("o2")?);
    let share = |(without, with): (f64, f64)| without / with * 100.0;
    Some(format!(
        "the loop without the call takes {:.2} ns a pass as -O0 leaves it ({:.1} % of the result), {:.2} ns as -O2 does ({:.1} %); published: 3.120 - \
         1.855 = 1.27 ns, the loop of a build without optimisation",
        o0.0,
        share(o0),
        o2.0,
        share(o2)
    ))
}

/// A loop that takes less than this share of the result adds time that its reader does not notice.
const NOTICEABLE: f64 = 0.1;

/// The loop's share of the unoptimised program, where that ran often enough: under a tenth the sentence holds in part, for it
/// adds time that changes little.
fn judged_overhead(found: &Found<'_>, parameters: &DocumentParameters) -> Option<Judged> {
    let id = looped("loop_minus_loop", "o0", parameters);
    let without = found.repeated(&id, quantity::WITHOUT_CALL)?;
    let share = found.within_launches(&id, quantity::WITHOUT_CALL, quantity::WITH_CALL)?;
    let judgement = match within(&share, NOTICEABLE, f64::MAX) {
        Judgement::DoesNotHold if without.low > 0.0 => Judgement::HoldsInPart,
        judgement => judgement,
    };
    Some((
        judgement,
        format!(
            "the -O0 loop without the call takes {:.2} ns a pass: {} of the result; under 10 % holds in part, for it \
             changes little; published: 3.120 - 1.855 = 1.27 ns",
            without.value,
            ranged(&share, 100.0, 1, " %")
        ),
    ))
}

/// What is left of the loops beside the call, where they ran often enough.
fn judged_difference(found: &Found<'_>, parameters: &DocumentParameters) -> Option<Judged> {
    let left = found.repeated(&looped("loop_minus_loop", "o2", parameters), quantity::AVERAGE)?;
    let ratio = quotient(&left, &found.quantity(CALL, quantity::TYPICAL)?)?;
    Some((
        within(&ratio, 1.0 - NOTICEABLE, 1.0 + NOTICEABLE),
        format!(
            "what is left of the -O2 loops is {} of what the call through libc typically takes; 0.9 to 1.1 counts as just the call",
            times(&ratio)
        ),
    ))
}

const NO_COMPILER: &str = "only a C compiler can show it: --c DIR compiles your copy of the third program";
/// The least share of a cycle that a pass of a loop takes: unrolled, several passes share one.
const KEPT: f64 = 0.1;

/// Whether the loop without the call, which stands for the overhead, is still there in the reader's copy of the program.
fn loop_kept(found: &Found<'_>) -> Option<Judged> {
    let cycle = found.floor(EMPTY_LOOP)?;
    let pass = |level: &str| found.repeated(&format!("c/loop_alone_{level}"), "converted");
    let (o2, o3) = (pass("o2")?, pass("o3")?);
    let kept = |pass: &Estimate| Some(within(&quotient(pass, &cycle)?, KEPT, f64::MAX));
    Some((
        of_parts(&[kept(&o2)?, kept(&o3)?]),
        format!(
            "a pass of the loop without the call takes {:.6} ns at -O2 and {:.6} ns at -O3, by the local compiler; under a tenth \
             of a cycle of {:.3} ns no pass is left",
            o2.value, o3.value, cycle.value
        ),
    ))
}

/// What is left of the loops when one is taken from the other, beside the call itself.
fn difference(found: &Found<'_>, parameters: &DocumentParameters) -> Option<String> {
    let literal = found.literal(&looped("loop_minus_loop", "o2", parameters), quantity::AVERAGE)?;
    // The loop makes its call through libc, so that is what is left of it.
    let (call, inline) =
        (found.quantity(CALL, quantity::TYPICAL)?, found.quantity(INLINE, quantity::TYPICAL)?);
    let off = literal / call.value - 1.0;
    Some(format!(
        "{literal:.1} ns beside the {:.1} ns that the call through libc typically takes: {:+.0} %; the call inline takes {:.1} ns",
        call.value,
        off * 100.0,
        inline.value
    ))
}

/// Where the call is a kernel entry the loop around it is next to nothing, and the subtraction takes little away.
fn half(found: &Found<'_>, parameters: &DocumentParameters) -> Option<String> {
    let average = |method| found.literal(&looped(method, "o0", parameters), quantity::AVERAGE);
    let share = average("loop_minus_loop")? / average("loop")?;
    Some(format!("{:.0} % in {}", share * 100.0, found.runs(&looped("loop", "o0", parameters))))
}

fn clock_speed(found: &Found<'_>) -> Option<Judged> {
    let call = found.floor(CALL)?;
    let cycle = found.floor(EMPTY_LOOP)?;
    let cycles = quotient(&call, &cycle)?;
    // A call of one cycle would make the inference right, one of under ten its order of magnitude.
    let judgement = within(&cycles, 0.1, 10.0);
    Some((
        judgement,
        format!(
            "1 / {:.0} ns = {:.4} GHz; the clock runs at {:.1} GHz here, {} as fast; under 10 times is the same order",
            call.value,
            1.0 / call.value,
            1.0 / cycle.value,
            times(&cycles)
        ),
    ))
}

#[cfg(test)]
mod tests;
