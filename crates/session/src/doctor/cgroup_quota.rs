//! The CPU quota of the control group: a process that has used it up stands still until the next period.

use super::cgroup::{self, Group};
use super::system::System;
use super::{Finding, duration};

/// A limit on CPU time, the tightest among the group and its ancestors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quota {
    /// CPUs' worth of time.
    pub(crate) cpus: f64,
    period_us: f64,
    directory: String,
    unified: bool,
    /// How often, and for how long (ns), the group stood still since it exists.
    throttled: Option<(u64, u64)>,
}

const MATTERS: &str = "a quota stops the process for the rest of a period: max and batch_p99 include its stops, and what was stopped is marked noisy";

pub(super) fn check(system: &System) -> Finding {
    match quota(system) {
        None => Finding::unknown(
            "the control group of this process is not visible",
            format!("if it has a quota: {MATTERS}"),
        ),
        Some(None) => Finding::fine("no quota, as far as the control groups are visible"),
        Some(Some(quota)) => {
            let mut says = format!(
                "{} CPUs' worth in each {}, by {}",
                (quota.cpus * 100.0).round() / 100.0,
                duration(quota.period_us * 1e3),
                quota.directory
            );
            if let Some((count, ns)) = quota.throttled {
                says += &format!("; stopped {count} times so far, {} in all", duration(ns as f64));
            }
            let command = if quota.unified {
                format!("as root: echo max > {}/cpu.max", quota.directory)
            } else {
                format!("as root: echo -1 > {}/cpu.cfs_quota_us", quota.directory)
            };
            // One busy CPU never uses up more. With less, what is longer than two periods allow is stopped at any time.
            let is_short = quota.cpus < 1.0;
            let reaches = if is_short {
                "one busy CPU uses this one up, and floors of long operations include stops"
            } else {
                "only several busy CPUs use this one up; floors hold"
            };
            Finding::disturbs(says, format!("{MATTERS}; {reaches}"))
                .unfit(is_short)
                .remedy(format!("run outside the container or without --cpus; {command}"))
        }
    }
}

/// The quota in force. `Some(None)`: there is none. `None`: it could not be found out.
pub(crate) fn quota(system: &System) -> Option<Option<Quota>> {
    let group = cgroup::of_controller(system, "cpu")?;
    let mut tightest: Option<Quota> = None;
    for directory in &group.directories {
        if let Some((cpus, period_us)) = limit(system, &group, directory)?
            && tightest.as_ref().is_none_or(|tightest| cpus < tightest.cpus)
        {
            let throttled = throttled(system, &group, directory);
            tightest = Some(Quota {
                cpus,
                period_us,
                directory: directory.clone(),
                unified: group.unified,
                throttled,
            });
        }
    }
    Some(tightest)
}

/// CPUs' worth and period (us) of one group; `Some(None)` without a limit (the root of version 2 has no such file, nor has
/// a group without the controller), `None` where the file says something else.
fn limit(system: &System, group: &Group, directory: &str) -> Option<Option<(f64, f64)>> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let read = |file: &str| match system.line(&format!("{directory}/{file}")) {
        Ok(line) => Some(Some(line)),
        Err(super::system::NoText::NotThere) => Some(None),
        Err(_) => None,
    };
    let (quota, period) = if group.unified {
        let Some(line) = read("cpu.max")? else { return Some(None) };
        let (quota, period) = line.split_once(' ')?;
        if quota == "max" {
            return Some(None);
        }
        (number(quota)?, number(period)?)
    } else {
        let Some(quota) = read("cpu.cfs_quota_us")? else { return Some(None) };
        let quota = number(&quota)?;
        if quota < 0.0 {
            return Some(None);
        }
        (quota, number(&read("cpu.cfs_period_us")??)?)
    };
    let cpus = quota / period;
    (period > 0.0 && cpus.is_finite()).then_some(Some((cpus, period)))
}

/// nr_throttled and the time of it, in ns; version 2 counts in us.
fn throttled(system: &System, group: &Group, directory: &str) -> Option<(u64, u64)> {
    let text = system.text(&format!("{directory}/cpu.stat")).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok());
    let ns =
        if group.unified { value("throttled_usec ")?.checked_mul(1_000)? } else { value("throttled_time ")? };
    Some((value("nr_throttled ")?, ns))
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{check, quota};

    const GROUP: (&str, &str) = ("proc/self/cgroup", "0::/a/b\n");
    const MOUNT: (&str, &str) =
        ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");

    #[test]
    fn the_tightest_ancestor_counts() {
        let recorded = Recorded::new(&[
            GROUP,
            MOUNT,
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            (
                "sys/fs/cgroup/a/cpu.stat",
                "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 12000\n",
            ),
        ]);
        let found = check(&recorded.system);
        found.is(
            Disturbs,
            "1.5 CPUs' worth in each 100 ms, by /sys/fs/cgroup/a; stopped 7 times so far, 12 ms in all",
        );
        assert!(found.remedy.expect("a remedy").ends_with("as root: echo max > /sys/fs/cgroup/a/cpu.max"));
    }

    #[test]
    fn a_machine_is_unfit_by_less_than_one_cpu_and_else_floors_hold() {
        for (limit, is_unfit) in [
            ("1000 100000", true),
            ("99999 100000", true),
            ("100000 100000", false),
            ("150000 100000", false),
        ] {
            let recorded = Recorded::new(&[GROUP, MOUNT, ("sys/fs/cgroup/a/b/cpu.max", limit)]);
            let check = check(&recorded.system).named("cgroup_quota");
            assert_eq!((check.state, check.unfit), (Disturbs, is_unfit), "{limit}: {check:?}");
            assert_eq!(check.matters.contains("floors hold"), !is_unfit, "{limit}: {check:?}");
            assert_eq!(check.matters.contains("one busy CPU uses"), is_unfit, "{limit}: {check:?}");
            // compare judges what is noisy, and near one CPU hardly a launch is stopped.
            assert!(["compare", "launch"].iter().all(|it| !check.matters.contains(it)), "{check:?}");
        }
    }

    #[test]
    fn no_limit_anywhere_is_fine() {
        let recorded = Recorded::new(&[GROUP, MOUNT, ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")]);
        assert_eq!(check(&recorded.system).state, Fine);
        assert_eq!(quota(&recorded.system), Some(None));
    }

    #[test]
    fn version_1_has_files_of_its_own() {
        let files = [
            ("proc/self/cgroup", "1:cpu:/\n0::/\n"),
            ("proc/self/mountinfo", "5 2 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n"),
            ("cg/cpu/cpu.cfs_period_us", "100000\n"),
            ("cg/cpu/cpu.stat", "nr_periods 0\nnr_throttled 2\nthrottled_time 5000000\n"),
        ];
        let recorded = Recorded::new(&files);
        recorded.write("cg/cpu/cpu.cfs_quota_us", "-1\n");
        assert_eq!(check(&recorded.system).state, Fine);
        recorded.write("cg/cpu/cpu.cfs_quota_us", "50000\n");
        check(&recorded.system)
            .says("0.5 CPUs' worth in each 100 ms, by /cg/cpu; stopped 2 times so far, 5 ms in all");
    }

    #[test]
    fn rubbish_is_unknown_and_never_no_quota() {
        for text in ["", "50000", "x 100000", "50000 0", "NaN 1", "inf 1", "1e308 1e-308"] {
            let recorded = Recorded::new(&[GROUP, MOUNT, ("sys/fs/cgroup/a/b/cpu.max", text)]);
            assert_eq!(check(&recorded.system).state, Unknown, "{text}");
        }
        assert_eq!(check(&Recorded::new(&[GROUP]).system).state, Unknown);
    }
}
