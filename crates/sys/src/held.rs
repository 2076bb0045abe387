//! A program that is started, and held before its first instruction until its starter is ready for it. fork(2), execve(2).

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::usage::{self, Usage, Whose};
use crate::{CallError, pipe, process, system_call};

/// The program: its process is there, and will become the program when it is let go. Dropped before, it ends.
#[derive(Debug)]
pub struct HeldProgram {
    child: process::Child,
    go: OwnedFd,
    told: OwnedFd,
}

impl HeldProgram {
    /// Makes the process. Environment, standard streams and folder are the caller's; it dies with the calling thread.
    ///
    /// # Errors
    /// The error of pipe2 or fork; EINVAL for a path or argument with a zero byte.
    pub fn start(path: &Path, arguments: &[OsString]) -> Result<Self, CallError> {
        let text =
            |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| CallError::new("execve", libc::EINVAL));
        let path = text(path.as_os_str())?;
        let arguments = arguments.iter().map(|it| text(it)).collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = arguments.iter().map(|it| it.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let (go, told) = (pipe::Pipe::new()?, pipe::Pipe::new()?);
        let starters = [go.writer.as_raw_fd(), told.reader.as_raw_fd()];
        let child = process::Child::fork(|| {
            // SAFETY: nobody uses the starter's ends in this process, which sees the end of its starter by them.
            let _ = starters.map(|fd| unsafe { libc::close(fd) });
            let mut token = [0; 8];
            if pipe::read(&go.reader, &mut token) != Ok(8) {
                return 127;
            }
            for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
                // SAFETY: SIG_DFL is a valid disposition: Rust's programs ignore the one, and ours the other.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            let spent = usage::own(Whose::Process).unwrap_or_default();
            let _ = pipe::write(&told.writer, &to_bytes(&spent));
            let token = u64::from_ne_bytes(token) as usize;
            if token != 0 {
                // SAFETY: no kernel has this call, so that none reads its arguments.
                let _ = unsafe { system_call::raw3(system_call::INVALID, token, token, 0) };
            }
            // SAFETY: the path and the arguments are C strings that live here, and the list of arguments ends with null.
            unsafe { libc::execvp(path.as_ptr(), pointers.as_ptr()) };
            let _ = pipe::write(&told.writer, &CallError::last("execve").errno.to_ne_bytes());
            127
        })?;
        Ok(Self { child, go: go.writer, told: told.reader })
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// Lets it become the program. From now on the caller waits for it. A token that is not 0 stands in the first two arguments
    /// of the last call before execve, [`system_call::INVALID`]: so a watcher in the kernel knows it.
    ///
    /// # Errors
    /// The error of write.
    pub fn let_go(self, token: u64) -> Result<Told, CallError> {
        pipe::write(&self.go, &token.to_ne_bytes())?;
        std::mem::forget(self.child);
        Ok(Told(File::from(self.told)))
    }
}

/// What the process tells before it becomes the program.
#[derive(Debug)]
pub struct Told(File);

impl Told {
    /// What it had used by then, which the program has not. Waits until it is the program.
    ///
    /// # Errors
    /// The error of execve.
    pub fn spent_before(&self) -> Result<Usage, CallError> {
        let mut bytes = Vec::new();
        let _ = (&self.0).read_to_end(&mut bytes);
        match bytes.split_at_checked(size_of::<[u64; 6]>()) {
            Some((spent, &[])) => Ok(from_bytes(spent)),
            Some((_, error)) => {
                let errno = error.try_into().map_or(libc::EIO, i32::from_ne_bytes);
                Err(CallError::new("execve", errno))
            }
            // It was killed before.
            None => Ok(Usage::default()),
        }
    }
}

fn to_bytes(it: &Usage) -> [u8; 48] {
    let words = [
        it.voluntary_switches,
        it.involuntary_switches,
        it.minor_faults,
        it.major_faults,
        it.user_ns,
        it.system_ns,
    ];
    let mut bytes = [0; 48];
    for (into, word) in bytes.chunks_exact_mut(8).zip(words) {
        into.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn from_bytes(bytes: &[u8]) -> Usage {
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
    let mut next = || words.next().unwrap_or(0);
    Usage {
        voluntary_switches: next(),
        involuntary_switches: next(),
        minor_faults: next(),
        major_faults: next(),
        user_ns: next(),
        system_ns: next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_when_it_is_let_go_and_a_missing_one_is_told() {
        let run = |path: &str, arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let held = HeldProgram::start(Path::new(path), &arguments).expect("fork");
            let pid = held.pid();
            let spent = held.let_go(7).expect("write").spent_before();
            let mut status = 0;
            // SAFETY: the kernel writes a status to a local variable.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            (libc::WEXITSTATUS(status), spent)
        };
        let (code, spent) = run("/bin/sh", &["sh", "-c", "exit 5"]);
        assert!(code == 5 && spent.expect("it ran").faults() > 0);
        let missing = run("/no/such/program", &["x"]);
        assert_eq!(missing, (127, Err(CallError::new("execve", libc::ENOENT))));
    }

    #[test]
    fn who_is_not_let_go_never_runs() {
        let held = HeldProgram::start(Path::new("/bin/sh"), &["sh".into(), "-c".into(), "exit 5".into()]);
        let pid = held.as_ref().expect("fork").pid();
        drop(held);
        assert!(process::signal(pid, process::Signal::Continue).is_err());
    }
}
