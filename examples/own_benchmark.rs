//! A benchmark from outside: what it costs to send a value through a channel of std and take it out again.
//!
//! `cargo run --release -p oscost-examples --bin own_benchmark`. It uses the public interface of oscost-harness alone: a
//! card with its claims, a loop, and `measure`. The program is its own worker, so `serve_if_asked` comes first in `main`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // an example talks to its reader

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Catalogue, Claim, Effort, IdleCpu, Options,
    Outcome, SetUp, Subject, Supervisor, Tier, Unable, allowed_cpus, measure, preferred, serve_if_asked,
};

/// The benchmark: nothing but its card and its set-up.
struct Channel;

static CARD: Card = Card {
    id: "channel/send_receive",
    title: "a channel of std, one thread",
    operation: "one send and one receive of a u64",
    call_path: CallPath::UserSpace,
    group: "channel",
    // What would be noticed if it were false: the figure would be withheld.
    claims: &[Claim::SystemCalls(Bound::Exactly(0.0)), Claim::VoluntarySwitches(Bound::Exactly(0.0))],
    ..Card::BATCHED
};

impl Benchmark for Channel {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Ends::new())))
    }
}

/// The loop, with all that it needs.
struct Ends {
    sender: Sender<u64>,
    receiver: Receiver<u64>,
}

impl Ends {
    fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }
}

impl Batched for Ends {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for iteration in 0..iterations {
            // Both ends live in `self`, so neither can fail; were it otherwise, no figure would be made of it.
            self.sender.send(iteration).map_err(|_| CallError::no_answer("send"))?;
            self.receiver.recv().map_err(|_| CallError::no_answer("recv"))?;
        }
        Ok(())
    }
}

fn catalogue() -> Catalogue {
    Catalogue::new(vec![&Channel])
}

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    let (supervisor, cpus) = match (Supervisor::new(Arc::default()), allowed_cpus()) {
        (Ok(supervisor), Ok(cpus)) => (supervisor, preferred(cpus)),
        (Err(error), _) | (_, Err(error)) => {
            println!("nothing can be measured here: {error}");
            return ExitCode::FAILURE;
        }
    };
    let options = Options {
        effort: Effort::QUICK,
        seed: 1,
        cpus,
        spread_cpus: Vec::new(),
        idle_cpu: IdleCpu::Halt,
        keep_samples: false,
        directory: None,
    };
    let choices = catalogue().tier(Tier::Core);
    let measured = measure(&supervisor, &choices, &[], &options, &mut |_| {});
    for figure in &measured.figures {
        match (figure.quantities.get("floor"), &figure.why) {
            (Some(floor), _) => println!(
                "{}: {:.2} ns ({:.2} .. {:.2}), {}, {:?}",
                figure.id,
                floor.estimate.value,
                floor.estimate.low,
                floor.estimate.high,
                figure.operation,
                figure.evidence.verdict
            ),
            (None, why) => {
                println!("{}: {:?}: {}", figure.id, figure.status, why.as_deref().unwrap_or("no reason"));
            }
        }
    }
    ExitCode::SUCCESS
}
