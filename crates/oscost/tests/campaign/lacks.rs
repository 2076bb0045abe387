//! Machines and sandboxes that lack something from the beginning, one row each.

use oscost_results::Status;

use crate::Outcome;
use crate::left::Left;
use crate::limits::newest;
use crate::program::{self, User};
use crate::space::{self, ground};

/// A lack.
#[derive(Clone, Copy)]
pub struct Lack {
    name: &'static str,
    user: User,
    /// A shell makes it, and becomes the program.
    prepare: &'static str,
    arguments: &'static str,
    codes: &'static [i32],
    /// What is said of it, on either stream.
    words: &'static [&'static str],
    needs: Option<&'static str>,
    /// How the result says that it was isolated begins so.
    isolation: &'static str,
    /// How ids of figures begin that are there.
    measured: &'static str,
}

const fn lack(
    name: &'static str,
    prepare: &'static str,
    arguments: &'static str,
    codes: &'static [i32],
    words: &'static [&'static str],
) -> Lack {
    Lack { name, user: User::Own, prepare, arguments, codes, words, needs: None, isolation: "", measured: "" }
}

impl Lack {
    const fn of_nobody(self) -> Self {
        Self { user: User::Nobody, ..self }
    }

    const fn needs(self, program: &'static str) -> Self {
        Self { needs: Some(program), ..self }
    }

    const fn isolated(self, isolation: &'static str) -> Self {
        Self { isolation, ..self }
    }

    const fn measures(self, measured: &'static str) -> Self {
        Self { measured, ..self }
    }
}

const OBJECTS: &str = "run --force --quick semaphore/posix_named semaphore/posix_unnamed semaphore/system_v";
const ALL_OBJECTS: &str = "semaphore/posix_named semaphore/posix_unnamed semaphore/system_v";
const ONE: &str = "run --force --quick syscall/getppid";
const SESSION: &str = "run --force --quick realtime_ipc/unix_datagram/same_cpu/clients_1";
pub const STRICT: &str =
    "run --force --quick --require-realtime realtime_ipc/unix_datagram/same_cpu/clients_1";
/// A sandbox that refuses calls from the first on.
macro_rules! refuse {
    ($how:expr) => {
        concat!("exec strace -f -qq -o /mnt/trace ", $how, " -- \"$0\" \"$@\"")
    };
}

/// Who refuses it by tracing has every figure withheld, and the tracer is named.
const TRACED: &[&str] = &["withheld", "traced"];

/// What comes before, in a user namespace in which no further namespaces can be had.
macro_rules! no_namespaces {
    ($before:literal) => {
        concat!(
            $before,
            "exec unshare -U -r sh -c 'for kind in user ipc mnt pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 99; done; ",
            "exec \"$0\" \"$@\"' \"$0\" \"$@\""
        )
    };
}

/// A kernel that gives no random numbers for a reason that the standard library does not expect: its tables with random keys would
/// end the program, so it has none.
const NO_RANDOM: &str = refuse!("-e trace=getrandom -e inject=getrandom:error=EIO");
/// A sandbox in which no call sleeps.
macro_rules! no_sleep {
    ($error:literal, $arguments:literal) => {
        lack(
            concat!("sleeps are refused: ", $error),
            refuse!(concat!("-e trace=clock_nanosleep -e inject=clock_nanosleep,nanosleep:error=", $error)),
            $arguments,
            &[0, 3],
            &[],
        )
        .needs("strace")
    };
}

/// A program of a document in words of our own, which writes to /tmp.
const WRITES_TO_TMP: &str = no_namespaces!(
    r#"mkdir -p "$HOME/played" && cat >"$HOME/played/system_call_1.c" <<'C'
#include <stdio.h>
int main(void) { fclose(fopen("/tmp/written", "w")); printf("Average time to make a system call: 1.0 ns\n"); return 0; }
C
"#
);

/// A root directory with the program, its libraries, /proc and an empty /dev.
const ANOTHER_ROOT: &str = "mkdir /mnt/jail /mnt/jail/dev /mnt/jail/tmp && cd /mnt/jail && \
    for folder in bin lib lib64 usr etc proc mnt; do \
    [ ! -d /$folder ] || { mkdir $folder && mount --rbind /$folder $folder; } || exit 99; done; exec chroot /mnt/jail \"$0\" \"$@\"";

/// A limit of 10, which even root may not set everywhere: the kernel keeps to 0, and a library says 10.
const SHOW_LIMIT: &str = r#"cc -shared -fPIC -x c -o /mnt/limit.so - <<'C' || exit 99
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>
int getrlimit(__rlimit_resource_t which, struct rlimit *limit) {
    int (*real)(__rlimit_resource_t, struct rlimit *) = dlsym(RTLD_NEXT, "getrlimit");
    int done = real(which, limit);
    if (which == RLIMIT_RTPRIO) limit->rlim_cur = limit->rlim_max = 10;
    return done;
}
C
export LD_PRELOAD=/mnt/limit.so"#;

/// By hand: as few lines a row as it fits in.
#[rustfmt::skip]
pub const LACKS: &[Lack] = &[
    lack("System V semaphores 0", "echo 0 0 0 0 >/proc/sys/kernel/sem",
        "run --force --quick semaphore/system_v", &[3], &["kernel.sem"]),
    lack("System V queues 0", "echo 0 >/proc/sys/kernel/msgmni", "run --force --quick lock/system_v_message",
        &[0, 3], &["ipc limits"]),
    lack("POSIX queues 0", "echo 0 >/proc/sys/fs/mqueue/queues_max; ulimit -q 0",
        "run --force --quick context_switch/posix_queue/same_cpu", &[0, 3], &["queue"]),
    lack("8 descriptors", "ulimit -n 8", ONE, &[2, 3, 4, 5], &[]),
    lack("16 descriptors", "ulimit -n 16", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    lack("1 process", "exec prlimit --nproc=1 -- \"$0\" \"$@\"", ONE, &[2, 3, 4, 5], &[]).of_nobody(),
    lack("no locked memory", "ulimit -l 0", OBJECTS, &[0], &[]),
    lack("no locked memory, unprivileged", "ulimit -l 0", OBJECTS, &[0, 3], &[]).of_nobody(),
    lack("no POSIX queues in bytes", "ulimit -q 0", "run --force --quick context_switch/posix_queue/same_cpu",
        &[0, 3], &[]),
    lack("no file may grow far", "ulimit -f 8", ONE, &[4, 5], &[]),
    lack("400 MB of addresses", "ulimit -v 400000", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    lack("64 MB of addresses", "ulimit -v 65536", ONE, &[0, 2, 3, 4, 5, 70], &[]),
    lack("a stack of 256 KB", "ulimit -s 256", OBJECTS, &[0, 2, 3, 4, 5], &[]),
    lack("no privileges", "", OBJECTS, &[0], &[]).of_nobody().measures(ALL_OBJECTS),
    lack("nowhere to write but its state",
        "mount -t tmpfs -o ro none /dev/shm && mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp",
        OBJECTS, &[0], &[]).measures(ALL_OBJECTS),
    lack("no /dev", "mount -t tmpfs none /dev", "run --force --quick semaphore/posix_unnamed", &[0], &[]),
    lack("no /proc", "mount -t tmpfs none /proc", OBJECTS, &[0], &[]).measures(ALL_OBJECTS),
    lack("no /sys", "mount -t tmpfs none /sys", OBJECTS, &[0], &[]),
    lack("no HOME", "unset HOME XDG_STATE_HOME", ONE, &[4], &[]),
    lack("HOME is not there", "export HOME=/dev/null/home XDG_STATE_HOME=/dev/null/state", ONE, &[4], &[]),
    lack("HOME is read-only", "export HOME=/sys XDG_STATE_HOME=/sys/state", ONE, &[4], &["/sys"]).of_nobody(),
    lack("no namespaces", no_namespaces!(""), OBJECTS, &[0], &[]).isolated("janitor (").measures(ALL_OBJECTS),
    // A read-only /dev/shm holds no list of objects: the janitor who lives removes them nevertheless.
    lack("no namespaces and no file in /dev/shm",
        no_namespaces!("mount -t tmpfs -o ro none /dev/shm || exit 99; "),
        "run --force --quick semaphore/system_v lock/system_v_message", &[0], &[]).isolated("janitor (")
        .measures("semaphore/system_v lock/system_v_message"),
    // Programs of documents write fixed names to /tmp: where they get none of their own, they are not run.
    lack("no namespaces for programs of documents", WRITES_TO_TMP, "reproduce ostep --force --quick --c played",
        &[0, 3], &["the overlay on /tmp was refused"]).needs("cc"),
    lack("no random numbers", NO_RANDOM,
        "run --force --one-launch syscall/getppid realtime_ipc/bpf/same_cpu/clients_1", &[0, 3], &[])
        .needs("strace"),
    lack("no random numbers, doctor", NO_RANDOM, "doctor", &[0], &[]).needs("strace"),
    lack("no random numbers, list", NO_RANDOM, "list", &[0], &[]).needs("strace"),
    lack("no random numbers, report", NO_RANDOM, "report", &[2], &[]).needs("strace"),
    lack("no random numbers, tick", NO_RANDOM, "tick client --name x", &[5], &[]).needs("strace"),
    no_sleep!("EPERM", "run --force --one-launch realtime_ipc/pipe/same_cpu/clients_1"),
    no_sleep!("ENOSYS", "run --force --one-launch realtime_ipc/pipe/same_cpu/clients_1"),
    no_sleep!("EINVAL", "run --force --one-launch instrument/empty_loop"),
    lack("no ptrace and no seccomp",
        "exec strace -f -qq -o /mnt/trace -e inject=ptrace,seccomp:error=EPERM -- \"$0\" \"$@\"", ONE, &[3],
        TRACED).needs("strace"),
    lack("kill is refused", refuse!("-e inject=kill:error=EPERM"), ONE, &[5], &["kill failed"]).needs("strace"),
    lack("ioctl is refused", refuse!("-e inject=ioctl:error=EPERM"), ONE, &[3], TRACED).needs("strace")
        .isolated("ipc and mount namespaces"),
    lack("no /dev and no namespaces", no_namespaces!("mount -t tmpfs none /dev && "),
        "run --force --quick semaphore/posix_unnamed", &[0], &[]),
    lack("1 CPU", "exec taskset -c 0 \"$0\" \"$@\"", "run --force --quick context_switch/pipe/cross_cpu", &[3],
        &["CPUs"]),
    lack("1 CPU, both placements", "exec taskset -c 0 \"$0\" \"$@\"",
        "run --force --quick semaphore/system_v/handover", &[0], &["needs 2 CPUs"])
        .measures("semaphore/system_v/handover/same_cpu"),
    lack("1 CPU, a session", "exec taskset -c 0 \"$0\" \"$@\"",
        "run --force --quick realtime_ipc --set transport=futex_broadcast,spin --set clients=2 --set ticks=20",
        &[0, 3], &["needs 2 CPUs"]).measures("realtime_ipc/futex_broadcast/same_cpu"),
    lack("no locked memory and 64 descriptors, a session", "ulimit -l 0; ulimit -n 64",
        "run --force --quick realtime_ipc --set placement=same_cpu \
         --set transport=pipe,futex_broadcast --set clients=200 --set tick=10ms --set ticks=20", &[0, 3],
        &["ulimit -n"]).measures("realtime_ipc/futex_broadcast/same_cpu/clients_200"),
    lack("no real time and 40 processes", "exec prlimit --nproc=40 --rtprio=0 -- \"$0\" \"$@\"",
        "run --force --quick realtime_ipc --set placement=same_cpu --set transport=futex_broadcast \
         --set clients=100 --set ticks=20", &[3], &["ulimit -u"]).of_nobody(),
    lack("no real time: capability", "ulimit -r 0", SESSION, &[0], &["NOT REAL-TIME"]).of_nobody(),
    lack("no real time: capability, required", "ulimit -r 0", STRICT, &[5], &["CAP_SYS_NICE"]).of_nobody(),
    lack("no real time: limit", SHOW_LIMIT, STRICT, &[5], &["RLIMIT_RTPRIO is 10"]).of_nobody().needs("cc"),
    lack("no real time: seccomp", refuse!("--seccomp-bpf -e trace=sched_setscheduler,sched_setattr \
         -e inject=sched_setscheduler,sched_setattr:error=EPERM"), STRICT,
        &[5], &["seccomp"]).needs("strace"),
    lack("mount is refused", refuse!("-e inject=mount:error=EPERM"), OBJECTS, &[3], TRACED).needs("strace")
        .isolated("janitor (mount failed: "),
    lack("uid_map is refused", refuse!("-P /proc/self/uid_map -e inject=openat,write:error=EPERM"), OBJECTS,
        &[3], TRACED).of_nobody().needs("strace")
        .isolated("janitor (mapping the user in a user namespace failed: "),
    lack("no /dev/null in another root", ANOTHER_ROOT, OBJECTS, &[3], &["named semaphores need /dev/shm"])
        .isolated("janitor (").measures("semaphore/system_v semaphore/posix_unnamed"),
    lack("the runs are a file", "mkdir -p \"$XDG_STATE_HOME/oscost\" && : >\"$XDG_STATE_HOME/oscost/runs\"",
        "run --force --quiet --quick syscall/getppid", &[4], &["oscost/runs"]),
    lack("a FIFO that nobody reads", "mkfifo /mnt/fifo",
        "run --force --quiet --one-launch syscall/getppid --json /mnt/fifo", &[4], &["/mnt/fifo"]),
    lack("a FIFO whose reader leaves", "mkfifo /mnt/fifo; head -c 10 /mnt/fifo >/dev/null &",
        "run --force --quiet --one-launch syscall/getppid --json /mnt/fifo", &[0, 4], &[]),
    lack("a FIFO for a report", "\"$0\" run --force -q --one-launch syscall/getppid && mkfifo /mnt/fifo",
        "report @-1 --format html -o /mnt/fifo", &[4], &["/mnt/fifo"]),
    lack("a network of its own",
        "exec unshare -n -- sh -c 'ip link set lo up || exit 99; exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        "run --force --quick socket/udp_round_trip realtime_ipc/udp/same_cpu/clients_1", &[0], &[]),
    // And queues of one message, which lose nothing unsaid.
    lack("no loopback",
        "exec unshare -n -- sh -c 'echo 0 >/proc/sys/net/unix/max_dgram_qlen && exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        "run --force --quick realtime_ipc --set placement=same_cpu --set transport=udp,unix_datagram \
         --set clients=3", &[0, 3], &["loopback"]).measures("realtime_ipc/unix_datagram/same_cpu"),
    lack("no loopback for a load", "exec unshare -n -- \"$0\" \"$@\"",
        "run --force --quick realtime_ipc --set transport=unix_datagram --set clients=1 --set load=transfer",
        &[3], &["loopback"]),
];

impl Lack {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        if !space::is_root() && self.user == User::Nobody {
            return outcome.skip(format!("{}: only root can become an unprivileged user", self.name));
        }
        if let Some(needs) = self.needs.filter(|needs| !program::is_here(needs)) {
            return outcome.skip(format!("{}: {needs} is not installed", self.name));
        }
        let before = Left::now();
        let done = program::run(&mut program::after(self.user, self.prepare, self.arguments));
        if self.prepare.contains("inject=") {
            // Else nothing was refused, and nothing was tried.
            let trace = std::fs::read(ground("trace")).unwrap_or_default();
            let injected = String::from_utf8_lossy(&trace).matches("(INJECTED)").count() as u64;
            outcome.count("calls refused from the first on", injected);
            if injected == 0 {
                outcome.fail(format!("{}: no call was refused", self.name));
            }
        }
        outcome.count("lacks", 1);
        if done.code() == Some(99) {
            return outcome.skip(format!("{}: it cannot be made here", self.name));
        }
        program::ended_well(&done, self.codes, self.name, &mut outcome);
        let result = newest(self.user);
        let figures = result.iter().flat_map(|result| &result.figures);
        let whys = figures.flat_map(|figure| [&figure.why, &figure.remedy]).flatten().map(String::as_str);
        let shown = done.said();
        let said: Vec<&str> = whys.chain([&*shown]).flat_map(str::split_whitespace).collect();
        let said = said.join(" ");
        for words in self.words.iter().filter(|words| !said.contains(**words)) {
            outcome.fail(format!("{}: '{words}' is not said: {}", self.name, done.said()));
        }
        if done.code() != Some(0) && done.said().trim().is_empty() {
            outcome.fail(format!("{}: nothing is said", self.name));
        }
        let isolation = result.as_ref().and_then(|it| it.conditions.isolation.clone()).unwrap_or_default();
        if !isolation.starts_with(self.isolation) {
            outcome.fail(format!("{}: the isolation is {isolation:?}", self.name));
        }
        for id in self.measured.split_whitespace() {
            let figure = result.iter().flat_map(|it| &it.figures).find(|figure| figure.id.starts_with(id));
            if figure.is_none_or(|figure| figure.status != Status::Measured) {
                let why = figure.and_then(|figure| figure.why.clone());
                outcome.fail(format!("{}: {id} is not measured: {why:?}", self.name));
            }
        }
        for figure in result.iter().flat_map(|result| &result.figures) {
            if figure.status == Status::Measured && figure.launches.is_empty() {
                outcome.fail(format!("{}: {} has a figure and no launch", self.name, figure.id));
            }
            let of = |name| figure.quantities.get(name).map_or(0.0, |it| it.estimate.value);
            if of("sent") != of("received") + of("dropped") + of("missed") {
                outcome.fail(format!("{}: {} loses messages unsaid", self.name, figure.id));
            }
        }
        // What a shell mounts for the lack is there afterwards, and so is the state that it names.
        let made =
            |it: &String| it == "/tmp/state" || it.starts_with("mount ") && self.prepare.contains("mount ");
        for left in space::quiet().into_iter().chain(before.since().into_iter().filter(|it| !made(it))) {
            outcome.fail(format!("{}: {left}", self.name));
        }
        outcome
    }
}
