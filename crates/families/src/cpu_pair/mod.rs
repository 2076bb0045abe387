//! Two CPUs: what it takes them to tell one another something.

use oscost_harness::Benchmark;

use crate::row::row;

mod cache_line;
mod named;
mod wake_up;

pub(crate) use named::resolve;
pub use named::{PAIRS, ids};

/// In the order of the price list.
pub const ALL: &[&dyn Benchmark] =
    &[&row(&cache_line::CARD, cache_line::hops), &wake_up::wake_ups(&wake_up::CARD)];
