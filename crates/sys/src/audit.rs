//! Counting system calls by number, from outside the timed launches: the tool of the evidence audit.
//!
//! Two ways, one result. By seccomp user notification (Linux 5.5; seccomp_unotify(2)): a filter reports every call of the
//! audited thread and of whatever it starts afterwards (threads, children, exec) to a listener thread, which counts it
//! and lets it go on; works unprivileged and under a tracer. Where that is refused, by ptrace(2) of a child.
//!
//! The body brackets what is to be counted by [`crate::system_call::marker`]: `marker(n)` starts phase n (1 to
//! [`PHASES`]), `marker(0)` ends it. Calls are counted by who makes them: a participant is a thread. A marker is
//! answered only when nobody else has made a call for [`QUIET_NS`], so a partner's last call before it blocks belongs to the
//! phase.

use std::collections::BTreeMap;

mod notification;
mod ptrace;
mod table;

pub(crate) use notification::answers_can_be_given;
pub use notification::by_notification;
pub use ptrace::by_ptrace;

/// Phases that can be told apart.
pub const PHASES: usize = 3;
/// How long all participants must have been silent before a marker is answered.
pub const QUIET_NS: u64 = 2_000_000;
/// How long silence is waited for: participants that never rest are counted as they go.
const UNREST_NS: u64 = 50_000_000;

/// System calls by number. A number that this program has no counter for is counted as -1.
pub type Calls = BTreeMap<i64, u64>;

/// System calls counted in each phase, by participant (thread id) and number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    phases: Vec<BTreeMap<i32, Calls>>,
    is_marked: bool,
}

impl CallCounts {
    /// Whether a marker has been seen. Without one nothing was counted, and no calls at all is no count.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Calls of all participants in phase `phase` (from 1).
    #[must_use]
    pub fn phase(&self, phase: usize) -> Calls {
        let mut sum = Calls::new();
        for (number, count) in self.by_participant(phase).into_values().flatten() {
            *sum.entry(number).or_insert(0) += count;
        }
        sum
    }

    /// Calls in phase `phase` (from 1) of each participant who made any.
    #[must_use]
    pub fn by_participant(&self, phase: usize) -> BTreeMap<i32, Calls> {
        phase.checked_sub(1).and_then(|index| self.phases.get(index)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::process;
    use crate::system_call;

    /// Both ways must count the same: each in a child of its own, because a filter stays.
    fn counted(way: fn() -> Option<(u64, u64)>) -> Option<(u64, u64)> {
        let words = crate::memory::SharedWords::new(2).expect("mmap");
        let code = process::code_of(|| match way() {
            Some((a, b)) => {
                words.word(0).store(a, Ordering::Release);
                words.word(1).store(b, Ordering::Release);
                0
            }
            None => 9,
        });
        if code == Some(9) {
            return None;
        }
        assert_eq!(code, Some(0));
        Some((words.word(0).load(Ordering::Acquire), words.word(1).load(Ordering::Acquire)))
    }

    fn body() -> Vec<u8> {
        for (phase, calls) in [(1, 100), (2, 200)] {
            system_call::marker(phase);
            for _ in 0..calls {
                system_call::getppid();
            }
            let partner = process::Child::fork(|| {
                for _ in 0..50 {
                    system_call::getppid();
                }
                0
            });
            if partner.and_then(process::Child::wait).is_err() {
                return Vec::new();
            }
            system_call::marker(0);
        }
        vec![1]
    }

    fn getppids(counts: &CallCounts) -> (u64, u64) {
        let of = |phase| counts.phase(phase).get(&libc::SYS_getppid).copied().unwrap_or(0);
        (of(1), of(2))
    }

    // 51: the partner's own getppid of PR_SET_PDEATHSIG is a call like any other.
    #[test]
    fn notification_counts_children_too() {
        match counted(|| by_notification(body).ok().map(|(_, counts)| getppids(&counts))) {
            Some(counts) => assert_eq!(counts, (151, 251)),
            None => {
                println!("SKIP notification_counts_children_too: seccomp user notification is refused here")
            }
        }
    }

    /// A process that held it would wait for ever for its own answer if the audited process is killed.
    #[test]
    fn no_partner_inherits_the_listening_end() {
        fn listens() -> bool {
            let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
            let mut links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            links.any(|link| link.to_string_lossy().contains("seccomp"))
        }
        let way = || {
            let (ended, _) =
                by_notification(|| process::Child::fork(|| i32::from(listens()))?.wait()).ok()?;
            Some((u64::from(ended.is_ok_and(|it| it.code == Some(0))), 0))
        };
        match counted(way) {
            Some((alone, _)) => assert_eq!(alone, 1, "a partner has the listening end"),
            None => println!(
                "SKIP no_partner_inherits_the_listening_end: seccomp user notification is refused here"
            ),
        }
    }

    /// As in a container: what the profile of Docker answers itself, a listener is not asked about.
    #[test]
    fn a_container_hides_no_marker() {
        // The profile refuses clone, so there are no partners.
        fn alone() {
            for (phase, calls) in [(1, 100), (2, 200)] {
                system_call::marker(phase);
                (0..calls).for_each(|_| _ = system_call::getppid());
                system_call::marker(0);
            }
        }
        let way = || {
            crate::seccomp::Filter::containers().install().ok()?;
            by_notification(alone).ok().map(|((), counts)| getppids(&counts))
        };
        match counted(way) {
            Some(counts) => assert_eq!(counts, (100, 200)),
            None => println!("SKIP a_container_hides_no_marker: seccomp user notification is refused here"),
        }
    }

    #[test]
    fn ptrace_counts_children_too() {
        match counted(|| by_ptrace(body).ok().map(|(_, counts)| getppids(&counts))) {
            Some(counts) => assert_eq!(counts, (151, 251)),
            None => println!("SKIP ptrace_counts_children_too: ptrace is refused here"),
        }
    }
}
