//! A test suite that measures the primitive of its own program, and fails when the primitive got slower.
//!
//! `cargo run --release -p oscost-examples --bin embedded -- DIRECTORY`. In a package of your own it is a test with
//! `harness = false` in Cargo.toml, because the program is its own worker: `serve_if_asked` comes first in `main`.
//! DIRECTORY keeps the results: the next run is compared with the last one that passed. Give it to the cache of your CI,
//! and keep one for each kind of machine.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // an example talks to its reader

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use oscost_harness::{
    Batched, Benchmark, Bound, CallPath, Card, Catalogue, Claim, Effort, Outcome, SetUp, Subject, Tier,
    Unable, serve_if_asked,
};
use oscost_report::compare::{Rules, Verdict, compare, comparison};
use oscost_report::{Named, Style};
use oscost_results::{RunResult, Status, Store, load};
use oscost_session::{Keep, Request};

/// What this program is about: the checksum of a record, Fletcher-16.
fn checksum(record: &[u8]) -> u16 {
    let (low, high) = record.iter().fold((0_u16, 0_u16), |(low, high), &byte| {
        let low = (low + u16::from(byte)) % 255;
        (low, (high + low) % 255)
    });
    high << 8 | low
}

/// The benchmark: what a checksum of one record costs.
struct Checksum;

static CARD: Card = Card {
    id: "record/checksum",
    title: "Fletcher's checksum",
    operation: "the checksum of one record of 256 bytes",
    call_path: CallPath::UserSpace,
    group: "record",
    claims: &[Claim::SystemCalls(Bound::Exactly(0.0)), Claim::VoluntarySwitches(Bound::Exactly(0.0))],
    ..Card::BATCHED
};

impl Benchmark for Checksum {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Record { bytes: [7; 256], passes: passes() })))
    }
}

/// Passes over a record. One, unless EMBEDDED_PASSES says more: that is how to see the suite fail.
fn passes() -> u32 {
    std::env::var("EMBEDDED_PASSES").ok().and_then(|passes| passes.parse().ok()).unwrap_or(1)
}

struct Record {
    bytes: [u8; 256],
    passes: u32,
}

impl Batched for Record {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            for _ in 0..self.passes {
                black_box(checksum(black_box(&self.bytes)));
            }
        }
        Ok(())
    }
}

fn catalogue() -> Catalogue {
    Catalogue::new(vec![&Checksum])
}

/// What came of a test.
type Tested = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked(&catalogue) {
        return code.into();
    }
    let directory =
        std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/embedded"), PathBuf::from);
    let mut passed = true;
    let tests = [("it_is_right", it_is_right as fn(&Path) -> Tested), ("it_is_not_slower", it_is_not_slower)];
    for (name, test) in tests {
        match test(&directory) {
            Ok(()) => println!("test {name} ... ok"),
            Err(error) => {
                passed = false;
                println!("test {name} ... FAILED: {error}");
            }
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An ordinary test: the known checksum of "abcde".
fn it_is_right(_: &Path) -> Tested {
    if checksum(b"abcde") == 0xc8f0 { Ok(()) } else { Err("the checksum is wrong".into()) }
}

/// Tries at an answer: a neighbour may come while we measure.
const TRIES: usize = 3;

/// Measures, compares with the last run that passed, and stores what passes.
fn it_is_not_slower(directory: &Path) -> Tested {
    let store = Store::at(directory);
    let last = store.runs()?.pop().as_deref().map(load).transpose()?;
    let choices = catalogue().tier(Tier::Family);
    for _ in 0..TRIES {
        let mut request = Request::new(&choices);
        request.effort = Effort::QUICK;
        request.keep = Keep::In(store.clone());
        let mut session = oscost_session::measure(&catalogue(), request, &mut |_| {})?;
        let verdict = judge(last.as_ref(), &session.result);
        // Only what passes is stored: the next run is compared with it.
        if matches!(verdict, Ok(Verdict::Within | Verdict::Faster)) {
            session.save()?;
            return Ok(());
        }
        session.discard();
        match verdict? {
            Verdict::Slower => return Err("the checksum got slower".into()),
            _ => continue,
        }
    }
    Err("unclear: this machine is too busy to tell".into())
}

/// What the figure is against the last one. A first one has nothing to be slower than.
fn judge(last: Option<&RunResult>, now: &RunResult) -> Result<Verdict, Box<dyn Error>> {
    if let Some(figure) = now.figures.iter().find(|figure| figure.status != Status::Measured) {
        return Err(figure.why.clone().unwrap_or_default().into());
    }
    let Some(last) = last else { return Ok(Verdict::Within) };
    let compared =
        compare(&Named { name: "last", result: last }, &Named { name: "now", result: now }, Rules::default());
    let style = Style { width: 100, unicode: false, colour: false };
    comparison(&compared, &style, &mut io::stdout().lock())?;
    let row = compared.rows.first().ok_or("both results hold the checksum")?;
    Ok(row.verdict)
}
