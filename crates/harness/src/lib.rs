//! How oscost measures: the contract of a benchmark, and everything between it and a figure.
//!
//! A benchmark implements [`Benchmark`]; a [`Catalogue`] holds all that a program can measure. The program calls
//! [`serve_if_asked`] first thing in `main`, because it is its own worker, and then [`measure`]. Nothing here prints: the
//! engine emits [`Event`]s.
#![forbid(unsafe_code)]

mod audit;
mod benchmark;
mod calibrate;
mod card;
mod catalogue;
mod claims;
mod clock;
mod directory;
mod engine;
mod environment;
mod event;
mod figure;
mod foreign;
mod group;
pub mod janitor;
mod launch;
mod message;
mod plan;
mod rebuild;
mod rounds;
mod summary;
mod supervise;
mod worker;

pub use benchmark::{
    Batched, Benchmark, Outcome, Participant, Series, SeriesPlan, SetUp, Sink, Subject, Unable,
};
pub use card::{Bound, CallPath, Card, Claim, Need, OverLaunches, Placement, QuantityCard, Tier};
pub use catalogue::{Catalogue, Choice, NoMatch, Resolver};
pub use directory::Directory;
pub use engine::{AUDIT_OPERATIONS, Measured, measure};
pub use event::{Event, Record};
pub use foreign::{Foreign, Reader};

pub use message::{Audited, ClockFacts, ForeignOutput, Launched, Pair};
pub use oscost_sys::CallError;
pub use oscost_sys::affinity::allowed as allowed_cpus;
pub use plan::{Effort, IdleCpu, Options, estimate_ns, groups, lacking, preferred};
pub use rebuild::rebuild;
pub use supervise::Supervisor;
pub use worker::serve_if_asked;
