//! Signals: what it costs to be told of something.

use oscost_harness::Benchmark;

mod deliver;

pub const ALL: &[&dyn Benchmark] = &[&deliver::Deliver];
