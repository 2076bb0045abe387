//! Clocks: what reading one costs, and (in `step`) how fine it really is.

use oscost_harness::Benchmark;

mod boottime;
mod gettimeofday;
mod gettimeofday_syscall;
mod keeps_time;
mod monotonic;
mod monotonic_coarse;
mod monotonic_raw;
mod monotonic_syscall;
mod process_cputime;
mod realtime;
mod realtime_coarse;
mod step;
mod tai;
mod thread_cputime;
mod time;
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
    &realtime_coarse::RealtimeCoarse,
    &boottime::Boottime,
    &tai::Tai,
    &gettimeofday::Gettimeofday,
    &gettimeofday_syscall::GettimeofdaySyscall,
    &time::Time,
    &process_cputime::ProcessCputime,
    &thread_cputime::ThreadCputime,
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
