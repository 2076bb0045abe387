//! late: a call of the measured operation fails after thousands that went well, and so does every later one of that process. There
//! is no figure, whatever was measured before.
//!
//! A library in front of the C library lets it fail: a tracer would have every figure withheld for its own sake.

use std::process::{Command, Stdio};

use oscost_results::Status;
use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::ground;
use crate::{Amount, Outcome, Provocation, crowd, judge};

/// An id, and a function that its operation calls, as the library defines it.
const OPERATIONS: &[(&str, &str)] = &[
    ("semaphore/system_v", "int semop(int id, struct sembuf *all, size_t count) ASK(semop, id, all, count)"),
    ("semaphore/posix_named", "int sem_wait(sem_t *semaphore) ASK(sem_wait, semaphore)"),
    ("semaphore/posix_named", "int sem_post(sem_t *semaphore) ASK(sem_post, semaphore)"),
    ("record_lock/flock", "int flock(int file, int what) ASK(flock, file, what)"),
];

/// The first call that fails: some while batches get their length, some in the launch.
const FROM: [u32; 3] = [500, 5_000, 50_000];

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/sem.h>
#include <unistd.h>
static int fails(void) {
    static long from = -1, made;
    if (from < 0) from = getenv("FAIL_FROM") ? atol(getenv("FAIL_FROM")) : 0;
    if (from == 0 || __sync_add_and_fetch(&made, 1) < from) return 0;
    if (made == from) close(open("/mnt/injected", O_WRONLY | O_CREAT, 0666));
    errno = EIO;
    return 1;
}
#define ASK(name, ...) { \
    static __typeof__(name) *next; \
    if (fails()) return -1; \
    if (!next) next = dlsym(RTLD_NEXT, #name); \
    return next(__VA_ARGS__); \
}
"#;

/// One function fails from a call on.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Late {
    operation: usize,
}

pub fn run(_: Amount) -> Outcome {
    let provocations: Vec<Provocation> =
        (0..OPERATIONS.len()).map(|operation| Provocation::Late(Late { operation })).collect();
    let mut outcome = crowd::sum(crowd::all(&provocations));
    if outcome.skipped.is_empty() && !outcome.counts.contains_key("operations that failed late") {
        outcome.fail("late: no operation failed");
    }
    outcome
}

impl Late {
    pub fn carry_out(self) -> Outcome {
        let mut outcome = Outcome::default();
        let (id, function) = OPERATIONS[self.operation];
        if !program::is_here("cc") {
            return outcome.skip("late: no C compiler is installed");
        }
        let (source, library) = (ground("late.c"), ground("late.so"));
        std::fs::write(&source, format!("{LIBRARY}\n{function}\n")).unwrap();
        let made = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return outcome.failed(format!("late: the library for '{function}' cannot be compiled"));
        }
        // In front of the C library and quiet: the figure is there, so that it can be missing for a failure's sake alone.
        let (code, status, _) = self.measured(0, &mut outcome);
        if status != Some(Status::Measured) {
            return outcome
                .failed(format!("late: {id} beside a library that lets nothing fail: {code:?}, {status:?}"));
        }
        for from in FROM {
            let (code, status, why) = self.measured(from, &mut outcome);
            let what = format!("late: {id} with '{function}' failing from call {from} on");
            if std::fs::remove_file(ground("injected")).is_err() {
                outcome.count("operations that did not come to their failing call", 1);
                continue;
            }
            outcome.count("operations that failed late", 1);
            if status == Some(Status::Measured) || status.is_none() {
                outcome.wrong("figures beside an error", format!("{what}: {status:?}"));
            }
            if code != Some(3) {
                outcome.fail(format!("{what}: exit code {code:?}"));
            }
            if why.is_empty() {
                outcome.fail(format!("{what}: no reason is given"));
            }
        }
        outcome
    }

    /// Exit code, and state and reason of the figure.
    fn measured(self, from: u32, outcome: &mut Outcome) -> (Option<i32>, Option<Status>, String) {
        let id = OPERATIONS[self.operation].0;
        let prepare = format!("export LD_PRELOAD=/mnt/late.so FAIL_FROM={from}");
        let arguments = format!("run --force --quiet --one-launch {id} --json -");
        let done = program::run(&mut program::after(User::Own, &prepare, &arguments));
        let Ok(result) = oscost_results::from_bytes(done.stdout.as_bytes()) else {
            outcome.fail(format!("late: {id}, from call {from} on: {}", done.words()));
            return (done.code(), None, String::new());
        };
        for words in judge::wrong(&result, done.code()) {
            outcome.fail(format!("late: {id}, from call {from} on: {words}"));
        }
        let figure = result.figures.iter().find(|figure| figure.id == id);
        let why = figure.and_then(|figure| figure.why.clone()).unwrap_or_default();
        (done.code(), figure.map(|figure| figure.status), why)
    }
}
