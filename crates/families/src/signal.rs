//! A signal to oneself: kill, the handler, and the return from it.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Outcome, PostCondition, SetUp, Subject,
    Unable,
};
use oscost_sys::signal_handler::Handler;

use crate::claims;

pub const ALL: &[&dyn Benchmark] = &[&Deliver];

/// `signal/deliver`
pub struct Deliver;

/// One return from each handler: a signal that was lost or handled together with another has none.
const CLAIMS: [Claim; 5] = {
    let [calls, switches, faults] = claims::exactly(2.0);
    [
        calls,
        Claim::CallsNamed(&["kill"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["rt_sigreturn"], Bound::Exactly(1.0)),
        switches,
        faults,
    ]
};

static CARD: Card = Card {
    id: "signal/deliver",
    title: "signal to oneself, handled",
    operation: "one SIGUSR1 that a process sends to itself by kill, its handler and the return from it",
    call_path: CallPath::Inline,
    group: "signal",
    changes_process: Some("a handler is installed, and every call that ends looks for signals"),
    claims: &CLAIMS,
    ..Card::BATCHED
};

impl Benchmark for Deliver {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let handler = Handler::install()?;
        let before = handler.handled();
        Ok(Subject::Batched(Box::new(Signals { handler, before, sent: 0 })))
    }
}

struct Signals {
    handler: Handler,
    before: u64,
    sent: u64,
}

impl Batched for Signals {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.handler.deliver()?;
        }
        self.sent += iterations;
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let handled = self.handler.handled() - self.before;
        Ok(vec![PostCondition::exactly("signals_handled", self.sent as f64, handled as f64)])
    }
}
