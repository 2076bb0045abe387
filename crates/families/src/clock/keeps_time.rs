//! Checks that a clock advances like the kernel's, read by a direct call. A clock that a no-op answers does not.

use oscost_harness::{Bound, CallError, PostCondition};
use oscost_sys::clock::{self, Clock};
use oscost_sys::system_call;

/// So long is a clock watched that is read as it is, ns.
const A_WHILE_NS: u64 = 1_000_000;
/// So long is one watched that moves with the timer's ticks, which may be 10 ms apart.
const SOME_TICKS_NS: u64 = 30_000_000;

/// The clock moves as CLOCK_MONOTONIC does by a kernel entry, within a tenth.
pub fn verify(read_ns: impl Fn() -> u64) -> Result<Vec<PostCondition>, CallError> {
    keeps_time(read_ns, A_WHILE_NS, Bound::Between(0.9, 1.1))
}

/// The clock of the last tick moves as CLOCK_MONOTONIC does, but for a tick.
pub fn verify_coarse(read_ns: impl Fn() -> u64) -> Result<Vec<PostCondition>, CallError> {
    keeps_time(read_ns, SOME_TICKS_NS, Bound::Between(0.6, 1.4))
}

/// The clock's share of CLOCK_MONOTONIC's time over `ns`. One that can be set may be set in this moment: one of three tries is
/// enough.
fn keeps_time(read_ns: impl Fn() -> u64, ns: u64, expected: Bound) -> Result<Vec<PostCondition>, CallError> {
    let look = || Ok(PostCondition::new("share_of_time", expected, share_of_time(&read_ns, ns)?));
    let mut found = look()?;
    for _ in 1..3 {
        if found.holds() {
            break;
        }
        found = look()?;
    }
    Ok(vec![found])
}

/// The seconds are those of CLOCK_REALTIME, but for a tick.
pub fn verify_seconds(seconds: impl Fn() -> u64) -> Result<Vec<PostCondition>, CallError> {
    let away = (0..3).map(|_| seconds() as f64 - clock::read_ns(Clock::Realtime) as f64 / 1e9);
    // One that can be set may be set in this moment: the best of three tries is enough.
    let away = away.min_by(|one, other| one.abs().total_cmp(&other.abs())).unwrap_or(f64::INFINITY);
    Ok(vec![PostCondition::new("seconds_from_realtime", Bound::Between(-1.1, 0.1), away)])
}

/// The counter moves.
pub fn verify_counter(read: impl Fn() -> u64) -> Result<Vec<PostCondition>, CallError> {
    let steps = share_of_time(&read, A_WHILE_NS)? * A_WHILE_NS as f64;
    Ok(vec![PostCondition::new("steps", Bound::AtLeast(1.0), steps)])
}

/// By how much the clock moves while the kernel's moves by 1, over `ns`.
fn share_of_time(read: &impl Fn() -> u64, ns: u64) -> Result<f64, CallError> {
    let kernel_ns = || system_call::clock_gettime_monotonic().map(|time| clock::nanoseconds(&time));
    let (start, kernel_start) = (read(), kernel_ns()?);
    while kernel_ns()? - kernel_start < ns {
        std::hint::spin_loop();
    }
    let (end, kernel_end) = (read(), kernel_ns()?);
    Ok(end.wrapping_sub(start).cast_signed() as f64 / (kernel_end - kernel_start) as f64)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_clock_may_be_set_once_and_must_move() {
        // Readings are in pairs, and between the readings of so many pairs the clock is set by a second.
        let set = |pairs: u64| {
            let (readings, away) = (Cell::new(0), Cell::new(0));
            move || {
                readings.set(readings.get() + 1);
                if readings.get() % 2 == 0 && readings.get() / 2 <= pairs {
                    away.set(away.get() + 1_000_000_000);
                }
                clock::now_ns() + away.get()
            }
        };
        let holds = |found: Result<Vec<PostCondition>, CallError>| {
            found.expect("a clock").iter().all(PostCondition::holds)
        };
        assert!(holds(verify_coarse(set(1))) && holds(verify(set(1))), "set once");
        assert!(!holds(verify_coarse(set(3))) && !holds(verify(set(3))), "set each time");
        assert!(!holds(verify_coarse(|| 0)) && !holds(verify(|| 0)), "it stands");
    }
}
