//! Independent sources of time: the clock that times, the kernel's own, and the processor's counter.

use crate::system_call::clock_ns;
use crate::{CallError, clock};

/// All sources at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// CLOCK_MONOTONIC as everything here reads it: through the C library, ns.
    pub measuring_ns: u64,
    /// CLOCK_MONOTONIC by the system call itself, which no library can answer, ns.
    pub kernel_ns: Result<u64, CallError>,
    /// CLOCK_MONOTONIC_RAW by the system call: never slewed, ns.
    pub raw_ns: Result<u64, CallError>,
    /// The processor's counter; `None` where it has none that always runs at one rate.
    pub counter: Option<u64>,
    /// How long the reading took by the measuring clock, ns: the sources differ by no more.
    pub width_ns: u64,
}

impl Instant {
    /// The tightest of 16 readings.
    #[must_use]
    pub fn read() -> Self {
        let steady = has_steady_counter();
        let once = || {
            let measuring_ns = clock::now_ns();
            let counter = steady.then(clock::tsc);
            let (kernel_ns, raw_ns) = (clock_ns(libc::CLOCK_MONOTONIC), clock_ns(libc::CLOCK_MONOTONIC_RAW));
            let width_ns = clock::now_ns().saturating_sub(measuring_ns);
            Self { measuring_ns, kernel_ns, raw_ns, counter, width_ns }
        };
        tightest(once, |read| read.width_ns)
    }
}

/// Readings of which the tightest counts.
const READINGS: usize = 16;

/// The tightest of 16 readings: an interrupt between two clocks widens one, hardly all.
pub fn tightest<T>(mut read: impl FnMut() -> T, width_ns: impl Fn(&T) -> u64) -> T {
    let mut best = read();
    for _ in 1..READINGS {
        let next = read();
        if width_ns(&next) < width_ns(&best) {
            best = next;
        }
    }
    best
}

/// How long the machine has slept since it was started, ns: CLOCK_BOOTTIME less CLOCK_MONOTONIC, both by the system call, so
/// that a library which slows one of them is not taken for sleep.
///
/// # Errors
/// The error of clock_gettime.
pub fn asleep_ns() -> Result<u64, CallError> {
    let monotonic = clock_ns(libc::CLOCK_MONOTONIC)?;
    Ok(clock_ns(libc::CLOCK_BOOTTIME)?.saturating_sub(monotonic))
}

/// Whether the processor's counter runs at one rate whatever the core does. AMD APM and Intel SDM, CPUID leaf 0x80000007,
/// EDX bit 8; the virtual counter of aarch64 always does.
fn has_steady_counter() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1
    }
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// Ticks of the processor's counter a second, as each source has it that says so: the processor itself, the hypervisor, the
/// kernel. They are told, not measured.
#[must_use]
pub fn counter_hz() -> Vec<f64> {
    let mut told: Vec<f64> = Vec::new();
    told.extend(by_processor());
    told.extend(crate::file::text("/proc/cpuinfo").ok().and_then(|info| by_kernel(&info)));
    told
}

/// Intel SDM, CPUID leaf 0x15: the crystal's rate times EBX / EAX. Else, on a guest, leaf 0x40000010: kHz (VMware's, and
/// KVM's where it is told to).
#[cfg(target_arch = "x86_64")]
fn by_processor() -> Option<f64> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    if __cpuid(0).eax >= 0x15 {
        let leaf = __cpuid_count(0x15, 0);
        if leaf.eax > 0 && leaf.ebx > 0 && leaf.ecx > 0 {
            return Some(f64::from(leaf.ecx) * f64::from(leaf.ebx) / f64::from(leaf.eax));
        }
    }
    let guest = __cpuid(1).ecx >> 31 & 1 == 1;
    let khz = if guest && __cpuid(0x4000_0000).eax >= 0x4000_0010 { __cpuid(0x4000_0010).eax } else { 0 };
    (khz > 0).then(|| f64::from(khz) * 1000.0)
}

/// CNTFRQ_EL0, which the firmware sets.
#[cfg(target_arch = "aarch64")]
fn by_processor() -> Option<f64> {
    let hz: u64;
    // SAFETY: reads a register that Linux opens to user space.
    unsafe { std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack)) };
    (hz > 0).then_some(hz as f64)
}

/// The kernel's "bogomips": twice the rate of the counter by which it waits, in millions, since it no longer measures a loop.
/// gVisor writes the rate itself there, as it does under "cpu MHz". Equal values therefore tell nothing.
fn by_kernel(cpuinfo: &str) -> Option<f64> {
    let number = |wanted: &str| {
        let (_, value) = cpuinfo
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
        value.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0)
    };
    // The two have different numbers of digits.
    let is_same = |bogomips: f64| number("cpu MHz").is_some_and(|mhz| (bogomips - mhz).abs() < 0.01);
    number("bogomips").filter(|&bogomips| !is_same(bogomips)).map(|bogomips| bogomips * 5e5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_reading_counts_wherever_it_comes() {
        for place in [0, 7, READINGS - 1] {
            let mut made = 0;
            let read = || {
                made += 1;
                (made - 1, if made - 1 == place { 3 } else { 5 })
            };
            assert_eq!(tightest(read, |read| read.1), (place, 3));
            assert_eq!(made, READINGS);
        }
    }

    #[test]
    fn the_kernel_tells_half_of_its_bogomips() {
        assert_eq!(by_kernel("processor\t: 0\nbogomips\t: 5192.24\nflags : a\n"), Some(2_596_120_000.0));
        assert_eq!(by_kernel("BogoMIPS\t: 50.00\n"), Some(25_000_000.0));
        let with_core = |mhz| by_kernel(&format!("cpu MHz\t: {mhz}\nbogomips\t: 5192.24\n"));
        assert_eq!(with_core("3700.000"), Some(2_596_120_000.0), "the core's rate is another");
        assert_eq!(with_core("5192.240"), None, "gVisor writes one number twice");
        for text in ["", "bogomips : x\n", "bogomips : 0\n", "bogomips : NaN\n", "bogomips\n"] {
            assert_eq!(by_kernel(text), None, "{text}");
        }
    }

    #[test]
    fn the_sources_of_this_machine_agree() {
        let first = Instant::read();
        let start = clock::now_ns();
        while clock::now_ns() - start < 20_000_000 {}
        let last = Instant::read();
        let passed = (last.measuring_ns - first.measuring_ns) as f64;
        let near = |other: f64| (other / passed - 1.0).abs() < 0.05;
        let since = |of: fn(&Instant) -> u64| (of(&last) - of(&first)) as f64;
        assert!(near(since(|it| it.kernel_ns.expect("the kernel answers"))));
        assert!(near(since(|it| it.raw_ns.expect("the kernel answers"))));
        if let Some((from, to)) = first.counter.zip(last.counter) {
            for hz in counter_hz() {
                assert!(near((to - from) as f64 * 1e9 / hz), "{hz} Hz");
            }
        }
    }
}
