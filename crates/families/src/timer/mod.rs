//! Sleeping until a time, and how late the sleeper runs.

use oscost_harness::Benchmark;

mod nanosleep_overshoot;

pub const ALL: &[&dyn Benchmark] = &[&nanosleep_overshoot::NanosleepOvershoot];
