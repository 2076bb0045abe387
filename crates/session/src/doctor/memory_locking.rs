//! How much memory a worker may lock. Memory that is not locked is touched instead, and may be paged out.

use super::capability::{IPC_LOCK, capable};
use super::system::System;
use super::{Finding, sandbox};

/// mlockall(2) fails where all that a process has mapped, touched or not, is more than the limit (mm/mlock.c, total_vm). The
/// program alone maps over 20 MiB, so Linux's usual limit of 8 MiB lets nothing be locked.
pub(super) const ENOUGH: u64 = 64 << 20;

const MATTERS: &str =
    "pages are touched instead of locked; on a machine short of memory faults may show in batch_p99 and max";

pub(super) fn check(system: &System) -> Finding {
    match (capable(system, IPC_LOCK), system.measured.locked_memory_limit) {
        (Some(true), _) => Finding::fine("no limit (CAP_IPC_LOCK)"),
        (_, Some(u64::MAX)) => Finding::fine("no limit"),
        (_, Some(bytes)) if bytes >= ENOUGH => Finding::fine(format!("{} MiB may be locked", bytes >> 20)),
        (_, Some(bytes)) => {
            Finding::disturbs(format!("only {} KiB may be locked (RLIMIT_MEMLOCK)", bytes >> 10), MATTERS)
                .remedy(if sandbox::is_container(system) {
                    format!("Docker, podman: --ulimit memlock={ENOUGH} or --cap-add IPC_LOCK")
                } else {
                    format!("as root: ulimit -l {0} (limits.conf: memlock {0})", ENOUGH >> 10)
                })
        }
        (_, None) => Finding::unknown("the limit could not be read", MATTERS),
    }
}

#[cfg(test)]
mod tests {
    use super::super::privileges;
    use super::super::system::recorded::*;
    use super::check;

    /// The check of privileges says the same of every limit.
    #[test]
    fn the_limit_is_told() {
        let state = |capabilities: &str, limit| {
            let status = format!("CapEff:\t{capabilities}\n");
            let recorded = Recorded::new(&[("proc/self/status", &status)]);
            let recorded = recorded.with(|measured| measured.locked_memory_limit = limit);
            let state = check(&recorded.system).state;
            let touches = privileges::check(&recorded.system).says.contains("touched instead");
            assert_eq!(touches, state == Disturbs, "{limit:?}");
            state
        };
        assert_eq!(state("4000", Some(0)), Fine, "CAP_IPC_LOCK is bit 14");
        assert_eq!(state("0", Some(u64::MAX)), Fine);
        assert_eq!(state("0", Some(64 << 20)), Fine);
        assert_eq!(state("0", Some(8 << 20)), Disturbs, "Linux's own limit since 5.16");
        assert_eq!(state("0", Some(64 << 10)), Disturbs);
        assert_eq!(state("0", None), Unknown);
    }
}
