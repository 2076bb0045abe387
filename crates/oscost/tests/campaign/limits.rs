//! limits: machines and sandboxes that lack something (`lacks.rs`), or that lose it in the middle. The program measures what it
//! can, says what is missing, and never ends with a figure that is none.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::{Mark, RunResult, Status};
use serde::{Deserialize, Serialize};

use crate::lacks::{LACKS, STRICT};
use crate::left::Left;
use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd};

/// A lack, or something that changes in the middle of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Limit {
    Lack(usize),
    /// The CPUs of everything that runs are taken away but one.
    CpusShrink,
    /// The cgroup may use a fifth of a CPU.
    Quota,
    /// The cgroup (version 2) may use a fifth of a CPU, or 64 MiB.
    Unified {
        memory: bool,
    },
    /// The cgroup (version 1) may use so many MiB.
    Memory {
        most: u32,
    },
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
    for memory in [false, true] {
        provocations.push(Provocation::Limit(Limit::Unified { memory }));
    }
    for most in [2, 8, 24] {
        provocations.push(Provocation::Limit(Limit::Memory { most }));
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
            Self::Unified { memory } => unified(*memory),
            Self::Memory { most } => memory(*most),
            Self::NoRealTime => no_real_time(),
            Self::Runaway => runaway(),
        }
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
        return outcome.skip("CPUs that shrink: there is one");
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
    let run = "run --force --quick syscall/getppid";
    let period = "cpu.cfs_period_us=100000";
    let stopped = || {
        let result = newest(User::Own)?;
        let figure = result.figures.iter().find(|figure| figure.id == "syscall/getppid")?;
        let said = figure.remarks.iter().any(|remark| remark.contains("a CPU quota stopped launches"));
        Some((said, figure.marks.contains(&Mark::Noisy), figure.status))
    };
    let Some(free) = in_cgroup(&[period, "cpu.cfs_quota_us=-1"], run, &mut outcome) else { return outcome };
    program::ended_well(&free, &[0, 3], "no quota", &mut outcome);
    match stopped() {
        Some((false, ..)) => {}
        Some((true, ..)) => {
            return outcome.skip("quota: another one stops whatever runs here");
        }
        None => outcome.fail(format!("no quota: no figure: {}", free.words())),
    }
    // So little that others, who take CPUs away, do not leave less.
    let Some(done) = in_cgroup(&[period, "cpu.cfs_quota_us=8000"], run, &mut outcome) else {
        return outcome;
    };
    outcome.count("quotas", 1);
    program::ended_well(&done, &[0, 3], "quota", &mut outcome);
    match stopped() {
        Some((true, true, _)) => outcome.count("quotas, noticed", 1),
        // Its launches did not come to their end in time, and there is no figure to mark.
        Some((_, _, Status::Failed)) => outcome.count("quotas that left no figure", 1),
        other => outcome.fail(format!("quota: said and marked: {other:?}: {}", done.said())),
    }
    outcome
}

/// Version 2 of control groups: the same quota, or little memory. Where version 1 has the controllers, there is nothing to try.
fn unified(memory: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let root = mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words.get(2) == Some(&"cgroup2")).then(|| words[1].to_owned())
    });
    let wanted = if memory { "memory" } else { "cpu" };
    let has = |root: &String| {
        let controllers = std::fs::read_to_string(format!("{root}/cgroup.controllers")).unwrap_or_default();
        controllers.split_whitespace().any(|it| it == wanted)
    };
    let Some(root) = root.filter(has) else {
        return outcome.skip(format!("cgroup v2: there is none with the controller '{wanted}'"));
    };
    let group = format!("{root}/oscost-campaign-{:x}", rand_number());
    let (file, value) = if memory { ("memory.max", "64M") } else { ("cpu.max", "20000 100000") };
    let prepare = format!(
        "echo +{wanted} >{root}/cgroup.subtree_control; mkdir {group} || exit 99
         echo {value} >{group}/{file} || exit 99
         echo $$ >{group}/cgroup.procs || exit 99"
    );
    let what = format!("cgroup v2, {file} {value}");
    little(&what, &prepare, &group, if memory { &[0, 2, 3, 4, 5] } else { &[0, 3] }, &mut outcome);
    let noisy = |result: RunResult| result.figures.iter().any(|figure| figure.marks.contains(&Mark::Noisy));
    if !memory && outcome.skipped.is_empty() && !newest(User::Own).is_some_and(noisy) {
        outcome.fail(format!("{what}: not noticed"));
    }
    outcome
}

/// Little memory: whoever is ended for it is told of, and nobody waits for him.
fn memory(most: u32) -> Outcome {
    let mut outcome = Outcome::default();
    let group = format!("/sys/fs/cgroup/memory/oscost-campaign-{:x}", rand_number());
    let prepare = format!(
        "mkdir {group} || exit 99
         echo {most}M >{group}/memory.limit_in_bytes || exit 99
         echo $$ >{group}/tasks || exit 99"
    );
    let what = format!("{most} MiB of memory");
    little(&what, &prepare, &group, &[0, 2, 3, 4, 5], &mut outcome);
    outcome
}

/// A run in a control group, which is removed; one that the kernel ends as a whole (signal 9) leaves nothing either.
fn little(what: &str, prepare: &str, group: &str, codes: &[i32], outcome: &mut Outcome) {
    let before = Left::now();
    let run = "run --force --quick syscall/getppid lock/system_v_message";
    let done = program::run(&mut program::after(User::Own, prepare, run));
    let _ = space::quiet();
    let _ = std::fs::remove_dir(group);
    if done.code() == Some(99) {
        outcome.skipped.push(format!("{what}: no such cgroup can be made here"));
        return;
    }
    outcome.count("lacks", 1);
    let ended_by_kernel = done.status.is_some_and(|status| status.signal() == Some(9));
    if ended_by_kernel {
        outcome.count("leaders that the kernel ended for want of memory", 1);
    } else {
        program::ended_well(&done, codes, what, outcome);
    }
    before.blame(what, outcome);
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
fn in_cgroup(settings: &[&str], arguments: &str, outcome: &mut Outcome) -> Option<program::Done> {
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

/// How long the host has kept CPU `cpu` from this machine since its start.
fn stolen_of(cpu: &str) -> Duration {
    let all = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = all.lines().find_map(|line| line.strip_prefix(&format!("cpu{cpu} ")));
    let ticks = line.and_then(|line| line.split(' ').nth(7)?.parse().ok()).unwrap_or(0);
    // In hundredths of a second, whatever the kernel's own ticks are.
    Duration::from_millis(10 * ticks)
}

/// A real-time loop that never sleeps is ended by its limit, and who shares its CPU goes on: a session whose server cannot
/// sleep, and this process on the same CPU.
fn runaway() -> Outcome {
    let mut outcome = Outcome::default();
    if !space::is_root() || !program::is_here("cc") {
        return outcome.skip("a runaway in real time: it needs root and a C compiler");
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
        return outcome.failed("the library that cannot sleep cannot be compiled");
    }
    let Some(&cpu) = oscost_sys::affinity::allowed().unwrap_or_default().first() else { return outcome };
    if oscost_sys::affinity::pin_to(cpu).is_err() {
        return outcome.failed("this process cannot be pinned");
    }
    let prepare = format!("export LD_PRELOAD={}", library.display());
    let cpu = cpu.to_string();
    let run = format!("run --force --one-launch --cpu {cpu} realtime_ipc/futex_broadcast/same_cpu/clients_1");
    let mut child = program::after(User::Own, &prepare, &run).spawn().unwrap();
    // Who has another beside it in the same class gets the CPU back within some ms; longer gaps are the loop's.
    const GAP: Duration = Duration::from_millis(50);
    // RLIMIT_RTTIME kills the loop after so much of the CPU.
    const PROMISED: Duration = Duration::from_millis(500);
    let begun = Instant::now();
    let (mut last, mut looked, mut stolen) = (begun, begun, stolen_of(&cpu));
    let mut longest = Duration::ZERO;
    // Since the longest one: how long others had the CPU, and when that began.
    let (mut kept_away, mut since, mut ended) = (Duration::ZERO, begun, None);
    while begun.elapsed() < Duration::from_secs(30) {
        let now = Instant::now();
        if now - last > GAP {
            // What the host took meanwhile is nobody's here.
            let gap = (now - last).saturating_sub(stolen_of(&cpu).saturating_sub(stolen));
            kept_away += gap;
            if gap > longest {
                (longest, kept_away, since) = (gap, Duration::ZERO, now);
            }
        }
        last = now;
        if now - looked > Duration::from_millis(20) {
            looked = now;
            stolen = stolen_of(&cpu);
            if ended.is_none() && child.try_wait().unwrap().is_some() {
                ended = Some(now);
            }
            // Long enough to tell a rate.
            if ended.is_some_and(|ended| now - ended > Duration::from_secs(2)) {
                break;
            }
        }
    }
    let rate = 1.0 - kept_away.as_secs_f64() / since.elapsed().as_secs_f64();
    let _ = child.kill();
    let _ = child.wait();
    outcome.count("runaways", 1);
    outcome.count("ms that the longest loop had the CPU", longest.as_millis() as u64);
    if longest < GAP {
        outcome.fail("the loop did not come about");
    }
    if longest > PROMISED {
        outcome.fail(format!("a runaway had the CPU for {longest:?} at a stretch"));
    }
    if rate < 0.9 {
        outcome.fail(format!("after a runaway a bystander had {rate:.3} of its rate"));
    }
    for left in space::quiet() {
        outcome.fail(format!("a runaway: {left}"));
    }
    outcome
}
