//! Clocks: every way to read the time that the price list prices, and the one that it is priced by.

use crate::{CallError, error::check};

/// CLOCK_MONOTONIC through the vDSO, in ns since an arbitrary start. It cannot fail on Linux; all intervals of oscost are
/// differences of it, as 64-bit integers. clock_gettime(2).
#[inline(always)]
#[must_use]
pub fn now_ns() -> u64 {
    let time = read(Clock::Monotonic);
    nanoseconds(&time)
}

/// Readings among which every clock that goes has a new value: the coarsest step is 10 ms, the fastest reading takes 2 ns.
const READINGS_OF_A_STEP: u32 = 10_000_000;

/// Whether CLOCK_MONOTONIC advances at all. A wait by a clock that stands never ends.
#[must_use]
pub fn advances() -> bool {
    changes(now_ns)
}

fn changes(mut reading: impl FnMut() -> u64) -> bool {
    let first = reading();
    (0..READINGS_OF_A_STEP).any(|_| reading() != first)
}

/// Clocks of clock_gettime(2), as libc answers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// CLOCK_MONOTONIC: never set, slewed by NTP.
    Monotonic,
    /// CLOCK_MONOTONIC_RAW: neither set nor slewed.
    MonotonicRaw,
    /// CLOCK_MONOTONIC_COARSE: as of the last timer tick.
    MonotonicCoarse,
    /// CLOCK_REALTIME: can be set.
    Realtime,
    /// CLOCK_REALTIME_COARSE: as of the last timer tick.
    RealtimeCoarse,
    /// CLOCK_TAI: wall time without leap seconds.
    Tai,
    /// CLOCK_BOOTTIME: goes on while the machine sleeps.
    Boottime,
    /// CLOCK_PROCESS_CPUTIME_ID: a system call everywhere.
    ProcessCpuTime,
    /// CLOCK_THREAD_CPUTIME_ID: a system call everywhere.
    ThreadCpuTime,
}

impl Clock {
    const fn id(self) -> libc::clockid_t {
        match self {
            Self::Monotonic => libc::CLOCK_MONOTONIC,
            Self::MonotonicRaw => libc::CLOCK_MONOTONIC_RAW,
            Self::MonotonicCoarse => libc::CLOCK_MONOTONIC_COARSE,
            Self::Realtime => libc::CLOCK_REALTIME,
            Self::RealtimeCoarse => libc::CLOCK_REALTIME_COARSE,
            Self::Tai => libc::CLOCK_TAI,
            Self::Boottime => libc::CLOCK_BOOTTIME,
            Self::ProcessCpuTime => libc::CLOCK_PROCESS_CPUTIME_ID,
            Self::ThreadCpuTime => libc::CLOCK_THREAD_CPUTIME_ID,
        }
    }
}

/// One reading of `clock` through libc. These clocks exist on every Linux that this program runs on, so there is no error.
#[inline(always)]
#[must_use]
pub fn read(clock: Clock) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: libc writes one timespec to a local variable.
    unsafe { libc::clock_gettime(clock.id(), &raw mut time) };
    time
}

/// One reading of `clock` in ns.
#[inline(always)]
#[must_use]
pub fn read_ns(clock: Clock) -> u64 {
    nanoseconds(&read(clock))
}

/// One reading of `clock` in ns, where a filter may refuse it: the clocks of CPU time are system calls.
///
/// # Errors
/// The error of clock_gettime.
#[inline(always)]
pub fn try_read_ns(clock: Clock) -> Result<u64, CallError> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: libc writes one timespec to a local variable.
    check("clock_gettime", unsafe { libc::clock_gettime(clock.id(), &raw mut time) })?;
    Ok(nanoseconds(&time))
}

/// gettimeofday(2) through libc, in us since 1970.
#[inline(always)]
#[must_use]
pub fn gettimeofday_us() -> u64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: libc writes one timeval to a local variable; the time zone pointer may be null.
    unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
    (time.tv_sec as u64) * 1_000_000 + time.tv_usec as u64
}

/// time(2) through libc: whole seconds since 1970.
#[inline(always)]
#[must_use]
pub fn seconds() -> u64 {
    // SAFETY: with a null pointer, time touches no memory.
    unsafe { libc::time(std::ptr::null_mut()) as u64 }
}

/// What the kernel advertises as the resolution of `clock`, in ns. Not its step: see the family `clock`.
///
/// # Errors
/// EINVAL where the clock does not exist.
pub fn resolution_ns(clock: Clock) -> Result<u64, CallError> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: libc writes one timespec to a local variable.
    check("clock_getres", unsafe { libc::clock_getres(clock.id(), &raw mut time) })?;
    Ok(nanoseconds(&time))
}

/// Seconds and ns as ns. Clocks start at 0 or in 1970, so neither part is negative.
#[inline(always)]
#[must_use]
pub fn nanoseconds(time: &libc::timespec) -> u64 {
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}

/// The time stamp counter, where user space can read one (x86-64: RDTSC).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn tsc() -> u64 {
    // SAFETY: RDTSC reads a register; prctl(PR_SET_TSC) is never used to forbid it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The time stamp counter after all earlier instructions (x86-64: RDTSCP).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn tscp() -> u64 {
    let mut processor = 0;
    // SAFETY: RDTSCP reads registers and writes the processor's id to a local variable.
    unsafe { std::arch::x86_64::__rdtscp(&raw mut processor) }
}

/// The virtual counter (aarch64: CNTVCT_EL0).
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[must_use]
pub fn tsc() -> u64 {
    let value: u64;
    // SAFETY: reads a counter register that Linux opens to user space.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack)) };
    value
}

/// The virtual counter after all earlier instructions (aarch64: ISB, CNTVCT_EL0).
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[must_use]
pub fn tscp() -> u64 {
    let value: u64;
    // SAFETY: a barrier and a read of a counter register that Linux opens to user space.
    unsafe { std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack)) };
    value
}

/// Sleeps until `due_ns` of CLOCK_MONOTONIC: absolute, so that a period does not drift. clock_nanosleep(2).
///
/// # Errors
/// What the kernel answers; EINTR is waited through.
pub fn sleep_until(due_ns: u64) -> Result<(), CallError> {
    // due times lie within the machine's uptime
    let due = libc::timespec {
        tv_sec: (due_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (due_ns % 1_000_000_000) as libc::c_long,
    };
    loop {
        // SAFETY: reads one timespec; the remaining-time pointer may be null for absolute sleeps.
        let error = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const due,
                std::ptr::null_mut(),
            )
        };
        match error {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(CallError::new("clock_nanosleep", error)),
        }
    }
}

/// Lets `duration` pass, for whoever looks again and again. Where the kernel refuses every call that sleeps (a sandbox), others
/// get the CPU meanwhile. clock_nanosleep(2), poll(2), sched_yield(2).
pub fn pause(duration: std::time::Duration) {
    let due_ns = now_ns().saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    if sleep_until(due_ns).is_ok() {
        return;
    }
    loop {
        let now = now_ns();
        if now >= due_ns {
            return;
        }
        // Interrupted or refused: the clock decides.
        if crate::readiness::poll_readable(&[], due_ns - now).is_err() {
            std::thread::yield_now();
        }
    }
}

/// Keeps `value` in a register without storing it: the compiler must compute it, and may assume nothing of it.
#[inline(always)]
pub fn keep(value: u64) -> u64 {
    let kept;
    // SAFETY: no instruction at all; the value passes through a register.
    unsafe {
        std::arch::asm!("/* {} */", inlateout(reg) value => kept, options(nomem, nostack, preserves_flags))
    };
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_is_told_from_a_coarse_one() {
        assert!(advances());
        assert!(!changes(|| 0));
        let mut readings = 0_u64;
        let coarse = || {
            readings += 1;
            readings / 5_000_000
        };
        assert!(changes(coarse));
    }
}
