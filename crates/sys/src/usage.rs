//! What a thread or a process used: CPU time, switches, faults. getrusage(2) for oneself, /proc for partners.

use crate::CallError;

/// Counts since the start of the thread or process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because it was preempted.
    pub involuntary_switches: u64,
    /// Faults served without I/O.
    pub minor_faults: u64,
    /// Faults served by I/O.
    pub major_faults: u64,
    /// CPU time in user mode, ns (as exact as the kernel's accounting).
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
}

impl Usage {
    /// All switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.voluntary_switches.saturating_add(self.involuntary_switches)
    }

    /// All faults.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.minor_faults.saturating_add(self.major_faults)
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// Whose usage getrusage(2) is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The calling thread.
    Thread,
    /// All threads of the process.
    Process,
    /// Children that were waited for.
    Children,
}

/// Usage of the caller. These three cannot fail on Linux.
#[inline]
#[must_use]
pub fn own(whose: Whose) -> Usage {
    let who = match whose {
        Whose::Thread => libc::RUSAGE_THREAD,
        Whose::Process => libc::RUSAGE_SELF,
        Whose::Children => libc::RUSAGE_CHILDREN,
    };
    // SAFETY: an all-zero rusage is valid, and the kernel overwrites it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one rusage to a local variable.
    unsafe { libc::getrusage(who, &raw mut usage) };
    from_rusage(&usage)
}

#[allow(clippy::cast_sign_loss)] // the kernel counts up from 0
pub(crate) fn from_rusage(usage: &libc::rusage) -> Usage {
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Usage {
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    }
}

/// What /proc says of another process or thread. `None` where there is no /proc, or nobody of that number.
#[must_use]
pub fn of(pid: i32, tid: i32) -> Option<(Usage, Option<usize>)> {
    let directory = format!("/proc/{pid}/task/{tid}");
    let status = std::fs::read_to_string(format!("{directory}/status")).ok()?;
    let stat = std::fs::read_to_string(format!("{directory}/stat")).ok()?;
    parse(&status, &stat)
}

/// Reads the texts of the two files /proc/PID/task/TID/status and stat, proc(5): counts, and the CPU last run on. `None` where
/// one of them does not say.
#[must_use]
pub fn parse(status: &str, stat: &str) -> Option<(Usage, Option<usize>)> {
    let switches = |key: &str| -> Option<u64> {
        status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    };
    // The name of the program stands in parentheses and may contain anything, so fields are counted after the last ')'.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| -> Option<u64> { fields.get(number - 3)?.parse().ok() };
    // Clock ticks are 10 ms on every Linux of today: USER_HZ is part of the ABI.
    const TICK_NS: u64 = 10_000_000;
    let usage = Usage {
        voluntary_switches: switches("voluntary_ctxt_switches:")?,
        involuntary_switches: switches("nonvoluntary_ctxt_switches:")?,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ns: field(14)?.saturating_mul(TICK_NS),
        system_ns: field(15)?.saturating_mul(TICK_NS),
    };
    Some((usage, field(39).and_then(|cpu| usize::try_from(cpu).ok())))
}

/// Seccomp mode and tracer of the calling process, as /proc/self/status says; `None` where it does not.
#[must_use]
pub fn observed_by() -> (Option<u32>, Option<u32>) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    (value("Seccomp:"), value("TracerPid:"))
}

/// Limits the memory, time or number of something for this process and its children. setrlimit(2).
///
/// # Errors
/// The error of setrlimit.
pub fn limit(resource: Limit, soft: u64, hard: u64) -> Result<(), CallError> {
    let value = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the kernel reads one rlimit.
    crate::error::check("setrlimit", unsafe { libc::setrlimit(resource.id(), &raw const value) }).map(|_| ())
}

/// The soft and hard limit of `resource`; `u64::MAX` is unlimited. getrlimit(2).
///
/// # Errors
/// The error of getrlimit.
pub fn limit_of(resource: Limit) -> Result<(u64, u64), CallError> {
    let mut value = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one rlimit to a local variable.
    crate::error::check("getrlimit", unsafe { libc::getrlimit(resource.id(), &raw mut value) })?;
    Ok((value.rlim_cur, value.rlim_max))
}

/// Limits of setrlimit(2) that oscost sets or reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Size of a core file, bytes.
    Core,
    /// Locked memory, bytes.
    LockedMemory,
    /// POSIX queues, bytes.
    MessageQueues,
    /// Open files.
    OpenFiles,
    /// Processes of the user.
    Processes,
    /// Real-time priority.
    RealTimePriority,
    /// CPU time of a real-time thread without a wait, us.
    RealTimeTime,
}

impl Limit {
    fn id(self) -> libc::__rlimit_resource_t {
        match self {
            Self::Core => libc::RLIMIT_CORE,
            Self::LockedMemory => libc::RLIMIT_MEMLOCK,
            Self::MessageQueues => libc::RLIMIT_MSGQUEUE,
            Self::OpenFiles => libc::RLIMIT_NOFILE,
            Self::Processes => libc::RLIMIT_NPROC,
            Self::RealTimePriority => libc::RLIMIT_RTPRIO,
            Self::RealTimeTime => libc::RLIMIT_RTTIME,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_a_hostile_program_name() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
        let stat = "12 (a) R 9 9) S 1 1 1 0 -1 4194560 100 0 2 0 5 6 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0";
        let (usage, cpu) = parse(status, stat).expect("both files are whole");
        assert_eq!(usage.switches(), 10);
        assert_eq!(usage.faults(), 102);
        assert_eq!((usage.user_ns, usage.system_ns), (50_000_000, 60_000_000));
        assert_eq!(cpu, Some(3));
    }

    #[test]
    fn the_largest_numbers_stay_the_largest() {
        let most = u64::MAX.to_string();
        let status = format!("voluntary_ctxt_switches:\t{most}\nnonvoluntary_ctxt_switches:\t{most}\n");
        let (usage, _) =
            parse(&status, &format!("1 (x) S {}", vec![most; 50].join(" "))).expect("both files are whole");
        assert_eq!((usage.switches(), usage.faults()), (u64::MAX, u64::MAX));
        assert_eq!((usage.user_ns, usage.system_ns), (u64::MAX, u64::MAX));
    }

    #[test]
    fn a_cut_file_is_no_usage() {
        assert_eq!(parse("voluntary_ctxt_switches:\t7\n", "1 (x) S"), None);
    }

    #[test]
    fn faults_of_touched_pages_are_counted() {
        let before = own(Whose::Thread);
        let pages = vec![1u8; 64 * 4096];
        assert_eq!(std::hint::black_box(&pages)[5000], 1);
        assert!(own(Whose::Thread).since(&before).faults() >= 60);
    }
}
