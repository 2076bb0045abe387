//! Machines that lack something: the run measures what it can, and says what is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use oscost_results::Status;

use crate::support::{Done, Home, PROGRAM, finished, is_root, measured, skip};

/// The program with these arguments, after `prepare` in a shell under `unshare`.
fn under(home: &Home, unshare: &[&str], prepare: &str, arguments: &[&str]) -> Done {
    measured(|| {
        let mut command = home.other("unshare");
        command
            .args(unshare)
            .args(["sh", "-c", &format!("{prepare} && exec \"$0\" \"$@\""), PROGRAM])
            .args(arguments);
        command
    })
}

const OBJECTS: [&str; 5] =
    ["run", "--quick", "semaphore/posix_named", "semaphore/posix_unnamed", "semaphore/system_v"];

fn all_measured(home: &Home, done: &Done) {
    done.well();
    let result = home.stored().pop().expect("a result");
    for figure in &result.figures {
        assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.why);
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn one_cpu_is_enough_but_for_what_crosses() {
    let home = Home::new();
    let cpu = oscost_sys::affinity::allowed().unwrap()[0].to_string();
    let done = home.measure(&["run", "--quick", "--cpu", &cpu, "semaphore/system_v/handover"]);
    done.well();
    let result = home.stored().pop().unwrap();
    let crossing = result.figures.iter().find(|figure| figure.id.ends_with("cross_cpu")).expect("a row");
    assert_eq!(crossing.status, Status::Unsupported);
    assert!(crossing.why.as_deref().is_some_and(|why| why.contains("needs 2 CPUs")), "{:?}", crossing.why);
    assert!(result.figures.iter().any(|figure| figure.status == Status::Measured), "the rest is measured");
    // Asked for by its full name, it is what was asked for and not had.
    let named = home.measure(&["run", "--quick", "--cpu", &cpu, "semaphore/system_v/handover/cross_cpu"]);
    assert_eq!(named.code, Some(3), "{named:?}");
    let why = "semaphore/system_v/handover/cross_cpu needs 2 CPUs";
    assert!(named.stdout.is_empty() && named.stderr.contains(why), "{named:?}");
}

#[test]
#[ignore = "longer: it withholds"]
fn without_proc_it_measures() {
    if !is_root() {
        return skip("without_proc_it_measures", "unmounting /proc needs root");
    }
    let home = Home::new();
    let done = under(&home, &["-m"], "mount -t tmpfs none /proc", &OBJECTS);
    all_measured(&home, &done);
}

#[test]
#[ignore = "longer: it withholds"]
fn with_nowhere_to_write_but_its_state_it_measures() {
    if !is_root() {
        return skip("with_nowhere_to_write_but_its_state_it_measures", "mounting needs root");
    }
    let home = Home::new();
    // The home of the test lies below /tmp, and stays writable. /tmp is not covered but made read-only: the program
    // itself may lie below it.
    let prepare = "mount --bind \"$HOME\" /mnt && mount -t tmpfs -o ro none /dev/shm && mount --bind /tmp /tmp && \
                   mount -o remount,ro,bind /tmp && \
                   export HOME=/mnt XDG_STATE_HOME=/mnt/state && cd /mnt";
    let done = under(&home, &["-m"], prepare, &OBJECTS);
    all_measured(&home, &done);
}

#[test]
#[ignore = "longer: it withholds"]
fn without_dev_shm_only_what_needs_it_is_missing() {
    if !is_root() {
        return skip("without_dev_shm_only_what_needs_it_is_missing", "mounting needs root");
    }
    let home = Home::new();
    // /dev/null is gone too.
    let done =
        under(&home, &["-m"], "mount -t tmpfs none /dev", &["run", "--quick", "semaphore/posix_unnamed"]);
    done.well();
    let result = home.stored().pop().expect("a result");
    for figure in &result.figures {
        // The baseline that came along.
        let expected =
            if figure.id == "semaphore/posix_named" { Status::Unsupported } else { Status::Measured };
        assert_eq!(figure.status, expected, "{}: {:?}", figure.id, figure.why);
        assert_eq!(
            figure.why.as_deref().is_some_and(|why| why.contains("/dev/shm")),
            expected != Status::Measured
        );
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn without_namespaces_a_janitor_cleans_up() {
    let home = Home::new();
    let prepare =
        "for kind in user ipc mnt pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done";
    let done = under(&home, &["-U", "-r"], prepare, &OBJECTS);
    if done.code == Some(99) || done.stderr.contains("unshare: ") {
        return skip("without_namespaces_a_janitor_cleans_up", "no user namespace to be refused more in");
    }
    all_measured(&home, &done);
    let isolation = home.stored()[0].conditions.isolation.clone().unwrap_or_default();
    assert!(isolation.contains("janitor"), "the result says which: {isolation}");
}

/// A read-only /dev/shm holds no list of objects: the janitor who lives removes them nevertheless.
#[test]
#[ignore = "longer: it withholds"]
fn a_janitor_without_a_file_in_dev_shm_cleans_up_while_it_lives() {
    let home = Home::new();
    let ids = ["semaphore/system_v", "lock/system_v_message"];
    let script = "mount -t tmpfs -o ro none /dev/shm || exit 99; \
        for kind in user ipc mnt pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done; \
        \"$0\" \"$@\"; code=$?; left() { tail -q -n +2 /proc/sysvipc/sem /proc/sysvipc/msg; }; \
        for try in 1 2 3 4 5 6 7 8 9 10; do [ -z \"$(left)\" ] || sleep 0.5; done; left | sed 's/^/LEFT /'; exit $code";
    let done = measured(|| {
        let mut command = home.other("unshare");
        command.args(["-U", "-r", "-m", "-i", "sh", "-c", script, PROGRAM, "run", "--quick"]);
        command.args(ids);
        command
    });
    if done.code == Some(99) || done.stderr.contains("unshare: ") {
        return skip("a_janitor_without_a_file_in_dev_shm", "no user namespace to be refused more in");
    }
    // What they are divided by may need the folder that is not there.
    done.well();
    let result = home.stored().remove(0);
    for id in ids {
        let figure = result.figures.iter().find(|figure| figure.id == id).expect(id);
        assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.why);
    }
    let isolation = result.conditions.isolation.clone().unwrap_or_default();
    assert!(isolation.contains("janitor") && !done.stdout.contains("LEFT "), "{isolation}: {done:?}");
}

/// The documents' programs write fixed names to /tmp: where they get none of their own, they are not run.
#[test]
#[ignore = "longer: it withholds"]
fn without_namespaces_no_program_of_the_documents_touches_tmp() {
    let home = Home::new();
    let written = format!("/tmp/oscost-test-c-{}", std::process::id());
    let text = format!(
        "#include <stdio.h>\nint main(void)\n{{\n    fclose(fopen(\"{written}\", \"w\"));\n    \
         printf(\"Average time to make a system call: 1.0 ns\\n\");\n    return 0;\n}}\n"
    );
    fs::write(home.path().join("system_call_1.c"), text).expect("a program");
    let prepare =
        "for kind in user ipc mnt pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done";
    let reproduce = ["reproduce", "ostep", "--quick", "--c", "."];
    let done = under(&home, &["-U", "-r"], prepare, &reproduce);
    if done.code == Some(99) || done.stderr.contains("unshare: ") {
        return skip(
            "without_namespaces_no_program_of_the_documents",
            "no user namespace to be refused more in",
        );
    }
    if done.stdout.contains("no C compiler") {
        return skip("without_namespaces_no_program_of_the_documents", "no C compiler");
    }
    let is_there = fs::remove_file(&written).is_ok();
    assert!(!is_there, "it was run: {done:?}");
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the overlay on /tmp was refused"), "{done:?}");
}

#[test]
#[ignore = "longer: it withholds"]
fn system_v_limits_of_zero_on_the_host_harm_nobody() {
    if !is_root() {
        return skip("system_v_limits_of_zero_on_the_host_harm_nobody", "setting limits needs root");
    }
    let home = Home::new();
    let prepare = "echo 0 0 0 0 > /proc/sys/kernel/sem && echo 0 > /proc/sys/fs/mqueue/queues_max";
    let done =
        under(&home, &["-i"], prepare, &["run", "--quick", "semaphore/system_v", "semaphore/posix_named"]);
    // Workers have limits of their own; what a host that refuses semaphores would not give is withheld, with the reason.
    let result = home.stored().pop().expect("a result");
    let figure = result.figures.iter().find(|figure| figure.id == "semaphore/system_v").expect("a row");
    match figure.status {
        Status::Measured => assert_eq!(done.code, Some(0), "{done:?}"),
        Status::Unsupported => {
            assert_eq!(done.code, Some(3), "{done:?}");
            assert!(figure.why.is_some() && figure.remedy.is_some());
        }
        other => panic!("{other:?}: {:?}", figure.why),
    }
}

#[test]
#[ignore = "longer: it withholds"]
fn an_unprivileged_user_measures() {
    if !is_root() {
        return skip("an_unprivileged_user_measures", "these tests run as one: all others prove it");
    }
    const NOBODY: u32 = 65534;
    let home = Home::new();
    std::os::unix::fs::chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    // Not every user can reach where the program was built.
    let program = home.path().join("oscost");
    fs::copy(PROGRAM, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let done = measured(|| {
        let mut command = home.other(program.to_str().unwrap());
        command.args(OBJECTS).uid(NOBODY).gid(NOBODY);
        command
    });
    all_measured(&home, &done);
    assert_eq!(home.stored()[0].conditions.uid, Some(NOBODY));
    // Real-time: refused with the cause, or granted by a limit.
    let mut command = home.other(program.to_str().unwrap());
    command.args(["run", "--quick", "--require-realtime", "instrument/empty_loop"]).uid(NOBODY).gid(NOBODY);
    let (soft, _) = oscost_sys::usage::limit_of(oscost_sys::usage::Limit::RealTimePriority).unwrap();
    if soft == 0 {
        finished(&mut command).refused(5, "--require-realtime: sched_setscheduler failed");
    }
}

#[test]
fn more_privilege_than_the_callers_is_refused() {
    if !is_root() {
        return skip(
            "more_privilege_than_the_callers_is_refused",
            "a set-user-ID file of another user needs root",
        );
    }
    let home = Home::new();
    let program = home.path().join("oscost");
    fs::copy(PROGRAM, &program).unwrap();
    std::os::unix::fs::chown(&program, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let status = finished(home.other("findmnt").args(["-no", "OPTIONS", "-T"]).arg(&program));
    if status.stdout.contains("nosuid") {
        return skip(
            "more_privilege_than_the_callers_is_refused",
            "the temporary directory is mounted nosuid",
        );
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
    let test = "files_of_proc_that_never_end_stop_nothing";
    if !is_root() {
        return skip(test, "mounting over files of /proc needs root");
    }
    let home = Home::new();
    home.measure(&["run", "--one-launch", "-q", "instrument/empty_loop"]).well();
    assert!(home.other("mkfifo").arg("pipe").status().unwrap().success());
    for what in ["/dev/zero", "pipe"] {
        let prepare = format!(
            "for file in {READ}; do [ ! -e $file ] || mount --bind {what} $file || exit 99; done; \
             exec timeout -s KILL 60 \"$0\" \"$@\""
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
                return skip(test, "nothing can be mounted over files of /proc here");
            }
            assert!(matches!(done.code, Some(0 | 3)), "{what}: {arguments:?}: {done:?}");
        }
    }
}

/// A kernel that gives no random numbers for a reason that the standard library does not expect: its tables with random keys would
/// end the program, so it has none.
#[test]
#[ignore = "longer: it withholds"]
fn without_random_numbers_nothing_panics() {
    let home = Home::new();
    if home.other("strace").arg("-V").output().is_err() {
        return skip("without_random_numbers_nothing_panics", "strace is not installed");
    }
    let measuring: [&[&str]; 2] = [
        &["run", "--one-launch", "syscall/getppid", "semaphore/posix_named", "realtime_ipc/bpf"],
        &["doctor", "--quiet"],
    ];
    let reading: [&[&str]; 3] = [&["list"], &["report"], &["tick", "client", "--name", "x"]];
    for arguments in measuring.into_iter().chain(reading) {
        let done = measured(|| {
            let mut command = home.other("strace");
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=getrandom"]);
            command.args(["-e", "inject=getrandom:error=EIO", "--", PROGRAM]).args(arguments);
            command
        });
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains("panicked") && !said.contains("internal error"), "{arguments:?}: {done:?}");
        assert!(matches!(done.code, Some(0 | 2 | 3 | 4 | 5)), "{arguments:?}: {done:?}");
    }
}

/// A sandbox in which no call sleeps; strace, which makes it, traces, so that no figure is shown.
#[test]
#[ignore = "longer: it withholds"]
fn sleeps_that_are_refused_are_no_defect() {
    let test = "sleeps_that_are_refused_are_no_defect";
    let home = Home::new();
    if home.other("strace").arg("-V").output().is_err() {
        return skip(test, "strace is not installed");
    }
    for error in ["EPERM", "ENOSYS", "EINVAL"] {
        for id in ["instrument/empty_loop", "realtime_ipc/pipe/same_cpu/clients_1"] {
            let inject = format!("inject=clock_nanosleep,nanosleep:error={error}");
            let done = measured(|| {
                let mut command = home.other("strace");
                command.args(["-f", "-qq", "-o", "trace", "-e", "trace=clock_nanosleep", "-e", &inject]);
                command.args(["--", PROGRAM, "run", "--one-launch", "-q", id]);
                command
            });
            if !fs::read_to_string(home.path().join("trace")).is_ok_and(|trace| trace.contains("INJECTED")) {
                return skip(test, "no call can be refused here");
            }
            assert!(matches!(done.code, Some(0 | 3)), "{error}: {id}: {done:?}");
            assert!(!done.stderr.contains("internal error"), "{error}: {id}: {done:?}");
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
        measured(|| {
            let mut command = home.other(if is_root() { "setpriv" } else { "prlimit" });
            if is_root() {
                command.args(["--reuid=65534", "--clear-groups", "prlimit"]);
            }
            command.args([limit, "--", PROGRAM]).args(arguments);
            command
        })
    };
    if with("--nofile=1024", &["--version"]).code != Some(0) {
        return skip(
            "no_limit_ends_the_program_without_a_sentence",
            "no prlimit, or nobody else reaches the program",
        );
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
