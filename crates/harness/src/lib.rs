//! Measures benchmarks: the trait of a benchmark, and everything from there to a figure.
//!
//! A benchmark implements [`Benchmark`]; a [`Catalogue`] holds all that a program can measure. The program calls
//! [`serve_if_asked`] first thing in `main`, because it is its own worker, and then [`measure`]. Nothing here prints: the
//! engine emits [`Event`]s.
//!
//! For an outside benchmark there are [`claims`] that many cards make, [`lack`], which puts the error of a refused call into
//! words, and [`partner`], a process on the other side of an operation.
//!
//! Cargo passes neither profiles nor compiler flags on. Build the program that measures with `opt-level = 3`,
//! `codegen-units = 1` and `rustflags = ["-Cllvm-args=-align-loops=64"]`, or *typical* may move between two builds.
#![forbid(unsafe_code)]

mod benchmark;
mod figures;
mod protocol;
mod supervisor;
mod worker;

use std::io::Write;

pub use benchmark::card::{Bound, CallPath, Card, Claim, Need, OverLaunches, Placement, QuantityCard};
pub use benchmark::catalogue::{Catalogue, Choice, Matched, Resolver};
pub use benchmark::claims::stated;
pub use benchmark::common_claims as claims;
pub use benchmark::directory::{Directory, Place};
pub use benchmark::foreign::{Foreign, Reader};
pub use benchmark::requirements::{lacking, uncountable};
pub use benchmark::setting::{Given, Setting, Takes, duration_ns};
pub use benchmark::{
    Batched, Benchmark, Outcome, Participant, PostCondition, Series, SeriesPlan, SetUp, Sharing, Sink,
    Subject, Unable,
};
pub use benchmark::{lack, partner};
pub use figures::rebuild::rebuild;
pub use oscost_results::search::{NoMatch, Tier};
pub use oscost_results::{Parameter, RemarkCode, Trait, nanoseconds, quantity};
pub use oscost_sys::CallError;
pub use oscost_sys::affinity::allowed as allowed_cpus;
pub use protocol::keeper::Keeper;
pub use protocol::message::{
    AUDIT_OPERATIONS, Audited, ClockFacts, Contained, ForeignOutput, IdleCpu, LATE_OPERATIONS, Launched, Pair,
};
pub use protocol::object::{Key, Object};
pub use protocol::record::{Befell, Record, kept_awake};
pub use supervisor::apart;
pub use supervisor::engine::{Measured, measure, measure_more};
pub use supervisor::event::Event;
pub use supervisor::foreign::run_command;
pub use supervisor::own_folder::OwnFolder;
pub use supervisor::percentiles::{OneByOne, percentiles};
pub use supervisor::plain::Plain;
pub use supervisor::plan::{Effort, Level, Options, estimate_ns, groups, preferred};
pub use supervisor::rehearsal::{Rehearsal, rehearse};
pub use supervisor::workers::{Lost, Supervisor};
pub use worker::audit::audit;

use protocol::keeper::JANITOR_ARGUMENT;
use protocol::start::WORKER_ARGUMENT;

/// Does the job of a worker, or of the janitor, if the program was started as one. The first thing in `main`: a program
/// that measures with this library is its own worker.
///
/// Returns the exit code for a worker, `None` for an ordinary start.
#[must_use]
pub fn serve_if_asked(catalogue: &dyn Fn() -> Catalogue) -> Option<u8> {
    // args() panics where an argument is no UTF-8, and this is not the place to complain about that.
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match arguments.next()?.as_str() {
        JANITOR_ARGUMENT => {
            supervisor::janitor::serve(arguments);
            Some(0)
        }
        WORKER_ARGUMENT => Some(match worker::serve(&catalogue(), arguments) {
            Ok(()) => 0,
            Err(error) => {
                // The supervisor reads it; a worker that was started by hand tells the hand.
                let _ = writeln!(std::io::stderr(), "oscost worker: {error}");
                1
            }
        }),
        _ => None,
    }
}
