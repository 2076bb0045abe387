//! Entering the kernel, and the cheapest things that it does.

use oscost_harness::Benchmark;

mod getcpu;
mod getpid;
mod getpid_libc;
mod getppid;
mod getrandom;
mod getrandom_vdso;
mod invalid;
mod membarrier;
mod open_close;
mod read0_devzero;
mod read0_file;
mod read0_pipe;
mod read1;
mod sched_yield;
mod stat;
mod write1;

/// What stands above the rows of these figures.
const CALL: &str = "one call";

pub const ALL: &[&dyn Benchmark] = &[
    &invalid::Invalid,
    &getppid::Getppid,
    &getpid::Getpid,
    &getpid_libc::GetpidLibc,
    &read0_devzero::Read0Devzero,
    &read0_pipe::Read0Pipe,
    &read0_file::Read0File,
    &read1::Read1,
    &write1::Write1,
    &getcpu::Getcpu,
    &sched_yield::SchedYield,
    &open_close::OpenClose,
    &stat::Stat,
    &getrandom::Getrandom,
    &getrandom_vdso::GetrandomVdso,
    &membarrier::MembarrierAlone,
];
