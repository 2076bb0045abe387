//! Runs that something spoils: who traces, filters, interposes, renices or hides what is counted is found out, and what
//! nobody could count is not called checked.

use std::process::Command;

use oscost_results::{Figure, Mark, RunResult, Verdict};

use crate::support::{Done, Home, PROGRAM, one_at_a_time, skip};

const IDS: [&str; 2] = ["syscall/getppid", "context_switch/pipe/same_cpu"];

/// One launch of [`IDS`] under `outer`, a program that starts another; `None` where nothing was saved.
fn spoiled(home: &Home, outer: &[&str], environment: &[(&str, &str)]) -> (Done, Option<RunResult>) {
    let _lock = one_at_a_time();
    let words: Vec<&str> = outer.iter().copied().chain([PROGRAM]).collect();
    let mut command = home.other(words[0]);
    command
        .args(&words[1..])
        .args(["run", "--force", "--quiet", "--one-launch", "--json", "out.json"])
        .args(IDS);
    command.envs(environment.iter().copied());
    let done = Done::from(command.output().expect("the program can be started"));
    let result = oscost_results::load(&home.path().join("out.json")).ok();
    (done, result)
}

fn figures(result: &RunResult) -> [&Figure; 2] {
    IDS.map(|id| result.figures.iter().find(|figure| figure.id == id).expect("the figure"))
}

/// A C library of these lines in the home; `None` where there is no compiler.
fn library(home: &Home, name: &str, source: &str) -> Option<String> {
    let (file, library) = (home.path().join("source.c"), home.path().join(name));
    std::fs::write(&file, source).expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).status();
    built.is_ok_and(|status| status.success()).then(|| library.to_str().expect("text").to_owned())
}

#[test]
#[ignore = "longer: it deceives"]
fn nothing_spoils_the_usual_run() {
    let home = Home::new();
    let (done, result) = spoiled(&home, &["env"], &[]);
    done.well();
    for figure in figures(&result.expect("a result")) {
        assert_eq!(figure.evidence.verdict, Verdict::Checked, "{figure:?}");
        for mark in [Mark::Interposed, Mark::Reniced] {
            assert!(!figure.marks.contains(&mark), "{:?}", figure.marks);
        }
        let circumstances = &figure.launches[0].circumstances;
        assert_eq!(circumstances.tracer_pid, Some(0));
        assert_eq!(circumstances.preload.as_deref(), Some(&[][..]));
    }
}

#[test]
#[ignore = "longer: it deceives"]
fn partners_that_nobody_may_look_at_leave_figures_unchecked() {
    let home = Home::new();
    let script = "mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    let outer = if crate::support::is_root() { "-m" } else { "-rm" };
    let (done, result) = spoiled(&home, &["unshare", outer, "sh", "-c", script], &[]);
    if done.stderr.contains("mount:") || done.stderr.contains("unshare:") {
        return skip("partners_that_nobody_may_look_at", "/proc cannot be hidden here");
    }
    done.well();
    let result = result.expect("a result");
    let [alone, pair] = figures(&result);
    assert_eq!((pair.evidence.verdict, pair.evidence.switches), (Verdict::Unchecked, None));
    assert_eq!(pair.evidence.migrations, None);
    assert!(pair.remarks.iter().any(|remark| remark.contains("on which CPU")), "{:?}", pair.remarks);
    // getrusage speaks of the measuring thread; of a tracer only /proc does.
    assert_eq!((alone.evidence.verdict, alone.evidence.voluntary_switches), (Verdict::Unchecked, Some(0.0)));
    assert!(alone.remarks.iter().any(|remark| remark.contains("traced")), "{:?}", alone.remarks);
}

#[test]
#[ignore = "longer: it deceives"]
fn a_nice_value_a_policy_and_interposed_libraries_are_marked() {
    let home = Home::new();
    let (done, result) = spoiled(&home, &["nice", "-n", "4", "chrt", "-b", "0"], &[]);
    done.well();
    for figure in figures(&result.expect("a result")) {
        assert!(figure.marks.contains(&Mark::Reniced), "{:?}", figure.marks);
        let circumstances = &figure.launches[0].circumstances;
        assert_eq!(circumstances.policy.as_deref(), Some("batch"));
        assert!(circumstances.nice.is_some_and(|nice| nice >= 4));
    }
    let Some(library) = library(&home, "libbeside.so", "int oscost_beside;\n") else {
        return skip("interposed_libraries_are_marked", "no C compiler");
    };
    let (done, result) = spoiled(&home, &["env"], &[("LD_PRELOAD", &library)]);
    done.well();
    let result = result.expect("a result");
    let linked_statically = cfg!(target_feature = "crt-static");
    for figure in figures(&result) {
        assert_eq!(figure.marks.contains(&Mark::Interposed), !linked_statically, "{:?}", figure.marks);
    }
}

/// A shell that never rests on this CPU, until it is dropped.
struct Neighbour(std::process::Child);

impl Neighbour {
    fn on(cpu: usize) -> std::io::Result<Self> {
        let cpu = cpu.to_string();
        Command::new("taskset").args(["-c", &cpu, "sh", "-c", "while :; do :; done"]).spawn().map(Self)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it is ended");
    }
}

#[test]
#[ignore = "longer: it deceives"]
fn a_neighbour_on_a_measured_cpu_is_seen() {
    let _lock = one_at_a_time();
    let cpus = oscost_sys::affinity::allowed().expect("CPUs");
    let mut ids = IDS.to_vec();
    let mut neighbours = vec![cpus[0]];
    if let Some(&second) = cpus.get(1) {
        // Beside the partner, too: a slower partner slows the operation.
        ids.push("context_switch/pipe/cross_cpu");
        neighbours.push(second);
    }
    let list: Vec<String> = cpus.iter().take(2).map(ToString::to_string).collect();
    for neighbour in neighbours {
        let home = Home::new();
        let Ok(_busy) = Neighbour::on(neighbour) else {
            return skip("a_neighbour_on_a_measured_cpu", "no taskset");
        };
        let mut command = home.command(&["run", "--force", "--quiet", "--one-launch", "--json", "out.json"]);
        command.args(["--cpu", &list.join(",")]).args(&ids);
        let done = Done::from(command.output().expect("the program can be started"));
        done.well();
        let result = oscost_results::load(&home.path().join("out.json")).expect("a result");
        for figure in &result.figures {
            let beside = neighbour == cpus[0] || figure.placement == "cross_cpu";
            let share = figure.launches[0].foreign_share;
            if beside {
                assert!(figure.marks.contains(&Mark::Shared), "{}: {share:?}", figure.id);
                assert!(share.is_some_and(|share| share > 0.1), "{}: {share:?}", figure.id);
                assert!(figure.evidence.void_launches > 0, "{}: it is tried again first", figure.id);
            }
        }
    }
}

/// Slows clock_gettime of the monotonic clocks to half their rate, from the given reading on.
const HALF_RATE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static int (*real)(clockid_t, struct timespec *);
static long long since[16];
static unsigned long made, from;
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!real) {
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        from = getenv("HALF_FROM") ? strtoul(getenv("HALF_FROM"), 0, 10) : 0;
    }
    int result = real(clock, time);
    if (result || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_RAW)) return result;
    if (made++ < from) return 0;
    long long ns = time->tv_sec * 1000000000LL + time->tv_nsec;
    if (!since[clock]) since[clock] = ns;
    ns = since[clock] + (ns - since[clock]) / 2;
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    return 0;
}
"#;

#[test]
#[ignore = "longer: it deceives"]
fn a_clock_at_half_its_rate_stops_the_run_and_leaves_nothing() {
    let home = Home::new();
    if cfg!(target_feature = "crt-static") {
        return skip("a_clock_at_half_its_rate", "nothing interposes on a static program");
    }
    let Some(library) = library(&home, "libslow.so", HALF_RATE) else {
        return skip("a_clock_at_half_its_rate", "no C compiler");
    };
    // From the first reading, and from one in the middle of the rounds of a launch.
    for from in ["0", "230000"] {
        let lie = [("LD_PRELOAD", library.as_str()), ("HALF_FROM", from)];
        let (done, result) = spoiled(&home, &["env"], &lie);
        done.refused(5, "times the rate of the kernel's own CLOCK_MONOTONIC");
        assert!(result.is_none(), "{from}: nothing is saved");
        assert!(home.stored().is_empty() && home.leftovers().is_empty(), "{:?}", home.leftovers());
        assert!(!done.stdout.contains("checked"), "{done:?}");
    }
}
