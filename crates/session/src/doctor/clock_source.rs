//! The kernel's clock source, and how CLOCK_MONOTONIC is read through it: all figures are differences of it.

use super::measured::READINGS;
use super::system::System;
use super::{Finding, duration, percent};

const DIRECTORY: &str = "/sys/devices/system/clocksource/clocksource0";
/// Sources that no vDSO reads: each reading is a system call and a device access.
const DEVICES: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
/// A reading through the vDSO takes 20 to 70 ns, one by a system call more than this.
const SLOW_PAIR_NS: f64 = 200.0;
/// A batch is to be 1000 steps and at most 100 us, but no fewer than ten. METHOD.md, Batch.
const COARSE_STEP_NS: f64 = 100.0;
const BATCH_NS: f64 = 100_000.0;
const BATCH_STEPS: f64 = 10.0;

/// What may offer a processor's counter: x86 alone has it.
const BOOT: &str =
    "boot with tsc=reliable if the processor's TSC is sound (dmesg | grep -i clocksource says why not)";

const UNKNOWN: &str = "all figures, if the clock steps by more than 100 ns or a reading enters the kernel";

pub(super) fn check(system: &System) -> Finding {
    let source = system.line(&format!("{DIRECTORY}/current_clocksource"));
    let name = match &source {
        Ok(name) => name.clone(),
        Err(why) => format!("source unknown ({DIRECTORY}/current_clocksource: {why})"),
    };
    let Some(clock) = system.measured.clock else {
        return Finding::unknown(format!("{name}; its true step could not be measured"), UNKNOWN);
    };
    let advertised = clock
        .advertised_ns
        .map_or_else(String::new, |ns| format!(" (clock_getres says {})", duration(ns as f64)));
    let step = clock.step_ns.map_or_else(|| "unknown".to_owned(), duration);
    let counted = system.measured.calls_of_readings;
    let by = match counted {
        Some(0) => ", answered by the vDSO (no system call was counted)",
        Some(READINGS..) => ", a system call (counted)",
        _ => "",
    };
    let says = format!("{name}; true step {step}{advertised}, a reading {}{by}", duration(clock.pair_ns));
    let coarse = clock.step_ns.is_some_and(|step| step > COARSE_STEP_NS);
    let slow = counted.is_some_and(|calls| calls > 0)
        || clock.pair_ns >= SLOW_PAIR_NS
        || DEVICES.contains(&name.as_str());
    let mut matters = Vec::new();
    if slow {
        let why = match counted {
            Some(0) => {
                "a reading is slow, though it makes no system call: the machine or its emulator takes that long for its counter, so clock/* cost more, and each batch is timed less sharply"
            }
            _ => {
                "a reading enters the kernel: clock/* measure a device and make system calls, and each batch is timed less sharply"
            }
        };
        matters.push(why.to_owned());
    }
    if let Some(step) = clock.step_ns.filter(|_| coarse) {
        let batch = f64::max(BATCH_NS, BATCH_STEPS * step);
        matters.push(format!(
            "all figures are off by up to {} (a step in a batch of {})",
            percent(step / batch),
            duration(batch)
        ));
    }
    if !matters.is_empty() {
        let found = Finding::disturbs(says, matters.join("; "));
        return match remedy(system, &name) {
            Some(remedy) => found.remedy(remedy),
            None => found,
        };
    }
    if source.is_ok() && clock.step_ns.is_some() {
        Finding::fine(says)
    } else {
        Finding::unknown(says, UNKNOWN)
    }
}

/// A better source than this one, where the kernel offers it or may offer it.
fn remedy(system: &System, source: &str) -> Option<String> {
    let available = system.line(&format!("{DIRECTORY}/available_clocksource")).unwrap_or_default();
    // The best one first.
    let better = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen"]
        .into_iter()
        .take_while(|better| *better != source)
        .find(|better| available.split_whitespace().any(|name| name == *better));
    if let Some(better) = better {
        return Some(format!("as root: echo {better} > {DIRECTORY}/current_clocksource"));
    }
    (cfg!(target_arch = "x86_64") && source != "tsc").then(|| BOOT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::measured::{ClockReadings, READINGS};
    use super::super::system::recorded::*;
    use super::check;

    const CURRENT: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

    fn recorded(source: &str, step_ns: Option<f64>, pair_ns: f64) -> Recorded {
        Recorded::new(&[(CURRENT, source), (AVAILABLE, "tsc hpet acpi_pm \n")]).with(|measured| {
            measured.clock = Some(ClockReadings { step_ns, pair_ns, advertised_ns: Some(1) })
        })
    }

    #[test]
    fn tsc_by_the_vdso_is_fine() {
        check(&recorded("tsc\n", Some(10.0), 22.0).system)
            .is(Fine, "tsc; true step 10 ns (clock_getres says 1 ns), a reading 22 ns");
    }

    #[test]
    fn a_device_disturbs_and_a_better_source_is_named() {
        let found = check(&recorded("hpet\n", Some(70.0), 1_200.0).system);
        assert_eq!(found.state, Disturbs);
        assert!(found.remedy.expect("a remedy").contains("echo tsc > /sys/devices"));
    }

    /// Who asks why the clock is slow is told the source, what answers it, and what mends it.
    #[test]
    fn what_answers_a_reading_is_told_by_its_counted_calls() {
        let counted = |source: &str, pair_ns: f64, calls: u64| {
            check(&recorded(source, Some(10.0), pair_ns).with(|it| it.calls_of_readings = Some(calls)).system)
        };
        counted("tsc\n", 22.0, 0)
            .says("...a reading 22 ns, answered by the vDSO (no system call was counted)");
        // Under 200 ns, and a call all the same: xen without its vDSO page.
        let xen = counted("xen\n", 150.0, READINGS);
        assert_eq!(xen.state, Disturbs);
        assert!(xen.says.contains("xen; ") && xen.says.ends_with("a system call (counted)"), "{}", xen.says);
        assert!(
            xen.matters.contains("enters the kernel") && xen.remedy.expect("a remedy").contains("echo tsc")
        );
        let emulated = counted("tsc\n", 900.0, 0);
        assert!(
            emulated.matters.contains("no system call") && !emulated.matters.contains("enters"),
            "{}",
            emulated.matters
        );
    }

    #[test]
    fn only_a_better_source_is_advised() {
        let remedy = |source: &str, available: &str| {
            let slow = recorded(source, Some(10.0), 900.0).with(|it| it.calls_of_readings = Some(0));
            slow.write(AVAILABLE, available);
            check(&slow.system).remedy
        };
        // It reads the same counter, and does more.
        assert_eq!(remedy("tsc\n", "tsc kvm-clock hpet\n"), None);
        let better = remedy("xen\n", "xen kvm-clock tsc\n").expect("a remedy");
        assert!(better.contains("echo tsc >"), "{better}");
        // No other processor has a TSC.
        let is_x86 = cfg!(target_arch = "x86_64");
        assert_eq!(remedy("hpet\n", "hpet acpi_pm\n").is_some(), is_x86);
        assert_eq!(remedy("arch_sys_counter\n", "arch_sys_counter\n").is_some(), is_x86);
    }

    #[test]
    fn a_slow_reading_disturbs_whatever_the_name() {
        assert_eq!(check(&recorded("tsc\n", Some(10.0), 250.0).system).state, Disturbs);
    }

    #[test]
    fn a_coarse_step_disturbs_by_its_share_of_a_batch() {
        let found = check(&recorded("tsc\n", Some(1_000.0), 40.0).system);
        assert_eq!(found.state, Disturbs);
        assert!(found.matters.contains("up to 1.0 %"), "{}", found.matters);
        let found = check(&recorded("tsc\n", Some(100_000.0), 40.0).system);
        assert!(found.matters.contains("up to 10"), "{}", found.matters);
    }

    #[test]
    fn an_unknown_step_or_source_is_unknown() {
        assert_eq!(check(&recorded("tsc\n", None, 22.0).system).state, Unknown);
        assert_eq!(check(&Recorded::new(&[(CURRENT, "tsc\n")]).system).state, Unknown);
        let clock = ClockReadings { step_ns: Some(10.0), pair_ns: 22.0, advertised_ns: None };
        check(&Recorded::new(&[]).with(|measured| measured.clock = Some(clock)).system)
            .is(Unknown, "...not there); true step 10 ns, a reading 22 ns");
    }

    #[test]
    fn a_hostile_name_is_data() {
        check(&recorded("t\u{1b}[31m\u{202e}c\n", Some(10.0), 22.0).system)
            .says("t\u{1b}[31m\u{202e}c; true step...");
    }
}
