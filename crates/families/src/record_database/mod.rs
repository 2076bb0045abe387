//! The database of document 001 under its workload: by layout, way to lock and number of processes.

use oscost_harness::Benchmark;

pub mod book;
mod cell;
pub mod fast;

pub const ALL: &[&dyn Benchmark] = &[
    &book::NONE_1,
    &book::COARSE_FCNTL_1,
    &book::FINE_FCNTL_1,
    &book::COARSE_FCNTL_4,
    &book::FINE_FCNTL_4,
    &fast::NONE_1,
    &fast::COARSE_MUTEX_1,
    &fast::FINE_MUTEX_1,
    &fast::COARSE_MUTEX_4,
    &fast::FINE_MUTEX_4,
];
