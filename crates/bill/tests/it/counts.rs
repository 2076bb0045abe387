//! Programs whose calls are known, counted: this test program starts itself again as each of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oscost_bill::{BillError, Call, Counted, Ended, Usage, Way, count};
use oscost_sys::region::Region;

/// A count needs all children of its process for itself.
static ALONE: Mutex<()> = Mutex::new(());

pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts this program as the body of that name, in each way that this machine and user allow; the others are a SKIP.
fn counted(body: &str) -> Vec<(Usage, Counted)> {
    let own = std::env::current_exe().expect("this program");
    let body = format!("counts::{body}");
    let arguments = [&body, "--exact", "--ignored", "--nocapture", "--quiet", "--test-threads=1"];
    let program: Vec<OsString> =
        std::iter::once(own.into_os_string()).chain(arguments.map(OsString::from)).collect();
    in_each_way(&program)
}

/// Counts a program in each way.
pub fn in_each_way(program: &[OsString]) -> Vec<(Usage, Counted)> {
    let counted = [Way::Ptrace, Way::Ebpf].map(|way| match count(program, Some(way)) {
        // Another test sees to it that this is right.
        Err(BillError::Traces) => None,
        Err(error @ (BillError::NoTracer(_) | BillError::NoEbpf(_))) => {
            println!("SKIP {program:?} {way:?}: {error}");
            None
        }
        counted => {
            let (free, counted) = counted.unwrap_or_else(|error| panic!("{program:?} {way:?}: {error}"));
            assert_eq!(counted.way, way);
            Some((free, counted))
        }
    });
    counted.into_iter().flatten().collect()
}

/// How many calls satisfy `wanted`.
pub fn times(counted: &Counted, wanted: impl Fn(&Call) -> bool) -> u64 {
    counted.calls.iter().filter(|call| wanted(call)).map(|call| call.times).sum()
}

pub const TIMES: u64 = 123;
/// Sizes that nothing else in this program has, by their classes.
const BLOCK: usize = 3000;

#[test]
#[ignore = "a body: another test starts it"]
fn calls_by_kind_and_size() {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let (mut one, mut other) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let mut file = tempfile::tempfile().expect("a file");
    let mut block = [1; BLOCK];
    for _ in 0..TIMES {
        // SAFETY: getppid touches no memory.
        unsafe { libc::getppid() };
        writer.write_all(&block).expect("written");
        reader.read_exact(&mut block).expect("read");
        one.write_all(&block).expect("written");
        other.read_exact(&mut block).expect("read");
        file.write_all(&block).expect("written");
    }
    // The same numbers stand for something else from here on.
    drop((reader, writer, one, other));
    let (mut one, mut other) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    one.write_all(&block).expect("written");
    other.read_exact(&mut block).expect("read");
    writer.write_all(&block).expect("written");
    reader.read_exact(&mut block).expect("read");
}

#[test]
fn calls_are_counted_by_kind_and_size() {
    let _alone = alone();
    for (free, counted) in counted("calls_by_kind_and_size") {
        assert!(counted.complete && counted.ended == Ended::Exited(0), "{counted:?}");
        let of = |name: &str, on: &str| {
            times(&counted, |call| {
                (call.name.as_str(), call.on.as_str(), call.size_class, call.slept)
                    == (name, on, Some(4096), false)
            })
        };
        assert_eq!(times(&counted, |call| call.name == "getppid" && !call.slept), TIMES);
        assert_eq!((of("read", "pipe"), of("write", "pipe")), (TIMES + 1, TIMES + 1), "{:#?}", counted.calls);
        let sockets = (
            of("recvfrom", "unix stream") + of("read", "unix stream"),
            of("sendto", "unix stream") + of("write", "unix stream"),
        );
        assert_eq!(sockets, (TIMES + 1, TIMES + 1));
        assert_eq!(of("write", "file"), TIMES);
        let written = |call: &&Call| (call.name.as_str(), call.on.as_str()) == ("write", "file");
        let bytes: u64 = counted.calls.iter().filter(written).map(|call| call.bytes).sum();
        assert!(bytes >= TIMES * BLOCK as u64);
        assert_eq!(times(&counted, |call| call.name == "execve"), 1);
        assert_eq!(times(&counted, |call| call.name == "exit_group"), 1);
        assert!(free.wall_ns > 0 && free.faults.minor > 0 && counted.faults.minor > 0);
    }
}

#[test]
#[ignore = "a body: another test starts it"]
fn everybody() {
    let ask = |times| {
        for _ in 0..times {
            // SAFETY: getppid touches no memory.
            unsafe { libc::getppid() };
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..7 {
            threads.spawn(|| ask(TIMES));
        }
    });
    for _ in 0..3 {
        // SAFETY: the child makes calls that are async-signal-safe, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            ask(TIMES);
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: without a status the kernel writes nothing.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
    let mut orphan = Command::new("sleep").arg("0.2").stdout(Stdio::null()).spawn().expect("sleep");
    let _ = orphan.try_wait();
}

#[test]
fn threads_children_and_orphans_are_counted() {
    let _alone = alone();
    for (free, counted) in counted("everybody") {
        assert_eq!(times(&counted, |call| call.name == "getppid"), 10 * TIMES);
        // With the first threads of five processes, and that of the test harness, if it has one.
        assert!((12..=13).contains(&counted.threads), "{}", counted.threads);
        assert_eq!(counted.children, 4);
        assert_eq!(
            times(&counted, |call| call.name == "clock_nanosleep" && call.slept),
            1,
            "{:#?}",
            counted.calls
        );
        assert_eq!(times(&counted, |call| call.name == "exit_group"), 5);
        assert!(free.wall_ns >= 200_000_000 && counted.usage.wall_ns >= 200_000_000);
    }
}

#[test]
#[ignore = "a body: another test starts it"]
fn ignores_its_children() {
    let ways = [(libc::SIG_IGN, 0, false), (libc::SIG_DFL, libc::SA_NOCLDWAIT, false)];
    // What another program finds of it is the default.
    for (handler, flags, execs) in ways.into_iter().chain([(libc::SIG_DFL, libc::SA_NOCLDWAIT, true)]) {
        // SAFETY: the dispositions are valid; the children make calls that are async-signal-safe, and end by one; the words of the
        // program end with none; without a status the kernel writes nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            (action.sa_sigaction, action.sa_flags) = (handler, flags);
            // A process of its own: other tests wait for children in this one.
            let child = libc::fork();
            if child == 0 {
                libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut());
                if execs {
                    let words = [c"sh", c"-c", c"(:); :"].map(std::ffi::CStr::as_ptr);
                    libc::execl(c"/bin/sh".as_ptr(), words[0], words[1], words[2], std::ptr::null::<u8>());
                }
                for _ in 0..3 {
                    if libc::fork() == 0 {
                        libc::_exit(0);
                    }
                }
                // Until none is left.
                libc::waitpid(-1, std::ptr::null_mut(), 0);
                libc::_exit(0);
            }
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
}

/// Their times were missing in a bill that had their calls: it was "priced 2000 %".
#[test]
fn children_for_whom_nobody_waits_are_told() {
    let _alone = alone();
    for (_, counted) in counted("ignores_its_children") {
        assert_eq!((counted.children, counted.unwaited), (10, Some(6)), "{:?}", counted.way);
    }
    for (_, counted) in counted("everybody") {
        assert_eq!(counted.unwaited, None, "{:?}", counted.way);
    }
}

/// What the first run leaves, the second one finds.
#[test]
fn each_run_says_how_it_ended() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let once = folder.path().join("once").display().to_string();
    let script = format!("mkdir {once} 2>&- || {{ rmdir {once}; exit 3; }}");
    for (_, counted) in in_each_way(&["sh".into(), "-c".into(), script.into()]) {
        let ends = (counted.free_ended, counted.ended);
        assert_eq!(ends, (Some(Ended::Exited(0)), Ended::Exited(3)), "{:?}", counted.way);
    }
}

/// Pages that a parent has for its fork, and none of them for its vfork.
const PAGES: usize = 4000;

#[test]
#[ignore = "a body: another test starts it"]
fn forks_with_pages() {
    let held = std::hint::black_box(vec![1_u8; PAGES * 4096]);
    // SAFETY: the child ends at once, by a call that is async-signal-safe.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: without a status the kernel writes nothing.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    // By posix_spawn, which shares the memory.
    assert!(Command::new("true").status().expect("true").success());
    drop(std::hint::black_box(held));
}

#[test]
fn a_fork_is_counted_with_the_pages_of_its_parent() {
    let _alone = alone();
    for (_, counted) in counted("forks_with_pages") {
        let forks = counted.forks.expect("counted");
        let held = PAGES as u64;
        assert_eq!((forks.times, counted.children), (1, 2), "{counted:?}");
        // What the program has besides is small beside it.
        assert!((held..2 * held).contains(&forks.pages), "{forks:?}");
        assert!((10..10_000).contains(&forks.mappings), "{forks:?}");
        if counted.way == Way::Ebpf {
            // The copy touches its stack, and few pages more.
            assert!((1..500).contains(&forks.faults), "{forks:?}");
            let exit = counted.calls.iter().find(|call| call.name == "exit_group").expect("it ends");
            let freed = exit.inside_ns.expect("timed");
            let entry = counted.calls.iter().find(|call| call.name == "getpid" || call.name == "gettid");
            let entry = entry.map_or(0, |call| call.inside_ns.unwrap_or(0) / call.times.max(1));
            let ends = counted.ends.expect("counted");
            // Its own end and that of `true`, whose pages are few; the copy's mappings are the fork's.
            assert!((10..10_000).contains(&ends.mappings) && ends.file_pages > 10, "{ends:?}");
            assert!(freed > entry, "{exit:?}: giving back all memory takes longer than saying a number");
        }
    }
}

#[test]
#[ignore = "a body: another test starts it"]
fn ends_with_mappings() {
    let file = oscost_sys::file::in_memory(4096).expect("a file");
    std::mem::forget(Region::of_file(file, 4096, PAGES, false).expect("mappings"));
    // A thread ends before its process, whose memory it does not give back.
    std::thread::spawn(|| {}).join().expect("a thread");
}

#[test]
fn an_end_is_counted_once_with_what_it_gives_back() {
    let _alone = alone();
    for (_, counted) in counted("ends_with_mappings") {
        let held = PAGES as u64;
        match counted.ends {
            Some(ends) => assert!((held..2 * held).contains(&ends.mappings), "{ends:?}"),
            None => assert_eq!(counted.way, Way::Ptrace),
        }
    }
}

#[test]
#[ignore = "a body: another test starts it"]
fn sleeps() {
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let this = std::path::Path::new("/proc").join(std::fs::read_link("/proc/thread-self").expect("proc"));
    let is_asleep = move || {
        let stat = std::fs::read_to_string(this.join("stat")).expect("proc");
        stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('S'))
    };
    let answer = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(60);
        for _ in 0..10 {
            // However late the reader is.
            while !is_asleep() && Instant::now() < until {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(5));
            writer.write_all(&[1; BLOCK]).expect("written");
        }
    });
    for _ in 0..10 {
        reader.read_exact(&mut [0; BLOCK]).expect("read");
    }
    answer.join().expect("joined");
}

#[test]
fn who_slept_is_told_from_who_did_not() {
    let _alone = alone();
    for (_, counted) in counted("sleeps") {
        let of = |name: &str, slept| times(&counted, |call| call.name == name && call.slept == slept);
        assert_eq!((of("clock_nanosleep", true), of("clock_nanosleep", false)), (30, 0));
        let read = |slept| {
            times(&counted, |call| {
                call.name == "read"
                    && call.on == "pipe"
                    && call.size_class == Some(4096)
                    && call.slept == slept
            })
        };
        assert_eq!((read(true), read(false)), (10, 0));
        assert!(counted.switches.voluntary >= 40, "{:?}", counted.switches);
    }
}

/// An idle CPU was taken for one that runs the program inside the kernel: all of a sleep was system time.
#[test]
fn nobody_is_looked_at_while_the_program_sleeps() {
    let _alone = alone();
    for (free, _) in in_each_way(&["sleep".into(), "0.3".into()]) {
        let Some(looks) = free.looks else { return println!("SKIP looks: nobody may look") };
        // Two in each millisecond of its CPU time; a late one meets who runs then.
        let most = (free.user_ns + free.system_ns) / 250_000 + 10;
        assert!(looks.inside + looks.outside <= most, "{free:?}");
    }
}

const MANY: u64 = 2000;

#[test]
#[ignore = "a body: another test starts it"]
fn many_calls() {
    let mut random = std::fs::File::open("/dev/urandom").expect("random bytes");
    (0..MANY).for_each(|_| random.read_exact(&mut [0; 32 * 1024]).expect("it never ends"));
}

/// Of calls that are made often few are timed: these stand for the rest, and not for a sixth of it.
#[test]
fn all_calls_are_counted_where_few_are_timed() {
    let _alone = alone();
    for (free, counted) in counted("many_calls") {
        let asked: Vec<&Call> = counted.calls.iter().filter(|call| call.name == "read").collect();
        assert!((MANY..MANY + 100).contains(&asked.iter().map(|call| call.times).sum()), "{asked:?}");
        let inside: Option<u64> = asked.iter().map(|call| call.inside_ns).sum();
        assert!(inside.is_none_or(|ns| ns > free.system_ns / 2), "{asked:?} {free:?}");
    }
}

/// A program that always does the same: what one way counts, the other does, but for who had to wait.
#[test]
fn both_ways_count_the_same() {
    let _alone = alone();
    let sums = |counted: &Counted| {
        let mut sums = BTreeMap::new();
        for call in &counted.calls {
            let key = (call.name.clone(), call.on.clone(), call.size_class, call.count_argument);
            let sum = sums.entry(key).or_insert((0, 0, 0));
            *sum = (sum.0 + call.times, sum.1 + call.failed, sum.2 + call.bytes);
        }
        sums
    };
    if let [(_, one), (_, other)] = in_each_way(&["uname".into(), "-s".into()]).as_slice() {
        assert_eq!(sums(one), sums(other));
        assert!(other.calls.iter().all(|call| call.inside_ns.is_some()));
    }
}

#[test]
fn what_cannot_be_run_is_told_before_anything_runs() {
    let _alone = alone();
    let told = |program: &[&str]| {
        let program: Vec<OsString> = program.iter().map(OsString::from).collect();
        count(&program, None).expect_err("nothing runs").to_string()
    };
    assert!(told(&[]).starts_with("no program is named"));
    assert!(told(&["no-such-program-of-oscost"]).contains("there is no such program"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("no-program");
    std::fs::write(&path, "text").expect("written");
    let told = told(&[path.to_str().expect("a path")]);
    assert!(told.contains("cannot be run") && told.contains("EACCES"), "{told}");
}

/// Its wall time begins where its CPU time does, however late its starter is.
#[test]
fn a_program_of_one_thread_uses_no_more_cpu_time_than_passes() {
    let _alone = alone();
    for _ in 0..10 {
        let (free, counted) = match count(&["true".into()], Some(Way::Ptrace)) {
            Err(BillError::NoTracer(_)) => return,
            ran => ran.expect("true runs"),
        };
        for usage in [free, counted.usage] {
            assert!(usage.user_ns + usage.system_ns <= usage.wall_ns, "{usage:?}");
        }
    }
}
