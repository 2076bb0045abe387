//! Threads: made and joined.

use oscost_harness::Benchmark;

mod create_join;

pub const ALL: &[&dyn Benchmark] = &[&create_join::FRESH, &create_join::CACHED];
