//! Two CPUs: what it takes them to tell one another something.

use oscost_harness::Benchmark;

mod cache_line;
mod named;
mod wake_up;

pub(crate) use named::resolve;
pub use named::{PAIRS, ids};

/// In the order of the price list.
pub const ALL: &[&dyn Benchmark] = &[&cache_line::CROSS_CPU, &wake_up::CROSS_CPU];
