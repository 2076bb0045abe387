//! The clock by which the kernel's scheduler reckons, from a reading of the processor's counter. perf_event_open(2).

use std::os::fd::AsFd;

use crate::perf_event::{self, EXCLUDE_KERNEL, EventAttributes};
use crate::{CallError, clock, mapping::Mapping};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_DUMMY: u64 = 9;
/// `cap_user_time_zero` of `struct perf_event_mmap_page`: the numbers below hold.
const TIME_ZERO: u64 = 1 << 4;
const PAGE: usize = 4096;

/// ns of the scheduler's clock as a line over the processor's counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelClock {
    zero: u64,
    multiplier: u32,
    shift: u16,
}

impl KernelClock {
    /// Asks the kernel for the line, which it shows to whoever counts an event.
    ///
    /// # Errors
    /// The error of perf_event_open or mmap; ENOTSUP where the scheduler does not reckon by this counter.
    pub fn find() -> Result<Self, CallError> {
        let attributes = EventAttributes {
            kind: PERF_TYPE_SOFTWARE,
            config: PERF_COUNT_SW_DUMMY,
            flags: EXCLUDE_KERNEL,
            ..EventAttributes::default()
        };
        // An event of a thread would make the kernel do more at every switch, for a second after its end too. So it is one of a
        // CPU.
        let event = perf_event::open_on_cpu(attributes, 0)?;
        let mapping = Mapping::new(PAGE, libc::PROT_READ, libc::MAP_SHARED, Some((event.as_fd(), 0)))?;
        let page = mapping.start::<u8>().as_ptr();
        // SAFETY: the page has 4096 bytes, and every field lies at a multiple of its size. The kernel writes them before mmap
        // returns, and a clock that is read at boot stays as it is. perf_event_open(2), MMAP layout.
        let (capabilities, shift, multiplier, zero) = unsafe {
            (
                page.add(40).cast::<u64>().read_volatile(),
                page.add(50).cast::<u16>().read_volatile(),
                page.add(52).cast::<u32>().read_volatile(),
                page.add(64).cast::<u64>().read_volatile(),
            )
        };
        if capabilities & TIME_ZERO == 0 || shift >= 64 {
            return Err(CallError::new("mmap", libc::ENOTSUP));
        }
        Ok(Self { zero, multiplier, shift })
    }

    /// ns of the scheduler's clock at a reading of the counter.
    #[inline(always)]
    #[must_use]
    pub fn at(&self, counter: u64) -> u64 {
        let product = u128::from(counter) * u128::from(self.multiplier);
        self.zero.wrapping_add((product >> self.shift) as u64)
    }

    /// ns of the scheduler's clock now.
    #[inline(always)]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.at(clock::tsc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_kernel() {
        let line = KernelClock { zero: 100, multiplier: 3 << 20, shift: 21 };
        assert_eq!((line.at(0), line.at(2), line.at(u64::from(u32::MAX))), (100, 103, 6_442_451_042));
    }

    #[test]
    fn it_advances_as_the_monotonic_clock_does() {
        match KernelClock::find() {
            Ok(clock) => {
                // Somebody else may run between the two readings: the best of five tries.
                let apart = |_| {
                    let begun = (clock.now(), crate::clock::now_ns());
                    crate::clock::pause(std::time::Duration::from_millis(50));
                    let passed = (clock.now() - begun.0, crate::clock::now_ns() - begun.1);
                    passed.0.abs_diff(passed.1)
                };
                let least = (0..5).map(apart).min().expect("five");
                assert!(least < 5_000_000, "{least} ns");
            }
            Err(error) => println!("SKIP it_advances_as_the_monotonic_clock_does: {error}"),
        }
    }
}
