//! Claims that many cards make.

use std::borrow::Cow;

use oscost_harness::{Bound, Claim};
use oscost_sys::vdso;

/// Of an operation that never blocks and makes exactly `calls` system calls. It touches no new memory: a fault in a
/// thousand operations would already be one too many.
pub const fn exactly(calls: f64) -> [Claim; 3] {
    never_blocks(Bound::Exactly(calls))
}

/// Of an operation that never blocks, whose number of system calls lies within `calls`.
pub const fn never_blocks(calls: Bound) -> [Claim; 3] {
    [
        Claim::SystemCalls(calls),
        Claim::VoluntarySwitches(Bound::Exactly(0.0)),
        Claim::Faults(Bound::AtMost(0.001)),
    ]
}

/// Of an operation that never blocks and makes exactly `calls` system calls, all with one of these names.
pub const fn named(names: &'static [&'static str], calls: f64) -> [Claim; 4] {
    let [all, switches, faults] = exactly(calls);
    [all, Claim::CallsNamed(names, Bound::Exactly(calls)), switches, faults]
}

/// Of an operation of `readings` readings of a clock that the vDSO answers, where the clock source of this machine lets it.
pub fn of_readings(readings: f64) -> Cow<'static, [Claim]> {
    Cow::Owned(never_blocks(calls_of_readings(readings)).to_vec())
}

/// System calls of `readings` readings of such a clock.
pub fn calls_of_readings(readings: f64) -> Bound {
    match vdso::answers_clocks() {
        Some(true) => Bound::Exactly(0.0),
        Some(false) => Bound::Exactly(readings),
        None => Bound::AtMost(readings),
    }
}

/// System calls of one reading of a coarse clock: the vDSO answers it whatever the clock source is.
pub fn calls_of_a_coarse_reading() -> Bound {
    Bound::Exactly(if vdso::exists() { 0.0 } else { 1.0 })
}
