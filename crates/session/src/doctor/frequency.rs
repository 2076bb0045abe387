//! The frequency governor and boost: a core that changes its clock changes every figure with it.

use std::collections::BTreeSet;

use super::Finding;
use super::system::System;

const DIRECTORY: &str = "/sys/devices/system/cpu/cpufreq";
const MATTERS: &str = "a lower frequency raises all figures; warm-up and canary remove most of it, but typical keeps a few percent";

pub(super) fn check(system: &System) -> Finding {
    let governors = governors(system);
    if governors.is_empty() {
        return Finding::unknown("no cpufreq here: the canary watches instead", MATTERS);
    }
    let mut says = format!("governor {}", list(&governors));
    says += match boost(system) {
        Some(true) => ", boost on (the clock depends on temperature and neighbours)",
        Some(false) => ", boost off",
        None => "",
    };
    if governors.iter().all(|governor| governor == "performance") {
        return Finding::fine(says);
    }
    Finding::disturbs(says, MATTERS).remedy("as root: cpupower frequency-set -g performance")
}

/// Governors in use, each once; empty where the kernel has none to name.
pub(crate) fn governors(system: &System) -> BTreeSet<String> {
    let policies = system.names(DIRECTORY).unwrap_or_default();
    policies
        .iter()
        .filter(|name| name.starts_with("policy"))
        .filter_map(|policy| system.line(&format!("{DIRECTORY}/{policy}/scaling_governor")).ok())
        .collect()
}

/// The governors as a list.
pub(crate) fn list(governors: &BTreeSet<String>) -> String {
    governors.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn boost(system: &System) -> Option<bool> {
    let flag = |path: &str| match system.line(path).ok()?.as_str() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    let not_turbo = || flag("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|no_turbo| !no_turbo);
    flag(&format!("{DIRECTORY}/boost")).or_else(not_turbo)
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;

    const POLICY_0: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
    const POLICY_1: &str = "sys/devices/system/cpu/cpufreq/policy1/scaling_governor";

    #[test]
    fn performance_everywhere_is_fine() {
        let files = [
            (POLICY_0, "performance\n"),
            (POLICY_1, "performance\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ];
        check(&Recorded::new(&files).system).is(Fine, "governor performance, boost off");
    }

    #[test]
    fn one_other_governor_disturbs() {
        let files = [(POLICY_0, "performance\n"), (POLICY_1, "p\u{1b}\u{202e}\n")];
        check(&Recorded::new(&files).system).is(Disturbs, "governor p\u{1b}\u{202e}, performance");
    }

    #[test]
    fn an_empty_directory_is_unknown() {
        let files = [("sys/devices/system/cpu/cpufreq/boost", "1\n")];
        assert_eq!(check(&Recorded::new(&files).system).state, Unknown);
    }
}
