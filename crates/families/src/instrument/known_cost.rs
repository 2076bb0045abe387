//! A known cost, as a self-check: k calls per operation must cost k times one call.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, Parameter, SetUp, Subject, Unable};
use oscost_sys::system_call;

use crate::claims;

/// `instrument/known_cost/calls_CALLS`
pub struct KnownCost<const CALLS: usize>;

const CALLS_1: &str = "instrument/known_cost/calls_1";

const CARD: Card = Card {
    id: CALLS_1,
    title: "a known cost: 1 call",
    operation: "1 inline getppid",
    call_path: CallPath::Inline,
    group: "instrument",
    claims: &claims::named(&["getppid"], 1.0),
    parameters: &[("calls", Parameter::Number(1))],
    ..Card::BATCHED
};
static CARDS: [Card; 3] = [
    CARD,
    Card {
        id: "instrument/known_cost/calls_2",
        title: "a known cost: 2 calls",
        operation: "2 inline getppid in a row",
        claims: &claims::named(&["getppid"], 2.0),
        parameters: &[("calls", Parameter::Number(2))],
        baseline: Some(CALLS_1),
        subtract: Some(CALLS_1),
        remark: "self-check: calls_2 minus calls_1 should equal one syscall/getppid",
        ..CARD
    },
    Card {
        id: "instrument/known_cost/calls_4",
        title: "a known cost: 4 calls",
        operation: "4 inline getppid in a row",
        claims: &claims::named(&["getppid"], 4.0),
        parameters: &[("calls", Parameter::Number(4))],
        baseline: Some(CALLS_1),
        subtract: Some(CALLS_1),
        remark: "self-check: calls_4 minus calls_1 should equal three syscall/getppid",
        ..CARD
    },
];

impl<const CALLS: usize> Benchmark for KnownCost<CALLS> {
    fn card(&self) -> &'static Card {
        const { &CARDS[CALLS.ilog2() as usize] }
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(KnownCost::<CALLS>)))
    }
}

impl<const CALLS: usize> Batched for KnownCost<CALLS> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            for _ in 0..CALLS {
                system_call::getppid();
            }
        }
        Ok(())
    }
}
