//! Planted faults: functions of libc that do nothing, begin to do nothing, or do more than they say. A mark is not enough for
//! them: each is contradicted, and shows no number.

use std::path::Path;
use std::process::Command;

use oscost_results::{RunResult, Status};

use crate::support::{Done, Home, PROGRAM, one_at_a_time, skip};

/// What is planted, and the figures that rest on it.
const FAULTS: &[(&str, &[&str])] = &[
    (
        "sem_wait=noop sem_post=noop",
        &[
            "semaphore/posix_named",
            "semaphore/posix_named/handover/same_cpu",
            "semaphore/posix_named/contended/processes_4/hold_us_1/think_0",
        ],
    ),
    ("sem_wait=noop", &["semaphore/posix_unnamed"]),
    (
        "pthread_mutex_lock=noop pthread_mutex_unlock=noop",
        &[
            "lock/mutex",
            "lock/pi_mutex",
            "lock/shared_mutex/handover/same_cpu",
            "lock/shared_mutex/contended/processes_4/hold_us_1/think_0",
        ],
    ),
    ("pthread_rwlock_wrlock=noop pthread_rwlock_unlock=noop", &["lock/rwlock_write"]),
    // The audit's early operations are honest.
    ("semop=after:3000", &["semaphore/system_v"]),
    ("sem_post=extra", &["semaphore/posix_named/handover/same_cpu"]),
    ("read=noop write=noop", &["context_switch/pipe/same_cpu", "context_switch/pipe_alone/same_cpu"]),
    ("fcntl=noop", &["record_lock/fcntl", "record_lock/ofd"]),
];

/// One launch of `ids` with `fault` planted.
fn planted(home: &Home, library: &Path, fault: &str, ids: &[&str]) -> (Done, RunResult) {
    let _lock = one_at_a_time();
    let mut command = home.other(PROGRAM);
    command.args(["run", "--force", "--quiet", "--one-launch", "--json", "out.json"]).args(ids);
    command.env("LD_PRELOAD", library).env("FAULT", fault);
    let done = Done::from(command.output().expect("the program can be started"));
    let result = oscost_results::load(&home.path().join("out.json")).expect("a result");
    (done, result)
}

#[test]
#[ignore = "longer: it deceives"]
fn what_does_nothing_or_does_more_is_contradicted() {
    let home = Home::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/planted_faults/interpose.c");
    let library = home.path().join("interpose.so");
    let built = Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    if !built.is_ok_and(|status| status.success()) {
        return skip("what_does_nothing_or_does_more_is_contradicted", "no C compiler");
    }
    for (fault, ids) in FAULTS {
        let (done, result) = planted(&home, &library, fault, ids);
        assert_eq!(done.code, Some(3), "{fault}: {done:?}");
        for id in *ids {
            let figure = result.figures.iter().find(|figure| figure.id == *id).expect("the figure");
            assert_eq!(figure.status, Status::Contradicted, "{fault}, {id}: {:?}", figure.why);
            assert!(figure.quantities.is_empty(), "{fault}, {id}");
        }
    }
}
