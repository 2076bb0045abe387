//! limits: machines and sandboxes that lack something, or that lose it in the middle. The program measures what it can, says
//! what is missing, and never ends with a figure that is none.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::{Mark, RunResult, Status};
use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::{self, Left, ground};
use crate::{Amount, Outcome, Provocation, crowd};

/// A lack.
struct Lack {
    name: &'static str,
    user: User,
    /// A shell makes it, and becomes the program.
    prepare: &'static str,
    arguments: &'static [&'static str],
    codes: &'static [i32],
    /// What is said of it, on either stream.
    words: &'static [&'static str],
    needs: Option<&'static str>,
}

const fn lack(
    name: &'static str,
    prepare: &'static str,
    arguments: &'static [&'static str],
    codes: &'static [i32],
    words: &'static [&'static str],
) -> Lack {
    Lack { name, user: User::Own, prepare, arguments, codes, words, needs: None }
}

const OBJECTS: &[&str] =
    &["run", "--force", "--quick", "semaphore/posix_named", "semaphore/posix_unnamed", "semaphore/system_v"];
const ONE: &[&str] = &["run", "--force", "--quick", "syscall/getppid"];
const SESSION: &[&str] = &["run", "--force", "--quick", "realtime_ipc/unix_datagram/same_cpu/clients_1"];
const STRICT: &[&str] =
    &["run", "--force", "--quick", "--require-realtime", "realtime_ipc/unix_datagram/same_cpu/clients_1"];
/// A sandbox that refuses a call from the first on.
const REFUSE_RT: &str =
    "exec strace -f -qq -o /dev/null -e inject=sched_setscheduler,sched_setattr:error=EPERM -- \"$0\" \"$@\"";

/// A limit of 10, which even root may not set everywhere: the kernel keeps to 0, and a library says 10.
const SHOW_LIMIT: &str = r#"cc -shared -fPIC -x c -o /mnt/limit.so - <<'C' || exit 99
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>
int getrlimit(__rlimit_resource_t which, struct rlimit *limit) {
    int (*real)(__rlimit_resource_t, struct rlimit *) = dlsym(RTLD_NEXT, "getrlimit");
    int done = real(which, limit);
    if (which == RLIMIT_RTPRIO) limit->rlim_cur = limit->rlim_max = 10;
    return done;
}
C
export LD_PRELOAD=/mnt/limit.so"#;

const LACKS: &[Lack] = &[
    lack(
        "System V semaphores 0",
        "echo 0 0 0 0 >/proc/sys/kernel/sem",
        &["run", "--force", "--quick", "semaphore/system_v"],
        &[3],
        &["kernel.sem"],
    ),
    lack(
        "System V queues 0",
        "echo 0 >/proc/sys/kernel/msgmni",
        &["run", "--force", "--quick", "lock/system_v_message"],
        &[0, 3],
        &["ipc limits"],
    ),
    lack(
        "POSIX queues 0",
        "echo 0 >/proc/sys/fs/mqueue/queues_max; ulimit -q 0",
        &["run", "--force", "--quick", "context_switch/posix_queue/same_cpu"],
        &[0, 3],
        &["queue"],
    ),
    lack("8 descriptors", "ulimit -n 8", ONE, &[2, 3, 4, 5], &[]),
    lack("16 descriptors", "ulimit -n 16", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    Lack {
        user: User::Nobody,
        ..lack("1 process", "exec prlimit --nproc=1 -- \"$0\" \"$@\"", ONE, &[2, 3, 4, 5], &[])
    },
    lack("no locked memory", "ulimit -l 0", OBJECTS, &[0], &[]),
    Lack {
        user: User::Nobody,
        ..lack("no locked memory, unprivileged", "ulimit -l 0", OBJECTS, &[0, 3], &[])
    },
    lack(
        "no POSIX queues in bytes",
        "ulimit -q 0",
        &["run", "--force", "--quick", "context_switch/posix_queue/same_cpu"],
        &[0, 3],
        &[],
    ),
    lack("no file may grow far", "ulimit -f 8", ONE, &[4, 5], &[]),
    lack("400 MB of addresses", "ulimit -v 400000", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    lack("64 MB of addresses", "ulimit -v 65536", ONE, &[0, 2, 3, 4, 5, 70], &[]),
    lack("a stack of 256 KB", "ulimit -s 256", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    lack("/tmp is read-only", "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp", OBJECTS, &[0], &[]),
    lack("/dev/shm is read-only", "mount -t tmpfs -o ro none /dev/shm", OBJECTS, &[0, 3], &[]),
    lack(
        "no /dev",
        "mount -t tmpfs none /dev",
        &["run", "--force", "--quick", "semaphore/posix_unnamed"],
        &[0],
        &[],
    ),
    lack("no /proc", "mount -t tmpfs none /proc", OBJECTS, &[0, 3], &[]),
    lack("no /sys", "mount -t tmpfs none /sys", OBJECTS, &[0], &[]),
    lack("no HOME", "unset HOME XDG_STATE_HOME", ONE, &[0, 4], &[]),
    lack("HOME is not there", "export HOME=/dev/null/home XDG_STATE_HOME=/dev/null/state", ONE, &[0, 4], &[]),
    Lack {
        user: User::Nobody,
        ..lack("HOME is read-only", "export HOME=/sys XDG_STATE_HOME=/sys/state", ONE, &[0, 4], &["/sys"])
    },
    lack(
        "no namespaces",
        "exec unshare -U -r sh -c 'for kind in user ipc mnt pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 0; done; exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        OBJECTS,
        &[0],
        &[],
    ),
    Lack {
        needs: Some("strace"),
        ..lack(
            "no ptrace and no seccomp",
            "exec strace -f -qq -o /dev/null -e inject=ptrace,seccomp:error=EPERM -- \"$0\" \"$@\"",
            ONE,
            &[0, 3],
            &[],
        )
    },
    lack(
        "1 CPU",
        "exec taskset -c 0 \"$0\" \"$@\"",
        &["run", "--force", "--quick", "context_switch/pipe/cross_cpu"],
        &[3],
        &["CPUs"],
    ),
    lack("1 CPU, a session", "exec taskset -c 0 \"$0\" \"$@\"", SESSION, &[0, 3], &[]),
    Lack {
        user: User::Nobody,
        ..lack("no real time: capability", "ulimit -r 0", SESSION, &[0], &["NOT REAL-TIME"])
    },
    Lack {
        user: User::Nobody,
        ..lack("no real time: capability, required", "ulimit -r 0", STRICT, &[5], &["CAP_SYS_NICE"])
    },
    Lack {
        user: User::Nobody,
        needs: Some("cc"),
        ..lack("no real time: limit", SHOW_LIMIT, STRICT, &[5], &["RLIMIT_RTPRIO is 10"])
    },
    Lack { needs: Some("strace"), ..lack("no real time: seccomp", REFUSE_RT, STRICT, &[5], &["seccomp"]) },
    lack(
        "no loopback",
        "exec unshare -n -- \"$0\" \"$@\"",
        &["run", "--force", "--quick", "realtime_ipc/udp/same_cpu/clients_1"],
        &[0, 3],
        &["loopback"],
    ),
];

/// A lack, or something that changes in the middle of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Limit {
    Lack(usize),
    /// The CPUs of everything that runs are taken away but one.
    CpusShrink,
    /// The cgroup may use a fifth of a CPU.
    Quota,
    /// The cgroup may use nothing in real time.
    NoRealTime,
    /// A thread in real time that never sleeps, beside one that wants to.
    Runaway,
}

pub fn run(amount: Amount) -> Outcome {
    let mut provocations: Vec<Provocation> =
        (0..LACKS.len()).map(|index| Provocation::Limit(Limit::Lack(index))).collect();
    let times = if amount.full { 20 } else { 1 };
    for _ in 0..times {
        provocations.push(Provocation::Limit(Limit::CpusShrink));
        provocations.push(Provocation::Limit(Limit::Quota));
    }
    provocations.push(Provocation::Limit(Limit::NoRealTime));
    provocations.push(Provocation::Limit(Limit::Runaway));
    crowd::sum(crowd::all(&provocations))
}

impl Limit {
    pub fn carry_out(&self) -> Outcome {
        match self {
            Self::Lack(index) => LACKS[*index].carry_out(),
            Self::CpusShrink => cpus_shrink(),
            Self::Quota => quota(),
            Self::NoRealTime => no_real_time(),
            Self::Runaway => runaway(),
        }
    }
}

impl Lack {
    fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        if !space::is_root() && self.user == User::Nobody {
            outcome.skipped.push(format!("{}: only root can become an unprivileged user", self.name));
            return outcome;
        }
        if let Some(needs) = self.needs.filter(|needs| !program::is_here(needs)) {
            outcome.skipped.push(format!("{}: {needs} is not installed", self.name));
            return outcome;
        }
        let before = Left::now();
        let done = program::run(&mut program::after(self.user, self.prepare, self.arguments));
        outcome.count("lacks", 1);
        if done.code() == Some(99) {
            outcome.skipped.push(format!("{}: it cannot be made here", self.name));
            return outcome;
        }
        program::ended_well(&done, self.codes, self.name, &mut outcome);
        for words in self.words.iter().filter(|words| !done.said().contains(**words)) {
            outcome.fail(format!("{}: '{words}' is not said: {}", self.name, done.said()));
        }
        if done.code() != Some(0) && done.said().trim().is_empty() {
            outcome.fail(format!("{}: nothing is said", self.name));
        }
        let result = newest(self.user);
        for figure in result.iter().flat_map(|result| &result.figures) {
            if figure.status == Status::Measured && figure.launches.is_empty() {
                outcome.fail(format!("{}: {} has a figure and no launch", self.name, figure.id));
            }
        }
        for left in
            space::quiet().into_iter().chain(before.since().into_iter().filter(|it| it != "/tmp/state"))
        {
            outcome.fail(format!("{}: {left}", self.name));
        }
        outcome
    }
}

/// The newest stored result of a user.
pub fn newest(user: User) -> Option<RunResult> {
    let mut names = space::names(&program::runs(user));
    // What is remembered of the machine lies beside the results.
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    oscost_results::load(&program::runs(user).join(names.pop()?)).ok()
}

/// Starts a run and waits for its first launch.
fn started(arguments: &[&str], outcome: &mut Outcome) -> Option<std::process::Child> {
    let child = program::oscost(User::Own, arguments).spawn().ok()?;
    let patience = Instant::now() + Duration::from_secs(30);
    while !std::fs::read_to_string(ground("stderr")).unwrap_or_default().contains("launch 1 of") {
        if Instant::now() > patience {
            outcome.fail("no launch began within 30 s");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(child)
}

fn cpus_shrink() -> Outcome {
    let mut outcome = Outcome::default();
    let allowed = oscost_sys::affinity::allowed().unwrap_or_default();
    let [first, .., last] = allowed[..] else {
        outcome.skipped.push("CPUs that shrink: there is one".to_owned());
        return outcome;
    };
    // Everything is pinned to the last CPU, and is moved to the first one while it measures.
    let cpu = last.to_string();
    let run = ["run", "--force", "-v", "--thorough", "--cpu", &cpu, "syscall/getppid"];
    let Some(child) = started(&run, &mut outcome) else { return outcome };
    let shrink = Instant::now();
    while shrink.elapsed() < Duration::from_secs(2) {
        for id in space::names(Path::new("/proc")).into_iter().filter(|name| name.parse::<u32>().is_ok()) {
            let is_worker = std::fs::read_to_string(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.contains("__worker"));
            if is_worker {
                let _ = Command::new("taskset")
                    .args(["-a", "-p", "-c", &first.to_string(), &id])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let done = program::finish(child);
    outcome.count("times that CPUs were taken away", 1);
    program::ended_well(&done, &[0, 3, 130], "CPUs shrink", &mut outcome);
    let noticed = newest(User::Own).is_some_and(|result| {
        result.figures.iter().any(|figure| figure.evidence.void_launches > 0 || figure.why.is_some())
    });
    if noticed {
        outcome.count("times that CPUs were taken away, noticed", 1)
    } else {
        outcome.fail(format!("CPUs shrink: not noticed: {}", done.said()))
    }
    outcome
}

/// A quota stops launches: the figure says so, and says nothing of the kind without one in a control group of the same kind.
fn quota() -> Outcome {
    let mut outcome = Outcome::default();
    let run = ["run", "--force", "--quick", "syscall/getppid"];
    let period = "cpu.cfs_period_us=100000";
    let stopped = || {
        let result = newest(User::Own)?;
        let figure = result.figures.iter().find(|figure| figure.id == "syscall/getppid")?;
        let said = figure.remarks.iter().any(|remark| remark.contains("a CPU quota stopped launches"));
        Some((said, figure.marks.contains(&Mark::Noisy)))
    };
    let Some(free) = in_cgroup(&[period, "cpu.cfs_quota_us=-1"], &run, &mut outcome) else { return outcome };
    program::ended_well(&free, &[0, 3], "no quota", &mut outcome);
    match stopped() {
        Some((false, _)) => {}
        Some((true, _)) => {
            outcome.skipped.push("quota: another one stops whatever runs here".to_owned());
            return outcome;
        }
        None => outcome.fail(format!("no quota: no figure: {}", free.words())),
    }
    let Some(done) = in_cgroup(&[period, "cpu.cfs_quota_us=20000"], &run, &mut outcome) else {
        return outcome;
    };
    outcome.count("quotas", 1);
    program::ended_well(&done, &[0, 3], "quota", &mut outcome);
    match stopped() {
        Some((true, true)) => outcome.count("quotas, noticed", 1),
        other => outcome.fail(format!("quota: said and marked: {other:?}: {}", done.said())),
    }
    outcome
}

/// The cause that even root meets: its cgroup has no time for real time.
fn no_real_time() -> Outcome {
    let mut outcome = Outcome::default();
    let Some(done) = in_cgroup(&["cpu.rt_runtime_us=0"], STRICT, &mut outcome) else { return outcome };
    outcome.count("lacks", 1);
    program::ended_well(&done, &[5], "no real time: cgroup", &mut outcome);
    if !done.said().contains("cpu.rt_runtime_us") {
        outcome.fail(format!("no real time: cgroup: the cause is not said: {}", done.said()));
    }
    outcome
}

/// Runs in a cgroup (version 1) of its own with these settings; `None` where none can be made.
fn in_cgroup(settings: &[&str], arguments: &[&str], outcome: &mut Outcome) -> Option<program::Done> {
    let group = format!("/sys/fs/cgroup/cpu/oscost-campaign-{:x}", rand_number());
    let mut prepare = format!("mkdir {group} || exit 99\n");
    for (name, value) in settings.iter().filter_map(|setting| setting.split_once('=')) {
        prepare += &format!("echo {value} >{group}/{name} || exit 99\n");
    }
    prepare += &format!("echo $$ >{group}/tasks || exit 99");
    let done = program::run(&mut program::after(User::Own, &prepare, arguments));
    let _ = space::quiet();
    let _ = std::fs::remove_dir(&group);
    if done.code() == Some(99) {
        let what = settings.join(" ");
        outcome.skipped.push(format!("{what}: no such cgroup (version 1) can be made here"));
        return None;
    }
    Some(done)
}

fn rand_number() -> u128 {
    oscost_sys::random::bits().unwrap_or(u128::from(std::process::id()))
}

/// A library that makes every sleep of a real-time thread a loop without an end.
const SLEEPLESS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *remain) {
    if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER) for (;;) __asm__ volatile("");
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = dlsym(RTLD_NEXT, "clock_nanosleep");
    return real(clock, flags, request, remain);
}
"#;

/// A real-time loop that never sleeps is ended by its limit, and who shares its CPU goes on: a session whose server cannot
/// sleep, and this process on the same CPU.
fn runaway() -> Outcome {
    let mut outcome = Outcome::default();
    if !space::is_root() || !program::is_here("cc") {
        outcome.skipped.push("a runaway in real time: it needs root and a C compiler".to_owned());
        return outcome;
    }
    let (source, library) = (ground("sleepless.c"), ground("sleepless.so"));
    std::fs::write(&source, SLEEPLESS).unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        outcome.fail("the library that cannot sleep cannot be compiled");
        return outcome;
    }
    let Some(&cpu) = oscost_sys::affinity::allowed().unwrap_or_default().first() else { return outcome };
    if oscost_sys::affinity::pin_to(cpu).is_err() {
        outcome.fail("this process cannot be pinned");
        return outcome;
    }
    let prepare = format!("export LD_PRELOAD={}", library.display());
    let cpu = cpu.to_string();
    let run =
        ["run", "--force", "--one-launch", "--cpu", &cpu, "realtime_ipc/futex_broadcast/same_cpu/clients_1"];
    let mut child = program::after(User::Own, &prepare, &run).spawn().unwrap();
    // Who has another beside it in the same class gets the CPU back within some ms; longer gaps are the loop's.
    const GAP: Duration = Duration::from_millis(50);
    let begun = Instant::now();
    let (mut last, mut looked, mut longest) = (begun, begun, Duration::ZERO);
    while begun.elapsed() < Duration::from_secs(30) {
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
        if now - looked > Duration::from_millis(20) {
            looked = now;
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    // As much as is left of the 2.5 s in which one loop begins.
    let share = 1.0 - longest.as_secs_f64() / 2.5;
    outcome.count("runaways", 1);
    outcome.count("ms that the longest loop had the CPU", longest.as_millis() as u64);
    if longest < GAP {
        outcome.fail("the loop did not come about");
    }
    if longest > Duration::from_millis(500) || share < 0.9 {
        outcome.fail(format!("a runaway had the CPU for {longest:?}, a bystander kept {share:.3} of 2.5 s"));
    }
    for left in space::quiet() {
        outcome.fail(format!("a runaway: {left}"));
    }
    outcome
}
