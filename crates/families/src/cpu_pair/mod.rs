//! Two CPUs: what it takes them to tell one another something.

use oscost_harness::Benchmark;

mod cache_line;

pub const ALL: &[&dyn Benchmark] = &[&cache_line::CrossCpu];
