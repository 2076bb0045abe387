//! What a result says of how its run was made: two runs that differ in it are not held against each other unawares.

use std::process::Command;

use oscost_results::{RemarkCode, RunResult, quantity};

use crate::filter::{EPERM, refusing};
use crate::support::{Done, Home, PROGRAM, is_root, measured, one_at_a_time, skip};

/// A short run by this command, with what it left.
fn run(home: &Home, mut command: Command) -> RunResult {
    Done::from(command.output().expect("the program starts")).well();
    oscost_results::load(&home.path().join("out.json")).expect("a result")
}

const RUN: [&str; 6] = ["run", "--one-launch", "--json", "out.json", "syscall/getppid", "-q"];

#[test]
fn a_run_says_how_it_was_made() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let plain = run(&home, home.command(&RUN)).conditions;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id");
    assert_eq!(plain.boot_id.as_deref(), Some(boot.trim_end()));
    assert_eq!((plain.idle_cpu.as_deref(), plain.cpu_option), (Some("both"), None));
    assert_eq!(plain.preload, Some(Vec::new()));
    let nice = plain.nice.expect("it is known");

    // As somebody may start it who compares two ways to do something.
    let source = home.path().join("fast.c");
    std::fs::write(&source, "int oscost_interposed;\n").expect("written");
    let library = home.path().join("libfast.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !built.is_ok_and(|status| status.success()) {
        return skip("no C compiler");
    }
    let mut command = home.other("nice");
    command.args(["-n", "3", PROGRAM]).args(RUN).args(["--cpu", "0", "--idle-cpu", "poll"]);
    command.env("LD_PRELOAD", &library);
    let odd = run(&home, command).conditions;
    assert_eq!((odd.idle_cpu.as_deref(), odd.cpu_option.as_deref()), (Some("poll"), Some("0")));
    assert_eq!(odd.nice, Some((nice + 3).min(19)));
    assert_eq!(odd.policy, plain.policy);
    let preload = odd.preload.expect("it is known");
    let linked_statically = preload.is_empty() && cfg!(target_feature = "crt-static");
    assert!(linked_statically || preload == ["libfast.so"], "{preload:?}");
}

/// Without the device that root has, and below a filter that refuses the lowest class, the other CPU sleeps: there is one price.
#[test]
fn a_cpu_that_could_not_be_kept_awake_is_not_said_to_be() {
    const ID: &str = "context_switch/pipe/cross_cpu";
    if oscost_sys::affinity::allowed().expect("CPUs").len() < 2 {
        return skip("one CPU");
    }
    let home = Home::new();
    let filter = refusing(&[("sched_setscheduler", EPERM)]);
    let mut command = home.other(if is_root() { "setpriv" } else { "perl" });
    if is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "perl"]);
    }
    command.args(["-e", &filter, PROGRAM, "run", "--quick", "--force", "--json", "-", ID]);
    let done = measured(&mut command);
    if done.stderr.contains("no filter") {
        return skip("no filter may be set");
    }
    let result = oscost_results::from_bytes(done.stdout.as_bytes()).expect("a result");
    if done.stderr.contains("/dev/cpu_dma_latency is held") {
        return skip("anybody may ask for low latency here");
    }
    let user = if is_root() { 65534 } else { oscost_sys::identity::effective_uid() };
    assert_eq!(result.conditions.uid, Some(user));
    assert_eq!(result.conditions.kept_awake, None);
    let told = result.warnings.iter().find(|it| RemarkCode::of(it) == Some(RemarkCode::NotKeptAwake));
    assert!(told.is_some_and(|it| it.contains("sched_setscheduler") && it.contains("EPERM")), "{told:?}");
    let figure = result.figures.iter().find(|figure| figure.id == ID).expect("the figure");
    assert!(figure.quantities.contains_key("floor") && !figure.quantities.contains_key(quantity::ASLEEP));
}
