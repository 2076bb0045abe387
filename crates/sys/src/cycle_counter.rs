//! Counts core cycles with the processor's own counter, if user space may use it. perf_event_open(2).

use std::fs::File;
use std::io::Read;

use crate::CallError;
use crate::perf_event::{self, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, EventAttributes, READ_TIMES};

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;

/// The least number of cycles in user mode that one of `tries` runs of `work` took, reading the counter included.
///
/// # Errors
/// The error of perf_event_open (ENOENT: the processor, or its hypervisor, offers no counter; EACCES, EPERM: this user may
/// not count), or of reading; EBUSY where others held the counter all the time.
pub fn least(mut work: impl FnMut(), tries: usize) -> Result<u64, CallError> {
    let mut counter = File::from(perf_event::open(EventAttributes {
        kind: PERF_TYPE_HARDWARE,
        config: PERF_COUNT_HW_CPU_CYCLES,
        read_format: READ_TIMES,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        ..EventAttributes::default()
    })?);
    let mut read = || -> Result<[u64; 3], CallError> {
        let mut bytes = [0; 24];
        counter
            .read_exact(&mut bytes)
            .map_err(|error| CallError::new("read", error.raw_os_error().unwrap_or(libc::EIO)))?;
        let word = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * index..8 * index + 8]);
            u64::from_ne_bytes(word)
        };
        Ok([word(0), word(1), word(2)])
    };
    let mut least = None;
    for _ in 0..tries {
        let before = read()?;
        work();
        let after = read()?;
        let [cycles, wanted, counted] = [0, 1, 2].map(|index| after[index].saturating_sub(before[index]));
        if wanted == counted && cycles > 0 {
            least = Some(least.map_or(cycles, |least: u64| least.min(cycles)));
        }
    }
    least.ok_or(CallError::new("read", libc::EBUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_takes_its_cycles_where_there_is_a_counter() {
        let passes = 1000;
        match least(|| crate::canary::chain(passes), 50) {
            Ok(cycles) => {
                let step = cycles as f64 / (passes * crate::canary::CHAIN_STEPS) as f64;
                assert!((0.98..1.05).contains(&step), "{step} cycles an addition");
            }
            Err(error) => println!("SKIP a chain takes its cycles: {error}"),
        }
    }
}
