//! The parts of a process that all its operations pay for: threads, signals, filters, affinity, locked memory, priority.
//! proc(5).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::scheduling;

/// How long a thread that was joined may stay in the kernel's list: pthread_join(3) waits for its id to be cleared alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines of /proc/self/status that say it.
const LINES: [&str; 18] = [
    "Threads",
    "Umask",
    "Uid",
    "Gid",
    "CapEff",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
    "Speculation_Store_Bypass",
    "SpeculationIndirectBranch",
    "THP_enabled",
    "TracerPid",
    "SigBlk",
    "SigIgn",
    "SigCgt",
    "Cpus_allowed_list",
    "Mems_allowed_list",
    "VmLck",
];

/// Signals 32 and 33, which the C library keeps for itself and catches from the first thread on: nobody pays for that.
const OF_LIBC: u64 = 0b11 << 31;

/// How the calling process stands at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing(BTreeMap<&'static str, String>);

impl Standing {
    /// Reads it; `None` where /proc does not say.
    #[must_use]
    pub fn read() -> Option<Self> {
        let mut all = of_status(&crate::file::text("/proc/thread-self/status").ok()?);
        let limits = crate::file::text("/proc/self/limits");
        all.extend(limits.ok().map(|limits| ("limits", limits)));
        all.extend(scheduling::nice().ok().map(|nice| ("nice", nice.to_string())));
        all.extend(scheduling::policy_name().ok().map(|policy| ("policy", policy)));
        Some(Self(all))
    }

    /// What is different now, and does not become again as it was within a second; `None` where /proc does not say.
    #[must_use]
    pub fn lasting_changes(&self) -> Option<Vec<String>> {
        let begun = Instant::now();
        loop {
            let changes = self.changes(&Self::read()?);
            if changes.is_empty() || begun.elapsed() > PATIENCE {
                return Some(changes);
            }
            crate::clock::pause(Duration::from_millis(1));
        }
    }

    /// What is different later, by name: before and after.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let names = self.0.keys().chain(later.0.keys().filter(|name| !self.0.contains_key(*name)));
        let told = |standing: &Self, name| standing.0.get(name).map_or("unknown", String::as_str).to_owned();
        names
            .filter(|name| self.0.get(*name) != later.0.get(*name))
            .map(|name| format!("{name}: {} -> {}", told(self, name), told(later, name)))
            .collect()
    }
}

fn of_status(status: &str) -> BTreeMap<&'static str, String> {
    let value = |key: &'static str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let value = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let set = if key.starts_with("Sig") { u64::from_str_radix(&value, 16).ok() } else { None };
        Some((key, set.map_or(value, |set| format!("{:016x}", set & !OF_LIBC))))
    };
    LINES.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_named() {
        let standing = |status: &str| Standing(of_status(status));
        let before = standing(
            "Name:\tx\nThreads:\t1\nSeccomp:\t0\nSeccomp_filters:\t0\nVmLck:\t       0 kB\nVmRSS:\t1 kB\n",
        );
        let after = standing(
            "Name:\ty\nThreads:\t2\nSeccomp:\t0\nSeccomp_filters:\t0\nVmLck:\t       8 kB\nVmRSS:\t9 kB\n",
        );
        assert_eq!(before.changes(&after), ["Threads: 1 -> 2", "VmLck: 0 kB -> 8 kB"]);
        assert_eq!(before.changes(&before), [""; 0]);
        let caught = |set: &str| standing(&format!("SigCgt:\t{set}\n"));
        assert_eq!(caught("0000000000000440").changes(&caught("0000000180000440")), [""; 0]);
        assert_eq!(caught("0000000000000440").changes(&caught("0000000000000640")).len(), 1);
        assert_eq!(standing("").changes(&standing("Threads:\t1\n")), ["Threads: unknown -> 1"]);
    }

    #[test]
    fn threads_of_this_process_are_seen() {
        let Some(before) = Standing::read() else { return };
        // Other tests start and end threads meanwhile: those of a child are its own.
        let code = crate::process::code_of(|| {
            let Some(before) = Standing::read() else { return 1 };
            let waits = std::sync::Arc::new(std::sync::Barrier::new(2));
            let theirs = std::sync::Arc::clone(&waits);
            let thread = std::thread::spawn(move || theirs.wait());
            let during = Standing::read().map(|during| before.changes(&during));
            waits.wait();
            i32::from(thread.join().is_err() || during != Some(vec!["Threads: 1 -> 2".to_owned()]))
        });
        assert_eq!(code, Some(0));
        assert!(before.0.contains_key("Threads") && before.0.contains_key("SigCgt"), "{before:?}");
    }
}
