//! Real-time messages where a priority is refused for each of four causes, where a user ends the run, and where CPUs are kept awake.
//! What else a machine may lack is a row of the campaign, `campaign/lacks.rs`.

use std::process::Command;
use std::time::Duration;

use crate::support::{
    Done, Home, PROGRAM, Running, finished, is_root, one_at_a_time, processes, skip, within,
};

/// What `--require-realtime` says under `outer`, before anything is measured.
fn required(home: &Home, outer: &[&str]) -> Done {
    let (first, others) = outer.split_first().expect("a program");
    let mut command: Command = home.other(first);
    command.args(others).arg(PROGRAM).args(["run", "realtime_ipc", "--quick", "--require-realtime"]);
    finished(&mut command)
}

#[test]
fn the_four_causes_of_a_refusal_are_told_apart() {
    if !is_root() || oscost_sys::scheduling::probe_real_time().is_err() {
        return skip("only who has the priority can be refused it for each cause");
    }
    let home = Home::new();
    // 1 and 2: neither capability nor limit; a limit that is too low.
    let without = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"];
    for (limit, words) in
        [("--rtprio=0", "no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0"), ("--rtprio=10", "RLIMIT_RTPRIO is 10")]
    {
        let done = required(&home, &[&["prlimit", limit][..], &without].concat());
        if done.stderr.contains("setpriv: ") || done.stderr.contains("prlimit: ") {
            skip(done.stderr.trim());
            continue;
        }
        done.refused(5, words);
    }
    // 3: a cgroup without runtime.
    let cgroup = std::path::PathBuf::from(format!("/sys/fs/cgroup/cpu/oscost-test-{}", std::process::id()));
    if cgroup.parent().is_some_and(|parent| parent.join("cpu.rt_runtime_us").exists())
        && std::fs::create_dir(&cgroup).is_ok()
    {
        let tasks = cgroup.join("tasks");
        let script = "echo $$ > \"$0\" && exec \"$@\"";
        let done = required(&home, &["sh", "-c", script, tasks.to_str().expect("text")]);
        within(60, || std::fs::remove_dir(&cgroup).is_ok());
        done.refused(5, "cpu.rt_runtime_us");
    } else {
        skip("no cgroup with a real-time runtime");
    }
    // 4: a filter for the call, and one for its real-time policy alone. seccomp(2); numbers of x86-64.
    if !cfg!(target_arch = "x86_64") {
        return skip("the filters are written for x86-64");
    }
    let all = "pack('SCCL',0x20,0,0,0).pack('SCCL',0x15,0,1,144).pack('SCCL',6,0,0,0x50001).pack('SCCL',6,0,0,0x7fff0000)";
    let real_time = "pack('SCCL',0x20,0,0,0).pack('SCCL',0x15,0,4,144).pack('SCCL',0x20,0,0,24).pack('SCCL',0x54,0,0,3).\
         pack('SCCL',0x15,0,1,2).pack('SCCL',6,0,0,0x50001).pack('SCCL',6,0,0,0x7fff0000)";
    for filter in [all, real_time] {
        let script = format!(
            "my $f = {filter}; my $p = pack('Sx6P', length($f) / 8, $f); syscall(157, 38, 1, 0, 0, 0); \
             syscall(157, 22, 2, $p) == 0 or die 'no filter'; exec @ARGV"
        );
        let done = required(&home, &["perl", "-e", &script]);
        if done.stderr.contains("no filter") {
            return skip("no filter may be set");
        }
        done.refused(5, "a seccomp filter refuses the call");
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn a_run_that_the_user_ends_leaves_nobody_in_real_time() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let mark = format!("{}.125", 30_000 + std::process::id() % 10_000);
    let load = format!("load_command=setsid sleep {mark} & sleep {mark}");
    let mut command =
        home.command(&["run", "realtime_ipc", "-v", "--set", "transport=futex_broadcast", "--set", &load]);
    let running = Running::until(&mut command, "launch 2 of");
    std::thread::sleep(Duration::from_millis(700));
    let pid = running.child.id();
    running.signal("INT");
    let done = running.end();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(home.stored()[0].partial);
    let own = |text: &str| {
        text.split('\0').any(|word| word == mark)
            || text.contains("__worker\0") && text.contains(&format!("\0{pid}\0"))
    };
    assert!(within(60, || processes(own) == 0), "nobody is left");
}

#[test]
#[ignore = "longer: it withholds"]
fn idle_cpus_that_are_kept_awake_are_said_to_be() {
    if oscost_sys::affinity::allowed().expect("CPUs").len() < 2 {
        return skip("one CPU");
    }
    let home = Home::new();
    let arguments =
        ["run", "realtime_ipc", "--quick", "--set", "transport=futex_broadcast", "--set", "clients=1"];
    home.measure(&[&arguments[..], &["--set", "placement=spread", "--idle-cpu", "poll"]].concat()).well();
    let result = home.stored().pop().expect("a result");
    let held =
        Command::new("sh").args(["-c", "exec 3> /dev/cpu_dma_latency"]).status().is_ok_and(|it| it.success());
    let how = if held { "/dev/cpu_dma_latency is held at 0" } else { "by processes of the lowest class" };
    assert!(result.warnings.iter().any(|warning| warning.contains(how)), "{how}: {:?}", result.warnings);
    let placed =
        result.conditions.unknown.get("spread_cpus").and_then(|cpus| cpus.as_array()).expect("an order");
    let distances: Vec<f64> = placed.iter().skip(1).filter_map(|cpu| cpu["ns"].as_f64()).collect();
    assert!(distances.is_sorted(), "the nearest first: {distances:?}");
    assert_eq!(placed[0]["ns"].as_f64(), Some(0.0));
}
