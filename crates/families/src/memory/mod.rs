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

/// How many steps of so many bytes go once around what a second-level cache may hold of `bytes`. A batch makes as many, and so many untimed
/// before it: what else runs between batches takes lines and page tables from the caches, and a short batch would find them gone.
const fn once_around(bytes: usize, step: usize) -> u64 {
    const MOST: usize = 1 << 20;
    let around = if bytes < MOST { bytes } else { MOST };
    (around / step) as u64
}

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
