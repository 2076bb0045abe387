//! Processes: partners by fork, what ends them with their parent, groups, deadlines by pidfd.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::{
    CallError,
    error::{check, own},
    usage::Usage,
};

/// A forked partner. Dropping it kills and waits for it, so no partner outlives its subject.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    waited: bool,
}

impl Child {
    /// A child that was made in another way.
    pub(crate) fn of(pid: i32) -> Self {
        Self { pid, waited: false }
    }

    /// Forks. The child dies with its parent (PR_SET_PDEATHSIG), runs `body` and exits with what it returns; it runs no
    /// destructor or exit handler of the parent. fork(2).
    ///
    /// The caller must have one thread only: another thread's lock would stay locked in the child for ever. Workers have.
    ///
    /// # Errors
    /// The error of fork.
    pub fn fork(body: impl FnOnce() -> i32) -> Result<Self, CallError> {
        let parent = std::process::id();
        // SAFETY: the worker has one thread (the audit's listener takes no lock), so the child finds no lock taken.
        let pid = check("fork", unsafe { libc::fork() })?;
        if pid > 0 {
            return Ok(Self { pid, waited: false });
        }
        // In the child: a panic must not unwind into the parent's frames, which belong to a copy of its stack.
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            if die_with_parent(parent).is_err() { 1 } else { body() }
        }))
        .unwrap_or(101);
        // SAFETY: ends the process at once, without running exit handlers of the parent's state.
        unsafe { libc::_exit(code) }
    }

    /// Process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether it has ended (without waiting for it, and without forgetting it).
    #[must_use]
    pub fn has_ended(&self) -> bool {
        has_ended(self.pid)
    }

    /// Waits for it to end.
    ///
    /// # Errors
    /// The error of wait4.
    pub fn wait(mut self) -> Result<Ended, CallError> {
        self.wait_in_place()
    }

    /// Waits for it to end, for at most `timeout_ns`; then it is killed.
    ///
    /// # Errors
    /// ETIMEDOUT, and the error of wait4. After a time-out it is not waited for: where nobody gets on its CPU, not even
    /// a kill does, and the process that reaps orphans will see its end.
    pub fn wait_at_most(mut self, timeout_ns: u64) -> Result<Ended, CallError> {
        let deadline = crate::clock::now_ns().saturating_add(timeout_ns);
        // Polling would take the CPU from the child that we wait for. Before Linux 5.3 there is no other way.
        let end = pidfd(self.pid).ok();
        while !self.has_ended() {
            let now = crate::clock::now_ns();
            if now >= deadline {
                self.waited = true;
                let _ = signal(self.pid, Signal::Kill);
                return Err(CallError::new("wait4", libc::ETIMEDOUT));
            }
            match &end {
                Some(end) => drop(crate::readiness::poll_readable(&[end], deadline - now)?),
                None => crate::clock::pause(std::time::Duration::from_micros(200)),
            }
        }
        self.wait_in_place()
    }

    fn wait_in_place(&mut self) -> Result<Ended, CallError> {
        self.waited = true;
        wait_for(self.pid)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.waited {
            let _ = signal(self.pid, Signal::Kill);
            let _ = self.wait_in_place();
        }
    }
}

/// How a process ended, and what it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Exit code, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it used over its life.
    pub usage: Usage,
}

/// Whether a child has ended, or is none; without waiting for it.
pub(crate) fn has_ended(pid: i32) -> bool {
    // SAFETY: an all-zero siginfo_t is valid; WNOWAIT leaves the child waitable.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel writes one siginfo to a local variable.
    let result = unsafe { libc::waitid(libc::P_PID, pid.unsigned_abs(), &raw mut info, options) };
    // SAFETY: waitid filled the pid field, or left the zero.
    result == -1 || unsafe { info.si_pid() } != 0
}

fn wait_for(pid: i32) -> Result<Ended, CallError> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: the kernel writes a status and one rusage to local variables.
        let result = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if result == pid {
            break;
        }
        let error = CallError::last("wait4");
        if error.errno != libc::EINTR {
            return Err(error);
        }
    }
    Ok(Ended {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        usage: crate::usage::from_rusage(&usage),
    })
}

/// Signals that oscost sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
    /// SIGSTOP.
    Stop,
    /// SIGCONT.
    Continue,
}

impl Signal {
    const fn number(self) -> i32 {
        match self {
            Self::Terminate => libc::SIGTERM,
            Self::Kill => libc::SIGKILL,
            Self::Stop => libc::SIGSTOP,
            Self::Continue => libc::SIGCONT,
        }
    }
}

/// Sends `signal` to one process. kill(2).
///
/// # Errors
/// The error of kill; EINVAL for anything but one process.
pub fn signal(pid: i32, signal: Signal) -> Result<(), CallError> {
    if pid <= 0 {
        return Err(CallError::new("kill", libc::EINVAL));
    }
    // SAFETY: kill touches no memory.
    check("kill", unsafe { libc::kill(pid, signal.number()) }).map(|_| ())
}

/// A standard stream for what nobody reads: a file in memory, because some roots have no /dev/null. memfd_create(2).
///
/// # Errors
/// The error of memfd_create.
pub fn sink() -> Result<Stdio, CallError> {
    crate::file::in_memory(0).map(Stdio::from)
}

/// Whether the caller may send signals at all: a sandbox that refuses kill(2) would leave no way to end a child.
///
/// # Errors
/// The error of kill for no signal to the caller itself, which only a filter of system calls refuses.
pub fn may_signal() -> Result<(), CallError> {
    // SAFETY: signal 0 is sent to nobody, and kill touches no memory.
    check("kill", unsafe { libc::kill(std::process::id().cast_signed(), 0) }).map(|_| ())
}

/// Whether the caller may receive from a socket: whoever starts a program hears by one whether it started. Where that is
/// refused, the start waits for the end of the program, which waits for its starter.
///
/// # Errors
/// The error of socketpair, or of recvfrom.
pub fn may_hear() -> Result<(), CallError> {
    let failed =
        |call: &'static str| move |error: io::Error| CallError::new(call, error.raw_os_error().unwrap_or(0));
    let (one, _other) = UnixStream::pair().map_err(failed("socketpair"))?;
    one.set_nonblocking(true).map_err(failed("ioctl"))?;
    match (&one).read(&mut [0]) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(failed("recvfrom")(error)),
        _ => Ok(()),
    }
}

/// Sends `signal` to every process of a group. kill(2).
///
/// # Errors
/// The error of kill; EINVAL for the caller's own group or a pid that can be none.
pub fn signal_group(group: i32, signal: Signal) -> Result<(), CallError> {
    if group <= 1 {
        return Err(CallError::new("kill", libc::EINVAL));
    }
    // SAFETY: kill touches no memory.
    check("kill", unsafe { libc::kill(-group, signal.number()) }).map(|_| ())
}

/// Makes the caller die when its parent does, and fails if that has happened already. prctl(2), PR_SET_PDEATHSIG.
///
/// # Errors
/// The error of prctl; ESRCH if the parent is no longer `expected_parent`.
pub fn die_with_parent(expected_parent: u32) -> Result<(), CallError> {
    // SAFETY: prctl with these arguments touches no memory.
    check("prctl", unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // The parent may have died before the call: then nothing would ever be sent. The first process of a PID namespace
    // cannot see its parent (0) and has to trust that it lives.
    let parent = parent_id();
    let first_of_namespace = parent == 0 && std::process::id() == 1;
    if parent == expected_parent || first_of_namespace {
        Ok(())
    } else {
        Err(CallError::new("getppid", libc::ESRCH))
    }
}

/// Undoes [`die_with_parent`]: the caller sees to its own end. prctl(2), PR_SET_PDEATHSIG.
///
/// # Errors
/// The error of prctl.
pub fn outlive_parent() -> Result<(), CallError> {
    // SAFETY: prctl with these arguments touches no memory.
    check("prctl", unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0) }).map(|_| ())
}

/// The process that `command` starts dies when the calling thread does, whatever programs it turns into.
pub fn end_with_caller(command: &mut Command) {
    let parent = std::process::id();
    let hook = move || die_with_parent(parent).map_err(|error| io::Error::from_raw_os_error(error.errno));
    // SAFETY: between fork and exec the hook calls prctl, getppid and getpid, which are async-signal-safe, and allocates
    // nothing.
    unsafe { command.pre_exec(hook) };
}

/// The process that `command` starts is in a group of its own from its first instruction on: a signal to the caller's group, or
/// of the terminal, never reaches it. setpgid(2).
///
/// No hook runs between fork and exec, so the standard library starts it by posix_spawn(3), and need not hear whether it started. If it
/// could not hear that, it would wait for the end of a program that waits for its starter.
pub fn in_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Process id of the parent.
#[must_use]
pub fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

/// Starts a session of its own: signals of the terminal and of the old group no longer arrive. setsid(2).
///
/// # Errors
/// The error of setsid.
pub fn new_session() -> Result<(), CallError> {
    // SAFETY: setsid touches no memory.
    check("setsid", unsafe { libc::setsid() }).map(|_| ())
}

/// Ignores the signals by which a user ends a program, for processes that must outlive it for a moment.
pub fn ignore_endings() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: SIG_IGN is a valid disposition for each of these signals.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// A write beyond RLIMIT_FSIZE shall fail (EFBIG), and not end the program. setrlimit(2).
pub fn outlive_file_limit() {
    // SAFETY: SIG_IGN is a valid disposition for this signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// The caller hears of its children's ends, though whoever started it may have it ignore them: nobody could wait for a child then,
/// and its times would be lost. wait(2).
pub fn hear_of_children() {
    // SAFETY: SIG_DFL is a valid disposition for this signal.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Gives SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXFSZ their default disposition again.
pub fn default_endings() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXFSZ] {
        // SAFETY: SIG_DFL is a valid disposition for each of these signals.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Never writes a core file and gains no privilege by exec: what a worker promises.
///
/// # Errors
/// The error of prctl.
pub fn forgo_privileges() -> Result<(), CallError> {
    // SAFETY: prctl with these arguments touches no memory.
    check("prctl", unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(|_| ())
}

/// A descriptor that becomes readable when process `pid` ends. pidfd_open(2).
///
/// # Errors
/// ENOSYS before Linux 5.3, ESRCH if there is no such process.
pub fn pidfd(pid: i32) -> Result<OwnedFd, CallError> {
    // SAFETY: pidfd_open touches no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = i32::try_from(fd).map_err(|_| CallError::new("pidfd_open", libc::EBADF))?;
    // SAFETY: the descriptor is new.
    unsafe { own("pidfd_open", fd) }
}

/// Lets `fd` stay open over exec, for a worker that is told its number.
///
/// # Errors
/// The error of fcntl.
pub fn keep_over_exec(fd: &impl AsRawFd) -> Result<(), CallError> {
    // SAFETY: F_SETFD takes an integer.
    check("fcntl", unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) }).map(|_| ())
}

/// Takes over a descriptor that the parent left open over exec; it will be closed on the next exec.
///
/// # Errors
/// EBADF where nothing is open under that number.
pub fn inherited(number: i32) -> Result<OwnedFd, CallError> {
    if number <= libc::STDERR_FILENO {
        return Err(CallError::new("fcntl", libc::EBADF));
    }
    // SAFETY: F_SETFD takes an integer; a closed descriptor is reported.
    check("fcntl", unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the number was handed over by the parent for this process alone, and is taken once, at its start.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The code that a child ends with which does this and gives nothing else back.
#[cfg(test)]
#[track_caller]
pub(crate) fn code_of(body: impl FnOnce() -> i32) -> Option<i32> {
    Child::fork(body).expect("fork").wait().expect("wait").code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_returns_its_code_and_is_waited_for() {
        assert_eq!(code_of(|| 7), Some(7));
    }

    #[test]
    fn whoever_was_made_to_ignore_its_children_hears_of_them() {
        let code = code_of(|| {
            // SAFETY: SIG_IGN is a valid disposition for this signal.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
            hear_of_children();
            let ended = Child::fork(|| 7).and_then(Child::wait);
            i32::from(!ended.is_ok_and(|ended| ended.code == Some(7)))
        });
        assert_eq!(code, Some(0));
    }

    #[test]
    fn a_dropped_child_is_gone() {
        let child = Child::fork(|| {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        })
        .expect("fork");
        let pid = child.pid();
        assert!(!child.has_ended());
        drop(child);
        assert_eq!(signal(pid, Signal::Continue).map_err(|error| error.errno), Err(libc::ESRCH));
    }

    #[test]
    fn a_child_that_takes_too_long_is_ended() {
        let forever = || loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        };
        let child = Child::fork(forever).expect("fork");
        let pid = child.pid();
        assert_eq!(child.wait_at_most(1_000_000).map_err(|error| error.errno), Err(libc::ETIMEDOUT));
        assert_eq!(wait_for(pid).expect("wait").signal, Some(libc::SIGKILL));
        let child = Child::fork(|| 3).expect("fork");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("wait").code, Some(3));
    }

    #[test]
    fn a_panic_in_a_child_stays_there() {
        assert_eq!(code_of(|| std::panic::resume_unwind(Box::new("on purpose"))), Some(101));
    }

    #[test]
    fn nobody_is_signalled_by_a_number_that_is_no_process() {
        assert!(signal(0, Signal::Kill).is_err());
        assert!(signal(-1, Signal::Kill).is_err());
        assert!(signal_group(1, Signal::Kill).is_err());
    }

    #[test]
    fn standard_streams_are_not_taken_over() {
        assert!(inherited(2).is_err());
    }
}
