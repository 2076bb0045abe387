//! The privileges of this user: isolate workers, count system calls, take real-time priority, lock memory.

use super::capability::{IPC_LOCK, SYS_NICE, capable};
use super::memory_locking::ENOUGH;
use super::system::System;
use super::{Finding, sandbox};

const MATTERS: &str = "without the audit no figure is checked; without namespaces, a killed run may leave objects until the next start";

pub(super) fn check(system: &System) -> Finding {
    let facts = &system.measured;
    let user = match facts.effective_uid {
        Some(0) => "root".to_owned(),
        Some(uid) => format!("user {uid}"),
        None => "unknown user".to_owned(),
    };
    let audit = match (facts.seccomp_notification, facts.ptrace) {
        (Some(true), Some(true)) => Some("audit by seccomp or ptrace"),
        (Some(true), _) => Some("audit by seccomp"),
        (_, Some(true)) => Some("audit by ptrace"),
        (Some(false), Some(false)) => Some("no audit: seccomp notification and ptrace are refused"),
        _ => None,
    };
    let namespaces = match facts.namespaces {
        Some(Ok(())) => Some("workers in namespaces of their own".to_owned()),
        Some(Err(error)) => Some(format!(
            "namespaces are refused, or granted only in part ({error}): a janitor cleans up instead"
        )),
        None => None,
    };
    let no_namespaces = matches!(facts.namespaces, Some(Err(_)));
    let says = [
        user,
        audit.unwrap_or("whether system calls can be counted is unknown").to_owned(),
        namespaces.clone().unwrap_or_else(|| "whether namespaces are granted is unknown".to_owned()),
        real_time(system),
        locked_memory(system),
    ]
    .join("; ");
    let no_audit = facts.seccomp_notification == Some(false) && facts.ptrace == Some(false);
    if no_audit || no_namespaces {
        let mut matters = Vec::new();
        if no_audit {
            matters.push("no system call is counted: the evidence of every figure is \"unchecked\"");
        }
        if no_namespaces {
            matters.push("if a run is killed together with its janitor, its objects stay until the next start; no figure changes");
        }
        let remedy = if no_audit { sandbox::to_count_calls() } else { sandbox::namespaces(system) };
        Finding::disturbs(says, matters.join("; ")).unfit(no_audit).remedy(remedy)
    } else if audit.is_none() || namespaces.is_none() {
        Finding::unknown(says, MATTERS)
    } else {
        Finding::fine(says)
    }
}

fn real_time(system: &System) -> String {
    match (capable(system, SYS_NICE), system.measured.real_time_limit) {
        (Some(true), _) => "real-time by CAP_SYS_NICE".to_owned(),
        (_, Some(limit)) if limit > 0 => "real-time by RLIMIT_RTPRIO".to_owned(),
        (Some(_), Some(_)) => {
            let option =
                if sandbox::is_container(system) { "--ulimit rtprio=99" } else { "as root: ulimit -r 99" };
            format!("no real-time (realtime_ipc is marked so; {option})")
        }
        _ => "real-time unknown".to_owned(),
    }
}

fn locked_memory(system: &System) -> String {
    match system.measured.locked_memory_limit {
        _ if capable(system, IPC_LOCK) == Some(true) => "memory may be locked".to_owned(),
        Some(u64::MAX) => "memory may be locked".to_owned(),
        Some(bytes) if bytes >= ENOUGH => format!("{} MiB of memory may be locked", bytes >> 20),
        Some(bytes) => format!("only {} KiB of memory may be locked: pages are touched instead", bytes >> 10),
        None => "locking of memory unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::MachineFacts;
    use super::super::system::recorded::*;
    use super::{Finding, check};
    use oscost_sys::CallError;

    fn found(capabilities: &str, change: impl FnOnce(&mut MachineFacts)) -> Finding {
        let status = format!("CapEff:\t{capabilities}\n");
        let recorded = Recorded::new(&[("proc/self/status", &status)]).with(|measured| {
            measured.effective_uid = Some(1000);
            measured.namespaces = Some(Ok(()));
            measured.seccomp_notification = Some(true);
            measured.ptrace = Some(true);
            measured.real_time_limit = Some(0);
            measured.locked_memory_limit = Some(8 << 20);
            change(measured);
        });
        check(&recorded.system)
    }

    #[test]
    fn a_user_who_may_isolate_and_count_is_fine() {
        found("0000000000000000", |_| {}).is(Fine, "user 1000; audit by seccomp or ptrace; workers in namespaces of their own; no real-time (realtime_ipc is marked \
             so; as root: ulimit -r 99); only 8192 KiB of memory may be locked: pages are touched instead");
    }

    #[test]
    fn real_time_comes_from_the_capability_or_the_limit() {
        assert!(found("0000000000800000", |_| {}).says.contains("by CAP_SYS_NICE"));
        assert!(
            found("0000000000000000", |m| m.real_time_limit = Some(99)).says.contains("by RLIMIT_RTPRIO")
        );
        assert!(found("\u{1b}", |_| {}).says.contains("real-time unknown"));
    }

    #[test]
    fn locking_comes_from_the_capability_or_the_limit() {
        assert!(found("0000000000004000", |_| {}).says.ends_with("; memory may be locked"));
        assert!(
            found("0", |m| m.locked_memory_limit = Some(u64::MAX)).says.ends_with("; memory may be locked")
        );
        assert!(
            found("0", |m| m.locked_memory_limit = Some(64 << 20))
                .says
                .ends_with("64 MiB of memory may be locked")
        );
        assert!(found("0", |m| m.locked_memory_limit = None).says.ends_with("locking of memory unknown"));
    }

    #[test]
    fn without_audit_or_namespaces_it_disturbs() {
        let found_without = found("0", |m| (m.seccomp_notification, m.ptrace) = (Some(false), Some(false)));
        assert_eq!(found_without.state, Disturbs);
        assert!(found_without.matters.contains("unchecked"), "{}", found_without.matters);
        found("0", |m| m.namespaces = Some(Err(CallError::new("unshare", 1))))
            .is(Disturbs, "...granted only in part (unshare failed...");
        assert_eq!(found("0", |m| m.seccomp_notification = Some(false)).state, Fine, "ptrace is left");
    }

    #[test]
    fn what_could_not_be_tried_is_unknown() {
        assert_eq!(found("0", |m| m.namespaces = None).state, Unknown);
        assert_eq!(found("0", |m| (m.seccomp_notification, m.ptrace) = (Some(false), None)).state, Unknown);
    }
}
