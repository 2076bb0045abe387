//! The process of a load: prepared and waiting before the session, working between two moments of it, and gone with all
//! that it started.

use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{CallError, Unable};
use oscost_sys::memory::SharedWords;
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::{self, Child, Signal};
use oscost_sys::{affinity, clock, namespace, readiness, reaper};

use super::{Lacking, Load};

/// Patience with a load that gets ready, and with one that is ended, ns.
const READY_NS: u64 = 5_000_000_000;
const END_NS: u64 = 2_000_000_000;
/// First byte of what a load says.
const READY: u8 = b'R';
const LACKS: u8 = b'L';
const FAILED: u8 = b'F';
/// Exit code of the keeper of a load that ended before it was told to: more than any error number.
const DIED: i32 = 255;
const KILLED: &str = "it was killed before its end: by somebody's signal, or for want of memory";

/// When a load was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// It was let go then, ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// The last of it had ended then.
    pub end_ns: u64,
    /// Rounds of its work.
    pub rounds: u64,
}

impl Busy {
    /// Whether it was on at this time.
    pub fn covers(&self, time_ns: u64) -> bool {
        self.side(time_ns) == 1
    }

    /// 0 before it, 1 under it, 2 after it.
    pub fn side(&self, time_ns: u64) -> usize {
        usize::from(time_ns >= self.start_ns) + usize::from(time_ns >= self.end_ns)
    }
}

/// A load that is ready, or at work. Dropping it ends it.
#[derive(Debug)]
pub struct Loading {
    keeper: Child,
    go: Pipe,
    stop: Pipe,
    said: Pipe,
    rounds: SharedWords,
    start_ns: u64,
}

impl Loading {
    /// Prepares `load` on these CPUs, in a process that waits to be let go.
    ///
    /// The caller must have one thread only.
    ///
    /// # Errors
    /// Unsupported with what the load lacks here; a failed call.
    pub fn ready(load: Load, cpus: &[usize]) -> Result<Self, Unable> {
        let (go, stop, said) = (Pipe::new()?, Pipe::new()?, Pipe::without_waiting_writer()?);
        let rounds = SharedWords::new(1)?;
        let keeper = Child::fork(|| keep(&stop, || work(load, cpus, &go, &said, rounds.word(0))))?;
        let this = Self { keeper, go, stop, said, rounds, start_ns: 0 };
        if !readiness::poll_readable(&[&this.said.reader], READY_NS)?[0] {
            return Err(Unable::Failed(CallError::told(String::leak(format!(
                "the load {} did not get ready within {} s",
                load.name(),
                READY_NS / 1_000_000_000
            )))));
        }
        let text = this.read()?;
        match text.split_first() {
            Some((&READY, _)) => Ok(this),
            Some((&LACKS, words)) => {
                let words = String::from_utf8_lossy(words).into_owned();
                let (why, remedy) = words.split_once('\n').unwrap_or((&words, ""));
                Err(Unable::Unsupported { why: why.to_owned(), remedy: remedy.to_owned() })
            }
            _ => Err(Unable::Failed(CallError::gone("a load that gets ready"))),
        }
    }

    /// Lets it go.
    ///
    /// # Errors
    /// The error of write.
    pub fn go(&mut self) -> Result<(), CallError> {
        self.start_ns = clock::now_ns();
        pipe::write_byte(&self.go.writer)
    }

    /// Ends it with all that it started: when it was on, or what went wrong with it, in words.
    ///
    /// # Errors
    /// What the load said when it failed; that it could not be ended.
    pub fn stop(self) -> Result<Busy, String> {
        pipe::write_byte(&self.stop.writer).map_err(|error| error.to_string())?;
        let said = &self.said;
        let ended = self.keeper.wait_at_most(END_NS);
        let end_ns = clock::now_ns();
        let ended =
            ended.map_err(|_| format!("it could not be ended within {} s", END_NS / 1_000_000_000))?;
        let failed = readiness::poll_readable(&[&said.reader], 0).is_ok_and(|readable| readable[0]);
        let text = if failed { read(&said.reader).map_err(|error| error.to_string())? } else { Vec::new() };
        match (text.split_first(), ended.code) {
            (Some((_, words)), _) => Err(String::from_utf8_lossy(words).into_owned()),
            (None, Some(0)) => Ok(Busy {
                start_ns: self.start_ns,
                end_ns,
                rounds: self.rounds.word(0).load(Ordering::Acquire),
            }),
            (None, None | Some(DIED)) => Err(KILLED.to_owned()),
            (None, Some(errno)) => Err(CallError::new("a call of its keeper", errno).to_string()),
        }
    }

    fn read(&self) -> Result<Vec<u8>, CallError> {
        read(&self.said.reader)
    }
}

fn read(from: &std::os::fd::OwnedFd) -> Result<Vec<u8>, CallError> {
    let mut text = vec![0; 4096];
    let length = pipe::read(from, &mut text)?;
    text.truncate(length);
    Ok(text)
}

/// The keeper: ends the load when it is told to, with whatever it started. In a PID namespace of its own nobody of them can
/// leave; where there is none, orphans are the keeper's.
fn keep(stop: &Pipe, work: impl FnOnce() -> i32) -> i32 {
    let keep = || -> Result<bool, CallError> {
        reaper::adopt_orphans()?;
        // Refused or not: what is in force is seen by the first process in it.
        if namespace::probe()?.is_none() {
            namespace::isolate(true)?;
        }
        let load = Child::fork(work)?;
        // Before Linux 5.3 there is no pidfd: then a load that ends early is found at its end.
        match process::pidfd(load.pid()) {
            Ok(pidfd) => {
                while !readiness::poll_readable(&[&stop.reader, &pidfd], u64::MAX)?.contains(&true) {}
            }
            Err(_) => pipe::read_byte(&stop.reader)?,
        }
        // Whoever ended it, from then on nothing was busy.
        let died = load.has_ended();
        let _ = process::signal(load.pid(), Signal::Kill);
        load.wait()?;
        reaper::end_all().map(|()| died)
    };
    match keep() {
        Ok(true) => DIED,
        Ok(false) => 0,
        Err(error) => error.errno.clamp(1, DIED - 1),
    }
}

/// The load itself: gets ready, waits, and works until it is killed.
fn work(load: Load, cpus: &[usize], go: &Pipe, said: &Pipe, rounds: &AtomicU64) -> i32 {
    // Words that find no room are lost: nobody waits for them then.
    let say = |kind: u8, words: &str| {
        let mut text = vec![kind];
        text.extend(words.bytes().take(2000));
        let _ = pipe::write(&said.writer, &text);
    };
    if std::process::id() == 1 {
        // Where that is refused /proc stays the host's, and nothing here needs another.
        let _ = namespace::mount_proc();
    }
    process::default_endings();
    if let Err(error) = affinity::pin_to_all(cpus) {
        say(LACKS, &format!("the load cannot run on its CPUs: {error}\n"));
        return 1;
    }
    let mut round = match load.prepare() {
        Ok(round) => round,
        Err(Lacking { why, remedy }) => {
            say(LACKS, &format!("load {}: {why}\n{remedy}", load.name()));
            return 1;
        }
    };
    say(READY, "");
    if pipe::read_byte(&go.reader).is_err() {
        return 1;
    }
    loop {
        if let Err(words) = round() {
            say(FAILED, &words);
            return 1;
        }
        rounds.fetch_add(1, Ordering::Release);
    }
}
