//! The keeper of a tick server: a process in its own session that cleans up after the server, however it ended.

use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use oscost_sys::folder::Folder as Held;
use oscost_sys::{CallError, identity, pipe, process};

use super::folder::Place;

/// How long a keeper tries for the lock: a process that was killed closes its pipe first and lets go of its lock afterwards.
const PATIENCE: Duration = Duration::from_secs(5);

/// First argument by which the program is started as a keeper; then come two descriptors and a name.
const ARGUMENT: &str = "__tick_keeper";

/// A running keeper, seen from its server: it waits as long as this end of the pipe is open.
pub struct Keeper {
    _pipe: OwnedFd,
}

impl Keeper {
    /// Starts one for the folder.
    ///
    /// # Errors
    /// The error of pipe2, fcntl, openat, or of starting the program.
    pub fn start(place: &Place) -> Result<Self, CallError> {
        let failed = |error: std::io::Error| CallError::new("exec", error.raw_os_error().unwrap_or(0));
        let program = identity::own_program().ok_or(CallError::new("readlink", 2))?;
        let pipe = pipe::Pipe::new()?;
        let (parent, name, held) = place.parts();
        // Descriptions of its own: the lock is the server's.
        let (parent, held) = (parent.again()?, held.again()?);
        process::keep_over_exec(&parent)?;
        process::keep_over_exec(&held)?;
        let mut command = Command::new(program);
        process::in_own_session(&mut command);
        command
            .arg(ARGUMENT)
            .arg(parent.as_raw_fd().to_string())
            .arg(held.as_raw_fd().to_string())
            .arg(name)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(pipe.reader))
            .stdout(process::sink()?)
            .stderr(process::sink()?)
            .spawn()
            .map_err(failed)?;
        Ok(Self { _pipe: pipe.writer })
    }
}

/// Does the keeper's work if the program was started as one; whether it was.
pub fn serve_if_asked() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        return false;
    }
    let mut folder = || -> Option<Held> {
        let number = arguments.next()?.to_str()?.parse().ok()?;
        process::inherited(number).ok().map(Held::from)
    };
    if let (Some(parent), Some(held)) = (folder(), folder()) {
        keep(&Place::inherited(parent, arguments.next().unwrap_or_default(), held));
    }
    true
}

fn keep(place: &Place) {
    process::ignore_endings();
    // Nobody says anything: what ends is the other end.
    let _ = std::io::Read::read(&mut std::io::stdin(), &mut [0]);
    place.tidy_up_behind(PATIENCE);
}
