//! Real-time messages on machines that lack something: no loopback device, no priority for each of four causes, no memory to
//! lock, no descriptors, no room in queues, one CPU; and a user who ends the run.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use oscost_results::{Figure, Mark, RunResult, Status};

use crate::support::{Done, Home, PROGRAM, Running, finished, is_root, measured, one_at_a_time, skip};

const NOBODY: &str = "65534";

/// A quick run of two transports to few clients after `prepare` in a shell, under `outer`.
fn run(home: &Home, outer: &[&str], prepare: &str, options: &[&str]) -> (Done, Option<RunResult>) {
    let usual = ["run", "realtime_ipc", "--quick", "--set", "placement=same_cpu"];
    let done = measured(|| {
        let mut command = match outer.split_first() {
            Some((program, arguments)) => {
                let mut command = home.other(program);
                command.args(arguments).arg("sh");
                command
            }
            None => home.other("sh"),
        };
        command.args(["-c", &format!("{prepare} && exec \"$0\" \"$@\""), PROGRAM]).args(usual).args(options);
        command
    });
    let result = home.stored().pop();
    (done, result)
}

fn figure<'a>(result: &'a RunResult, part: &str) -> &'a Figure {
    result.figures.iter().find(|figure| figure.id.contains(part)).expect("a figure")
}

/// sent = received + dropped + missed, over all launches.
fn accounted(figure: &Figure) {
    let of = |name: &str| figure.quantities[name].estimate.value;
    assert_eq!(of("sent"), of("received") + of("dropped") + of("missed"), "{}", figure.id);
}

#[test]
#[ignore = "longer: it withholds"]
fn without_a_loopback_device_the_others_are_measured_and_queues_of_one_lose_nothing_unsaid() {
    if !is_root() {
        return skip("without_a_loopback_device", "a network namespace needs root");
    }
    let home = Home::new();
    let options =
        ["--set", "transport=udp,tcp,unix_datagram", "--set", "clients=3", "--set", "load=transfer"];
    let prepare = "echo 0 > /proc/sys/net/unix/max_dgram_qlen";
    let (done, result) = run(&home, &["unshare", "-n"], prepare, &options);
    let result = result.expect("a result");
    for name in ["udp", "tcp", "unix_datagram"] {
        let figure = figure(&result, &format!("/{name}/"));
        let why = figure.why.clone().unwrap_or_default();
        assert!(why.contains("loopback"), "{name}: {why}");
        assert_eq!(figure.status, Status::Unsupported, "{name}: the load needs it, too");
    }
    assert_eq!(done.code, Some(3), "they were asked for by name: {done:?}");
    let home = Home::new();
    let options = ["--set", "transport=udp,unix_datagram", "--set", "clients=3"];
    let (_, result) = run(&home, &["unshare", "-n"], prepare, &options);
    let result = result.expect("a result");
    let measured = figure(&result, "/unix_datagram/");
    assert_eq!(measured.status, Status::Measured, "{:?}", measured.why);
    accounted(measured);
}

#[test]
#[ignore = "longer: it withholds"]
fn whoever_may_have_little_is_told_what_is_too_little() {
    let home = Home::new();
    let options = [
        "--set",
        "transport=pipe,futex_broadcast",
        "--set",
        "clients=200",
        "--set",
        "tick=10ms",
        "--set",
        "ticks=20",
    ];
    // No memory to lock, and fewer descriptors than the pipes need.
    let (_, result) = run(&home, &[], "ulimit -l 0 && ulimit -n 64", &options);
    let result = result.expect("a result");
    let pipe = figure(&result, "/pipe/");
    assert_eq!(pipe.status, Status::Unsupported, "{:?}", pipe.why);
    assert!(pipe.remedy.as_deref().is_some_and(|remedy| remedy.contains("ulimit -n")), "{:?}", pipe.remedy);
    let futex = figure(&result, "/futex_broadcast/");
    assert_eq!(futex.status, Status::Measured, "{:?}", futex.why);
    accounted(futex);
}

#[test]
#[ignore = "longer: it withholds"]
fn one_cpu_has_nowhere_to_spread() {
    let home = Home::new();
    let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0].to_string();
    let arguments =
        ["run", "realtime_ipc", "--quick", "--cpu", &cpu, "--set", "transport=futex_broadcast,spin"];
    let done = home.measure(&[&arguments[..], &["--set", "clients=2", "--set", "ticks=20"]].concat());
    let result = home.stored().pop().expect("a result");
    for figure in &result.figures {
        let expected = if figure.placement == "spread" { Status::Unsupported } else { Status::Measured };
        assert_eq!(figure.status, expected, "{}: {:?}", figure.id, figure.why);
    }
    assert!(done.stdout.contains("needs 2 CPUs"), "{done:?}");
}

#[test]
#[ignore = "longer: it withholds"]
fn without_a_priority_figures_are_marked_and_say_why() {
    if !is_root() {
        return skip("without_a_priority_figures_are_marked", "only root can be another user");
    }
    let home = Home::new();
    std::fs::create_dir(home.path().join("state")).expect("a folder");
    std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o755)).expect("opened");
    std::os::unix::fs::chown(home.path().join("state"), Some(65_534), Some(65_534)).expect("given");
    let program = home.path().join("oscost");
    std::fs::copy(PROGRAM, &program).expect("a copy that anybody may start");
    let drop = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    let done = measured(|| {
        let mut command = home.other("prlimit");
        command.args(["--nproc=40", "--rtprio=0"]).args(drop).arg(&program);
        command.args(["run", "realtime_ipc", "--quick", "--set", "placement=same_cpu", "--set", "ticks=20"]);
        command.args(["--set", "transport=futex_broadcast", "--set", "clients=2,100"]);
        command
    });
    if done.stderr.contains("prlimit") || done.stderr.contains("setpriv") {
        return skip("without_a_priority_figures_are_marked", done.stderr.trim());
    }
    let result = home.stored().pop().expect("a result");
    let few = figure(&result, "futex_broadcast/same_cpu/clients_2");
    assert_eq!(few.status, Status::Measured, "{:?}", few.why);
    assert!(few.marks.contains(&Mark::NotRealTime));
    let why = few.remarks.iter().find(|remark| remark.starts_with("not real-time: ")).expect("a cause");
    assert!(why.contains("no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0"), "{why}");
    assert!(done.stdout.contains("NOT REAL-TIME"), "{done:?}");
    accounted(few);
    // More clients than this user may have processes.
    let many = figure(&result, "futex_broadcast/same_cpu/clients_100");
    let why = many.why.clone().unwrap_or_default();
    assert_eq!(many.status, Status::Failed, "{why}");
    assert!(why.contains("ulimit -u"), "{why}");
}

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
        return skip(
            "the_four_causes_of_a_refusal",
            "only who has the priority can be refused it for each cause",
        );
    }
    let home = Home::new();
    // 1 and 2: neither capability nor limit; a limit that is too low.
    let without = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"];
    for (limit, words) in
        [("--rtprio=0", "no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0"), ("--rtprio=10", "RLIMIT_RTPRIO is 10")]
    {
        let done = required(&home, &[&["prlimit", limit][..], &without].concat());
        if done.stderr.contains("setpriv: ") || done.stderr.contains("prlimit: ") {
            skip("the_four_causes_of_a_refusal", done.stderr.trim());
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
        let begun = Instant::now();
        while std::fs::remove_dir(&cgroup).is_err() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        done.refused(5, "cpu.rt_runtime_us");
    } else {
        skip("the_four_causes_of_a_refusal", "no cgroup with a real-time runtime");
    }
    // 4: a filter for the call, and one for its real-time policy alone. seccomp(2); numbers of x86-64.
    if !cfg!(target_arch = "x86_64") {
        return skip("the_four_causes_of_a_refusal", "the filters are written for x86-64");
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
            return skip("the_four_causes_of_a_refusal", "no filter may be set");
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
    let begun = Instant::now();
    let left = || {
        let own = |text: &str| {
            text.split('\0').any(|word| word == mark)
                || text.contains("__worker\0") && text.contains(&format!("\0{pid}\0"))
        };
        let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| own(&String::from_utf8_lossy(line))).count()
    };
    while left() > 0 && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left(), 0, "nobody is left");
}

#[test]
#[ignore = "longer: it withholds"]
fn idle_cpus_that_are_kept_awake_are_said_to_be() {
    if oscost_sys::affinity::allowed().expect("CPUs").len() < 2 {
        return skip("idle_cpus_that_are_kept_awake", "one CPU");
    }
    let home = Home::new();
    let arguments =
        ["run", "realtime_ipc", "--quick", "--set", "transport=futex_broadcast", "--set", "clients=1"];
    let done = home.measure(&[&arguments[..], &["--set", "placement=spread", "--idle-cpu", "poll"]].concat());
    done.well();
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
