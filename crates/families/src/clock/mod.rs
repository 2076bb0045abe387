//! Clocks: what reading one costs, and (in `step`) how fine it really is.

use std::borrow::Cow;

use oscost_harness::{Benchmark, CallPath, Card, Claim, Tier};
use oscost_sys::clock::{self, Clock};
use oscost_sys::system_call;

use crate::claims;
use crate::operation::{nothing, operation};

mod keeps_time;
mod step;

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

/// The card of a clock that is read by a system call everywhere, whatever the vDSO answers.
const ENTERING: Card =
    Card { call_path: CallPath::Libc, claims: &claims::named(&["clock_gettime"], 1.0), ..READING };

/// The row of a clock_gettime: of a clock that the vDSO reads, of one that the timer's ticks move, or of one that is kept in the
/// kernel.
macro_rules! gettime {
    (vdso $clock:ident, $($row:tt)*) => {
        &gettime!(verify $clock, READING, $($row)*).claims(|| claims::of_readings(1.0))
    };
    (ticks $clock:ident, $($row:tt)*) => {
        &gettime!(verify_coarse $clock, READING, $($row)*).claims(coarse)
    };
    (kernel $clock:ident, $($row:tt)*) => {
        &gettime!(verify_counter $clock, ENTERING, $($row)*)
    };
    ($verify:ident $clock:ident, $base:ident, $id:literal, $name:literal $(, $field:ident: $value:expr)*) => {
        operation(
            &Card {
                id: $id,
                title: $name,
                operation: concat!("one clock_gettime(", $name, ")"),
                $($field: $value,)*
                ..$base
            },
            nothing,
            |()| {
                let _ = clock::read(Clock::$clock);
                Ok(())
            },
        )
        .verify(|()| keeps_time::$verify(|| clock::read_ns(Clock::$clock)))
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    // CLOCK_MONOTONIC through the vDSO: the clock of document 003, and of every figure.
    gettime!(
        vdso Monotonic, "clock/monotonic", "CLOCK_MONOTONIC",
        document: Some("003"),
        tier: Tier::Core,
        baseline: None
    ),
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
    gettime!(vdso MonotonicRaw, "clock/monotonic_raw", "CLOCK_MONOTONIC_RAW"),
    // CLOCK_MONOTONIC_COARSE: the time of the last timer tick, read from memory.
    gettime!(
        ticks MonotonicCoarse, "clock/monotonic_coarse", "CLOCK_MONOTONIC_COARSE",
        revision: 2,
        remark: "cheap because it returns the time of the last timer tick: see clock/step/monotonic_coarse; \
                 much of the price is the way there through libc, which differs by build",
        tier: Tier::Core
    ),
    // CLOCK_REALTIME: the clock that can be set.
    gettime!(vdso Realtime, "clock/realtime", "CLOCK_REALTIME", tier: Tier::Core),
    // CLOCK_REALTIME_COARSE: the wall time of the last timer tick, read from memory.
    gettime!(
        ticks RealtimeCoarse, "clock/realtime_coarse", "CLOCK_REALTIME_COARSE",
        revision: 2,
        remark: "cheap because it returns the time of the last timer tick, as clock/step/monotonic_coarse shows"
    ),
    // CLOCK_BOOTTIME: goes on while the machine sleeps.
    gettime!(vdso Boottime, "clock/boottime", "CLOCK_BOOTTIME"),
    // CLOCK_TAI: wall time without leap seconds, which time-sensitive networks use.
    gettime!(vdso Tai, "clock/tai", "CLOCK_TAI"),
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
            revision: 2,
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
    gettime!(kernel ProcessCpuTime, "clock/process_cputime", "CLOCK_PROCESS_CPUTIME_ID", tier: Tier::Core),
    // CPU time of the thread: a system call everywhere, whatever the vDSO answers.
    gettime!(kernel ThreadCpuTime, "clock/thread_cputime", "CLOCK_THREAD_CPUTIME_ID"),
    // The time stamp counter, unordered (x86-64: RDTSC).
    &operation(
        &Card {
            id: "clock/tsc",
            title: "time stamp counter",
            operation: "one reading of the time stamp counter",
            call_path: CallPath::Instruction,
            tier: Tier::Core,
            ..READING
        },
        nothing,
        |()| {
            clock::keep(clock::tsc());
            Ok(())
        },
    )
    .verify(|()| keeps_time::verify_counter(clock::tsc)),
    // The same after all earlier instructions (x86-64: RDTSCP).
    &operation(
        &Card {
            id: "clock/tscp",
            title: "time stamp counter, ordered",
            operation: "one reading of the time stamp counter after all earlier instructions",
            call_path: CallPath::Instruction,
            ..READING
        },
        nothing,
        |()| {
            clock::keep(clock::tscp());
            Ok(())
        },
    )
    .verify(|()| keeps_time::verify_counter(clock::tscp)),
    &step::GETTIMEOFDAY[0],
    &step::GETTIMEOFDAY[1],
    &step::MONOTONIC[0],
    &step::MONOTONIC[1],
    &step::MONOTONIC_RAW[0],
    &step::MONOTONIC_RAW[1],
    &step::MONOTONIC_COARSE[0],
    &step::MONOTONIC_COARSE[1],
    &step::REALTIME[0],
    &step::REALTIME[1],
    &step::TSC[0],
    &step::TSC[1],
];
