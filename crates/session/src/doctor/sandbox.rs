//! What a container or another sandbox refuses, and what gives it back: options of the engine, not of the host.

use super::capability::{SYS_NICE, capable};
use super::system::System;

/// Files that engines leave in their containers: Docker, podman and CRI-O, Kubernetes.
const MARKERS: [&str; 3] = ["/.dockerenv", "/run/.containerenv", "/run/secrets/kubernetes.io"];

/// Whether a filter of system calls is in force.
pub(super) fn is_filtered(system: &System) -> bool {
    system.own_status("Seccomp").as_deref() == Some("2")
}

/// Whether this looks like a container: an engine's marker, a filter, or a root who may not do what root may.
pub(super) fn is_container(system: &System) -> bool {
    let lesser_root = system.measured.effective_uid == Some(0) && capable(system, SYS_NICE) == Some(false);
    MARKERS.into_iter().any(|marker| system.has(marker)) || is_filtered(system) || lesser_root
}

/// How to let system calls be counted where both ways to count them are refused.
#[must_use]
pub fn to_count_calls() -> String {
    format!(
        "run under Linux 5.3 or later, in a container with --cap-add SYS_PTRACE. {}",
        unfiltered("ptrace and seccomp")
    )
}

/// How to be rid of a filter that refuses `calls`.
pub(super) fn unfiltered(calls: &str) -> String {
    format!(
        "Docker, podman: --security-opt seccomp=unconfined, or a profile that allows {calls}; Kubernetes: seccompProfile \
         type Unconfined, which its profile restricted forbids; elsewhere: run outside the sandbox"
    )
}

/// How to get workers into namespaces of their own.
pub(super) fn namespaces(system: &System) -> String {
    if is_filter_to_blame(system) {
        // AppArmor's profile of a container refuses mount, too, once the filter is gone.
        let confined = system
            .line("/proc/self/attr/current")
            .is_ok_and(|profile| !profile.is_empty() && !profile.starts_with("unconfined"));
        let apparmor = if confined { "; with AppArmor also --security-opt apparmor=unconfined" } else { "" };
        return unfiltered("unshare and mount") + apparmor;
    }
    "run as root, or as root: sysctl -w user.max_user_namespaces=10000, and where they exist \
     kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
        .to_owned()
}

/// Whether a filter refused the namespaces: it was seen to, or it is there and no setting of the kernel explains the refusal.
/// A filter may look at arguments, and let the call that asks for nothing through.
fn is_filter_to_blame(system: &System) -> bool {
    if let Some(Some(_)) = system.measured.filtered_namespaces {
        return true;
    }
    let refusing = [
        ("/proc/sys/user/max_user_namespaces", "0"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ];
    let by_setting = refusing.into_iter().any(|(path, value)| system.line(path).as_deref() == Ok(value));
    is_filtered(system) && !by_setting
}

/// How to get real time in a container. A capability counts in the first user namespace alone, which maps every user to itself.
pub(super) fn real_time(system: &System) -> &'static str {
    let map = system.line("/proc/self/uid_map").unwrap_or_default();
    if map.is_empty() || map.split_whitespace().eq(["0", "0", "4294967295"]) {
        "Docker, podman: --ulimit rtprio=99 or --cap-add SYS_NICE; Kubernetes: capabilities add SYS_NICE, which its profile \
         restricted forbids; systemd: LimitRTPRIO=99"
    } else {
        "--ulimit rtprio=99, after the host gave the user who starts the container as much (limits.conf: rtprio 99)"
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::Recorded;
    use super::*;
    use oscost_sys::CallError;

    const FILTER: (&str, &str) = ("proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
    const NONE: (&str, &str) = ("proc/self/status", "CapEff:\t0\nSeccomp:\t0\n");

    #[test]
    fn a_container_has_a_marker_a_filter_or_a_lesser_root() {
        let found = |files: &[(&str, &str)], uid| {
            is_container(&Recorded::new(files).with(|measured| measured.effective_uid = Some(uid)).system)
        };
        assert!(!found(&[NONE], 1000));
        assert!(found(&[FILTER], 1000));
        assert!(found(&[NONE], 0), "root without CAP_SYS_NICE");
        assert!(!found(&[("proc/self/status", "CapEff:\t800000\nSeccomp:\t0\n")], 0));
        for marker in [".dockerenv", "run/.containerenv", "run/secrets/kubernetes.io/serviceaccount/token"] {
            assert!(found(&[NONE, (marker, "")], 1000), "{marker}");
        }
    }

    #[test]
    fn a_filter_is_blamed_where_it_was_seen_or_nothing_else_explains_the_refusal() {
        let found = |files: &[(&str, &str)], seen: Option<i32>| {
            let answer = seen.map(|errno| CallError::new("unshare", errno));
            namespaces(&Recorded::new(files).with(|it| it.filtered_namespaces = Some(answer)).system)
        };
        let forbidden = ("proc/sys/user/max_user_namespaces", "0\n");
        for (files, seen) in [(&[FILTER][..], None), (&[FILTER, forbidden], Some(1)), (&[NONE], Some(1))] {
            let says = found(files, seen);
            assert!(says.contains("seccomp=unconfined") && !says.contains("sysctl"), "{says}");
            assert!(says.contains("allows unshare and mount") && says.contains("Kubernetes"), "{says}");
        }
        for files in [&[NONE][..], &[FILTER, forbidden]] {
            let says = found(files, None);
            assert!(says.contains("user.max_user_namespaces") && !says.contains("seccomp"), "{says}");
        }
        let profile = |text| found(&[FILTER, ("proc/self/attr/current", text)], None);
        assert!(profile("docker-default (enforce)\n").contains("apparmor=unconfined"));
        assert!(!profile("unconfined\n").contains("apparmor"));
    }

    #[test]
    fn a_capability_is_of_no_use_in_a_user_namespace() {
        let found = |map| real_time(&Recorded::new(&[("proc/self/uid_map", map)]).system);
        assert!(found("         0          0 4294967295\n").contains("--cap-add SYS_NICE"));
        assert!(!found("0 1000 1\n1 100000 65536\n").contains("SYS_NICE"));
        assert!(found("0 1000 1\n").contains("--ulimit rtprio=99"));
    }
}
