//! The keeper of a tick server: a process in its own group that cleans up after the server, however it ended. It is there before
//! the folder is.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use oscost_sys::folder::Folder as Held;
use oscost_sys::{CallError, identity, pipe, process};

use super::place::Place;

/// How long a keeper tries for the lock: a process that was killed closes its pipe first and lets go of its lock afterwards.
const PATIENCE: Duration = Duration::from_secs(5);

/// First argument by which the program is started as a keeper; then come a descriptor and a name.
const ARGUMENT: &str = "__tick_keeper";
/// What a server says to its keeper: that the folder is its own by now, or that it is another server's.
const HOLD: u8 = b'h';
const DISMISS: u8 = b'd';

/// A running keeper, seen from its server: it waits as long as this end of the pipe is open.
pub struct Keeper {
    pipe: OwnedFd,
}

impl Keeper {
    /// Starts one for the folder of that name, which need not be there yet.
    ///
    /// # Errors
    /// The error of pipe2, fcntl, openat, or of starting the program.
    pub fn start(parent: &Held, name: &OsStr) -> Result<Self, CallError> {
        let failed = |error: std::io::Error| CallError::new("exec", error.raw_os_error().unwrap_or(0));
        let program = identity::own_program().ok_or(CallError::new("readlink", 2))?;
        let pipe = pipe::Pipe::new()?;
        let parent = parent.again()?;
        process::keep_over_exec(&parent)?;
        let mut command = Command::new(program);
        process::in_own_group(&mut command);
        command
            .arg(ARGUMENT)
            .arg(parent.as_raw_fd().to_string())
            .arg(name)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(pipe.reader))
            .stdout(process::sink()?)
            .stderr(process::sink()?)
            .spawn()
            .map_err(failed)?;
        Ok(Self { pipe: pipe.writer })
    }

    /// The folder is there, and the server's: the keeper holds it, wherever its name may lead later.
    pub fn hold(&self) {
        // A keeper that has gone is missed only where the server is killed.
        let _ = pipe::write(&self.pipe, &[HOLD]);
    }

    /// There is nothing to tidy up, and no lock to wait for: the folder is another server's.
    pub fn dismiss(&self) {
        let _ = pipe::write(&self.pipe, &[DISMISS]);
    }
}

/// Does the keeper's work if the program was started as one; whether it was.
pub fn serve_if_asked() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        return false;
    }
    let parent = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    if let Some(parent) = parent.and_then(|number| process::inherited(number).ok()) {
        keep(&Held::from(parent), &arguments.next().unwrap_or_default());
    }
    true
}

fn keep(parent: &Held, name: &OsStr) {
    process::ignore_endings();
    let mut place = None;
    loop {
        let mut word = [0];
        match std::io::stdin().read(&mut word) {
            Ok(1) if word == [HOLD] => place = Place::open(parent, name).ok(),
            Ok(1) => return,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What ends is the server.
            _ => break,
        }
    }
    // It may have been killed before it could say that the folder is there.
    if let Some(place) = place.or_else(|| Place::open(parent, name).ok()) {
        place.tidy_up_behind(PATIENCE);
    }
}
