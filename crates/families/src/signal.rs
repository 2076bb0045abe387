//! A signal to oneself: kill, the handler, and the return from it.

use oscost_harness::{Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, Subject};
use oscost_sys::signal_handler::Handler;

use crate::claims;
use crate::row::row;

pub const ALL: &[&dyn Benchmark] = &[&row(&DELIVER, |_| {
    let handler = Handler::install()?;
    let before = handler.handled();
    Ok(Subject::batched(Signals { handler, before, sent: 0 }))
})];

const DELIVER: Card = Card {
    id: "signal/deliver",
    title: "signal to oneself, handled",
    operation: "one SIGUSR1 that a process sends to itself by kill, its handler and the return from it",
    call_path: CallPath::Inline,
    group: "signal",
    changes_process: Some("a handler is installed, and every call that ends looks for signals"),
    // A signal that was lost or handled together with another has no return from its handler.
    claims: &claims::one_each(&["kill"], &["rt_sigreturn"]),
    ..Card::BATCHED
};

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
