//! How much memory a worker may lock. Memory that is not locked is touched instead, and may be paged out.

use super::Finding;
use super::capability::{IPC_LOCK, capable};
use super::system::System;

/// mlockall(2) fails where all that a process has mapped, touched or not, is more than the limit (mm/mlock.c, total_vm). The
/// program alone maps over 20 MiB, so Linux's usual limit of 8 MiB lets nothing be locked.
pub(super) const ENOUGH: u64 = 64 << 20;

pub(super) fn check(system: &System) -> Finding {
    match (capable(system, IPC_LOCK), system.measured.locked_memory_limit) {
        (Some(true), _) => Finding::fine("no limit (CAP_IPC_LOCK)"),
        (_, Some(u64::MAX)) => Finding::fine("no limit"),
        (_, Some(bytes)) if bytes >= ENOUGH => Finding::fine(format!("{} MiB may be locked", bytes >> 20)),
        // Every ordinary user is told so, and nothing is felt of it while memory is free.
        (_, Some(bytes)) => Finding::fine(format!(
            "{} KiB may be locked (RLIMIT_MEMLOCK), so pages are touched instead: where memory is short, ulimit -l {}",
            bytes >> 10,
            ENOUGH >> 10
        )),
        (_, None) => {
            Finding::unknown("the limit could not be read", "where memory is short, faults may show in max")
        }
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
            let found = check(&recorded.system);
            let touches = |says: &str| says.contains("touched instead");
            assert_eq!(touches(&privileges::check(&recorded.system).says), touches(&found.says), "{limit:?}");
            (found.state, touches(&found.says))
        };
        assert_eq!(state("4000", Some(0)), (Fine, false), "CAP_IPC_LOCK is bit 14");
        assert_eq!(state("0", Some(u64::MAX)), (Fine, false));
        assert_eq!(state("0", Some(64 << 20)), (Fine, false));
        assert_eq!(state("0", Some(8 << 20)), (Fine, true), "Linux's own limit since 5.16");
        assert_eq!(state("0", None), (Unknown, false));
    }
}
