//! `explain --trace`: functions by ftrace where root and tracefs are there, else what is missing; nothing of it is left.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Home, is_root, skip, within};

/// Where instances of ftrace are, if they can be had here: a kernel that is locked down lists the tracer, and refuses functions.
fn instances() -> Option<PathBuf> {
    let places = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
    let place = places.into_iter().find(|place| {
        std::fs::read_to_string(place.join("available_tracers"))
            .is_ok_and(|tracers| tracers.contains("function "))
            && std::fs::File::open(place.join("available_filter_functions")).is_ok()
    })?;
    is_root().then(|| place.join("instances"))
}

/// Instances of this program.
fn there(place: &Path) -> Vec<std::ffi::OsString> {
    let names = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_str().is_some_and(|name| name.starts_with("oscost-"))).collect()
}

#[test]
fn what_is_called_is_listed_or_what_is_missing_is_told() {
    let home = Home::new();
    let done = home.ask(&["explain", "--trace", "syscall/getppid"]);
    if instances().is_some() {
        let text = &done.well().stdout;
        assert!(text.contains("sys_getppid") && text.contains("names, no counts"), "{text}");
        assert!(!text.contains("sys_write"), "the marks are no part of it: {text}");
    } else {
        done.refused(5, "syscall/getppid was not traced: ")
            .says("oscost count syscall/getppid --by-function");
    }
    for (id, why) in [
        ("context_switch/pipe/cross_cpu", "needs several CPUs"),
        ("clock/step/monotonic", "holds the clock itself"),
    ] {
        let done = home.ask(&["explain", "--trace", id]);
        done.refused(3, why).omits("oscost count");
    }
    home.ask(&["explain", "--trace", "syscall"]).refused(2, "--trace takes one id");
    home.ask(&["explain", "--trace", "getpid"]).refused(2, "2 figures: syscall/getpid, syscall/getpid_libc");
}

#[test]
fn a_killed_trace_leaves_no_instance() {
    let Some(place) = instances() else {
        return skip("root and tracefs with 'function' are needed");
    };
    let before = there(&place);
    let mut child = Command::new(env!("CARGO_BIN_EXE_oscost"))
        .args(["explain", "--trace", "syscall/getppid"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it was built");
    let more = || there(&place).into_iter().find(|name| !before.contains(name));
    assert!(within(60, || more().is_some() || child.try_wait().expect("ours").is_some()), "none was made");
    let _ = child.kill();
    let _ = child.wait();
    assert!(within(60, || more().is_none()), "{:?} is left", more());
}
