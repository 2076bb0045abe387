//! Claims that many cards share, and how often a post-condition is checked.

use std::borrow::Cow;

use oscost_sys::CallError;
use oscost_sys::vdso;

use super::PostCondition;
use super::card::{Bound, Claim};

/// Of an operation that never blocks and makes exactly `calls` system calls. It touches no new memory: a fault in a
/// thousand operations would already be one too many.
#[must_use]
pub const fn exactly(calls: f64) -> [Claim; 3] {
    never_blocks(Bound::Exactly(calls))
}

/// Of an operation that never blocks, whose number of system calls lies within `calls`.
#[must_use]
pub const fn never_blocks(calls: Bound) -> [Claim; 3] {
    [
        Claim::SystemCalls(calls),
        Claim::VoluntarySwitches(Bound::Exactly(0.0)),
        Claim::Faults(Bound::AtMost(0.001)),
    ]
}

/// Of an operation that never blocks and makes exactly `calls` system calls, all with one of these names.
#[must_use]
pub const fn named(names: &'static [&'static str], calls: f64) -> [Claim; 4] {
    let [all, switches, faults] = exactly(calls);
    [all, Claim::CallsNamed(names, Bound::Exactly(calls)), switches, faults]
}

/// Of an operation that never blocks and makes two system calls, one with each of these names: two of one name would be two as well.
#[must_use]
pub const fn one_each(one: &'static [&'static str], other: &'static [&'static str]) -> [Claim; 5] {
    let [all, switches, faults] = exactly(2.0);
    let once = Bound::Exactly(1.0);
    [all, Claim::CallsNamed(one, once), Claim::CallsNamed(other, once), switches, faults]
}

/// A partner's call more or less, of the 200 operations in which the audit counts: the one before it sleeps, or the one by
/// which it is put to rest.
const EDGE: f64 = 0.01;

/// Calls of a hand-over whose number does not depend on which side waits.
#[must_use]
pub const fn shared(calls: f64) -> Bound {
    Bound::Between(calls - EDGE, calls + EDGE)
}

/// Calls of a hand-over that sleepers and wakers make: at least and at most so many.
#[must_use]
pub const fn shared_between(least: f64, most: f64) -> Bound {
    Bound::Between(if least > EDGE { least - EDGE } else { 0.0 }, most + EDGE)
}

/// No call of a hand-over that its card does not name.
pub const NO_OTHER_CALLS: Claim = Claim::OtherCalls(Bound::AtMost(EDGE));

/// Of an operation of `readings` readings of a clock that the vDSO answers, where the clock source of this machine lets it.
#[must_use]
pub fn of_readings(readings: f64) -> Cow<'static, [Claim]> {
    Cow::Owned(never_blocks(calls_of_readings(readings)).to_vec())
}

/// System calls of `readings` readings of such a clock.
#[must_use]
pub fn calls_of_readings(readings: f64) -> Bound {
    match vdso::answers_clocks() {
        Some(true) => Bound::Exactly(0.0),
        Some(false) => Bound::Exactly(readings),
        None => Bound::AtMost(readings),
    }
}

/// System calls of one reading of a coarse clock: the vDSO answers it whatever the clock source is.
#[must_use]
pub fn calls_of_a_coarse_reading() -> Bound {
    Bound::Exactly(if vdso::exists() { 0.0 } else { 1.0 })
}

/// A function that leaves out one call in fifty changes a price by 2 %, as much as is told from run to run. So many looks see it.
const LOOKS: u32 = 100;

/// Looks again and again, until something is not as it must be. What the last look found.
///
/// An operation without system calls needs this: no audit counts the calls that it leaves out.
///
/// # Errors
/// The first call that failed.
pub fn looked_at_often(
    mut look: impl FnMut() -> Result<Vec<PostCondition>, CallError>,
) -> Result<Vec<PostCondition>, CallError> {
    let mut found = look()?;
    for _ in 1..LOOKS {
        if found.iter().any(|it| !it.holds()) {
            break;
        }
        found = look()?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_left_out_in_fifty_is_seen() {
        let mut calls = 0;
        let found = looked_at_often(|| {
            calls += 1;
            Ok(vec![PostCondition::exactly("held", 1.0, f64::from(u8::from(calls % 50 != 0)))])
        });
        assert_eq!(found, Ok(vec![PostCondition::exactly("held", 1.0, 0.0)]));
        assert_eq!(calls, 50, "nothing is taken again that is not as it must be");
    }

    #[test]
    fn one_condition_of_several_that_does_not_hold_ends_the_looks() {
        let mut calls = 0;
        let found = looked_at_often(|| {
            calls += 1;
            let second = f64::from(u8::from(calls < 3));
            Ok(vec![PostCondition::exactly("first", 1.0, 1.0), PostCondition::exactly("second", 1.0, second)])
        });
        assert!(found.is_ok_and(|found| !found[1].holds()) && calls == 3);
    }

    /// A process has the vDSO or has it not, and its map of memory says so.
    #[test]
    fn a_coarse_clock_is_read_without_a_call_where_there_is_a_vdso() {
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
            return println!("SKIP a_coarse_clock_is_read_without_a_call: /proc does not say");
        };
        let calls = if maps.contains("[vdso]") { 0.0 } else { 1.0 };
        assert_eq!(calls_of_a_coarse_reading(), Bound::Exactly(calls));
    }

    #[test]
    fn what_holds_is_looked_at_often() {
        let mut calls = 0;
        let found = looked_at_often(|| {
            calls += 1;
            Ok(vec![PostCondition::exactly("held", 1.0, 1.0)])
        });
        assert!(found.is_ok_and(|found| found.len() == 1 && found[0].holds()));
        assert_eq!(calls, LOOKS);
    }

    /// The name of the clock source decides it, or nobody knows.
    #[test]
    fn readings_of_a_clock_make_no_call_each_or_at_most_one() {
        let source = vdso::clock_source().unwrap_or_default();
        let expected = match source.as_str() {
            _ if !vdso::exists() => Bound::Exactly(2.0),
            "tsc" => Bound::Exactly(0.0),
            "hpet" | "acpi_pm" | "pit" | "jiffies" | "refined-jiffies" => Bound::Exactly(2.0),
            _ => Bound::AtMost(2.0),
        };
        assert_eq!(calls_of_readings(2.0), expected, "{source}");
        assert_eq!(*of_readings(2.0), never_blocks(expected));
    }
}
