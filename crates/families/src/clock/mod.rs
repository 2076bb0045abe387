//! Clocks: what reading one costs, and (in `step`) how fine it really is.

use oscost_harness::Benchmark;

mod gettimeofday;
mod gettimeofday_syscall;
mod keeps_time;
mod monotonic;
mod monotonic_coarse;
mod monotonic_raw;
mod monotonic_syscall;
mod process_cputime;
mod realtime;
mod step;
mod tsc;
mod tscp;

/// What stands above the rows of these figures.
const READING: &str = "one reading";

pub const ALL: &[&dyn Benchmark] = &[
    &monotonic::Monotonic,
    &monotonic_syscall::MonotonicSyscall,
    &monotonic_raw::MonotonicRaw,
    &monotonic_coarse::MonotonicCoarse,
    &realtime::Realtime,
    &gettimeofday::Gettimeofday,
    &gettimeofday_syscall::GettimeofdaySyscall,
    &process_cputime::ProcessCputime,
    &tsc::Tsc,
    &tscp::Tscp,
    &step::gettimeofday::TOUCHED,
    &step::gettimeofday::COLD,
    &step::monotonic::TOUCHED,
    &step::monotonic::COLD,
    &step::monotonic_raw::TOUCHED,
    &step::monotonic_raw::COLD,
    &step::monotonic_coarse::TOUCHED,
    &step::monotonic_coarse::COLD,
    &step::realtime::TOUCHED,
    &step::realtime::COLD,
    &step::tsc::TOUCHED,
    &step::tsc::COLD,
];
