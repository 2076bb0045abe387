//! A record lock on a file of which another process holds many other records: the kernel keeps them in one list.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::file;
use oscost_sys::memory::SharedWords;
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::Child;
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use super::locks::{OnFile, make};
use crate::lock::excluding;
use crate::partner;
use crate::row::{Row, row};

/// Taking and giving back beside `OTHERS` locks of somebody else's.
pub const fn beside<L: OnFile, const OTHERS: u64>(card: &'static Card) -> Row {
    row(card, |cx| cycle::<L>(cx, OTHERS).map(Subject::batched))
}

/// Card of taking and giving back a record beside a few other locks.
pub const fn few(card: Card, id: &'static str, operation: &'static str) -> Card {
    Card { id, operation, ..card }
}

/// Two calls of fcntl. Whoever lists the locks of the system (/proc/locks, lsof) makes those wait who lock, the longer the
/// more locks there are.
const OF_MANY: [Claim; 4] = [
    Claim::SystemCalls(Bound::Exactly(2.0)),
    Claim::CallsNamed(&["fcntl"], Bound::Exactly(2.0)),
    Claim::VoluntarySwitches(Bound::AtMost(0.1)),
    Claim::Faults(Bound::AtMost(0.001)),
];

/// The same beside so many that taking them is most of the work: a group and launches of its own.
pub const fn many(card: Card, id: &'static str, operation: &'static str) -> Card {
    Card {
        group: "record_lock/others_10000",
        claims: &OF_MANY,
        launches: Some(6),
        launch_ms: 2000,
        ..few(card, id, operation)
    }
}

struct Cycle<L> {
    lock: L,
    _holder: Child,
    _file: OwnedFd,
}

/// Every other byte: neighbours would become one lock.
fn hold(file: &OwnedFd, others: u64) -> Outcome {
    for number in 0..others {
        let record = Range { start: 2 * (number + 1), length: 1 };
        record_lock::lock(file.as_fd(), Owner::Process, LockKind::Write, record)?;
    }
    Ok(())
}

fn cycle<L: OnFile>(cx: &mut SetUp<'_>, others: u64) -> Result<Cycle<L>, Unable> {
    let file = make()?;
    let words = SharedWords::new(1)?;
    let end = Pipe::new()?;
    let holder = partner::start(cx, false, || {
        let own = file::open_again(&file)?;
        let held = hold(&own, others);
        let told = held.map_or_else(|error| u64::from(error.errno.unsigned_abs()) + 1, |()| 1);
        words.word(0).store(told, Ordering::Release);
        // Until it is killed: the other end is never written to.
        pipe::read_byte(&end.reader).map(|_| ())
    })?;
    let told = loop {
        match words.word(0).load(Ordering::Acquire) {
            0 if holder.has_ended() => return Err(CallError::gone("fcntl").into()),
            0 => oscost_sys::clock::pause(std::time::Duration::from_micros(500)),
            told => break told,
        }
    };
    if told != 1 {
        let error = CallError::new("fcntl", i32::try_from(told - 1).unwrap_or(0));
        return Err(Unable::Unsupported {
            why: format!("a process cannot hold {} record locks: {error}", others),
            remedy: "a higher limit of locks (ulimit -x)".into(),
        });
    }
    let lock = L::of(file::open_again(&file)?);
    Ok(Cycle { lock, _holder: holder, _file: file })
}

impl<L: OnFile> Batched for Cycle<L> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.lock.enter()?;
            self.lock.leave()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        excluding::verify(&self.lock)
    }
}
