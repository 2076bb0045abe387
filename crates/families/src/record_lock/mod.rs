//! Locks on records of a file (document 001): of the process, of the open file description, and of the whole file.

use oscost_harness::Benchmark;

pub mod fcntl;
mod file;
pub mod flock;
pub mod ofd;

pub const ALL: &[&dyn Benchmark] = &[
    &fcntl::UNCONTENDED,
    &ofd::UNCONTENDED,
    &flock::UNCONTENDED,
    &fcntl::SAME_CPU,
    &ofd::SAME_CPU,
    &flock::SAME_CPU,
    &fcntl::CROSS_CPU,
    &ofd::CROSS_CPU,
    &flock::CROSS_CPU,
];
