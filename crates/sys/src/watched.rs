//! Who watches a thread's system calls: tracers and seccomp filters, as /proc says. proc(5), ptrace(2), seccomp(2).

use std::sync::OnceLock;

/// Who watches the system calls of a thread. What /proc does not say is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// Process that traces it (0: nobody that this PID namespace can see).
    pub tracer_pid: Option<u32>,
    /// Seccomp mode (0: none, 1: strict, 2: filters).
    pub seccomp_mode: Option<u32>,
    /// Number of seccomp filters (since Linux 5.9).
    pub seccomp_filters: Option<u32>,
}

impl Watched {
    /// Who watches the calling thread.
    #[must_use]
    pub fn own() -> Self {
        crate::file::text("/proc/thread-self/status").map_or_else(|_| Self::default(), |it| Self::of(&it))
    }

    /// Who watched when this was first asked: before a filter of our own, if the program asks by then. Forked children know it, too.
    #[must_use]
    pub fn at_first() -> Self {
        static FIRST: OnceLock<Watched> = OnceLock::new();
        *FIRST.get_or_init(Self::own)
    }

    /// Reads a text of /proc/PID/status, proc(5).
    #[must_use]
    pub fn of(status: &str) -> Self {
        let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
        Self {
            tracer_pid: value("TracerPid:"),
            seccomp_mode: value("Seccomp:"),
            seccomp_filters: value("Seccomp_filters:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_watches_is_read_and_what_is_not_said_is_unknown() {
        let status = "Name:\tx\nTracerPid:\t77\nSeccomp:\t2\nSeccomp_filters:\t3\n";
        let watched = Watched { tracer_pid: Some(77), seccomp_mode: Some(2), seccomp_filters: Some(3) };
        assert_eq!(Watched::of(status), watched);
        assert_eq!(Watched::of("TracerPid:\tx\n"), Watched::default());
        assert_eq!(Watched::own().tracer_pid.is_some(), std::path::Path::new("/proc/self/status").exists());
    }
}
