//! Resources that a thread or process used: CPU time, switches, faults. getrusage(2) for itself, /proc for partners.

use crate::CallError;
use crate::watched::Watched;

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

    /// Adds what somebody else used, or the same one at another time.
    pub fn add(&mut self, more: &Usage) {
        let sums = [
            (&mut self.voluntary_switches, more.voluntary_switches),
            (&mut self.involuntary_switches, more.involuntary_switches),
            (&mut self.minor_faults, more.minor_faults),
            (&mut self.major_faults, more.major_faults),
            (&mut self.user_ns, more.user_ns),
            (&mut self.system_ns, more.system_ns),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
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
#[non_exhaustive]
pub enum Whose {
    /// The calling thread.
    Thread,
    /// All threads of the process.
    Process,
    /// Children that were waited for.
    Children,
}

/// Usage of the caller. Linux itself never refuses it, but a seccomp filter may.
///
/// # Errors
/// The error of getrusage.
#[inline]
pub fn own(whose: Whose) -> Result<Usage, CallError> {
    let who = match whose {
        Whose::Thread => libc::RUSAGE_THREAD,
        Whose::Process => libc::RUSAGE_SELF,
        Whose::Children => libc::RUSAGE_CHILDREN,
    };
    // SAFETY: an all-zero rusage is valid, and the kernel overwrites it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one rusage to a local variable.
    crate::error::check("getrusage", unsafe { libc::getrusage(who, &raw mut usage) })?;
    Ok(from_rusage(&usage))
}

// the kernel counts up from 0
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

/// What /proc says of another process or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it used.
    pub usage: Usage,
    /// CPU that it last ran on.
    pub cpu: Option<usize>,
    /// Process that traces it (0: nobody).
    pub tracer_pid: Option<u32>,
}

/// Looks at another process or thread. `None` where there is no /proc, or nobody of that number.
#[must_use]
pub fn of(pid: i32, tid: i32) -> Option<Seen> {
    let directory = format!("/proc/{pid}/task/{tid}");
    let status = crate::file::text(format!("{directory}/status")).ok()?;
    let stat = crate::file::text(format!("{directory}/stat")).ok()?;
    parse(&status, &stat)
}

/// Reads the texts of the two files /proc/PID/task/TID/status and stat, proc(5). `None` where one of them has no counts.
#[must_use]
pub fn parse(status: &str, stat: &str) -> Option<Seen> {
    let switches = |key: &str| -> Option<u64> {
        status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    };
    let field = fields(stat)?;
    let usage = Usage {
        voluntary_switches: switches("voluntary_ctxt_switches:")?,
        involuntary_switches: switches("nonvoluntary_ctxt_switches:")?,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ns: field(14)?.saturating_mul(TICK_NS),
        system_ns: field(15)?.saturating_mul(TICK_NS),
    };
    let cpu = field(39).and_then(|cpu| usize::try_from(cpu).ok());
    Some(Seen { usage, cpu, tracer_pid: Watched::of(status).tracer_pid })
}

/// Clock ticks of /proc are 10 ms on every Linux of today: USER_HZ is part of the ABI.
const TICK_NS: u64 = 10_000_000;

/// The numbers of a line of /proc/PID/stat by their positions in proc(5). The name of the program stands in parentheses and may
/// contain anything, so they are counted after the last ')'.
fn fields(stat: &str) -> Option<impl Fn(usize) -> Option<u64>> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(move |number: usize| fields.get(number - 3)?.parse().ok())
}

/// A process among its relatives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Relative {
    /// Its parent.
    pub parent: i32,
    /// When it began, in ticks: numbers of processes come again.
    pub begun: u64,
    /// CPU time and faults, its own and those of all children that it has waited for; without switches.
    pub usage: Usage,
    /// The part of these children.
    pub children: Usage,
}

/// Reads the text of /proc/PID/stat, proc(5). `None` where it is cut.
#[must_use]
pub fn relative(stat: &str) -> Option<Relative> {
    let field = fields(stat)?;
    let at = |[minor, major, user, system]: [usize; 4]| {
        Some(Usage {
            minor_faults: field(minor)?,
            major_faults: field(major)?,
            user_ns: field(user)?.saturating_mul(TICK_NS),
            system_ns: field(system)?.saturating_mul(TICK_NS),
            ..Usage::default()
        })
    };
    let (mut usage, children) = (at([10, 12, 14, 15])?, at([11, 13, 16, 17])?);
    usage.add(&children);
    Some(Relative { parent: i32::try_from(field(4)?).ok()?, begun: field(22)?, usage, children })
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
#[non_exhaustive]
pub enum Limit {
    /// Address space, bytes.
    AddressSpace,
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
    /// Stack of the first thread, bytes.
    Stack,
}

/// What getrlimit takes: the C libraries differ.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

impl Limit {
    fn id(self) -> Resource {
        match self {
            Self::AddressSpace => libc::RLIMIT_AS,
            Self::Core => libc::RLIMIT_CORE,
            Self::LockedMemory => libc::RLIMIT_MEMLOCK,
            Self::MessageQueues => libc::RLIMIT_MSGQUEUE,
            Self::OpenFiles => libc::RLIMIT_NOFILE,
            Self::Processes => libc::RLIMIT_NPROC,
            Self::RealTimePriority => libc::RLIMIT_RTPRIO,
            Self::RealTimeTime => libc::RLIMIT_RTTIME,
            Self::Stack => libc::RLIMIT_STACK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_a_hostile_program_name() {
        let status = "Name:\tx\nTracerPid:\t5\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
        let stat = "12 (a) R 9 9) S 1 1 1 0 -1 4194560 100 0 2 0 5 6 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0";
        let Seen { usage, cpu, tracer_pid } = parse(status, stat).expect("both files are whole");
        assert_eq!(usage.switches(), 10);
        assert_eq!(usage.faults(), 102);
        assert_eq!((usage.user_ns, usage.system_ns), (50_000_000, 60_000_000));
        assert_eq!((cpu, tracer_pid), (Some(3), Some(5)));
    }

    #[test]
    fn the_largest_numbers_stay_the_largest() {
        let most = u64::MAX.to_string();
        let status = format!("voluntary_ctxt_switches:\t{most}\nnonvoluntary_ctxt_switches:\t{most}\n");
        let Seen { usage, tracer_pid, .. } =
            parse(&status, &format!("1 (x) S {}", vec![most; 50].join(" "))).expect("both files are whole");
        assert_eq!((usage.switches(), usage.faults()), (u64::MAX, u64::MAX));
        assert_eq!((usage.user_ns, usage.system_ns, tracer_pid), (u64::MAX, u64::MAX, None));
    }

    #[test]
    fn a_process_is_seen_with_the_children_that_it_waited_for() {
        let stat = "9 (a) b) S 4 9 9 0 -1 0 100 20 3 1 50 7 30 2 20 0 1 0 8888";
        let usage = Usage {
            minor_faults: 120,
            major_faults: 4,
            user_ns: 800_000_000,
            system_ns: 90_000_000,
            ..Usage::default()
        };
        let children = Usage {
            minor_faults: 20,
            major_faults: 1,
            user_ns: 300_000_000,
            system_ns: 20_000_000,
            ..Usage::default()
        };
        assert_eq!(relative(stat), Some(Relative { parent: 4, begun: 8888, usage, children }));
        assert_eq!(relative(stat.rsplit_once(' ').expect("many").0), None);
    }

    #[test]
    fn a_cut_file_is_no_usage() {
        assert_eq!(parse("voluntary_ctxt_switches:\t7\n", "1 (x) S"), None);
    }

    #[test]
    fn faults_of_touched_pages_are_counted() {
        // Memory from malloc may have been touched before, by another test.
        let page = crate::region::page_bytes() / size_of::<u64>();
        let mut pages = crate::memory::ColdPages::new(64 * page).expect("a mapping");
        let before = own(Whose::Thread).expect("getrusage");
        for word in pages.words().iter_mut().step_by(page) {
            *word = 1;
        }
        assert!(own(Whose::Thread).expect("getrusage").since(&before).faults() >= 64);
    }
}
