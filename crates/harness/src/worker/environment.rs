//! Facts read before and after a launch: affinity, cpuset, suspend, quota, steal. docs/method/environment.md.
//!
//! A change of the first three voids the launch. Quota marks it. Steal is kept: the canary judges.

use std::io::{self, ErrorKind};

use oscost_sys::time_source::{self, Instant};
use oscost_sys::{affinity, cpu_time};

use crate::worker::clock_rate;

/// The environment at one moment. What could not be read is `None`: unknown, not unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    allowed: Option<Vec<usize>>,
    cpuset: Option<String>,
    asleep_ns: Option<u64>,
    throttled_periods: Option<u64>,
    steal_ns: Option<u64>,
    /// Every source of time.
    instant: Instant,
}

/// Suspends shorter than this are the two clocks' reading at two moments.
const SUSPEND_NS: u64 = 10_000_000;

impl Environment {
    /// Reads it for the calling thread, which runs on `cpus`.
    #[must_use]
    pub fn read(cpus: &[usize]) -> Self {
        Self {
            allowed: affinity::allowed().ok(),
            cpuset: oscost_sys::file::text("/proc/self/status").ok().and_then(|status| {
                status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).map(str::to_owned)
            }),
            asleep_ns: time_source::asleep_ns().ok(),
            throttled_periods: throttled_periods(),
            steal_ns: cpu_time::now(cpus).map(|time| time.stolen_ns()),
            instant: Instant::read(),
        }
    }

    /// The same for a thread that was put on this one CPU before: whoever has moved it since then voids the launch as well.
    #[must_use]
    pub fn put_on(self, cpus: &[usize]) -> Self {
        let put = (cpus.len() == 1).then(|| cpus.to_vec());
        Self { allowed: put.or(self.allowed), ..self }
    }

    /// Why a launch between `self` and `later` does not count, if it does not.
    #[must_use]
    pub fn voided_by(&self, later: &Self) -> Option<String> {
        if self.allowed != later.allowed || self.cpuset != later.cpuset {
            return Some(moved("the launch", self.allowed.as_deref(), later.allowed.as_deref()));
        }
        let slept = self.slept_until(later);
        (slept > SUSPEND_NS).then(|| format!("the machine slept for {} ms", slept / 1_000_000))
    }

    /// How the clock that times was wrong meanwhile, if it was; `told_hz` are rates of the processor's counter.
    #[must_use]
    pub fn wrong_until(&self, later: &Self, told_hz: &[f64]) -> Option<String> {
        // Whether the sources go on while the machine sleeps is not the same everywhere; such a launch is void.
        let slept = self.slept_until(later) > SUSPEND_NS;
        if slept { None } else { clock_rate::wrong(&self.instant, &later.instant, told_hz) }
    }

    /// How long the machine slept meanwhile, as far as that is known, ns.
    fn slept_until(&self, later: &Self) -> u64 {
        self.asleep_ns.zip(later.asleep_ns).map_or(0, |(before, after)| after.saturating_sub(before))
    }

    /// Whether a cgroup's quota stopped the launch. `None` where that is not known.
    #[must_use]
    pub fn throttled_until(&self, later: &Self) -> Option<bool> {
        Some(later.throttled_periods? > self.throttled_periods?)
    }

    /// Time stolen by the host meanwhile, ns.
    #[must_use]
    pub fn stolen_until(&self, later: &Self) -> Option<u64> {
        Some(later.steal_ns?.saturating_sub(self.steal_ns?))
    }
}

/// Says that `who` may use other CPUs than before; `None` are unknown ones.
pub(super) fn moved(who: &str, before: Option<&[usize]>, now: Option<&[usize]>) -> String {
    let list = |cpus: Option<&[usize]>| {
        cpus.map_or("unknown".into(), |cpus| {
            cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        })
    };
    format!("the CPUs that {who} may use changed from {} to {}", list(before), list(now))
}

/// Periods in which a quota stopped the cgroup of this process, or one that it is in. `None` where that is not known.
pub(crate) fn throttled_periods() -> Option<u64> {
    throttled(|path| oscost_sys::file::text(path))
}

/// The same by these files. A group without the count has no quota (the root of version 2, or one without the controller).
/// No group at all to be seen is no "never".
fn throttled(read: impl Fn(&str) -> io::Result<String>) -> Option<u64> {
    let membership = match read("/proc/self/cgroup") {
        Ok(membership) => membership,
        // A kernel without control groups has no quotas.
        Err(error) if error.kind() == ErrorKind::NotFound && read("/proc/self/status").is_ok() => {
            return Some(0);
        }
        Err(_) => return None,
    };
    let mut sum = None;
    for directory in cgroup_directories(&membership) {
        let stat = match read(&format!("{directory}/cpu.stat")) {
            Ok(stat) => stat,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let count = stat.lines().find_map(|line| line.strip_prefix("nr_throttled "));
        let count = count.map_or(Some(0), |count| count.trim().parse::<u64>().ok())?;
        sum = Some(sum.unwrap_or(0_u64).saturating_add(count));
    }
    sum
}

/// Where the group that the `cpu` controller has a process with this /proc/self/cgroup in may be mounted, and the groups above
/// it. Inside a container the path of the host does not exist, and the group is the root of the mount.
fn cgroup_directories(membership: &str) -> Vec<String> {
    let groups = || {
        membership.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            rest.split_once(':')
        })
    };
    // A controller belongs to one hierarchy, and version 2's is always there.
    let version_1 = groups().find(|(controllers, _)| controllers.split(',').any(|name| name == "cpu"));
    let (mounts, path) = match version_1 {
        Some((_, path)) => (["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"], path),
        None => match groups().find(|(controllers, _)| controllers.is_empty()) {
            Some((_, path)) => (["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], path),
            None => return Vec::new(),
        },
    };
    let mut directories = Vec::new();
    for mount in mounts {
        let mut path = path.trim_end_matches('/');
        while let Some((above, _)) = path.rsplit_once('/') {
            directories.push(format!("{mount}{path}"));
            path = above;
        }
        directories.push(mount.to_owned());
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
            asleep_ns: Some(5),
            throttled_periods: Some(3),
            steal_ns: Some(10),
            instant: Instant { measuring_ns: 0, kernel_ns: Ok(0), raw_ns: Ok(0), counter: None, width_ns: 0 },
        }
    }

    #[test]
    fn affinity_cpuset_and_suspend_void_a_launch() {
        let before = environment();
        assert_eq!(before.voided_by(&before), None);
        let early = before.clone().put_on(&[1]).voided_by(&before);
        assert!(early.expect("void").contains("from 1 to 0,1"), "it was moved before the first look");
        assert_eq!(before.clone().put_on(&[]).voided_by(&before), None, "it places itself");
        let moved = Environment { allowed: Some(vec![1]), ..environment() };
        assert!(before.voided_by(&moved).expect("void").contains("from 0,1 to 1"));
        let shrunk = Environment { cpuset: Some("Cpus_allowed_list:\t0".into()), ..environment() };
        assert!(before.voided_by(&shrunk).is_some());
        let after = |ns: u64| Environment { asleep_ns: Some(5 + ns), ..environment() };
        assert_eq!(before.voided_by(&after(SUSPEND_NS)), None, "two clocks are read at two moments");
        assert!(before.voided_by(&after(SUSPEND_NS + 1)).is_some());
        let slept = Environment { asleep_ns: Some(3_000_000_005), ..environment() };
        assert!(before.voided_by(&slept).expect("void").contains("3000 ms"));
    }

    #[test]
    fn throttling_marks_and_steal_is_kept() {
        let before = environment();
        let later = Environment { throttled_periods: Some(4), steal_ns: Some(25), ..environment() };
        assert_eq!(before.throttled_until(&later), Some(true));
        assert_eq!(before.throttled_until(&before), Some(false));
        assert_eq!(before.stolen_until(&later), Some(15));
        let unknown = Environment { throttled_periods: None, steal_ns: None, ..environment() };
        assert_eq!(before.throttled_until(&unknown), None, "not known is not never");
        assert_eq!(unknown.throttled_until(&before), None);
        assert_eq!(before.stolen_until(&unknown), None);
    }

    #[test]
    fn a_wrong_clock_is_found_unless_the_machine_slept() {
        let before = environment();
        let instant = Instant { measuring_ns: 50_000_000, kernel_ns: Ok(100_000_000), ..before.instant };
        let later = Environment { instant, ..environment() };
        assert!(before.wrong_until(&later, &[]).expect("a wrong clock").contains("0.500 times"));
        let slept = Environment { asleep_ns: Some(3_000_000_005), ..later };
        assert_eq!(before.wrong_until(&slept, &[]), None);
        assert_eq!(before.wrong_until(&before, &[]), None);
    }

    #[test]
    fn both_cgroup_versions_are_found_up_to_their_root() {
        let second = cgroup_directories("0::/user.slice/a.scope\n");
        let mount = "/sys/fs/cgroup";
        let expected = ["/user.slice/a.scope", "/user.slice", ""].map(|group| format!("{mount}{group}"));
        assert_eq!(second[..3], expected);
        let first = cgroup_directories("4:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c\n");
        assert!(first.contains(&"/sys/fs/cgroup/cpu,cpuacct/a".to_owned()));
        assert!(first.iter().all(|directory| directory.contains("/cpu")), "{first:?}");
        assert!(cgroup_directories("rubbish").is_empty());
    }

    /// What is found where these files can be read, and those ending in "!" are refused.
    fn found(files: &[(&str, &str)]) -> Option<u64> {
        throttled(|path| {
            if files.iter().any(|(name, _)| name.strip_suffix('!') == Some(path)) {
                return Err(ErrorKind::PermissionDenied.into());
            }
            let file = files.iter().find(|(name, _)| *name == path);
            file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| ErrorKind::NotFound.into())
        })
    }

    #[test]
    fn a_quota_of_any_group_above_counts_and_what_cannot_be_read_is_not_known() {
        const GROUP: (&str, &str) = ("/proc/self/cgroup", "0::/a/b\n");
        const NONE: (&str, &str) = ("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
        let own = ("/sys/fs/cgroup/a/b/cpu.stat", "nr_periods 9\nnr_throttled 2\n");
        let above = ("/sys/fs/cgroup/a/cpu.stat", "nr_throttled 5\n");
        assert_eq!(found(&[GROUP, own, NONE]), Some(2));
        assert_eq!(found(&[GROUP, own, above, NONE]), Some(7), "the group above has the quota");
        assert_eq!(found(&[GROUP, NONE]), Some(0), "no group has the count: no quota");
        assert_eq!(found(&[GROUP]), None, "no group is to be seen");
        assert_eq!(found(&[GROUP, own, ("/sys/fs/cgroup/a/cpu.stat!", "")]), None);
        assert_eq!(found(&[GROUP, ("/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled x\n")]), None);
        assert_eq!(found(&[("/proc/self/cgroup!", "")]), None);
        assert_eq!(found(&[]), None, "there is no /proc");
        assert_eq!(found(&[("/proc/self/status", "")]), Some(0), "this kernel has no control groups");
    }

    #[test]
    fn a_clock_is_looked_at_unless_a_sleep_is_longer_than_two_readings() {
        let before = environment();
        let instant = Instant { measuring_ns: 50_000_000, kernel_ns: Ok(100_000_000), ..before.instant };
        let later = |ns: u64| Environment { instant, asleep_ns: Some(5 + ns), ..environment() };
        assert!(before.wrong_until(&later(SUSPEND_NS), &[]).is_some());
        assert_eq!(before.wrong_until(&later(SUSPEND_NS + 1), &[]), None);
        let unknown = Environment { asleep_ns: None, ..later(0) };
        assert_eq!(
            (before.voided_by(&unknown), unknown.voided_by(&before)),
            (None, None),
            "not known is no sleep"
        );
    }

    #[test]
    fn what_may_be_used_is_told_in_words() {
        assert_eq!(
            moved("a partner", None, Some(&[3, 1])),
            "the CPUs that a partner may use changed from unknown to 3,1"
        );
        let here = Environment::read(&[0]);
        assert_eq!(here.voided_by(&here), None);
        assert_eq!(here.allowed.as_deref(), affinity::allowed().ok().as_deref());
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        assert_eq!(here.cpuset.is_some(), status.contains("\nCpus_allowed_list:"));
        assert!(here.cpuset.is_none_or(|line| status.lines().any(|it| it == line)));
    }
}
