//! A benchmark from outside: what it costs to send a value through a channel of std and take it out again.
//!
//! `cargo run --release -p oscost-examples --bin own_benchmark -- DIRECTORY`. It states a card with its claims and a loop.
//! The session does the rest: the result is stored in DIRECTORY, compared with the last one there, and shown as a page for a
//! browser. The program is its own worker, so `serve_if_asked` comes first in `main`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // an example talks to its reader

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Catalogue, Claim, Effort, Outcome, SetUp, Subject,
    Tier, Unable, serve_if_asked,
};
use oscost_report::compare::{Rules, compare, comparison};
use oscost_report::{Named, RowChoice, Style, page, price_list};
use oscost_results::{Store, load};
use oscost_session::{Keep, Request};

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
    let directory = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/channel"), PathBuf::from);
    match measure(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(directory: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::at(directory);
    let last = store.runs()?.pop();
    let choices = catalogue().tier(Tier::Family);
    let mut request = Request::new(&choices);
    request.effort = Effort::QUICK;
    request.keep = Keep::In(store);
    let now = oscost_session::run(&catalogue(), request)?;

    let style = Style { width: 100, unicode: false, colour: false };
    let mut out = io::stdout().lock();
    price_list(&now, None, RowChoice::default(), &style, &mut out)?;
    let now = Named { name: "now", result: &now };
    let file = directory.join("channel.html");
    page(&[now], None, &mut File::create(&file)?)?;
    writeln!(out, "The page: {}", file.display())?;
    if let Some(path) = last {
        let last = load(&path)?;
        let last = Named { name: "last", result: &last };
        comparison(&compare(&last, &now, Rules::default()), &style, &mut out)?;
    }
    Ok(())
}
