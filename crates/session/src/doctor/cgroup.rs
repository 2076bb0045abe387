//! Where the control group of this process is mounted: cgroups(7), versions 1 and 2, /proc/self/cgroup and mountinfo.

use super::system::System;

/// A control group and its ancestors, as far as they are visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Version 2 of the interface.
    pub(super) unified: bool,
    /// Directories from the group up to the mount point.
    pub(super) directories: Vec<String>,
}

/// The group that controls `controller` ("cpu", "cpuset") for this process; `None` where it cannot be found.
pub(super) fn of_controller(system: &System, controller: &str) -> Option<Group> {
    let groups = system.text("/proc/self/cgroup").ok()?;
    let mounts = system.text("/proc/self/mountinfo").ok()?;
    let lines = || groups.lines().filter_map(parts);
    // Version 1 wins where both are mounted: a controller belongs to one hierarchy, and "0::" is always there.
    let version_1 = lines().find(|(_, controllers, _)| controllers.split(',').any(|name| name == controller));
    let (unified, path) = match version_1 {
        Some((_, _, path)) => (false, path),
        None => (true, lines().find(|(id, controllers, _)| *id == "0" && controllers.is_empty())?.2),
    };
    mounts.lines().filter_map(Mount::parse).find_map(|mount| {
        let fits = if unified {
            mount.kind == "cgroup2"
        } else {
            mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller)
        };
        // A mount may show a part of the hierarchy only: a container's own.
        let below = if mount.root == "/" { path } else { path.strip_prefix(mount.root.as_str())? };
        let group = Group { unified, directories: directories(&mount.point, below) };
        (fits && system.has(group.directories.first()?)).then_some(group)
    })
}

/// Directory and its parents down to the mount point.
fn directories(point: &str, below: &str) -> Vec<String> {
    let mut names: Vec<&str> = below.split('/').filter(|name| !name.is_empty()).collect();
    let mut directories = Vec::new();
    loop {
        directories.push(std::iter::once(point).chain(names.iter().copied()).collect::<Vec<_>>().join("/"));
        if names.pop().is_none() {
            return directories;
        }
    }
}

/// "id:controllers:path"
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (id, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    Some((id, controllers, path))
}

/// One line of /proc/self/mountinfo; proc_pid_mountinfo(5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Directory of the file system that is mounted.
    pub(super) root: String,
    /// Where.
    pub(super) point: String,
    /// Type of the file system.
    pub(super) kind: String,
    /// What is mounted.
    pub(super) source: String,
    /// Options of the file system.
    pub(super) options: String,
}

impl Mount {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let before: Vec<&str> = before.split(' ').collect();
        let mut after = after.split(' ');
        Some(Self {
            root: unescape(before.get(3)?),
            point: unescape(before.get(4)?),
            kind: unescape(after.next()?),
            source: unescape(after.next()?),
            options: after.next().unwrap_or_default().to_owned(),
        })
    }
}

/// Blanks, tabs, newlines and backslashes are written as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = tail
            .get(..3)
            .filter(|digits| *first == b'\\' && digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        let value = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::Recorded;
    use super::{Mount, of_controller, unescape};

    #[test]
    fn version_2_goes_up_to_the_mount_point() {
        let recorded = Recorded::new(&[
            ("proc/self/cgroup", "0::/user.slice/session-1.scope\n"),
            (
                "proc/self/mountinfo",
                "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            ),
            ("sys/fs/cgroup/user.slice/session-1.scope/cpu.stat", ""),
        ]);
        let group = of_controller(&recorded.system, "cpu").expect("found");
        assert!(group.unified);
        assert_eq!(
            group.directories,
            ["/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]
        );
    }

    #[test]
    fn version_1_in_a_container_starts_at_the_root_of_its_mount() {
        let recorded = Recorded::new(&[
            ("proc/self/cgroup", "4:cpuset:/docker/ab\n3:cpu,cpuacct:/docker/ab/inner\n0::/x\n"),
            (
                "proc/self/mountinfo",
                "1 2 0:26 / /u rw - cgroup2 none rw\n5 2 0:30 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro master:1 - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            ("sys/fs/cgroup/cpu,cpuacct/inner/cpu.stat", ""),
        ]);
        let group = of_controller(&recorded.system, "cpu").expect("found");
        assert!(!group.unified);
        assert_eq!(group.directories, ["/sys/fs/cgroup/cpu,cpuacct/inner", "/sys/fs/cgroup/cpu,cpuacct"]);
        assert_eq!(of_controller(&recorded.system, "cpuset"), None, "not mounted");
    }

    #[test]
    fn a_group_that_is_not_visible_is_not_found() {
        let recorded = Recorded::new(&[
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ]);
        assert_eq!(of_controller(&recorded.system, "cpu"), None);
    }

    #[test]
    fn hostile_mounts_are_data() {
        assert_eq!(unescape(r"/a\040b\134\012\x\04"), "/a b\\\n\\x\\04");
        assert_eq!(unescape(r"\777"), r"\777", "no byte");
        let mount =
            Mount::parse("1 2 0:3 / /mnt/\u{1b}\\040x rw opt:1 - fuse.x evil\\012 rw").expect("a mount");
        assert_eq!(
            (mount.point.as_str(), mount.kind.as_str(), mount.source.as_str()),
            ("/mnt/\u{1b} x", "fuse.x", "evil\n")
        );
        assert_eq!(Mount::parse("1 2 0:3 / /mnt"), None);
        assert_eq!(Mount::parse(" - "), None);
    }
}
