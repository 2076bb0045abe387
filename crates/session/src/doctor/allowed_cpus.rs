//! The CPUs that may be used: affinity and cpuset, compared with the online CPUs.

use oscost_sys::cpu_list;

use super::system::System;
use super::{Finding, cgroup};

const MATTERS: &str = "cross_cpu and spread figures need two CPUs and more: they are unsupported";

pub(super) fn check(system: &System) -> Finding {
    let Some(allowed) = &system.measured.allowed_cpus else {
        return Finding::unknown("the CPUs that may be used are unknown", MATTERS);
    };
    let online = online(system);
    let mut says = format!("CPU {}", cpu_list::format(allowed));
    match &online {
        Some(online) if online == allowed => says += ", all that are online",
        Some(online) => {
            says += &format!(" of {} online", cpu_list::format(online));
            says += &match cpuset(system) {
                Some(cpuset) if cpuset != *online => format!(", by the cpuset {}", cpu_list::format(&cpuset)),
                Some(_) => ", by the affinity that was inherited".to_owned(),
                None => String::new(),
            };
        }
        None => says += "; which are online is unknown",
    }
    let isolated = system.line("/sys/devices/system/cpu/isolated").ok().as_deref().and_then(cpu_list::parse);
    if let Some(isolated) = isolated.filter(|isolated| !isolated.is_empty()) {
        says += &format!("; isolated at boot: {}", cpu_list::format(&isolated));
    }
    if allowed.len() < 2 {
        let remedy = match &online {
            Some(online) if online == allowed => "measure on a machine with two CPUs online",
            _ => "start it without taskset, or with a wider cpuset (--cpuset-cpus)",
        };
        return Finding::disturbs(says, MATTERS).remedy(remedy);
    }
    if online.is_some() { Finding::fine(says) } else { Finding::unknown(says, MATTERS) }
}

/// CPUs online.
pub(crate) fn online(system: &System) -> Option<Vec<usize>> {
    cpu_list::parse(&system.line("/sys/devices/system/cpu/online").ok()?).filter(|cpus| !cpus.is_empty())
}

/// CPUs of the cpuset in force: the nearest group that says so.
fn cpuset(system: &System) -> Option<Vec<usize>> {
    let group = cgroup::of_controller(system, "cpuset")?;
    let file = if group.unified { "cpuset.cpus.effective" } else { "cpuset.effective_cpus" };
    let nearest =
        group.directories.iter().find_map(|directory| system.line(&format!("{directory}/{file}")).ok())?;
    cpu_list::parse(&nearest)
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, check};

    const ONLINE: (&str, &str) = ("sys/devices/system/cpu/online", "0-3\n");

    fn found(allowed: &[usize], files: &[(&str, &str)]) -> Finding {
        check(&Recorded::new(files).with(|measured| measured.allowed_cpus = Some(allowed.to_vec())).system)
    }

    #[test]
    fn all_cpus_are_fine() {
        found(&[0, 1, 2, 3], &[ONLINE, ("sys/devices/system/cpu/isolated", "2-3\n")])
            .is(Fine, "CPU 0-3, all that are online; isolated at boot: 2-3");
    }

    #[test]
    fn one_cpu_disturbs_and_the_cause_is_named() {
        let groups = [
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ];
        let by_cpuset = [ONLINE, groups[0], groups[1], ("sys/fs/cgroup/a/cpuset.cpus.effective", "1\n")];
        let by_affinity = [ONLINE, groups[0], groups[1], ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-3\n")];
        assert_eq!(found(&[1], &by_cpuset).says, "CPU 1 of 0-3 online, by the cpuset 1");
        assert_eq!(found(&[1], &by_affinity).says, "CPU 1 of 0-3 online, by the affinity that was inherited");
        let taken = found(&[1], &[ONLINE]);
        assert_eq!(taken.state, Disturbs);
        assert!(taken.remedy.expect("a remedy").contains("without taskset"));
        // Nobody took one away where there is one.
        let only = found(&[0], &[(ONLINE.0, "0\n")]);
        only.is(Disturbs, "CPU 0, all that are online");
        assert!(only.remedy.expect("a remedy").starts_with("measure on a machine with two"));
        assert_eq!(found(&[1, 2], &[ONLINE]).state, Fine);
    }

    #[test]
    fn without_a_list_of_cpus_it_is_unknown() {
        assert_eq!(found(&[0, 1], &[]).state, Unknown);
        assert_eq!(found(&[0, 1], &[(ONLINE.0, "0-\u{1b}")]).state, Unknown);
    }
}
