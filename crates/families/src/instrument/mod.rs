//! The cost of measuring itself, and checks that a known cost is found.

use oscost_harness::{Benchmark, CallPath, Card, Parameter, Subject, Trait};
use oscost_sys::clock::{keep, now_ns};
use oscost_sys::system_call;

use crate::claims;
use crate::operation::{nothing, operation};
use crate::row::row;

mod empty_loop;

const EMPTY_LOOP: Card = Card {
    id: "instrument/empty_loop",
    title: "empty loop",
    operation: "one pass of an empty loop",
    call_path: CallPath::UserSpace,
    group: "instrument",
    claims: &claims::exactly(0.0),
    remark: "every figure includes such a loop: shown for context, not subtracted",
    traits: &[Trait::LoopPass],
    ..Card::BATCHED
};

/// Reading the clock that times all batches.
const CLOCK_PAIR: Card = Card {
    id: "instrument/clock_pair",
    title: "a pair of clock readings",
    operation: "two readings of CLOCK_MONOTONIC, one right after the other",
    call_path: CallPath::Vdso,
    group: "instrument",
    claims: &claims::exactly(0.0),
    remark: "the cost of timing a batch: half of it falls inside the batch",
    ..Card::BATCHED
};

const CALLS_1: &str = "instrument/known_cost/calls_1";

/// k calls an operation must cost k times one call.
macro_rules! known_cost {
    ($id:expr, $calls:literal, $($field:ident: $value:expr),*) => {
        &operation(
            &Card {
                id: $id,
                call_path: CallPath::Inline,
                group: "instrument",
                claims: &claims::named(&["getppid"], $calls as f64),
                parameters: &[("calls", Parameter::Number($calls))],
                $($field: $value,)*
                ..Card::BATCHED
            },
            nothing,
            |()| {
                for _ in 0..$calls {
                    system_call::getppid();
                }
                Ok(())
            },
        )
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    &row(&EMPTY_LOOP, |_| Ok(Subject::batched(empty_loop::EmptyLoop))),
    &operation(&CLOCK_PAIR, nothing, |()| {
        keep(now_ns());
        keep(now_ns());
        Ok(())
    })
    .claims(|| claims::of_readings(2.0)),
    known_cost!(CALLS_1, 1, title: "a known cost: 1 call", operation: "1 inline getppid"),
    known_cost!(
        "instrument/known_cost/calls_2",
        2,
        title: "a known cost: 2 calls",
        operation: "2 inline getppid in a row",
        baseline: Some(CALLS_1),
        subtract: Some(CALLS_1),
        remark: "self-check: calls_2 minus calls_1 should equal one syscall/getppid"
    ),
    known_cost!(
        "instrument/known_cost/calls_4",
        4,
        title: "a known cost: 4 calls",
        operation: "4 inline getppid in a row",
        baseline: Some(CALLS_1),
        subtract: Some(CALLS_1),
        remark: "self-check: calls_4 minus calls_1 should equal three syscall/getppid"
    ),
];
