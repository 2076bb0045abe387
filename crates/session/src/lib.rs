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
//! Cargo does not pass profiles on. Build the program that measures with `opt-level = 3` and `codegen-units = 1`; another
//! profile aligns loops differently, so *typical* may move between builds.
#![forbid(unsafe_code)]

mod cpus;
pub mod doctor;
mod error;
mod finished;
mod journal;
pub mod machine;
mod measure;
mod recover;
mod request;
mod result;

pub use cpus::cpus;
pub use error::Error;
pub use finished::Session;
pub use measure::{Notice, lock, measure, run};
pub use oscost_results::RunResult;
pub use recover::recover;
pub use request::{Keep, Request};
pub use result::without_figures;
