//! What an idle CPU does: a halted CPU must be woken, and every figure across CPUs includes that.

use super::system::System;
use super::virtualisation::hypervisor;
use super::{Finding, duration};

const CPUIDLE: &str = "/sys/devices/system/cpu/cpuidle";
/// Exit latencies above this are seen in the hop between CPUs.
const MOST_EXIT_US: u64 = 2;

const MATTERS: &str = "participants that are spread over CPUs wake halted ones, at 1.3-10x the cost; figures across two CPUs have both prices, and others are not affected";

pub(super) fn check(system: &System) -> Finding {
    let command_line = system.line("/proc/cmdline").unwrap_or_default();
    if command_line.split_whitespace().any(|word| word == "idle=poll") {
        return Finding::fine("poll (idle=poll at boot)");
    }
    let Ok(driver) = system.line(&format!("{CPUIDLE}/current_driver")) else {
        return Finding::unknown("no cpuidle here", MATTERS).remedy("--idle-cpu poll");
    };
    let guest = matches!(hypervisor(system), Some(Some(_)));
    let deepest = deepest_state(system);
    let says = match (&deepest, driver.as_str()) {
        (Some((name, exit_us)), _) => {
            format!("driver {driver}; deepest state {name}, {} to leave", duration(*exit_us as f64 * 1e3))
        }
        (None, "none") if guest => "halt: each halt and each wake-up goes through the hypervisor".to_owned(),
        (None, "none") => "halt".to_owned(),
        (None, _) => format!("driver {driver}; its states are unknown"),
    };
    match deepest {
        Some((_, exit_us)) if exit_us <= MOST_EXIT_US && !guest => Finding::fine(says),
        None if driver != "none" => Finding::unknown(says, MATTERS).remedy("--idle-cpu poll"),
        _ => Finding::disturbs(says, MATTERS).remedy("--idle-cpu poll"),
    }
}

/// Name and exit latency (us) of the deepest enabled state of the first CPU that is used.
fn deepest_state(system: &System) -> Option<(String, u64)> {
    let cpu = system.measured.allowed_cpus.as_ref()?.first()?;
    let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let states = system.names(&directory).ok()?;
    states
        .iter()
        .filter(|state| {
            system.line(&format!("{directory}/{state}/disable")).is_ok_and(|disable| disable == "0")
        })
        .filter_map(|state| {
            let exit_us = system.line(&format!("{directory}/{state}/latency")).ok()?.parse().ok()?;
            Some((system.line(&format!("{directory}/{state}/name")).ok()?, exit_us))
        })
        .max_by_key(|&(_, exit_us)| exit_us)
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(guest: bool, files: &[(&str, &str)]) -> Finding {
        let recorded = Recorded::new(files).with(|measured| {
            measured.allowed_cpus = Some(vec![0]);
            measured.hypervisor = Some(guest.then(|| "KVMKVMKVM".to_owned()));
        });
        check(&recorded.system)
    }

    const DRIVER: &str = "sys/devices/system/cpu/cpuidle/current_driver";
    const STATE_0: [(&str, &str); 3] = [
        ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
    ];
    const STATE_1: [(&str, &str); 2] = [
        ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
    ];
    const DISABLE_1: &str = "sys/devices/system/cpu/cpu0/cpuidle/state1/disable";

    #[test]
    fn a_polling_machine_is_fine() {
        assert_eq!(found(true, &[("proc/cmdline", "quiet idle=poll ro\n")]).state, Fine);
        let mut files = vec![(DRIVER, "intel_idle\n"), (DISABLE_1, "1\n")];
        files.extend(STATE_0.iter().chain(&STATE_1));
        assert_eq!(found(false, &files).state, Fine, "the deep state is disabled");
    }

    #[test]
    fn a_deep_state_disturbs() {
        let mut files = vec![(DRIVER, "intel_idle\n"), (DISABLE_1, "0\n")];
        files.extend(STATE_0.iter().chain(&STATE_1));
        found(false, &files).is(Disturbs, "driver intel_idle; deepest state C6, 133 us to leave");
    }

    #[test]
    fn a_guest_that_halts_disturbs() {
        found(true, &[(DRIVER, "none\n")]).is(Disturbs, "halt: each halt...");
    }

    #[test]
    fn a_driver_without_states_is_unknown() {
        assert_eq!(found(false, &[(DRIVER, "x\u{1b}y\n")]).state, Unknown);
    }
}
