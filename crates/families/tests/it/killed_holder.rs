//! What happens to each lock when its holder is killed: its waiters are told, or it is free, or they wait for ever.
#![expect(clippy::print_stdout)] // the behaviour of each is a finding

use std::os::fd::AsFd;

use oscost_sys::condition::Condition;
use oscost_sys::mutex::{Mutex, MutexKind};
use oscost_sys::process::{Child, Signal, signal};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};
use oscost_sys::rwlock::RwLock;
use oscost_sys::semaphore::{SystemV, Unnamed};
use oscost_sys::system_v_queue::SystemVQueue;
use oscost_sys::{CallError, file, futex, pipe};

const RECORD: Range = Range { start: 0, length: 1 };

/// What the next one meets.
#[derive(Debug, PartialEq)]
enum Next {
    GetsIt,
    IsTold(i32),
    WaitsForEver,
}

/// A child takes the lock and is killed with it; another one tries to take it. Of one that should wait for ever a third of a second
/// must do. Any other is waited for.
fn after_a_kill(take: impl Fn() -> Result<(), CallError>, name: &str, expected: Next) {
    let (holds, bell) = (pipe::Pipe::new().unwrap(), pipe::Pipe::new().unwrap());
    let holder = Child::fork(|| {
        if take().and_then(|()| pipe::write_byte(&holds.writer)).is_err() {
            return 1;
        }
        // Nobody ever rings: it holds until it is killed.
        i32::from(pipe::read_byte(&bell.reader).is_err())
    })
    .unwrap();
    pipe::read_byte(&holds.reader).unwrap();
    signal(holder.pid(), Signal::Kill).unwrap();
    holder.wait().unwrap();
    let next = Child::fork(|| take().err().map_or(0, |error| error.errno)).unwrap();
    let patience_ns = if expected == Next::WaitsForEver { 300_000_000 } else { 60_000_000_000 };
    let found = match next.wait_at_most(patience_ns) {
        Ok(ended) => match ended.code {
            Some(0) => Next::GetsIt,
            Some(errno) => Next::IsTold(errno),
            None => panic!("{name}: the next one died"),
        },
        Err(_) => Next::WaitsForEver,
    };
    println!("{name}: {found:?}");
    assert_eq!(found, expected, "{name}");
}

#[test]
#[ignore = "longer: it kills"]
fn a_robust_mutex_tells_and_record_locks_are_free() {
    let robust = Mutex::new(MutexKind::Robust).unwrap();
    let owner_dead = Next::IsTold(robust_errno());
    after_a_kill(|| robust.lock(), "robust mutex", owner_dead);
    let fd = file::in_memory(1).unwrap();
    let process = || record_lock::lock(fd.as_fd(), Owner::Process, LockKind::Write, RECORD);
    after_a_kill(process, "record lock of a process", Next::GetsIt);
    let own = |lock: &dyn Fn(std::os::fd::BorrowedFd<'_>) -> Result<(), CallError>| {
        let again = file::open_again(&fd)?;
        lock(again.as_fd())?;
        // It must stay open as long as its holder lives.
        std::mem::forget(again);
        Ok(())
    };
    let description = || own(&|fd| record_lock::lock(fd, Owner::Description, LockKind::Write, RECORD));
    after_a_kill(description, "record lock of a description", Next::GetsIt);
    after_a_kill(|| own(&|fd| record_lock::flock(fd, LockKind::Write)), "flock", Next::GetsIt);
}

/// EOWNERDEAD of this system.
fn robust_errno() -> i32 {
    let mutex = Mutex::new(MutexKind::Robust).unwrap();
    Child::fork(|| i32::from(mutex.lock().is_err())).unwrap().wait().unwrap();
    let told = mutex.lock().unwrap_err();
    assert_eq!(told.symbol(), Some("EOWNERDEAD"));
    told.errno
}

#[test]
#[ignore = "longer: it kills"]
fn everything_else_is_held_by_the_dead() {
    let shared = Mutex::new(MutexKind::Shared).unwrap();
    after_a_kill(|| shared.lock(), "process-shared mutex", Next::WaitsForEver);
    let writing = RwLock::new().unwrap();
    after_a_kill(|| writing.write(), "reader-writer lock", Next::WaitsForEver);
    let condition = Condition::new(true).unwrap();
    after_a_kill(|| condition.wait(), "condition variable's token", Next::WaitsForEver);
    let raw = futex::Lock::new().unwrap();
    after_a_kill(|| raw.lock(), "futex lock", Next::WaitsForEver);
    let posix = Unnamed::new(1).unwrap();
    after_a_kill(|| posix.wait(), "POSIX semaphore", Next::WaitsForEver);
    let system_v = SystemV::new(1).unwrap();
    after_a_kill(|| system_v.wait(), "System V semaphore", Next::WaitsForEver);
    let queue = SystemVQueue::new(true).unwrap();
    after_a_kill(|| queue.receive(), "System V message", Next::WaitsForEver);
    let token = pipe::Pipe::new().unwrap();
    pipe::write_byte(&token.writer).unwrap();
    after_a_kill(|| pipe::read_byte(&token.reader), "byte in a pipe", Next::WaitsForEver);
}
