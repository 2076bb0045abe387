//! Real-time scheduling: asking for it, reading it back, and why it was refused. sched(7), sched_setscheduler(2).

use crate::usage::{Limit, limit, limit_of};
use crate::{CallError, error::check, process::Child};

/// Priority that is asked for: in the middle, never 99, where threads of the kernel live.
const PRIORITY: i32 = 50;
/// CPU time that a real-time thread may use without a wait, us: a signal ends it then, and a kill soon after.
const RUNAWAY_US: (u64, u64) = (200_000, 300_000);
/// Bit of CAP_SYS_NICE in a capability set; capabilities(7).
const SYS_NICE: u32 = 23;

/// How the kernel chooses among those that can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_OTHER: fair shares, no real time.
    Other,
    /// SCHED_RR: real time, in turns among equals.
    RoundRobin,
    /// SCHED_FIFO: real time, until it blocks.
    Fifo,
}

impl Policy {
    fn number(self) -> libc::c_int {
        match self {
            Self::Other => libc::SCHED_OTHER,
            Self::RoundRobin => libc::SCHED_RR,
            Self::Fifo => libc::SCHED_FIFO,
        }
    }
}

/// Sets policy and priority (1 to 99 in real time, else 0) of the calling thread; its children start without.
///
/// The raw call, because another libc's wrapper (musl's) refuses it.
///
/// # Errors
/// EPERM where it is refused ([`probe_real_time`] tells the cause), EINVAL for a priority out of range.
pub fn set(policy: Policy, priority: i32) -> Result<(), CallError> {
    // Who has it, and no flag, asks for nothing: not every kernel takes the flag (gVisor).
    if policy == Policy::Other && priority == 0 && number() == Ok(libc::SCHED_OTHER) {
        return Ok(());
    }
    // Whoever once had the flag, and has no CAP_SYS_NICE, may not put it down: sched(7).
    set_number(policy.number() | libc::SCHED_RESET_ON_FORK, priority)
}

/// The same in a process whose real-time threads the kernel ends if they run away: RLIMIT_RTTIME.
///
/// # Errors
/// Those of [`set`], getrlimit and setrlimit.
pub fn set_bounded(policy: Policy, priority: i32) -> Result<(), CallError> {
    if policy != Policy::Other {
        bound()?;
    }
    set(policy, priority)
}

/// From now on the kernel ends this process and its children if they run away in real time. A tighter limit of the caller stays:
/// nobody may raise it without CAP_SYS_RESOURCE.
///
/// # Errors
/// Those of getrlimit and setrlimit.
pub fn bound() -> Result<(), CallError> {
    let (soft, hard) = limit_of(Limit::RealTimeTime)?;
    limit(Limit::RealTimeTime, soft.min(RUNAWAY_US.0), hard.min(RUNAWAY_US.1))
}

fn set_number(number: libc::c_int, priority: libc::c_int) -> Result<(), CallError> {
    // SAFETY: the kernel reads one sched_param, which is a priority alone.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, number, &raw const priority) };
    check("sched_setscheduler", i32::try_from(result).unwrap_or(-1)).map(|_| ())
}

/// Number of the calling thread's policy, with its flag.
fn number() -> Result<libc::c_int, CallError> {
    // SAFETY: takes numbers only.
    let number = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    check("sched_getscheduler", i32::try_from(number).unwrap_or(-1))
}

fn priority() -> Result<libc::c_int, CallError> {
    let mut priority: libc::c_int = 0;
    // SAFETY: the kernel writes one sched_param, which is a priority alone, to a local variable.
    let result = unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) };
    check("sched_getparam", i32::try_from(result).unwrap_or(-1)).map(|_| priority)
}

/// Policy and priority of the calling thread as the kernel has them; `None` for a policy that oscost never sets.
///
/// # Errors
/// The error of sched_getscheduler or sched_getparam.
pub fn get() -> Result<Option<(Policy, i32)>, CallError> {
    let (number, priority) = (number()? & !libc::SCHED_RESET_ON_FORK, priority()?);
    let policy =
        [Policy::Other, Policy::RoundRobin, Policy::Fifo].into_iter().find(|it| it.number() == number);
    Ok(policy.map(|policy| (policy, priority)))
}

/// Policy of the calling thread, whichever it is: "other", "fifo", "rr", "batch", "idle", "deadline", or its number.
///
/// # Errors
/// The error of sched_getscheduler.
pub fn policy_name() -> Result<String, CallError> {
    Ok(match number()? & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => "other".to_owned(),
        libc::SCHED_FIFO => "fifo".to_owned(),
        libc::SCHED_RR => "rr".to_owned(),
        libc::SCHED_BATCH => "batch".to_owned(),
        libc::SCHED_IDLE => "idle".to_owned(),
        libc::SCHED_DEADLINE => "deadline".to_owned(),
        other => other.to_string(),
    })
}

/// Nice value of the calling thread, -20 (served most) to 19. getpriority(2).
///
/// # Errors
/// The error of getpriority.
pub fn nice() -> Result<i32, CallError> {
    // SAFETY: takes numbers only. The raw call, for it yields 20 - nice, and so never -1 but for an error.
    let turned = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) };
    check("getpriority", i32::try_from(turned).unwrap_or(-1)).map(|turned| 20 - turned)
}

/// Why real-time scheduling was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Neither CAP_SYS_NICE in the first user namespace nor a limit above 0.
    Capability,
    /// RLIMIT_RTPRIO is above 0, but below the priority that was asked for.
    Limit(u64),
    /// Everything else allows it: the cgroup has no real-time runtime (cpu.rt_runtime_us is 0).
    Cgroup,
    /// The call is refused even where it asks for nothing: a seccomp filter.
    Seccomp,
}

/// A refusal: what the call said, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulingRefusal {
    /// The call and its error.
    pub error: CallError,
    /// The cause.
    pub cause: Cause,
}

impl std::fmt::Display for SchedulingRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.error, self.cause.words())
    }
}

impl std::error::Error for SchedulingRefusal {}

impl Cause {
    /// The cause in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Capability => "no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0".to_owned(),
            Self::Limit(limit) => format!("RLIMIT_RTPRIO is {limit}, and {PRIORITY} is asked for"),
            Self::Cgroup => "the cgroup has no real-time runtime (cpu.rt_runtime_us)".to_owned(),
            Self::Seccomp => "a seccomp filter refuses the call".to_owned(),
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Capability => {
                "run as root, or as root: ulimit -r 50 (limits.conf: rtprio 50); in a container: --ulimit rtprio=50"
            }
            Self::Limit(_) => {
                "as root: ulimit -r 50 (limits.conf: rtprio 50); in a container: --ulimit rtprio=50"
            }
            Self::Cgroup => "as root: echo 950000 > cpu.rt_runtime_us of this cgroup and its parents",
            Self::Seccomp => "run outside the sandbox, or with --security-opt seccomp=unconfined",
        }
    }
}

/// Whether a process of this user may be scheduled SCHED_RR: tried in a child, which changes nothing for the caller.
///
/// # Errors
/// The refusal with its cause; the error of fork or wait stands as one without a better one.
pub fn probe_real_time() -> Result<(), SchedulingRefusal> {
    let Err(error) = tried(|| set(Policy::RoundRobin, PRIORITY)) else { return Ok(()) };
    let filtered = crate::watched::Watched::own().seccomp_mode.is_some_and(|mode| mode > 0);
    // Anybody may ask for what he has: who is refused that is filtered. Who is SCHED_IDLE may not ask for SCHED_OTHER.
    if filtered && tried(|| set_number(number()?, priority()?)).is_err() {
        return Err(SchedulingRefusal { error, cause: Cause::Seccomp });
    }
    let read = |path: &str| crate::file::text(path).unwrap_or_default();
    let limit = limit_of(Limit::RealTimePriority).map_or(0, |(soft, _)| soft);
    let own = cause(&read("/proc/self/status"), &read("/proc/self/uid_map"), limit);
    // A filter may refuse this very call. The cgroup is to blame where it says so, or where nobody filters.
    let cause = match own {
        Cause::Cgroup if filtered && runtime_of(&read("/proc/self/cgroup"), read) != Some(0) => {
            Cause::Seccomp
        }
        own => own,
    };
    Err(SchedulingRefusal { error, cause })
}

/// What becomes of a try in a child.
fn tried(ask: impl FnOnce() -> Result<(), CallError>) -> Result<(), CallError> {
    let child = Child::fork(move || ask().err().map_or(0, |error| error.errno))?;
    match child.wait()?.code {
        Some(0) => Ok(()),
        Some(errno) => Err(CallError::new("sched_setscheduler", errno)),
        None => Err(CallError::new("sched_setscheduler", libc::EPERM)),
    }
}

/// Real-time runtime of this process's cgroup, us; `None` where no controller says (cgroup v2 has none).
fn runtime_of(cgroup: &str, read: impl Fn(&str) -> String) -> Option<u64> {
    let (controllers, path) = cgroup.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|it| it == "cpu").then_some((controllers, path))
    })?;
    let text = read(&format!("/sys/fs/cgroup/{controllers}{}/cpu.rt_runtime_us", path.trim_end_matches('/')));
    text.trim().parse().ok()
}

/// The cause from what /proc says of this process.
fn cause(status: &str, uid_map: &str, limit: u64) -> Cause {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capable = set
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set >> SYS_NICE & 1 == 1);
    // A capability counts in the first user namespace alone, which maps every user to itself.
    let first = uid_map.split_whitespace().eq(["0", "0", "4294967295"]);
    match (capable && first, limit) {
        (true, _) => Cause::Cgroup,
        (false, limit) if limit >= PRIORITY.unsigned_abs().into() => Cause::Cgroup,
        (false, 0) => Cause::Capability,
        (false, limit) => Cause::Limit(limit),
    }
}

/// By how much the kernel may delay the timers of the calling thread, ns. prctl(2), PR_GET_TIMERSLACK.
///
/// # Errors
/// The error of prctl.
pub fn timer_slack_ns() -> Result<u32, CallError> {
    // SAFETY: PR_GET_TIMERSLACK takes no argument.
    check("prctl", unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }).map(i32::unsigned_abs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    const FIRST: &str = "         0          0 4294967295\n";

    #[test]
    fn nice_values_and_policies_are_read_back() {
        // Compared in the child: its code is a byte, and nice values may be below 0.
        let raised = |by: i32, to: i32| {
            code_of(move || {
                // SAFETY: takes a number only.
                let set = unsafe { libc::nice(by) };
                i32::from((set, nice()) != (to, Ok(to)))
            })
        };
        let now = nice().expect("this thread has one");
        assert_eq!(raised(1, (now + 1).min(19)), Some(0), "from {now}");
        assert_eq!(raised(40, 19), Some(0), "from {now}");
        let tried = |policy: libc::c_int, name: &'static str| {
            code_of(move || {
                let priority: libc::c_int = 0;
                // SAFETY: the kernel reads one sched_param, which is a priority alone.
                let set =
                    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
                i32::from(set != 0 || policy_name().ok().as_deref() != Some(name))
            })
        };
        assert_eq!(tried(libc::SCHED_BATCH, "batch"), Some(0));
        assert_eq!(tried(libc::SCHED_IDLE, "idle"), Some(0));
    }

    #[test]
    fn who_is_in_real_time_is_bounded_and_passes_it_to_no_child() {
        let code = code_of(|| {
            if set_bounded(Policy::RoundRobin, 7).is_err() {
                return 2;
            }
            let bounded =
                limit_of(Limit::RealTimeTime).is_ok_and(|(soft, hard)| soft <= 200_000 && hard <= 300_000);
            let inherits = Child::fork(|| i32::from(get() != Ok(Some((Policy::Other, 0)))));
            let code = inherits.and_then(Child::wait).map(|ended| ended.code);
            i32::from(get() != Ok(Some((Policy::RoundRobin, 7))) || !bounded || code != Ok(Some(0)))
        });
        match code {
            Some(2) => println!("SKIP who_is_in_real_time_is_bounded: real-time scheduling is refused"),
            code => assert_eq!(code, Some(0)),
        }
    }

    /// An ordinary user, as far as this one can become one, with so much real time by his limit.
    fn with_a_limit_alone(priority: u64) -> bool {
        const NOBODY: u32 = 65534;
        let limited = limit(Limit::RealTimePriority, priority, priority).is_ok();
        // SAFETY: setresuid touches no memory.
        let left = || unsafe { libc::setresuid(NOBODY, NOBODY, NOBODY) } == 0;
        limited && (crate::identity::effective_uid() != 0 || left())
    }

    #[test]
    fn who_has_real_time_by_a_limit_alone_can_leave_it() {
        let code = code_of(|| {
            if !with_a_limit_alone(99) || set_bounded(Policy::RoundRobin, 7).is_err() {
                return 2;
            }
            i32::from(set(Policy::Other, 0).is_err() || get() != Ok(Some((Policy::Other, 0))))
        });
        match code {
            Some(2) => {
                println!("SKIP who_has_real_time_by_a_limit_alone_can_leave_it: without real-time priority");
            }
            code => assert_eq!(code, Some(0)),
        }
    }

    #[test]
    fn who_is_idle_by_policy_is_not_told_of_a_filter_that_allows_everything() {
        let code = code_of(|| {
            let limited = with_a_limit_alone(0);
            let idle = crate::affinity::run_only_when_idle().is_ok();
            let filtered = crate::seccomp::Filter::one_rule().install().is_ok();
            if !(limited && idle && filtered) {
                return 2;
            }
            i32::from(probe_real_time().err().map(|refusal| refusal.cause) != Some(Cause::Capability))
        });
        match code {
            Some(2) => println!(
                "SKIP who_is_idle_by_policy_is_not_told_of_a_filter_that_allows_everything: one of both is refused here"
            ),
            code => assert_eq!(code, Some(0)),
        }
    }

    #[test]
    fn causes_are_told_apart() {
        let (none, all) = ("CapEff:\t0000000000000000\n", "CapEff:\t000001ffffffffff\n");
        assert_eq!(cause(none, FIRST, 0), Cause::Capability);
        assert_eq!(
            cause(all, "0 1000 1\n", 0),
            Cause::Capability,
            "a capability of a user namespace is none here"
        );
        assert_eq!(cause(none, FIRST, 10), Cause::Limit(10));
        assert_eq!(cause(none, FIRST, 50), Cause::Cgroup);
        assert_eq!(cause(all, FIRST, 0), Cause::Cgroup);
        assert_eq!(cause("", "", 0), Cause::Capability);
    }

    #[test]
    fn the_runtime_is_that_of_the_cgroup_with_the_cpu_controller() {
        let read = |path: &str| match path {
            "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.rt_runtime_us" => "0\n".to_owned(),
            "/sys/fs/cgroup/cpu/cpu.rt_runtime_us" => "950000\n".to_owned(),
            _ => String::new(),
        };
        assert_eq!(runtime_of("9:memory:/x\n4:cpu,cpuacct:/a/b\n0::/\n", read), Some(0));
        assert_eq!(runtime_of("1:cpu:/\n", read), Some(950_000));
        assert_eq!(runtime_of("0::/user.slice\n", read), None);
    }

    #[test]
    fn what_was_set_is_read_back() {
        let code = code_of(|| {
            let other = get() == Ok(Some((Policy::Other, 0)));
            let set = set(Policy::RoundRobin, 7);
            let read = get() == Ok(Some((Policy::RoundRobin, 7)));
            i32::from(!(other && (set.is_err() || read)))
        });
        assert_eq!(code, Some(0));
    }
}
