//! Clocks: what reading one costs, and (in `step`) how fine it really is.

use std::borrow::Cow;

use oscost_harness::{Benchmark, CallPath, Card, Claim, Tier};
use oscost_sys::clock::{self, Clock};
use oscost_sys::system_call;

use crate::claims;
use crate::operation::{nothing, operation};

mod keeps_time;
mod step;
mod tsc;
mod tscp;

/// A reading without a system call, where the clock source permits it.
const READING: Card = Card {
    heading: "one reading",
    call_path: CallPath::Vdso,
    group: "clock",
    claims: &claims::exactly(0.0),
    baseline: Some("clock/monotonic"),
    ..Card::BATCHED
};

/// The calls of a clock that the timer's ticks move.
fn coarse() -> Cow<'static, [Claim]> {
    Cow::Owned(claims::never_blocks(claims::calls_of_a_coarse_reading()).to_vec())
}

/// Those of time(NULL): musl's reads CLOCK_REALTIME.
fn seconds() -> Cow<'static, [Claim]> {
    if cfg!(target_env = "musl") { claims::of_readings(1.0) } else { coarse() }
}

pub const ALL: &[&dyn Benchmark] = &[
    // CLOCK_MONOTONIC through the vDSO: the clock of document 003, and of every figure.
    &operation(
        &Card {
            id: "clock/monotonic",
            title: "CLOCK_MONOTONIC",
            operation: "one clock_gettime(CLOCK_MONOTONIC)",
            document: Some("003"),
            tier: Tier::Core,
            baseline: None,
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::Monotonic);
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::read_ns(Clock::Monotonic))),
    // CLOCK_MONOTONIC by a forced kernel entry: what the vDSO saves.
    &operation(
        &Card {
            id: "clock/monotonic_syscall",
            title: "CLOCK_MONOTONIC, as a system call",
            operation: "one clock_gettime(CLOCK_MONOTONIC), made as a system call",
            call_path: CallPath::Inline,
            claims: &claims::named(&["clock_gettime"], 1.0),
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| system_call::clock_gettime_monotonic().map(drop),
    ),
    // CLOCK_MONOTONIC_RAW: neither set nor slewed.
    &operation(
        &Card {
            id: "clock/monotonic_raw",
            title: "CLOCK_MONOTONIC_RAW",
            operation: "one clock_gettime(CLOCK_MONOTONIC_RAW)",
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::MonotonicRaw);
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::read_ns(Clock::MonotonicRaw))),
    // CLOCK_MONOTONIC_COARSE: the time of the last timer tick, read from memory.
    &operation(
        &Card {
            id: "clock/monotonic_coarse",
            title: "CLOCK_MONOTONIC_COARSE",
            operation: "one clock_gettime(CLOCK_MONOTONIC_COARSE)",
            remark: "cheap because it returns the time of the last timer tick: see clock/step/monotonic_coarse",
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::MonotonicCoarse);
            Ok(())
        },
    )
    .claims(coarse)
    .verify(|()| keeps_time::verify_coarse(|| clock::read_ns(Clock::MonotonicCoarse))),
    // CLOCK_REALTIME: the clock that can be set.
    &operation(
        &Card {
            id: "clock/realtime",
            title: "CLOCK_REALTIME",
            operation: "one clock_gettime(CLOCK_REALTIME)",
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::Realtime);
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::read_ns(Clock::Realtime))),
    // CLOCK_REALTIME_COARSE: the wall time of the last timer tick, read from memory.
    &operation(
        &Card {
            id: "clock/realtime_coarse",
            title: "CLOCK_REALTIME_COARSE",
            operation: "one clock_gettime(CLOCK_REALTIME_COARSE)",
            remark: "cheap because it returns the time of the last timer tick, as clock/step/monotonic_coarse shows",
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::RealtimeCoarse);
            Ok(())
        },
    )
    .claims(coarse)
    .verify(|()| keeps_time::verify_coarse(|| clock::read_ns(Clock::RealtimeCoarse))),
    // CLOCK_BOOTTIME: goes on while the machine sleeps.
    &operation(
        &Card {
            id: "clock/boottime",
            title: "CLOCK_BOOTTIME",
            operation: "one clock_gettime(CLOCK_BOOTTIME)",
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::Boottime);
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::read_ns(Clock::Boottime))),
    // CLOCK_TAI: wall time without leap seconds, which time-sensitive networks use.
    &operation(
        &Card {
            id: "clock/tai",
            title: "CLOCK_TAI",
            operation: "one clock_gettime(CLOCK_TAI)",
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::Tai);
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::read_ns(Clock::Tai))),
    // gettimeofday, the clock of document 004 (and of 000): microseconds, and it can be set.
    &operation(
        &Card {
            id: "clock/gettimeofday",
            title: "gettimeofday",
            operation: "one gettimeofday",
            document: Some("004"),
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::gettimeofday_us();
            Ok(())
        },
    )
    .claims(|| claims::of_readings(1.0))
    .verify(|()| keeps_time::verify(|| clock::gettimeofday_us() * 1000)),
    // gettimeofday by a forced kernel entry.
    &operation(
        &Card {
            id: "clock/gettimeofday_syscall",
            title: "gettimeofday, as a system call",
            operation: "one gettimeofday, made as a system call",
            call_path: CallPath::Inline,
            claims: &claims::named(&["gettimeofday"], 1.0),
            ..READING
        },
        nothing,
        |()| system_call::gettimeofday().map(drop),
    ),
    // time: the seconds since 1970, read from memory.
    &operation(
        &Card {
            id: "clock/time",
            title: "time",
            operation: "one time(NULL): whole seconds since 1970",
            remark: "cheap because it returns the second of the last timer tick: no clock is read",
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::seconds();
            Ok(())
        },
    )
    .claims(seconds)
    .verify(|()| keeps_time::verify_seconds(clock::seconds)),
    // CPU time of the process: a system call everywhere, whatever the vDSO answers.
    &operation(
        &Card {
            id: "clock/process_cputime",
            title: "CLOCK_PROCESS_CPUTIME_ID",
            operation: "one clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
            call_path: CallPath::Libc,
            claims: &claims::named(&["clock_gettime"], 1.0),
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::ProcessCpuTime);
            Ok(())
        },
    )
    .verify(|()| keeps_time::verify_counter(|| clock::read_ns(Clock::ProcessCpuTime))),
    // CPU time of the thread: a system call everywhere, whatever the vDSO answers.
    &operation(
        &Card {
            id: "clock/thread_cputime",
            title: "CLOCK_THREAD_CPUTIME_ID",
            operation: "one clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
            call_path: CallPath::Libc,
            claims: &claims::named(&["clock_gettime"], 1.0),
            ..READING
        },
        nothing,
        |()| {
            let _ = clock::read(Clock::ThreadCpuTime);
            Ok(())
        },
    )
    .verify(|()| keeps_time::verify_counter(|| clock::read_ns(Clock::ThreadCpuTime))),
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
