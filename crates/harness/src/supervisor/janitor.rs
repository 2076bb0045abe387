//! The janitor: removes kernel objects that outlive a process, if workers cannot get private namespaces.
//!
//! It is started before any object exists, in a session of its own, ignores the signals by which a user ends a program,
//! and waits at a pipe. When every process that holds the other end is gone, for whatever reason, it removes what the
//! ledger names and ends. What it cannot survive is a kill of every process at once (a cgroup's): then the next start does
//! its work. The result says that it was the janitor who watched.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

use oscost_sys::folder::Folder;
use oscost_sys::pipe::Pipe;
use oscost_sys::{CallError, process};

use crate::benchmark::directory::Place;
use crate::protocol::keeper::{JANITOR_ARGUMENT, Tie, descriptor};
use crate::protocol::ledger::{Ledger, SHARED_MEMORY};

/// A running janitor, seen from the supervisor.
#[derive(Debug)]
pub struct Janitor {
    tie: Tie,
}

impl Janitor {
    /// Starts a janitor from the program itself. It ends by itself when the last end of its pipe is closed. What it is told
    /// of is found by the next start too, where `durable` says so. `place` is where folders go; it is inherited.
    ///
    /// # Errors
    /// The error of recvfrom, of pipe2, of making the ledger, or of starting a program.
    pub fn start(program: &std::path::Path, durable: bool, place: Option<&Place>) -> Result<Self, CallError> {
        let failed = |error: std::io::Error| CallError::new("exec", error.raw_os_error().unwrap_or(0));
        // It waits for our end, and we would wait for its.
        process::may_hear()?;
        let Pipe { reader, writer } = Pipe::new()?;
        let ledger = Ledger::make(durable)?;
        let mut command = Command::new(program);
        command.arg(JANITOR_ARGUMENT);
        if let Some(place) = place {
            command.arg(place.folder().as_raw_fd().to_string());
        }
        process::in_own_session(&mut command);
        command
            .env_clear()
            .stdin(Stdio::from(reader))
            .stdout(Stdio::from(ledger.as_fd().try_clone_to_owned().map_err(failed)?))
            .stderr(process::sink()?)
            .spawn()
            .map_err(failed)?;
        Ok(Self { tie: Tie { pipe: writer, ledger } })
    }

    /// Lets workers inherit pipe and ledger: the words by which a worker is told of them.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn share(&self) -> Result<String, CallError> {
        process::keep_over_exec(&self.tie.pipe)?;
        process::keep_over_exec(&self.tie.ledger)?;
        Ok(format!("{},{}", self.tie.pipe.as_raw_fd(), self.tie.ledger.as_raw_fd()))
    }
}

/// What the program does when it is started as the janitor: the pipe is its standard input, the ledger its output, and the
/// argument the descriptor of the folder in which folders are.
pub fn serve(mut arguments: impl Iterator<Item = String>) {
    process::ignore_endings();
    let folders = match arguments.next() {
        Some(number) => descriptor(&number).ok().map(Folder::from),
        None => Folder::open(std::path::Path::new(SHARED_MEMORY)).ok(),
    };
    let Ok(ledger) = std::io::stdout().as_fd().try_clone_to_owned() else { return };
    // Nobody says anything: what ends is the last end of the pipe.
    let _ = std::io::stdin().read(&mut [0]);
    Ledger::inherited(ledger).settle(folders.as_ref());
}
