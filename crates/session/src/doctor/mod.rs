//! Checks whether the machine is fit to measure: one file per check, and the code that they share.
//!
//! A check is a function of what was read and measured before, so a test examines recorded files. Its state is *unknown*
//! where it could not look, never *fine*. Nothing is ever written to sysctl or sysfs: the remedy is printed.

mod allowed_cpus;
mod c_library;
mod capability;
mod cgroup;
mod cgroup_quota;
mod clock_rate;
mod clock_source;
mod cpu_distance;
mod facilities;
mod frequency;
mod gaps;
mod idle_cpus;
mod ipc_limits;
mod load;
pub mod measured;
mod memory_locking;
mod mitigations;
mod mounts;
mod network;
mod privileges;
mod real_time;
mod sandbox;
mod seccomp;
mod smt;
pub mod system;
mod tracing;
mod virtualisation;
mod wakeup;

use oscost_results::{Check, CheckState};

pub(crate) use allowed_cpus::online;
pub(crate) use cgroup_quota::quota;
pub(crate) use frequency::{governors, list};
pub(crate) use load::load_average;
pub(crate) use mitigations::in_force;
pub use sandbox::to_count_calls;
use system::System;
pub(crate) use virtualisation::hypervisor;

/// How much time the examination may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thoroughness {
    /// Before a run: under 0.6 s.
    Quick,
    /// `oscost doctor`: a few seconds, with distances and wake-ups.
    Full,
}

impl Thoroughness {
    /// How long each CPU is scanned for gaps.
    fn gaps_ns(self) -> u64 {
        match self {
            Self::Quick => 20_000_000,
            Self::Full => 50_000_000,
        }
    }

    /// How long the clock's step is looked for, at most.
    fn clock_ns(self) -> u64 {
        match self {
            Self::Quick => 20_000_000,
            Self::Full => 100_000_000,
        }
    }
}

/// A check: its name in a result, and the function that makes it.
type Named = (&'static str, fn(&System) -> Finding);

/// All checks, in the order in which they are shown.
const CHECKS: [Named; 23] = [
    ("clock_source", clock_source::check),
    ("clock_rate", clock_rate::check),
    ("gaps", gaps::check),
    ("load", load::check),
    ("virtualisation", virtualisation::check),
    ("smt", smt::check),
    ("frequency", frequency::check),
    ("idle_cpus", idle_cpus::check),
    ("cpu_distance", cpu_distance::check),
    ("wakeup", wakeup::check),
    ("cgroup_quota", cgroup_quota::check),
    ("allowed_cpus", allowed_cpus::check),
    ("seccomp", seccomp::check),
    ("tracing", tracing::check),
    ("mitigations", mitigations::check),
    ("privileges", privileges::check),
    ("real_time", real_time::check),
    ("memory_locking", memory_locking::check),
    ("ipc_limits", ipc_limits::check),
    ("facilities", facilities::check),
    ("c_library", c_library::check),
    ("network", network::check),
    ("mounts", mounts::check),
];

/// Examines the running system. It never fails: what cannot be looked at is unknown. The caller must have one thread
/// (children are forked), and nobody else should be measuring.
#[must_use]
pub fn examine(level: Thoroughness) -> Vec<Check> {
    let measured =
        std::panic::catch_unwind(|| measured::MachineFacts::of_this_system(level)).unwrap_or_default();
    let mut checks = examine_system(&System::new(std::path::Path::new("/"), measured));
    // What a quick look has no time for is not reported as unknown: nobody asked.
    checks.retain(|check| level == Thoroughness::Full || !SLOW.contains(&check.check.as_str()));
    checks
}

/// Checks that files alone answer, in no time: the knobs that a user turns between two runs are among them.
const OF_FILES: [&str; 5] = ["load", "frequency", "idle_cpus", "cgroup_quota", "mitigations"];

/// The checks `known` a moment ago, with those that files alone answer made anew.
#[must_use]
pub fn look_again(mut known: Vec<Check>) -> Vec<Check> {
    let facts = measured::MachineFacts {
        hypervisor: oscost_sys::processor::hypervisor(),
        allowed_cpus: oscost_sys::affinity::allowed().ok(),
        ..measured::MachineFacts::default()
    };
    let system = System::new(std::path::Path::new("/"), facts);
    for named in CHECKS.into_iter().filter(|(name, _)| OF_FILES.contains(name)) {
        if let Some(check) = known.iter_mut().find(|check| check.check == named.0) {
            *check = examine_one(named, &system);
        }
    }
    known
}

/// Every check of `system`.
#[must_use]
pub fn examine_system(system: &System) -> Vec<Check> {
    CHECKS.iter().map(|&named| examine_one(named, system)).collect()
}

/// Checks of the full level alone.
const SLOW: [&str; 2] = ["cpu_distance", "wakeup"];
/// Checks whose disturbance reaches floors in any case: with one of them a machine is unfit to measure.
const FLOORS: [&str; 4] = ["clock_source", "clock_rate", "seccomp", "tracing"];

/// What makes the machine unfit, as names of checks.
#[must_use]
pub fn unfit(checks: &[Check]) -> Vec<String> {
    checks.iter().filter(|check| check.unfit).map(|check| check.check.replace('_', " ")).collect()
}

fn examine_one((name, check): Named, system: &System) -> Check {
    let finding =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(system))).unwrap_or_else(|_| {
            Finding::unknown("the check itself failed: a defect of oscost", "what it would have found")
        });
    finding.named(name)
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    state: CheckState,
    says: String,
    matters: String,
    unfit: bool,
    remedy: Option<String>,
}

impl Finding {
    fn new(state: CheckState, says: impl Into<String>, matters: impl Into<String>) -> Self {
        Self { state, says: says.into(), matters: matters.into(), unfit: false, remedy: None }
    }

    /// Nothing to mend.
    #[must_use]
    pub fn fine(says: impl Into<String>) -> Self {
        Self::new(CheckState::Fine, says, "")
    }

    /// `matters` says which figures suffer, and by how much.
    #[must_use]
    pub fn disturbs(says: impl Into<String>, matters: impl Into<String>) -> Self {
        Self::new(CheckState::Disturbs, says, matters)
    }

    /// `matters` says which figures may suffer.
    #[must_use]
    pub fn unknown(says: impl Into<String>, matters: impl Into<String>) -> Self {
        Self::new(CheckState::Unknown, says, matters)
    }

    /// With this disturbance the machine is unfit to measure, if so.
    #[must_use]
    pub fn unfit(self, unfit: bool) -> Self {
        Self { unfit, ..self }
    }

    /// With the command or option that mends it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The check of this name in a result.
    #[must_use]
    pub fn named(self, name: &str) -> Check {
        let reaches_floors = self.state == CheckState::Disturbs && FLOORS.contains(&name);
        Check {
            check: name.to_owned(),
            state: self.state,
            says: self.says,
            matters: self.matters,
            unfit: self.unfit || reaches_floors,
            remedy: self.remedy,
            unknown: serde_json::Map::new(),
        }
    }
}

/// A duration for people: two significant digits, "26 us".
#[must_use]
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    if value < 9.95 && value.fract() != 0.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// A share for people: "3.1 %".
#[must_use]
pub fn percent(share: f64) -> String {
    if share != 0.0 && share.abs() < 0.0095 {
        format!("{:.2} %", share * 100.0)
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::system::recorded::Recorded;
    use super::*;

    #[test]
    fn a_system_that_says_nothing_is_unknown_and_never_fine() {
        for check in examine_system(&Recorded::new(&[]).system) {
            assert_eq!(check.state, CheckState::Unknown, "{check:?}");
            assert!(!check.says.is_empty() && !check.matters.is_empty(), "{check:?}");
        }
    }

    #[test]
    fn a_check_that_panics_is_unknown() {
        let system = Recorded::new(&[]).system;
        let check = examine_one(("broken", |_| std::panic::resume_unwind(Box::new("on purpose"))), &system);
        assert_eq!((check.check.as_str(), check.state), ("broken", CheckState::Unknown));
    }

    #[test]
    fn names_are_unique_and_snake_case() {
        let mut names: Vec<&str> = CHECKS.iter().map(|&(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }

    #[test]
    fn the_running_system_is_examined_for_every_user() {
        for check in examine(Thoroughness::Quick) {
            assert!(!check.says.is_empty(), "{check:?}");
            assert_eq!(check.matters.is_empty(), check.state == CheckState::Fine, "{check:?}");
        }
    }

    #[test]
    fn what_is_looked_at_again_needs_nothing_measured() {
        let measured = |name: &str| Finding::fine(format!("measured {name}")).named(name);
        let again = look_again(CHECKS.iter().map(|(name, _)| measured(name)).collect());
        assert_eq!(again.len(), CHECKS.len());
        for check in again {
            let kept = check.says == format!("measured {}", check.check);
            assert_eq!(kept, !OF_FILES.contains(&check.check.as_str()), "{check:?}");
        }
        assert!(look_again(Vec::new()).is_empty(), "what nobody examined is not added");
    }

    #[test]
    fn quantities_are_short() {
        assert_eq!(duration(10.0), "10 ns");
        assert_eq!(duration(22.4), "22 ns");
        assert_eq!(duration(5.25), "5.2 ns");
        assert_eq!(duration(26_400.0), "26 us");
        assert_eq!(duration(11e6), "11 ms");
        assert_eq!(duration(1.5e9), "1.5 s");
        assert_eq!(percent(0.031), "3.1 %");
        assert_eq!(percent(0.0004), "0.04 %");
        assert_eq!(percent(0.0), "0.0 %");
    }
}
