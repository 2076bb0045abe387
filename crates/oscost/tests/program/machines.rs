//! Machines that lack something: limits of a shell, files of /proc that never end, and too much privilege. What else they may lack is
//! a row of the campaign, `campaign/lacks.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Home, PROGRAM, finished, is_root, measured, skip};

#[test]
fn more_privilege_than_the_callers_is_refused() {
    if !is_root() {
        return skip("a set-user-ID file of another user needs root");
    }
    let home = Home::new();
    let program = home.path().join("oscost");
    fs::copy(PROGRAM, &program).unwrap();
    std::os::unix::fs::chown(&program, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let status = finished(home.other("findmnt").args(["-no", "OPTIONS", "-T"]).arg(&program));
    if status.stdout.contains("nosuid") {
        return skip("the temporary directory is mounted nosuid");
    }
    for arguments in [&["--version"][..], &["run"], &["__worker", "1", "3", "-"]] {
        finished(home.other(program.to_str().unwrap()).args(arguments)).refused(5, "more privilege");
    }
}

/// Files that the program and the C library read of their own accord.
const READ: &str = "/proc/stat /proc/cpuinfo /proc/meminfo /proc/locks /proc/loadavg /proc/uptime /proc/interrupts /proc/version \
                    /proc/sys/kernel/sem /proc/sys/kernel/random/boot_id /proc/sysvipc/sem /etc/passwd \
                    /sys/devices/system/clocksource/clocksource0/current_clocksource";

#[test]
#[ignore = "longer: it withholds"]
fn files_of_proc_that_never_end_stop_nothing() {
    if !is_root() {
        return skip("mounting over files of /proc needs root");
    }
    let home = Home::new();
    home.measure(&["run", "--one-launch", "-q", "instrument/empty_loop"]).well();
    assert!(home.other("mkfifo").arg("pipe").status().unwrap().success());
    for what in ["/dev/zero", "pipe"] {
        let prepare = format!(
            "for file in {READ}; do [ ! -e $file ] || mount --bind {what} $file || exit 99; done; \
             exec timeout -s KILL 300 \"$0\" \"$@\""
        );
        for arguments in [
            &["doctor"][..],
            &["report", "@-1"],
            &["run", "--force", "--one-launch", "-q", "instrument/empty_loop", "syscall/getppid"],
        ] {
            let mut command = home.other("unshare");
            command.env("SUDO_UID", "1000").env("SUDO_GID", "1000");
            let done = finished(command.args(["-m", "sh", "-c", &prepare, PROGRAM]).args(arguments));
            if done.code == Some(99) {
                return skip("nothing can be mounted over files of /proc here");
            }
            assert!(matches!(done.code, Some(0 | 3)), "{what}: {arguments:?}: {done:?}");
        }
    }
}

#[test]
fn too_little_stack_is_said() {
    let home = Home::new();
    let with = |kib: u32, command: &str| {
        let script = format!("ulimit -s {kib}; exec \"$0\" {command}");
        finished(home.other("sh").args(["-c", &script, PROGRAM]))
    };
    for command in ["--version", "list", "run --help", "compare", "compare --bisect @-1 syscall/getppid"] {
        let done = with(64, command);
        assert!(matches!(done.code, Some(5 | 255)), "{command}: {done:?}");
        assert!(
            done.stderr.contains("64 KiB") && done.stderr.contains("ulimit -s 8192"),
            "{command}: {done:?}"
        );
    }
    for command in ["--version", "list", "run --help", "explain semaphore/system_v"] {
        assert_eq!(with(512, command).code, Some(0), "{command}");
    }
}

/// Every limit that a shell sets: the program ends with a promised code and a sentence, or does what it was asked for.
#[test]
fn no_limit_ends_the_program_without_a_sentence() {
    let home = Home::new();
    std::os::unix::fs::chown(home.path(), is_root().then_some(65534), None).expect("chown");
    let with = |limit: &str, arguments: &[&str]| {
        let mut command = home.other(if is_root() { "setpriv" } else { "prlimit" });
        if is_root() {
            command.args(["--reuid=65534", "--clear-groups", "prlimit"]);
        }
        measured(command.args([limit, "--", PROGRAM]).args(arguments))
    };
    if with("--nofile=1024", &["--version"]).code != Some(0) {
        return skip("no prlimit, or nobody else reaches the program");
    }
    for (limit, codes, words) in [
        ("--stack=65536", &[5][..], "ulimit -s"),
        ("--nofile=4", &[4, 5], "open files"),
        ("--nofile=6", &[3, 4, 5], "open files"),
        ("--nofile=12", &[0, 3, 4, 5], "open files"),
        ("--nproc=0", &[0, 5], "ulimit -u"),
        ("--fsize=0", &[4, 5], "File too large"),
        ("--fsize=8192", &[4], "File too large"),
        ("--memlock=0", &[0], ""),
        ("--core=0", &[0], ""),
        ("--as=400000000", &[0, 3, 4, 5], "memory"),
        ("--as=100000000", &[0, 3, 4, 5], "memory"),
    ] {
        // Where the loader of programs finds no room, no program begins.
        if !matches!(with(limit, &["--version"]).code, Some(0 | 5)) {
            continue;
        }
        let done = with(limit, &["run", "--force", "--one-launch", "-q", "instrument/empty_loop"]);
        assert!(done.code.is_some_and(|code| codes.contains(&code)), "{limit}: {done:?}");
        let told = format!("{}{}", done.stdout, done.stderr);
        assert!(done.code == Some(0) || told.contains(words), "{limit}: {done:?}");
        for arguments in [&["list"][..], &["explain", "syscall/getppid"], &["doctor"]] {
            // It takes seconds: with limits that its probes meet.
            if arguments == ["doctor"] && !["--nofile=4", "--nproc=0", "--fsize=0"].contains(&limit) {
                continue;
            }
            let done = with(limit, arguments);
            assert!(matches!(done.code, Some(0 | 5)), "{limit}, {arguments:?}: {done:?}");
        }
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn too_little_memory_is_said() {
    let home = Home::new();
    let mut codes = std::collections::BTreeSet::new();
    // Below this no program of this size is begun: the kernel ends it in exec, or the loader with 127, since it cannot map libc.
    for kib in [1000, 1500, 2000, 2500, 3000, 4000, 8000, 16000, 64000] {
        let script = format!("ulimit -d {kib}; exec \"$0\" \"$@\"");
        let version = finished(home.other("sh").args(["-c", &script, PROGRAM, "--version"]));
        if matches!(version.code, None | Some(127)) {
            continue;
        }
        let mut command = home.other("sh");
        command.args(["-c", &script, PROGRAM, "run", "--force", "--one-launch", "-q", "syscall/getppid"]);
        let done = finished(&mut command);
        assert!(matches!(done.code, Some(0 | 3 | 5)), "{kib} KiB: {done:?}");
        if done.code == Some(5) {
            assert!(done.stderr.contains("memory"), "{kib} KiB: {done:?}");
            // For git the same is no bad commit.
            let mut bisection = home.other("sh");
            bisection.args(["-c", &script, PROGRAM, "compare", "--bisect", "@-1", "syscall/getppid"]);
            assert_eq!(finished(&mut bisection).code, Some(255), "{kib} KiB");
        }
        codes.insert(done.code);
    }
    assert!(
        codes.contains(&Some(0)) && codes.contains(&Some(5)),
        "too little and enough were tried: {codes:?}"
    );
}
