//! How much memory participants may lock. Memory that is not locked is touched instead, and may be paged out.

use super::capability::{IPC_LOCK, capable};
use super::system::System;
use super::{Finding, sandbox};

/// A session of real-time messages locks no more: results, stamps and stacks.
const ENOUGH: u64 = 8 << 20;

const MATTERS: &str = "realtime_ipc/*: pages are touched instead of locked; on a machine short of memory faults may show in the tail";

pub(super) fn check(system: &System) -> Finding {
    match (capable(system, IPC_LOCK), system.measured.locked_memory_limit) {
        (Some(true), _) => Finding::fine("no limit (CAP_IPC_LOCK)"),
        (_, Some(u64::MAX)) => Finding::fine("no limit"),
        (_, Some(bytes)) if bytes >= ENOUGH => Finding::fine(format!("{} MiB may be locked", bytes >> 20)),
        (_, Some(bytes)) => {
            Finding::disturbs(format!("only {} KiB may be locked (RLIMIT_MEMLOCK)", bytes >> 10), MATTERS)
                .remedy(if sandbox::is_container(system) {
                    "Docker, podman: --ulimit memlock=67108864 or --cap-add IPC_LOCK"
                } else {
                    "as root: ulimit -l 65536 (limits.conf: memlock 65536)"
                })
        }
        (_, None) => Finding::unknown("the limit could not be read", MATTERS),
    }
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::check;

    #[test]
    fn the_limit_is_told() {
        let state = |capabilities: &str, limit| {
            let status = format!("CapEff:\t{capabilities}\n");
            let recorded = Recorded::new(&[("proc/self/status", &status)]);
            check(&recorded.with(|measured| measured.locked_memory_limit = limit).system).state
        };
        assert_eq!(state("4000", Some(0)), Fine, "CAP_IPC_LOCK is bit 14");
        assert_eq!(state("0", Some(u64::MAX)), Fine);
        assert_eq!(state("0", Some(8 << 20)), Fine);
        assert_eq!(state("0", Some(64 << 10)), Disturbs);
        assert_eq!(state("0", None), Unknown);
    }
}
