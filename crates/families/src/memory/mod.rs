//! Memory: mapped, faulted in, protected, taken from other CPUs' sight, and walked over.

use oscost_harness::Benchmark;

mod bandwidth;
mod fault_anonymous;
mod fault_mapped;
mod give_back;
mod latency;
mod mmap_munmap;
mod mprotect;
mod shootdown;

pub const ALL: &[&dyn Benchmark] = &[
    &mmap_munmap::MmapMunmap,
    &mprotect::Mprotect,
    &fault_anonymous::FaultAnonymous,
    &fault_mapped::FAULT_FILE,
    &fault_mapped::FAULT_COPY,
    &give_back::GIVE_BACK,
    &give_back::GIVE_BACK_FILE,
    &shootdown::THREADS_1,
    &shootdown::THREADS_3,
    &shootdown::THREADS_7,
    &latency::SIZE_16K,
    &latency::SIZE_128K,
    &latency::SIZE_1M,
    &latency::SIZE_8M,
    &latency::SIZE_8M_HUGE,
    &latency::SIZE_64M,
    &latency::SIZE_64M_HUGE,
    &bandwidth::READ_16K,
    &bandwidth::READ_1M,
    &bandwidth::READ_64M,
    &bandwidth::WRITE_16K,
    &bandwidth::WRITE_1M,
    &bandwidth::WRITE_64M,
    &bandwidth::SET_16K,
    &bandwidth::SET_1M,
    &bandwidth::SET_64M,
    &bandwidth::COPY_16K,
    &bandwidth::COPY_1M,
    &bandwidth::COPY_64M,
];
