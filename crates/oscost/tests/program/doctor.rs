//! `oscost doctor`: findings as text and JSON, exit codes, and the instrument tested on this machine.

use std::os::unix::process::CommandExt;

use crate::support::{Home, is_root, measured, skip};

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
    assert_eq!(states.len(), 22, "{states:?}");
    let floors = ["clock_source", "clock_rate", "cgroup_quota", "seccomp", "tracing"];
    let bad: Vec<_> =
        states.iter().filter(|(check, state)| state == "disturbs" && floors.contains(&&**check)).collect();
    match done.code {
        Some(0) => assert!(bad.is_empty(), "{bad:?}"),
        Some(5) => assert!(done.stderr.contains("unfit to measure"), "{done:?}"),
        _ => panic!("{done:?}"),
    }
    assert_eq!(home.ask(&["doctor"]).code, Some(0), "without --check it only tells");
}

/// A traced program is unfit: every system call stops for the tracer.
#[test]
fn a_traced_machine_is_unfit() {
    let home = Home::new();
    if !std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("strace").exists()))
    {
        return skip("a_traced_machine_is_unfit", "strace is not installed");
    }
    let mut command = home.other("strace");
    command.args(["-o", "/dev/null", crate::support::PROGRAM, "doctor", "--check"]);
    let done: crate::support::Done = command.output().expect("strace").into();
    done.refused(5, "tracing");
}

#[test]
fn the_instrument_is_right_here_whoever_asks() {
    let home = Home::new();
    let own = home.measure(&["doctor", "--verify", "--json"]);
    let other = is_root().then(|| {
        // Somebody who owns nothing and may do nothing.
        measured(|| {
            let mut command = home.command(&["doctor", "--verify", "--json"]);
            command.uid(65_534).gid(65_534).current_dir("/");
            command
        })
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
