//! From options to a stored result: the work of `oscost run`, for any program.
//!
//! A session examines the machine, takes the lock (one run at a time), recovers what killed runs left, keeps a journal,
//! measures, and makes a [`RunResult`] that `oscost-report` shows and compares. [`run`] does all of it. [`measure()`] tells
//! its caller what happens meanwhile, and leaves the saving to it.
//!
//! Workers are started from the program itself, so [`oscost_harness::serve_if_asked`] must come first in `main`. A session
//! belongs on the main thread, because workers die with the thread that started them, and no other thread should be
//! running: the doctor forks children.
//!
//! # What your own build must say
//!
//! Cargo passes neither profiles nor compiler flags on to a program that uses this library. Build it with `opt-level = 3` and
//! `codegen-units = 1`, and align its loops in `.cargo/config.toml`:
//!
//! ```toml
//! [build]
//! rustflags = ["-Cllvm-args=-align-loops=64"]
//! ```
//!
//! Without the flag *typical* may move by 20 to 40 % between two builds of the same source. Every result of such a build says
//! so ([`RemarkCode::OtherLoops`](oscost_results::RemarkCode::OtherLoops)).
#![forbid(unsafe_code)]

mod cpus;
pub mod doctor;
mod error;
mod finished;
mod journal;
#[cfg(test)]
mod loops;
pub mod machine;
mod measure;
mod plain;
mod recover;
mod request;
mod result;

pub use cpus::cpus;
pub use error::Error;
pub use finished::Session;
pub use measure::{Notice, lock, measure, run};
pub use oscost_results::RunResult;
pub use recover::recover;
pub use request::{Expects, Keep, Request};
pub use result::without_figures;
