//! Memory: mapped, faulted in, protected, taken from other CPUs' sight, and walked over.

use oscost_harness::Benchmark;

use crate::row::joined;

mod bandwidth;
mod fault_anonymous;
mod fault_mapped;
mod give_back;
mod latency;
mod mmap_munmap;
mod mprotect;
mod shootdown;

pub const ALL: &[&dyn Benchmark] = &joined::<29>(&[
    mmap_munmap::ALL,
    mprotect::ALL,
    fault_anonymous::ALL,
    fault_mapped::ALL,
    give_back::ALL,
    shootdown::ALL,
    latency::ALL,
    bandwidth::ALL,
]);
