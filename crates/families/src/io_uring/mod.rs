//! Operations by a ring that is shared with the kernel: what a submission and its completion cost.

use oscost_harness::Benchmark;

mod nop;

pub const ALL: &[&dyn Benchmark] = &[&nop::NOP, &nop::BATCH_32];
