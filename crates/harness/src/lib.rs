//! How oscost measures: the contract of a benchmark, and everything between it and a figure.
//!
//! A benchmark implements [`Benchmark`]; the engine measures it in worker processes, launch by launch, audits its claims,
//! and yields figures. Nothing here prints: the engine emits events.
#![forbid(unsafe_code)]

mod benchmark;
mod card;
pub mod janitor;

pub use benchmark::{
    Batched, Benchmark, Outcome, Participant, Series, SeriesPlan, SetUp, Sink, Subject, Unable,
};
pub use card::{Bound, CallPath, Card, Claim, Need, OverLaunches, Placement, QuantityCard, Tier};
pub use oscost_sys::CallError;
