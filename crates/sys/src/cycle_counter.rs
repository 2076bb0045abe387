//! Counts core cycles with the processor's own counter, if user space may use it. perf_event_open(2).

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

use crate::CallError;

/// The head of `struct perf_event_attr`, PERF_ATTR_SIZE_VER0: every kernel that has the call takes it.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;
/// The value is followed by the times for which the event was wanted, and for which it was counted.
const PERF_FORMAT_TIMES: u64 = 1 | 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// The least number of cycles in user mode that one of `tries` runs of `work` took, reading the counter included.
///
/// # Errors
/// The error of perf_event_open (ENOENT: the processor, or its hypervisor, offers no counter; EACCES, EPERM: this user may
/// not count), or of reading; EBUSY where others held the counter all the time.
pub fn least(mut work: impl FnMut(), tries: usize) -> Result<u64, CallError> {
    let attributes = Attributes {
        kind: PERF_TYPE_HARDWARE,
        size: u32::try_from(size_of::<Attributes>()).unwrap_or(u32::MAX),
        config: PERF_COUNT_HW_CPU_CYCLES,
        read_format: PERF_FORMAT_TIMES,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        ..Attributes::default()
    };
    // SAFETY: the kernel reads `size` bytes of the attributes; the calling thread on any CPU, no group.
    let descriptor = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)
    };
    let descriptor = i32::try_from(descriptor).unwrap_or(-1);
    if descriptor < 0 {
        return Err(CallError::last("perf_event_open"));
    }
    // SAFETY: a descriptor that was opened just now and that nobody else has.
    let mut counter = unsafe { File::from_raw_fd(descriptor) };
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
