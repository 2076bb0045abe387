//! Independent C programs with known calls, counted in each way, and killed together with who counts them.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use oscost_bill::{BillError, Call, Counted, Ended, Way, attach, count};

use super::counts::{alone, in_each_way, times};

/// A program by its words, and what is known of it: calls by name, by what they are made on ("*": anything), by whether they
/// failed, and their number.
type Known = (&'static [&'static str], &'static [(&'static str, &'static str, bool, u64)]);

const PROGRAMS: &[Known] = &[
    (&["ask", "1000"], &[("getppid", "", false, 1000), ("execve", "", false, 1)]),
    (&["pipe"], &[("read", "pipe", false, 500), ("write", "pipe", false, 500)]),
    (&["stream"], &[("read", "unix stream", false, 300), ("write", "unix stream", false, 300)]),
    (&["datagram"], &[("read", "unix datagram", false, 300), ("write", "unix datagram", false, 300)]),
    (&["tcp"], &[("read", "tcp", false, 200), ("write", "tcp", false, 200), ("accept", "tcp", false, 1)]),
    (&["udp"], &[("read", "udp", false, 200), ("write", "udp", false, 200), ("connect", "udp", false, 1)]),
    (&["connects"], &[("connect", "tcp", false, 10), ("socket", "tcp", false, 11)]),
    (&["eventfd"], &[("read", "eventfd", false, 400), ("write", "eventfd", false, 400)]),
    (&["inotify"], &[("read", "inotify", false, 50), ("inotify_init", "", false, 1)]),
    (&["futex"], &[("futex", "wake: nobody waited", false, 1000), ("futex", "wait", true, 100)]),
    (&["semop"], &[("semtimedop", "", false, 2000)]),
    (&["file"], &[("write", "file", false, 50), ("fsync", "file", false, 5)]),
    (&["threads"], &[("getppid", "", false, 800), ("clone3", "thread", false, 8)]),
    (&["300-threads"], &[("getppid", "", false, 3000), ("clone3", "thread", false, 300)]),
    (
        &["forks"],
        &[("getppid", "", false, 1000), ("clone", "process", false, 50), ("exit_group", "", false, 51)],
    ),
    (&["ignores-children"], &[("getppid", "", false, 100), ("wait4", "", true, 1)]),
    (
        &["exec-chain", "5"],
        &[("getppid", "", false, 60), ("execve", "", false, 6), ("exit_group", "", false, 1)],
    ),
    (&["exec-by-thread"], &[("getppid", "", false, 150), ("execve", "", false, 2)]),
    (&["vfork"], &[("getppid", "", false, 100), ("execve", "", false, 21), ("vfork", "", false, 20)]),
    (&["storm"], &[("kill", "", false, 1000), ("rt_sigreturn", "", false, 1000)]),
    (&["ignores"], &[("kill", "", false, 100), ("getppid", "", false, 100)]),
    (&["seccomp"], &[("getppid", "", true, 200)]),
    (&["traces"], &[("getppid", "", false, 77), ("ptrace", "", false, 2)]),
    (&["restarts"], &[("read", "pipe", false, 2), ("poll", "", true, 5), ("rt_sigreturn", "", false, 10)]),
    (&["poll"], &[("poll", "", false, 100)]),
    (&["clock"], &[("clock_gettime", "monotonic", false, 300)]),
    (&["map"], &[("mmap", "anonymous", false, 200)]),
    (&["killed"], &[("getppid", "", false, 100)]),
    (&["orphan"], &[("getppid", "", false, 33)]),
    (&["stops"], &[("getppid", "", false, 44), ("kill", "", false, 1)]),
    (&["stops-in-a-read"], &[("read", "pipe", false, 1), ("kill", "", false, 2)]),
];

/// What a signal or a thread more is worth: signals, threads, children.
fn others(program: &str) -> (u64, u64, u64) {
    match program {
        "threads" => (0, 9, 0),
        "300-threads" => (0, 301, 0),
        "forks" => (0, 51, 50),
        "ignores-children" => (0, 6, 5),
        "exec-by-thread" => (0, 2, 0),
        "vfork" => (0, 21, 20),
        "storm" => (1000, 1, 0),
        "traces" => (0, 2, 1),
        "restarts" => (10, 3, 2),
        "orphan" => (0, 2, 1),
        "stops" | "stops-in-a-read" => (1, 2, 1),
        _ => (0, 1, 0),
    }
}

/// The C programs, compiled with these options; `None` where there is no compiler, or none that can.
fn compiled(folder: &tempfile::TempDir, options: &[&str]) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/programs.c");
    let program = folder.path().join(format!("program{}", options.concat()));
    let mut command = Command::new("cc");
    command.args(["-O1", "-pthread"]).args(options).arg(source).arg("-o").arg(&program);
    match command.output() {
        Ok(done) if done.status.success() => Some(program),
        Ok(done) => {
            println!("SKIP cc {options:?}: {}", String::from_utf8_lossy(&done.stderr));
            None
        }
        Err(error) => {
            println!("SKIP cc {options:?}: {error}");
            None
        }
    }
}

/// What is wrong in a count is added to `wrong`.
fn check(counted: &Counted, known: &Known, wrong: &mut Vec<String>) {
    let (words, calls) = *known;
    let shown = || {
        let calls = counted.calls.iter().map(|call| format!("{} {} {}", call.times, call.name, call.on));
        format!("{words:?} {:?}: {:?}", counted.way, calls.collect::<Vec<_>>())
    };
    for &(name, on, failed, expected) in calls {
        let of = |call: &Call| call.name == name && call.on == on;
        let made: u64 = times(counted, of);
        let failures: u64 = counted.calls.iter().filter(|call| of(call)).map(|call| call.failed).sum();
        // What failed may stand beside what did not.
        let seen = if failed {
            failures
        } else if name == "read" || name == "write" || name == "mmap" {
            sized(counted, words[0], name, on)
        } else {
            made - failures
        };
        if seen != expected {
            wrong.push(format!("{name} on {on}: {seen} and not {expected}: {}", shown()));
        }
    }
    let ended = if words[0] == "killed" { Ended::Killed(9) } else { Ended::Exited(0) };
    if (counted.ended, counted.complete) != (ended, true) {
        wrong.push(format!("{:?}: {}", counted.ended, shown()));
    }
    let seen = (counted.signals, counted.threads, counted.children);
    if seen != others(words[0]) {
        wrong.push(format!("signals, threads, children: {seen:?}: {}", shown()));
    }
    let read = counted.calls.iter().find(|call| call.name == "read" && call.on == "pipe");
    let inside = read.and_then(|call| call.inside_ns).unwrap_or(0);
    // Nearly all of it is the time in which it is stopped.
    if words[0] == "stops-in-a-read" && inside > counted.usage.wall_ns / 2 {
        wrong.push(format!("{inside} ns inside of {}: {}", counted.usage.wall_ns, shown()));
    }
    let unwaited = (words[0] == "ignores-children").then_some(5);
    if counted.unwaited != unwaited {
        wrong.push(format!("nobody waited for {:?}: {}", counted.unwaited, shown()));
    }
}

/// Calls of the one size that a program's loop has: the loader reads and maps files of other sizes.
fn sized(counted: &Counted, program: &str, name: &str, on: &str) -> u64 {
    let class = match program {
        "datagram" => 1024,
        "eventfd" => 16,
        "inotify" => 64,
        "file" => 65536,
        "map" => 4 << 20,
        _ => 256,
    };
    times(counted, |call| call.name == name && call.on == on && call.size_class == Some(class))
}

#[test]
#[ignore = "longer: compiles and runs many programs"]
fn counts_of_known_programs_are_exact_in_each_way() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for options in [&[][..], &["-static"][..]] {
        let Some(program) = compiled(&folder, options) else { continue };
        for known in PROGRAMS {
            let words = known.0.iter().map(OsString::from);
            let program: Vec<OsString> = std::iter::once(program.clone().into()).chain(words).collect();
            for (_, counted) in in_each_way(&program) {
                check(&counted, known, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Numbers of the 32-bit ABI were taken for those of other calls.
#[test]
#[ignore = "longer: compiles a program"]
fn calls_of_the_32_bit_abi_stand_apart() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    // A kernel without that ABI ends it by a signal.
    if !Command::new(&program).arg("32-bits").status().expect("started").success() {
        return println!("SKIP calls_of_the_32_bit_abi: this kernel has none");
    }
    for (_, counted) in in_each_way(&[program.into(), "32-bits".into()]) {
        let of = |name: &str| times(&counted, |call| call.name == name);
        assert_eq!(["call of a 32-bit program", "writev"].map(of), [100, 0], "{:?}", counted.calls);
    }
}

/// Who is traced by somebody else cannot be traced: it is refused, and not miscounted.
#[test]
#[ignore = "longer: compiles a program"]
fn a_program_that_traces_is_refused_where_it_cannot_be_counted() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    match count(&[program.into(), "traces".into()], Some(Way::Ptrace)) {
        Err(error @ BillError::NoTracer(_)) => println!("SKIP a_program_that_traces: {error}"),
        counted => assert_eq!(counted.expect_err("refused"), BillError::Traces),
    }
}

/// A program that runs until it is killed, and tells of its work.
struct Runs(Child, BufReader<std::process::ChildStdout>);

impl Runs {
    fn start(program: &PathBuf, what: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(what).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let told = BufReader::new(child.stdout.take().expect("piped"));
        Self(child, told)
    }

    /// It works: another line comes. Nobody traces it, and nobody has stopped it.
    fn works(&mut self) {
        let mut line = String::new();
        assert_eq!(self.1.read_line(&mut line).expect("read"), 1, "it has ended");
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it is there");
        assert!(status.contains("TracerPid:\t0\n") && !status.contains("State:\tT"), "{status}");
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_time_of_a_running_program_is_that_of_its_running_children_too() {
    let _alone = alone();
    // The parent sleeps, and tells the number of its child.
    let mut shell = Command::new("sh");
    shell.args(["-c", "while :; do :; done & echo $!; wait"]).stdout(Stdio::piped());
    let mut parent = shell.spawn().expect("started");
    let mut line = String::new();
    let mut told = BufReader::new(parent.stdout.take().expect("piped"));
    told.read_line(&mut line).expect("read");
    let counted = attach(parent.id(), Duration::from_secs(1));
    // SAFETY: kill touches no memory.
    unsafe { libc::kill(line.trim().parse().expect("a number"), libc::SIGKILL) };
    parent.wait().expect("it ends");
    match counted {
        Err(error @ (BillError::NoEbpf(_) | BillError::OtherNumbers(_))) => {
            println!("SKIP the_time_of_a_running_program: {error}");
        }
        counted => assert_ne!(counted.expect("counted").usage.user_ns, 0),
    }
}

#[test]
#[ignore = "a body: another test starts it"]
fn attaches() {
    let Ok(pid) = std::env::var("OSCOST_BILL_ATTACHES") else { return };
    let pid = pid.parse().expect("a number");
    let _ = attach(pid, Duration::from_secs(60));
}

#[test]
#[ignore = "longer: kills who counts a running program 200 times"]
fn a_program_lives_on_whenever_its_counter_is_killed() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    let mut runs = Runs::start(&program, "runs");
    runs.works();
    if let Err(error) = attach(runs.0.id(), Duration::from_millis(1)) {
        println!("SKIP a_program_lives_on: {error}");
        return;
    }
    for kill in 0..200u64 {
        let mut counter = Command::new(std::env::current_exe().expect("this program"))
            .args(["synthetic::attaches", "--exact", "--ignored", "--quiet"])
            .env("OSCOST_BILL_ATTACHES", runs.0.id().to_string())
            .stdout(Stdio::null())
            .spawn()
            .expect("started");
        // From before it is loaded to well into the count.
        std::thread::sleep(Duration::from_micros(kill * 3_989 % 400_000));
        counter.kill().expect("killed");
        counter.wait().expect("it ends");
        // What it wrote meanwhile may be older: more than a pipe holds is not.
        runs.works();
    }
    for _ in 0..1000 {
        runs.works();
    }
}

#[test]
#[ignore = "longer: kills a counted program 50 times"]
fn the_bill_says_that_the_program_was_killed() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    // The counter loads its programs first, and a slow machine takes its time for that.
    let mut first = Runs::start(&program, "runs");
    first.works();
    let begun = Instant::now();
    let _ = attach(first.0.id(), Duration::from_millis(1));
    let loads = begun.elapsed();
    drop(first);
    let mut told = 0;
    for kill in 0..50 {
        let running = Runs::start(&program, "runs");
        let pid = running.0.id().to_string();
        let counted = std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(loads * (25 + kill) / 25);
                Command::new("kill").args(["-KILL", &pid]).status().expect("kill")
            });
            attach(running.0.id(), Duration::from_secs(60))
        });
        match counted {
            Err(error @ (BillError::NoEbpf(_) | BillError::OtherNumbers(_))) => {
                println!("SKIP the_bill_says: {error}");
                return;
            }
            // It was killed before anybody looked.
            Err(BillError::NoProcess(_)) => {}
            counted => {
                let counted = counted.expect("counted");
                assert_eq!((counted.ended, counted.complete), (Ended::Killed(9), false));
                told += 1;
            }
        }
    }
    assert!(told >= 25, "{told}");
}

/// A server whose main function has ended "ended with code 0", and after its end was said to have been no process.
#[test]
#[ignore = "longer: compiles a program"]
fn a_process_whose_first_thread_has_ended_lives_on_until_all_have() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    let mut running = Runs::start(&program, "first-ends");
    let (pid, mut input) = (running.0.id(), running.0.stdin.take().expect("piped"));
    let begun = Instant::now();
    let first = attach(pid, Duration::from_millis(1));
    let loads = begun.elapsed();
    if let Err(error @ (BillError::NoEbpf(_) | BillError::OtherNumbers(_))) = &first {
        return println!("SKIP a_process_whose_first_thread: {error}");
    }
    let while_counted = |longest, act: &mut (dyn FnMut() + Send)| {
        std::thread::scope(|threads| {
            threads.spawn(|| {
                std::thread::sleep(loads * 3);
                act();
            });
            attach(pid, longest).map(|counted| counted.ended)
        })
    };
    let mut end = || input.write_all(b"\n").expect("written");
    assert_eq!(while_counted(loads * 6, &mut end), Ok(Ended::Running));
    // SAFETY: kill touches no memory.
    let mut kill = || assert_eq!(unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) }, 0);
    match while_counted(Duration::from_secs(60), &mut kill) {
        // It was killed before anybody looked.
        Err(BillError::NoProcess(_)) => {}
        ended => assert_eq!(ended, Ok(Ended::Killed(9))),
    }
}

/// Kills whoever has become the program, some time after it has, until it is over. Nobody else has this copy of the program; not every
/// kernel lists the children of a process.
fn kills(program: &Path, after: Duration, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        for process in std::fs::read_dir("/proc").expect("proc").flatten() {
            let pid = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            let is_it = || std::fs::read_link(process.path().join("exe")).is_ok_and(|path| path == program);
            if let Some(pid) = pid.filter(|_| is_it()) {
                std::thread::sleep(after);
                // SAFETY: kill touches no memory.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[ignore = "longer: starts a program 50 times, and kills it"]
fn the_bill_of_a_program_that_it_started_says_that_it_was_killed_and_leaves_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(&folder, &[]) else { return };
    let program = program.canonicalize().expect("a path");
    let descriptors = || std::fs::read_dir("/proc/self/fd").expect("proc").count();
    for kill in 0..50u64 {
        let way = if kill % 2 == 0 { Way::Ebpf } else { Way::Ptrace };
        let (before, is_over) = (descriptors(), AtomicBool::new(false));
        let counted = std::thread::scope(|threads| {
            threads.spawn(|| kills(&program, Duration::from_micros(kill * 3_989 % 50_000), &is_over));
            let counted = count(&[program.clone().into(), "ask".into(), "2000000000".into()], Some(way));
            is_over.store(true, Ordering::Release);
            counted
        });
        match counted {
            Err(error @ (BillError::NoEbpf(_) | BillError::NoTracer(_))) => println!("SKIP {way:?}: {error}"),
            counted => assert_eq!(counted.expect("counted").1.ended, Ended::Killed(9), "{way:?}"),
        }
        // SAFETY: without a status the kernel writes nothing.
        let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
        assert_eq!((left, descriptors()), (-1, before), "{way:?}: children, descriptors");
    }
}
