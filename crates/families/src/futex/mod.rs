//! The futex system call itself: waking one sleeper, and the table that all words share.

use oscost_harness::Benchmark;

mod hash;
mod wake_one;

pub const ALL: &[&dyn Benchmark] = &[
    &wake_one::SAME_CPU,
    &wake_one::CROSS_CPU,
    &hash::PRIVATE_1,
    &hash::SHARED_1,
    &hash::PRIVATE_2,
    &hash::SHARED_2,
    &hash::PRIVATE_4,
    &hash::SHARED_4,
];
