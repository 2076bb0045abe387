//! The vDSO: whether there is one, and whether it answers clocks with the clock source of this machine. vdso(7).

/// Whether the kernel mapped a vDSO into this process. getauxval(3).
#[must_use]
pub fn exists() -> bool {
    // SAFETY: getauxval reads the auxiliary vector that the kernel left for this process.
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

/// Name of the clock source that the kernel uses now; `None` where /sys does not say.
#[must_use]
pub fn clock_source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    crate::file::text(path).ok().map(|name| name.trim().to_owned())
}

/// Whether the vDSO answers CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME and gettimeofday without entering the
/// kernel; `None` where the clock source does not decide it. Coarse clocks it always answers.
#[must_use]
pub fn answers_clocks() -> Option<bool> {
    if exists() { clock_source().and_then(|source| answers_with(&source)) } else { Some(false) }
}

fn answers_with(source: &str) -> Option<bool> {
    match source {
        "tsc" => Some(true),
        "hpet" | "acpi_pm" | "pit" | "jiffies" | "refined-jiffies" => Some(false),
        // Paravirtual clocks (kvm-clock, hyperv_clocksource_tsc_page, xen): only where the host calls its page stable. And
        // arch_sys_counter: not on a processor with an erratum of its timer, where the kernel leaves the name as it is.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stays_the_same_where_readings_enter_the_kernel_decides_nothing() {
        assert_eq!((answers_with("tsc"), answers_with("hpet")), (Some(true), Some(false)));
        assert_eq!(["arch_sys_counter", "kvm-clock"].map(answers_with), [None; 2]);
    }
}
