//! `oscost doctor`: findings as text and JSON, exit codes, and the instrument tested on this machine.

use std::os::unix::process::CommandExt;

use crate::filter::{EPERM, below, refusing};
use crate::support::{Done, Home, finished, is_root, measured, skip};

fn states(json: &str) -> Vec<(String, String)> {
    let checks: Vec<serde_json::Value> = serde_json::from_str(json).expect("JSON");
    let text = |check: &serde_json::Value, key: &str| check[key].as_str().expect("text").to_owned();
    checks.iter().map(|check| (text(check, "check"), text(check, "state"))).collect()
}

#[test]
fn unfit_is_a_code_and_says_why() {
    let home = Home::new();
    let done = home.ask(&["doctor", "--check", "--json"]);
    let states = states(&done.stdout);
    assert_eq!(states.len(), 23, "{states:?}");
    // Either a check that reaches floors in any case, or one that says so by itself.
    let floors = ["clock_source", "clock_rate", "seccomp", "tracing"];
    let checks: Vec<serde_json::Value> = serde_json::from_str(&done.stdout).expect("JSON");
    let bad: Vec<_> = checks
        .iter()
        .filter(|it| {
            it["unfit"] == true || it["state"] == "disturbs" && floors.iter().any(|name| it["check"] == *name)
        })
        .collect();
    match done.code {
        Some(0) => assert!(bad.is_empty(), "{bad:?}"),
        Some(5) => assert!(done.stderr.contains("unfit to measure"), "{done:?}"),
        _ => panic!("{done:?}"),
    }
    let told = home.ask(&["doctor"]);
    assert_eq!(told.code, Some(0), "without --check it only tells");
    // The last line is the answer.
    let answer = if bad.is_empty() { "fit to measure: floors hold" } else { "unfit to measure: " };
    assert!(told.stdout.lines().last().is_some_and(|last| last.starts_with(answer)), "{told:?}");
}

/// What `doctor` says of a check below a filter, and its remedy; `None` where no filter may be set.
fn of_check(done: &Done, name: &str) -> Option<(String, String)> {
    if done.stderr.contains("no filter") {
        return None;
    }
    let checks: Vec<serde_json::Value> = serde_json::from_str(&done.stdout).expect("JSON");
    let check = checks.into_iter().find(|check| check["check"] == name).expect("the check");
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    Some((text("says"), text("remedy")))
}

#[test]
fn what_a_filter_refuses_only_the_engine_of_the_container_gives_back() {
    let home = Home::new();
    for call in ["unshare", "mount"] {
        let filter = refusing(&[(call, EPERM), ("perf_event_open", EPERM), ("sched_setscheduler", EPERM)]);
        let done = finished(&mut below(&home, &filter, &["doctor", "--json"]));
        let Some((says, remedy)) = of_check(&done, "privileges") else {
            return skip("no filter may be set");
        };
        assert!(says.contains(&format!("{call} failed")), "{says}");
        assert!(remedy.contains("--security-opt seccomp=unconfined"), "{remedy}");
        assert!(remedy.contains("allows unshare and mount") && remedy.contains("restricted"), "{remedy}");
        // Neither gets past a filter.
        assert!(!remedy.contains("sysctl") && !remedy.contains("as root"), "{remedy}");
        let (_, remedy) = of_check(&done, "real_time").expect("below the filter");
        assert!(remedy.contains("a profile that allows sched_setscheduler"), "{remedy}");
        if std::path::Path::new("/proc/sys/kernel/perf_event_paranoid").exists() {
            let (says, _) = of_check(&done, "facilities").expect("below the filter");
            assert!(says.contains("perf: refused by a filter (perf_event_open failed"), "{says}");
        }
    }
}

#[test]
fn in_a_container_no_ulimit_gives_real_time() {
    let home = Home::new();
    // Root as containers have it, with the limit that they have, below a filter.
    let mut command = home.other("prlimit");
    command.args(["--rtprio=0", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "perl", "-e"]);
    command.arg(refusing(&[("perf_event_open", EPERM)])).args([crate::support::PROGRAM, "doctor", "--json"]);
    let Ok(output) = command.output() else { return skip("no prlimit") };
    let done = Done::from(output);
    if done.code != Some(0) {
        return skip(done.stderr.trim());
    }
    let (says, remedy) = of_check(&done, "real_time").expect("below the filter");
    assert!(says.contains("no CAP_SYS_NICE"), "{says}");
    assert!(remedy.contains("--ulimit rtprio=99") && !remedy.contains("ulimit -r"), "{remedy}");
    let (says, _) = of_check(&done, "privileges").expect("below the filter");
    assert!(says.contains("--ulimit rtprio=99") && !says.contains("ulimit -r"), "{says}");
}

#[test]
fn it_says_which_c_library_is_measured() {
    let home = Home::new();
    let done = home.ask(&["doctor", "--json"]);
    let (says, _) = of_check(done.well(), "c_library").expect("no filter");
    let library = oscost_sys::identity::libc_version();
    assert!(says.starts_with(&library), "{says}");
    assert_eq!(says.contains("inside the program"), cfg!(target_feature = "crt-static"), "{says}");
    assert!(home.ask(&["doctor"]).well().stdout.contains(&library));
}

/// A traced program is unfit: every system call stops for the tracer.
#[test]
fn a_traced_machine_is_unfit() {
    let home = Home::new();
    if !std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("strace").exists()))
    {
        return skip("strace is not installed");
    }
    let mut command = home.other("strace");
    command.args(["-o", "/dev/null", crate::support::PROGRAM, "doctor", "--check"]);
    finished(&mut command).refused(5, "tracing");
    // A gate does not pass because nobody reads why.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    finished(command.stdout(writer)).refused(5, "tracing");
}

#[test]
#[ignore = "longer: it measures for long"]
fn the_instrument_is_right_here_whoever_asks() {
    let home = Home::new();
    let own = home.measure(&["doctor", "--verify", "--json"]);
    let other = is_root().then(|| {
        // Somebody who owns nothing and may do nothing.
        let mut command = home.command(&["doctor", "--verify", "--json"]);
        measured(command.uid(65_534).gid(65_534).current_dir("/"))
    });
    for done in [Some(own), other].into_iter().flatten() {
        let states = states(&done.stdout);
        let names: Vec<&str> = states.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["known_cost", "audit", "clock_step", "same_again"]);
        // Counts are exact on any machine that counts at all; how small a change is seen is the machine's.
        assert_eq!(states[1].1, "fine", "{done:?}");
        assert!(matches!(done.code, Some(0 | 5)), "{done:?}");
        assert_eq!(done.code == Some(5), states.iter().any(|(_, state)| state == "disturbs"), "{done:?}");
    }
}
