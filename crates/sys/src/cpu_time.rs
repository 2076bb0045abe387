//! What CPUs did with their time until now, and what processes used of it. proc_stat(5), clock_gettime(2); schedstat and
//! timer_list of the kernel.

use crate::CallError;
use crate::system_call::clock_ns;

/// Nanoseconds of a tick of /proc/stat: USER_HZ is part of the ABI, 100 a second.
pub const TICK_NS: u64 = 10_000_000;
/// What the idle time in ticks may lack, ns: it is kept in two counters, one of waits for disks, and each is cut down to its tick.
const TICKS_NS: u64 = 2 * TICK_NS;

/// Time of some CPUs since they were started, ticks of 10 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Idle, and waiting for a disk.
    pub idle: u64,
    /// Spent in interrupts, hard ones and soft ones.
    pub interrupts: u64,
    /// Spent in hard interrupts.
    pub hard_interrupts: u64,
    /// Taken by the host.
    pub stolen: u64,
    /// All of it. Guest time is part of user time, and counted once.
    pub all: u64,
}

impl CpuTime {
    /// Share of the time since `earlier` in which they were idle; `None` where it is too short to tell.
    #[must_use]
    pub fn idle_share(&self, earlier: &Self) -> Option<f64> {
        let all = self.all.saturating_sub(earlier.all);
        (all > 0).then(|| self.idle.saturating_sub(earlier.idle) as f64 / all as f64)
    }

    /// Time taken by the host, ns.
    #[must_use]
    pub const fn stolen_ns(&self) -> u64 {
        self.stolen.saturating_mul(TICK_NS)
    }
}

/// Time of `cpus` together, now. `None` where /proc/stat does not say.
#[must_use]
pub fn now(cpus: &[usize]) -> Option<CpuTime> {
    of(&crate::file::text("/proc/stat").ok()?, cpus)
}

/// Time of `cpus` together in a text of /proc/stat. `None` where it does not say of any of them.
#[must_use]
pub fn of(stat: &str, cpus: &[usize]) -> Option<CpuTime> {
    let mut sum = None;
    for line in stat.lines() {
        let mut words = line.split_whitespace();
        let cpu = words.next().and_then(|name| name.strip_prefix("cpu")?.parse::<usize>().ok());
        if !cpu.is_some_and(|cpu| cpus.contains(&cpu)) {
            continue;
        }
        // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice.
        let fields: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let &[_, _, _, idle, waiting, hard, soft, stolen] = &fields[..] else { continue };
        let time: &mut CpuTime = sum.get_or_insert_default();
        time.idle = time.idle.saturating_add(idle.saturating_add(waiting));
        time.interrupts = time.interrupts.saturating_add(hard.saturating_add(soft));
        time.hard_interrupts = time.hard_interrupts.saturating_add(hard);
        time.stolen = time.stolen.saturating_add(stolen);
        time.all = fields.iter().fold(time.all, |all, field| all.saturating_add(*field));
    }
    sum
}

/// How long one CPU was idle, or busy, until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuAccount {
    /// Time in which tasks ran on it, ns; of a task that runs without a wait, only up to its last one. /proc/schedstat,
    /// where the kernel has it (CONFIG_SCHEDSTATS).
    Busy(u64),
    /// Time in which none did, ns, and how exact that is: /proc/timer_list (root alone may read it) counts ns of idle periods that
    /// are over, /proc/stat ticks of all.
    Idle {
        /// The time, ns: at most so much less than the truth as `grain_ns`.
        ns: u64,
        /// What it may lack, ns.
        grain_ns: u64,
    },
}

impl CpuAccount {
    /// The same of two CPUs together. What has another shape is no account of both: the first stays.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Busy(one), Self::Busy(other)) => Self::Busy(one.saturating_add(other)),
            (Self::Idle { ns, grain_ns }, Self::Idle { ns: more, grain_ns: grain }) => {
                Self::Idle { ns: ns.saturating_add(more), grain_ns: grain_ns.saturating_add(grain) }
            }
            (one, _) => one,
        }
    }

    /// Of CPU `cpu`, from the most exact source that there is. `None` where there is none.
    #[must_use]
    pub fn of(cpu: usize) -> Option<Self> {
        let read = |path: &str| crate::file::text(path).ok();
        let busy = || busy_in(&read("/proc/schedstat")?, cpu).map(Self::Busy);
        let ticks = || Some(now(&[cpu])?.idle.saturating_mul(TICK_NS));
        let both = || {
            let (ns, since_ns) = idle_in(&read("/proc/timer_list")?, cpu)?;
            // The CPU that reads this is not idle.
            let since_ns = if crate::affinity::current() == Some(cpu) { 0 } else { since_ns };
            Some(idle_by_both(ns, since_ns, ticks()?))
        };
        let by_ticks = || Some(Self::Idle { ns: ticks()?, grain_ns: TICKS_NS });
        busy().or_else(both).or_else(by_ticks)
    }
}

/// What two accounts say together. The one in ns lacks the idle period that goes on: if one does, it began `since_ns` ago. The
/// one in ticks has it.
fn idle_by_both(ns: u64, since_ns: u64, ticks_ns: u64) -> CpuAccount {
    let end = ns.saturating_add(since_ns);
    let least = ticks_ns.clamp(ns, end);
    let most = ticks_ns.saturating_add(TICKS_NS).clamp(least, end);
    CpuAccount::Idle { ns: least, grain_ns: most.saturating_sub(least) }
}

/// Time in which tasks ran on `cpu`, ns, in a text of /proc/schedstat of version 15 or newer. `None` where it does not say.
#[must_use]
pub fn busy_in(schedstat: &str, cpu: usize) -> Option<u64> {
    let mut lines = schedstat.lines();
    let version: u32 = lines.next()?.strip_prefix("version ")?.trim().parse().ok()?;
    let fields = lines.find_map(|line| line.strip_prefix(&format!("cpu{cpu} ")))?;
    // Documentation/scheduler/sched-stats.rst: the seventh is the sum of all time spent running by tasks.
    fields.split_whitespace().nth(6).filter(|_| version >= 15)?.parse().ok()
}

/// Time in which `cpu` was idle, without an idle period that goes on, and how long ago an idle period last began or ended there,
/// ns, in a text of /proc/timer_list. `None` where it does not say.
#[must_use]
pub fn idle_in(timer_list: &str, cpu: usize) -> Option<(u64, u64)> {
    let number = |text: &str| text.strip_suffix(" nsecs")?.parse::<u64>().ok();
    let now = timer_list.lines().find_map(|line| number(line.strip_prefix("now at ")?))?;
    let mut lines = timer_list.lines().skip_while(|line| line.trim() != format!("cpu: {cpu}"));
    lines.next()?;
    let mut of_cpu = lines.take_while(|line| !line.starts_with("cpu: "));
    let mut value = |key: &str| {
        let line = of_cpu.find_map(|line| line.trim().strip_prefix(key))?;
        number(line.trim_start_matches([' ', ':']))
    };
    let since = now.saturating_sub(value(".idle_entrytime")?);
    Some((value(".idle_sleeptime")?.saturating_add(value(".iowait_sleeptime")?), since))
}

/// CPU time that the calling process has used, all its threads, ns. By the raw call: what interposes on the C library's is not
/// asked.
///
/// # Errors
/// The error of clock_gettime.
pub fn of_this_process() -> Result<u64, CallError> {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that another process has used, all its threads, ns. clock_getcpuclockid(3).
///
/// # Errors
/// EINVAL where there is no such process.
pub fn of_process(pid: i32) -> Result<u64, CallError> {
    // The kernel's own: the number inverted, three bits for the kind; 2 is the time that the scheduler counts.
    clock_ns(!pid << 3 | 2)
}

/// CPU time that a thread of this process has used, ns. pthread_getcpuclockid(3).
///
/// # Errors
/// EINVAL where this process has no such thread.
pub fn of_thread(tid: i32) -> Result<u64, CallError> {
    clock_ns(!tid << 3 | 6)
}

/// How long a thread of this process was ready and did not run, ns. `None` where /proc does not say.
#[must_use]
pub fn waited(tid: i32) -> Option<u64> {
    let text = crate::file::text(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn time_is_that_of_the_cpus() {
        let before =
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 70 10 0 0 3 0 0\ncpu1 1 1 1 1 1 1 1 1 5 5\nintr 5\n";
        let after = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 15 0 10 83 12 0 0 3 0 0\ncpu1 1 1 1 1 1 1 1 1 5 5\n";
        let share = |cpus: &[usize]| of(after, cpus)?.idle_share(&of(before, cpus)?);
        assert_eq!(share(&[0]), Some(0.75));
        assert_eq!(share(&[1]), None, "no time has passed");
        assert_eq!(share(&[7]), None, "there is none");
        assert_eq!(of(before, &[0, 1]).map(|time| (time.stolen_ns(), time.all)), Some((40_000_000, 111)));
    }

    #[test]
    fn what_is_no_time_is_unknown_and_what_is_too_large_stays_the_largest() {
        for text in
            ["", "cpu0\n", "cpu0 1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 x\n", "cpu-0 1 1 1 1 1 1 1 1\n"]
        {
            assert_eq!(of(text, &[0]), None, "{text}");
        }
        let most = format!("cpu0 {0} {0} {0} {0} {0} {0} {0} {0}\n", u64::MAX);
        let time = of(&most.repeat(2), &[0]).expect("named");
        assert_eq!((time.idle, time.stolen_ns(), time.all), (u64::MAX, u64::MAX, u64::MAX));
    }

    #[test]
    fn the_busy_time_of_a_cpu_is_found_in_schedstat() {
        let text = "version 15\ntimestamp 4295\ncpu0 0 0 1 2 3 4 500000001 600 7\ndomain0 3 0 0\ncpu10 0 0 0 0 0 0 9 0 0\n";
        assert_eq!(busy_in(text, 0), Some(500_000_001));
        assert_eq!(busy_in(text, 10), Some(9));
        assert_eq!(busy_in(text, 1), None, "cpu10 is not cpu1");
        assert_eq!(busy_in(&text.replace("15", "14"), 0), None, "it was counted in ticks");
        for text in ["", "version 15\ncpu0 1 2 3 4 5 6\n", "version x\ncpu0 0 0 0 0 0 0 9 0 0\n"] {
            assert_eq!(busy_in(text, 0), None, "{text}");
        }
    }

    #[test]
    fn the_idle_time_of_a_cpu_is_found_in_timer_list() {
        let text = "Timer List Version: v0.10\nnow at 500 nsecs\n\ncpu: 0\n clock 0:\n  .idle_entrytime : 480 nsecs\n\
                      .idle_sleeptime : 7 nsecs\n  .iowait_sleeptime: 2 nsecs\n\
                    cpu: 1\n  .idle_calls : 5\n  .idle_entrytime : 501 nsecs\n\
                      .idle_sleeptime : 70 nsecs\n  .iowait_sleeptime: 0 nsecs\n";
        assert_eq!((idle_in(text, 0), idle_in(text, 1)), (Some((9, 20)), Some((70, 0))));
        assert_eq!(idle_in(text, 2), None);
        assert_eq!(idle_in(&text.replace("now at 500 nsecs", ""), 0), None);
        let (first, _) = text.split_once("  .idle_entrytime").expect("there");
        assert_eq!(idle_in(&format!("{first}cpu: 1\n  .idle_entrytime : 1 nsecs\n"), 0), None);
    }

    #[test]
    fn an_idle_period_that_goes_on_is_in_ticks_alone() {
        const MS: u64 = 1_000_000;
        let both = |ns: u64, since_ns: u64, ticks: u64| match idle_by_both(ns, since_ns, ticks * TICK_NS) {
            CpuAccount::Idle { ns, grain_ns } => (ns, grain_ns),
            CpuAccount::Busy(_) => panic!("it was idle"),
        };
        // Idle since 305 ms, or busy: the ticks say which.
        assert_eq!(both(703 * MS, 305 * MS, 100), (1000 * MS, 8 * MS));
        assert_eq!(both(703 * MS, 305 * MS, 70), (703 * MS, 17 * MS), "two counters lack a tick each");
        assert_eq!(both(703 * MS, 20_000, 70), (703 * MS, 20_000), "it has just begun, or ended");
        for ticks in [0, 70, 100] {
            assert_eq!(both(703 * MS, 0, ticks), (703 * MS, 0), "a CPU that is not idle has it all in ns");
        }
    }

    #[test]
    fn cpu_time_grows_by_what_is_used() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let before = (of_this_process().expect("a clock"), of_process(own).expect("a clock"));
        let start = clock::now_ns();
        while clock::now_ns() - start < 5_000_000 {}
        let used = of_this_process().expect("a clock") - before.0;
        assert!(used > 0, "{used}");
        assert!(of_process(own).expect("a clock") > before.1);
        assert!(of_thread(own).is_ok(), "the first thread has the number of the process");
        assert_eq!(
            of_thread(2).map_err(|error| error.errno),
            Err(libc::EINVAL),
            "that is a thread of another"
        );
    }

    #[test]
    fn this_machine_has_an_account_of_its_first_cpu() {
        let cpu = crate::affinity::allowed().expect("affinity")[0];
        let expected = std::path::Path::new("/proc/stat").exists();
        assert_eq!(CpuAccount::of(cpu).is_some(), expected);
    }
}
