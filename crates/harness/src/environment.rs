//! What is watched around a launch: affinity, cpuset, suspend, quota, steal. METHOD.md, Environment.
//!
//! A change of the first three voids the launch. Quota marks it. Steal is kept: the canary judges.

use oscost_sys::{affinity, clock, cpu_time};

/// The environment at one moment. What could not be read is `None`: unknown, not unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    allowed: Option<Vec<usize>>,
    cpuset: Option<String>,
    asleep_ns: u64,
    throttled_periods: Option<u64>,
    steal_ns: Option<u64>,
}

/// Suspends shorter than this are the two clocks' reading at two moments.
const SUSPEND_NS: u64 = 10_000_000;

impl Environment {
    /// Reads it for the calling thread, which runs on `cpus`.
    #[must_use]
    pub fn read(cpus: &[usize]) -> Self {
        let monotonic = clock::read_ns(clock::Clock::Monotonic);
        let boottime = clock::read_ns(clock::Clock::Boottime);
        Self {
            allowed: affinity::allowed().ok(),
            cpuset: std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
                status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).map(str::to_owned)
            }),
            asleep_ns: boottime.saturating_sub(monotonic),
            throttled_periods: throttled_periods(),
            steal_ns: cpu_time::now(cpus).map(|time| time.stolen_ns()),
        }
    }

    /// Why a launch between `self` and `later` does not count, if it does not.
    #[must_use]
    pub fn voided_by(&self, later: &Self) -> Option<String> {
        if self.allowed != later.allowed || self.cpuset != later.cpuset {
            let list = |environment: &Self| {
                environment.allowed.as_ref().map_or("unknown".into(), |cpus| {
                    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
                })
            };
            return Some(format!(
                "the CPUs that the launch may use changed from {} to {}",
                list(self),
                list(later)
            ));
        }
        let slept = later.asleep_ns.saturating_sub(self.asleep_ns);
        (slept > SUSPEND_NS).then(|| format!("the machine slept for {} ms", slept / 1_000_000))
    }

    /// Whether the cgroup's quota stopped the launch.
    #[must_use]
    pub fn throttled_until(&self, later: &Self) -> bool {
        matches!((self.throttled_periods, later.throttled_periods), (Some(a), Some(b)) if b > a)
    }

    /// Time stolen by the host meanwhile, ns.
    #[must_use]
    pub fn stolen_until(&self, later: &Self) -> Option<u64> {
        Some(later.steal_ns?.saturating_sub(self.steal_ns?))
    }
}

/// Throttled periods of this process's cgroup (version 2, or 1).
fn throttled_periods() -> Option<u64> {
    let membership = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    cgroup_directories(&membership).into_iter().find_map(|directory| {
        let stat = std::fs::read_to_string(format!("{directory}/cpu.stat")).ok()?;
        stat.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
    })
}

/// Where the `cpu` controller of a process with this /proc/self/cgroup may be mounted. Inside a container the path of the
/// host does not exist, and the group is the root of the mount.
fn cgroup_directories(membership: &str) -> Vec<String> {
    let mut directories = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if controllers.is_empty() {
            directories.push(format!("/sys/fs/cgroup{path}"));
            directories.push("/sys/fs/cgroup".to_owned());
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            for mount in ["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"] {
                directories.push(format!("{mount}{path}"));
                directories.push(mount.to_owned());
            }
        }
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment {
            allowed: Some(vec![0, 1]),
            cpuset: Some("Cpus_allowed_list:\t0-1".into()),
            asleep_ns: 5,
            throttled_periods: Some(3),
            steal_ns: Some(10),
        }
    }

    #[test]
    fn affinity_cpuset_and_suspend_void_a_launch() {
        let before = environment();
        assert_eq!(before.voided_by(&before), None);
        let moved = Environment { allowed: Some(vec![1]), ..environment() };
        assert!(before.voided_by(&moved).expect("void").contains("from 0,1 to 1"));
        let shrunk = Environment { cpuset: Some("Cpus_allowed_list:\t0".into()), ..environment() };
        assert!(before.voided_by(&shrunk).is_some());
        let slept = Environment { asleep_ns: 3_000_000_005, ..environment() };
        assert!(before.voided_by(&slept).expect("void").contains("3000 ms"));
    }

    #[test]
    fn throttling_marks_and_steal_is_kept() {
        let before = environment();
        let later = Environment { throttled_periods: Some(4), steal_ns: Some(25), ..environment() };
        assert!(before.throttled_until(&later) && !before.throttled_until(&before));
        assert_eq!(before.stolen_until(&later), Some(15));
        let unknown = Environment { throttled_periods: None, steal_ns: None, ..environment() };
        assert!(!before.throttled_until(&unknown));
        assert_eq!(before.stolen_until(&unknown), None);
    }

    #[test]
    fn both_cgroup_versions_are_found() {
        assert_eq!(cgroup_directories("0::/user.slice\n"), ["/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]);
        let first = cgroup_directories("4:cpu,cpuacct:/a\n1:name=systemd:/b\n");
        assert!(first.contains(&"/sys/fs/cgroup/cpu,cpuacct/a".to_owned()));
        assert!(cgroup_directories("rubbish").is_empty());
    }
}
