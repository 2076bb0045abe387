//! The rules of savings prove themselves: for each, a program before and one after, whose measured difference is what the bill of
//! the first one promised.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use oscost_results::bill::Saving;
use oscost_results::{Estimate, RunResult};
use oscost_sys::usage::{self, Whose};

use crate::support::{Home, skip};

/// What a promise may differ from what was measured.
const WITHIN: f64 = 0.25;
/// Runs of each program before the bill, and after it; the middle one counts, as a price is a mean.
const RUNS: usize = 5;
/// What was measured before the bill and after it may differ by so much: else the machine changed meanwhile, and the price is of neither.
const STEADY: f64 = WITHIN / 2.0;
/// So many outcomes of each proof are wanted; the median counts.
const SITTINGS: usize = 3;
/// So often they are tried for.
const MOST_SITTINGS: usize = 6;

/// A rule, and the program before and after: what each prepares, and what it repeats.
struct Proof {
    rule: &'static str,
    before: [&'static str; 2],
    after: [&'static str; 2],
    times: u32,
    /// What is promised: CPU time, or, of what waits, the time from the beginning to the end.
    of: Time,
}

#[derive(Clone, Copy)]
enum Time {
    Cpu,
    Wall,
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
        of: Time::Cpu,
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
        of: Time::Cpu,
    },
    Proof {
        rule: "vdso_clock",
        before: ["struct timespec t;", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);"],
        after: ["struct timespec t;", "clock_gettime(CLOCK_MONOTONIC, &t);"],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "block_writes",
        before: ["int f = open(\"/dev/null\", O_WRONLY); char b[16] = {0};", "write(f, b, 16);"],
        after: [
            "int f = open(\"/dev/null\", O_WRONLY); char b[16] = {0}; FILE *o = fdopen(f, \"w\"); setvbuf(o, 0, _IOFBF, 4096);",
            "fwrite_unlocked(b, 16, 1, o);",
        ],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "needless_wakes",
        before: ["int w = 0;", "syscall(SYS_futex, &w, 1, 1, 0, 0, 0);"],
        after: ["volatile int w = 0;", "if (w) syscall(SYS_futex, &w, 1, 1, 0, 0, 0);"],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "epoll",
        before: [
            "struct pollfd p[160]; for (int j = 0; j < 160; j++) p[j] = (struct pollfd){eventfd(j == 159, 0), POLLIN, 0};",
            "if (poll(p, 160, 0) != 1) return 1;",
        ],
        after: [
            "int q = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN}, r; for (int j = 0; j < 160; j++)
             epoll_ctl(q, EPOLL_CTL_ADD, eventfd(j == 159, 0), &e);",
            "if (epoll_wait(q, &r, 1, 0) != 1) return 1;",
        ],
        times: 50_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "posix_spawn",
        before: [
            "char *a[] = {NOTHING, 0};",
            "pid_t c = fork(); if (!c) { execv(a[0], a); _exit(1); } waitpid(c, 0, 0);",
        ],
        after: [
            "char *a[] = {NOTHING, 0}, *none[] = {0};",
            "pid_t c; posix_spawn(&c, a[0], 0, 0, a, none); waitpid(c, 0, 0);",
        ],
        times: 2000,
        of: Time::Cpu,
    },
    Proof {
        rule: "keep_mapping",
        // Its neighbour is of another protection: the kernel joins mappings that are alike, as the price's is not.
        before: [
            "mmap(0, 4096, 1, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);",
            "void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(m, 4096);",
        ],
        after: ["void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);", "__asm__ volatile(\"\" :: \"r\"(m));"],
        times: 400_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "vdso_gettimeofday",
        before: ["struct timeval t;", "syscall(SYS_gettimeofday, &t, 0);"],
        after: ["struct timeval t;", "gettimeofday(&t, 0);"],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "block_reads",
        before: ["int f = open(\"/dev/zero\", O_RDONLY); char b[16];", "read(f, b, 16);"],
        after: [
            "int f = open(\"/dev/zero\", O_RDONLY); char b[16]; FILE *o = fdopen(f, \"r\"); setvbuf(o, 0, _IOFBF, 4096);",
            "fread_unlocked(b, 16, 1, o);",
        ],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "yield_spin",
        before: ["", "sched_yield();"],
        // It sleeps once, and is woken.
        after: ["", "if (i == 0) usleep(1000);"],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "huge_pages",
        before: ["", "touched(MADV_NOHUGEPAGE);"],
        after: ["", "touched(MADV_HUGEPAGE);"],
        times: 16,
        of: Time::Cpu,
    },
    Proof {
        rule: "group_commit",
        before: ["int f = memfd_create(\"f\", 0);", "fsync(f);"],
        after: ["int f = memfd_create(\"f\", 0);", "if (i == 0) fsync(f);"],
        times: 2_000_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "broadcast",
        before: ["clients();", "for (int j = 0; j < CLIENTS; j++) told(j);"],
        after: ["clients();", "told(0);"],
        times: 100_000,
        of: Time::Cpu,
    },
    Proof {
        rule: "same_cpu",
        before: ["partner(1);", "round_trip();"],
        after: ["partner(0);", "round_trip();"],
        times: 20_000,
        of: Time::Wall,
    },
];

const HEADERS: &str = "#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int id;
static void gone(void) { if (id) semctl(id, 0, IPC_RMID); }
// The figures are those of one CPU: so are the programs. Another one is the next that may be used.
static void pin(int other) {
  static cpu_set_t all; cpu_set_t one; int cpu = sched_getcpu();
  if (!CPU_COUNT(&all)) sched_getaffinity(0, sizeof all, &all);
  if (other) do cpu = (cpu + 1) % CPU_SETSIZE; while (!CPU_ISSET(cpu, &all));
  CPU_ZERO(&one); CPU_SET(cpu, &one); sched_setaffinity(0, sizeof one, &one);
}
static void touched(int advice) {
  size_t all = 64 << 20; char *m = mmap(0, all, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); madvise(m, all, advice);
  for (size_t at = 0; at < all; at += 4096) *(volatile char *)(m + at) = 1;
  munmap(m, all);
}
enum { CLIENTS = 4 };
static int to[CLIENTS][2];
static void *waits(void *none) { for (;;) pause(); }
static void clients(void) {
  for (int j = 0; j < CLIENTS; j++) { pthread_t t; socketpair(AF_UNIX, SOCK_DGRAM, 0, to[j]); pthread_create(&t, 0, waits, 0); }
}
static void told(int j) { char b[16] = {0}; send(to[j][0], b, 16, 0); recv(to[j][1], b, 16, 0); }
static int there[2], back[2];
static void partner(int other) {
  char b; pipe(there); pipe(back);
  if (fork()) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL); pin(other);
  for (close(there[1]); read(there[0], &b, 1) == 1; write(back[1], &b, 1)) {}
  _exit(0);
}
static void round_trip(void) { char b = 0; write(there[1], &b, 1); read(back[0], &b, 1); }
";

/// A program that ends at once, without a C library: what is started costs no more than its start.
const NOTHING: &str = "#ifdef __x86_64__
void _start(void) { __asm__ volatile(\"syscall\" :: \"a\"(231L), \"D\"(0L)); __builtin_unreachable(); }
#else
void _start(void) { register long a __asm__(\"x0\") = 0, b __asm__(\"x8\") = 94; __asm__ volatile(\"svc 0\" :: \"r\"(a), \"r\"(b)); __builtin_unreachable(); }
#endif
";

fn compiled(folder: &Path, name: &str, [prepares, repeats]: [&str; 2], times: u32) -> Option<PathBuf> {
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    let text = format!(
        "{HEADERS}int main(void) {{ pin(0); {prepares} for (int i = 0; i < {times}; i++) {{ {repeats} }} return 0; }}\n"
    );
    let nothing = folder.join("nothing");
    let define = format!("-DNOTHING=\"{}\"", nothing.display());
    // Bound at once, as the program of the figures is: else each child of a fork looks its exec up anew.
    let options = ["-O2", "-w", "-pthread", "-Wl,-z,now", &define];
    let compiles = |program: &Path, source: &Path, options: &[&str], text: &str| {
        std::fs::write(source, text).expect("written");
        let done = Command::new("cc").args(options).arg("-o").arg(program).arg(source).status();
        done.is_ok_and(|status| status.success())
    };
    (compiles(&nothing, &folder.join("nothing.c"), &["-O2", "-static", "-nostdlib"], NOTHING)
        && compiles(&program, &source, &options, &text))
    .then_some(program)
}

/// Time of one run, ns.
fn once_ns(program: &Path, of: Time) -> f64 {
    let (begun, before) = (Instant::now(), usage::own(Whose::Children).expect("getrusage"));
    assert!(Command::new(program).status().expect("run").success());
    let used = usage::own(Whose::Children).expect("getrusage").since(&before);
    match of {
        Time::Cpu => (used.user_ns + used.system_ns) as f64,
        Time::Wall => begun.elapsed().as_nanos() as f64,
    }
}

/// What the bill of a program promises by a rule, ns. Of one that promises nothing: what part of a time its prices may take for the
/// whole, as both lie in their interval.
fn promised_ns(program: &Path, rule: &str) -> Result<f64, f64> {
    // Without a stored price: each sitting has its own.
    let home = Home::new();
    let done = home.measure(&["bill", "--json", "bill.json", "--", program.to_str().expect("a path")]);
    let result: RunResult =
        oscost_results::load(&home.path().join("bill.json")).unwrap_or_else(|_| panic!("{done:?}"));
    let bill = result.bill.expect("a bill");
    let sum = |end: fn(&Estimate) -> f64| bill.items.iter().map(|item| end(&item.together)).sum::<f64>();
    let scatter = sum(|it| it.low) / sum(|it| it.high);
    // By ptrace nobody sees which CPUs slept, and nothing is promised of them.
    if rule == "same_cpu" && bill.counted.iter().all(|counted| counted.wakes.is_none()) {
        return Err(0.0);
    }
    bill.savings.iter().find(|saving| saving.rule == rule).map(Saving::saved_ns).ok_or(scatter)
}

/// What came of a proof.
#[derive(Clone, Copy)]
enum Outcome {
    /// What was promised by what was measured.
    Promised(f64),
    /// Nothing was promised, and the scatter of prices may hide what would be saved.
    Hidden,
    /// Nothing was promised where more would be saved than the scatter hides.
    Missed,
}

impl Outcome {
    const fn share(&self) -> Option<f64> {
        match self {
            Self::Promised(share) => Some(*share),
            _ => None,
        }
    }
}

fn is_near(share: &f64) -> bool {
    (1.0 - WITHIN..=1.0 + WITHIN).contains(share)
}

/// What came of a proof, if the machine stood still meanwhile.
fn outcome(proof: &Proof, programs: &[PathBuf; 2]) -> Option<Outcome> {
    let middle = |program: &PathBuf| {
        let mut times: Vec<f64> = (0..RUNS).map(|_| once_ns(program, proof.of)).collect();
        times.sort_unstable_by(f64::total_cmp);
        times[RUNS / 2]
    };
    let measured = || programs.each_ref().map(middle);
    let first = measured();
    let promised = promised_ns(&programs[0], proof.rule);
    let last = measured();
    let saved = [first, last].map(|[before, after]| before - after);
    if (saved[0] / saved[1] - 1.0).abs() > STEADY {
        return None;
    }
    Some(match promised {
        Ok(promised) => Outcome::Promised(promised / ((saved[0] + saved[1]) / 2.0)),
        Err(scatter) if first[1] + last[1] > scatter * (first[0] + last[0]) => Outcome::Hidden,
        Err(_) => Outcome::Missed,
    })
}

/// What came of every proof; `None` where there is no C compiler.
fn outcomes() -> Option<Vec<Vec<Outcome>>> {
    let home = Home::new();
    let program = |proof: &Proof, name, parts| {
        compiled(home.path(), &format!("{}_{name}", proof.rule), parts, proof.times)
    };
    let pair = |proof| Some([program(proof, "before", proof.before)?, program(proof, "after", proof.after)?]);
    let programs: Vec<_> = PROOFS.iter().map(pair).collect::<Option<_>>()?;
    let mut outcomes = vec![Vec::new(); PROOFS.len()];
    // In rounds: for some seconds a processor may predict each return from the kernel wrong, which doubles a short call.
    for _ in 0..MOST_SITTINGS {
        for ((proof, programs), of) in PROOFS.iter().zip(&programs).zip(&mut outcomes) {
            if of.len() < SITTINGS {
                of.extend(outcome(proof, programs));
            }
        }
    }
    Some(outcomes)
}

#[test]
#[ignore = "longer: measures thirty programs, and needs a C compiler"]
fn a_promise_is_within_a_quarter_of_what_is_measured() {
    let Some(all) = outcomes() else {
        return skip("no C compiler");
    };
    let mut wrong = Vec::new();
    for (proof, outcomes) in PROOFS.iter().zip(all) {
        let mut of: Vec<f64> = outcomes.iter().filter_map(Outcome::share).collect();
        of.sort_unstable_by(f64::total_cmp);
        let missed = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Missed)).count();
        let words =
            format!("{}: promised by measured {of:.3?} of {}, {missed} missed", proof.rule, outcomes.len());
        println!("{words}");
        if of.is_empty() && missed == 0 {
            skip(&format!(
                "{}: the scatter of prices hid it, or the machine changed, in each sitting",
                proof.rule
            ));
        }
        // Of three the middle one counts. Fewer must all hold.
        let holds = match &of[..] {
            [_, middle, _] => is_near(middle),
            few => few.iter().all(is_near),
        };
        if missed > 0 || !holds {
            wrong.push(words);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
