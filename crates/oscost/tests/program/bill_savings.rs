//! The rules of savings prove themselves: for each, a program before and one after, whose measured difference is what the bill of
//! the first one promised.

use std::path::{Path, PathBuf};
use std::process::Command;

use oscost_results::RunResult;
use oscost_sys::usage::{self, Whose};

use crate::support::Home;

/// What a promise may differ from what was measured.
const WITHIN: f64 = 0.25;
/// Runs of each program; the fastest counts, as a neighbour only adds.
const RUNS: usize = 5;

/// A rule, and the program before and after: what each prepares, and what it repeats.
struct Proof {
    rule: &'static str,
    before: [&'static str; 2],
    after: [&'static str; 2],
    times: u32,
}

const PROOFS: &[Proof] = &[
    Proof {
        rule: "posix_semaphore",
        before: [
            "int s = semget(IPC_PRIVATE, 1, 0600); semctl(s, 0, SETVAL, 1); struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
             atexit(gone); id = s;",
            "semop(s, &down, 1); semop(s, &up, 1);",
        ],
        after: ["static sem_t s; sem_init(&s, 1, 1);", "sem_wait(&s); sem_post(&s);"],
        times: 400_000,
    },
    Proof {
        rule: "one_lock",
        before: [
            "int f = fileno(tmpfile()); struct flock on = {.l_type = F_WRLCK, .l_len = 1}, off = {.l_type = F_UNLCK, .l_len = 1};",
            "fcntl(f, F_SETLKW, &on); fcntl(f, F_SETLKW, &off);",
        ],
        after: [
            "int f = fileno(tmpfile()); struct flock on = {.l_type = F_WRLCK, .l_len = 1}; fcntl(f, F_SETLKW, &on);",
            "__asm__ volatile(\"\");",
        ],
        times: 300_000,
    },
    Proof {
        rule: "vdso_clock",
        before: ["struct timespec t;", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);"],
        after: ["struct timespec t;", "clock_gettime(CLOCK_MONOTONIC, &t);"],
        times: 2_000_000,
    },
    Proof {
        rule: "block_writes",
        before: ["int f = open(\"/dev/null\", O_WRONLY); char b[16] = {0};", "write(f, b, 16);"],
        after: [
            "int f = open(\"/dev/null\", O_WRONLY); char b[16] = {0}; FILE *o = fdopen(f, \"w\"); setvbuf(o, 0, _IOFBF, 4096);",
            "fwrite_unlocked(b, 16, 1, o);",
        ],
        times: 2_000_000,
    },
    Proof {
        rule: "needless_wakes",
        before: ["int w = 0;", "syscall(SYS_futex, &w, 1, 1, 0, 0, 0);"],
        after: ["volatile int w = 0;", "if (w) syscall(SYS_futex, &w, 1, 1, 0, 0, 0);"],
        times: 2_000_000,
    },
    Proof {
        rule: "epoll",
        before: [
            "struct pollfd p[256]; for (int j = 0; j < 256; j++) p[j] = (struct pollfd){eventfd(j == 255, 0), POLLIN, 0};",
            "poll(p, 256, 0);",
        ],
        after: [
            "int q = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN}, r; for (int j = 0; j < 256; j++)
             epoll_ctl(q, EPOLL_CTL_ADD, eventfd(j == 255, 0), &e);",
            "epoll_wait(q, &r, 1, 0);",
        ],
        times: 50_000,
    },
    Proof {
        rule: "posix_spawn",
        before: [
            "char *a[] = {\"/bin/true\", 0};",
            "pid_t c = fork(); if (!c) { execv(a[0], a); _exit(1); } waitpid(c, 0, 0);",
        ],
        after: [
            "char *a[] = {\"/bin/true\", 0}, *none[] = {0};",
            "pid_t c; posix_spawn(&c, a[0], 0, 0, a, none); waitpid(c, 0, 0);",
        ],
        times: 1000,
    },
    Proof {
        rule: "keep_mapping",
        before: ["", "void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(m, 4096);"],
        after: ["void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);", "__asm__ volatile(\"\" :: \"r\"(m));"],
        times: 400_000,
    },
];

const HEADERS: &str = "#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int id;
static void gone(void) { if (id) semctl(id, 0, IPC_RMID); }
";

fn compiled(folder: &Path, name: &str, [prepares, repeats]: [&str; 2], times: u32) -> Option<PathBuf> {
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    let text = format!(
        "{HEADERS}int main(void) {{ (void)gone; {prepares} for (int i = 0; i < {times}; i++) {{ {repeats} }} return 0; }}\n"
    );
    std::fs::write(&source, text).expect("written");
    let done = Command::new("cc").args(["-O2", "-w", "-pthread", "-o"]).arg(&program).arg(&source).status();
    done.is_ok_and(|status| status.success()).then_some(program)
}

/// CPU time of the fastest of some runs, ns.
fn cpu_ns(program: &Path) -> f64 {
    let once = || {
        let before = usage::own(Whose::Children).expect("getrusage");
        assert!(Command::new(program).status().expect("run").success());
        let used = usage::own(Whose::Children).expect("getrusage").since(&before);
        (used.user_ns + used.system_ns) as f64
    };
    (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "longer: measures sixteen programs, and needs a quiet machine and a C compiler"]
fn a_promise_is_within_a_quarter_of_what_is_measured() {
    let home = Home::new();
    let mut wrong = Vec::new();
    for proof in PROOFS {
        let program =
            |name: &str, parts| compiled(home.path(), &format!("{}_{name}", proof.rule), parts, proof.times);
        let (Some(before), Some(after)) = (program("before", proof.before), program("after", proof.after))
        else {
            return println!("SKIP a_promise_is_within_a_quarter_of_what_is_measured: no C compiler");
        };
        let file = format!("{}.json", proof.rule);
        let done = home.measure(&["bill", "--json", &file, "--", before.to_str().expect("a path")]);
        let result: RunResult =
            oscost_results::load(&home.path().join(&file)).unwrap_or_else(|_| panic!("{done:?}"));
        let bill = result.bill.expect("a bill");
        let Some(saving) = bill.savings.iter().find(|saving| saving.rule == proof.rule) else {
            wrong.push(format!("{}: nothing was promised", proof.rule));
            continue;
        };
        let measured = cpu_ns(&before) - cpu_ns(&after);
        let share = saving.saved_ns() / measured;
        println!(
            "{}: promised {:.1} ms, measured {:.1} ms: {:.0} %",
            proof.rule,
            saving.saved_ns() / 1e6,
            measured / 1e6,
            share * 100.0
        );
        if (share - 1.0).abs() > WITHIN {
            wrong.push(format!("{}: {:.0} % of what was measured", proof.rule, share * 100.0));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
