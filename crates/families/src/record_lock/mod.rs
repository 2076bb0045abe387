//! Locks on records of a file (document 001): of the process, of the open file description, and of the whole file.

use oscost_harness::Benchmark;

mod bytes;
pub mod fcntl;
mod file;
pub mod flock;
pub mod ofd;
mod others;

pub const ALL: &[&dyn Benchmark] = &[
    &fcntl::UNCONTENDED,
    &ofd::UNCONTENDED,
    &flock::UNCONTENDED,
    &fcntl::OTHERS_10,
    &ofd::OTHERS_10,
    &fcntl::OTHERS_100,
    &ofd::OTHERS_100,
    &fcntl::OTHERS_1000,
    &ofd::OTHERS_1000,
    &fcntl::OTHERS_10000,
    &ofd::OTHERS_10000,
    &fcntl::SAME_CPU,
    &ofd::SAME_CPU,
    &flock::SAME_CPU,
    &fcntl::CROSS_CPU,
    &ofd::CROSS_CPU,
    &flock::CROSS_CPU,
];
