//! A failed call: its name, and what the system said.

use std::fmt;
use std::os::fd::{FromRawFd, OwnedFd};

/// A call of the operating system that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallError {
    /// Name of the call, as its manual page is called.
    pub call: &'static str,
    /// The error number (errno).
    pub errno: i32,
}

impl CallError {
    /// A failure of `call` with error number `errno`.
    #[must_use]
    pub const fn new(call: &'static str, errno: i32) -> Self {
        Self { call, errno }
    }

    /// A failure of `call`, with the error number that libc left.
    #[must_use]
    #[cold] // out of the measured loops
    pub fn last(call: &'static str) -> Self {
        Self::new(call, std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// `call` moved fewer bytes than it was asked for, where that is a failure: EIO.
    #[must_use]
    pub const fn short(call: &'static str) -> Self {
        Self::new(call, libc::EIO)
    }

    /// `call` went on for as long as it may without an answer from the other side: ETIMEDOUT.
    #[must_use]
    pub const fn no_answer(call: &'static str) -> Self {
        Self::new(call, libc::ETIMEDOUT)
    }

    /// What `call` needs has ended: ESRCH.
    #[must_use]
    pub const fn gone(call: &'static str) -> Self {
        Self::new(call, libc::ESRCH)
    }

    /// No failure of a call but of something else that the words tell.
    #[must_use]
    pub const fn told(words: &'static str) -> Self {
        Self::new(words, Self::TOLD)
    }

    /// An error number that no system has.
    const TOLD: i32 = i32::MIN;

    /// What a user may do where a limit refuses the call, as the end of a sentence; empty where nothing is known.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self.errno {
            libc::EMFILE => "; allow more open files: ulimit -n 1024",
            libc::ENFILE => "; the system's table of files is full: sysctl fs.file-max",
            libc::EFBIG => "; allow larger files: ulimit -f unlimited",
            libc::EAGAIN => "; allow more processes: ulimit -u, and pids.max of the control group",
            libc::ENOMEM => "; allow more memory: ulimit -v, and the limit of the control group",
            _ => "",
        }
    }

    /// The symbolic name of the error number ("EPERM"), where it is a common one.
    #[must_use]
    pub fn symbol(&self) -> Option<&'static str> {
        macro_rules! symbol {
            ($($name:ident)*) => {
                match self.errno {
                    $(libc::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            };
        }
        symbol! {
            EPERM EAFNOSUPPORT E2BIG EMSGSIZE ENETUNREACH EADDRNOTAVAIL ENOBUFS ECONNRESET ECONNREFUSED ENOENT
            EINTR EIO EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EINVAL ENFILE EMFILE EFBIG ENOSPC EPIPE ENOTDIR
            ELOOP EISDIR ENOTEMPTY EROFS EDEADLK ENOLCK ENOSYS ETIMEDOUT EOVERFLOW EIDRM ESRCH ECHILD
            EOWNERDEAD
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.errno == Self::TOLD {
            return f.write_str(self.call);
        }
        let words = std::io::Error::from_raw_os_error(self.errno).to_string();
        // std appends "(os error n)": the symbol says it better.
        let words = words.split(" (os error").next().unwrap_or_default();
        match self.symbol() {
            Some(symbol) => write!(f, "{} failed: {words} ({symbol})", self.call),
            None => write!(f, "{} failed: {words} (error {})", self.call, self.errno),
        }
    }
}

impl std::error::Error for CallError {}

/// The result of a call that returns its error instead of setting errno (pthread).
#[inline(always)]
pub(crate) fn returned(call: &'static str, error: libc::c_int) -> Result<(), CallError> {
    if error == 0 { Ok(()) } else { Err(CallError::new(call, error)) }
}

/// The result of a call that returns -1 and sets errno on failure.
#[inline(always)]
pub(crate) fn check(call: &'static str, result: libc::c_int) -> Result<libc::c_int, CallError> {
    if result == -1 { Err(CallError::last(call)) } else { Ok(result) }
}

/// The descriptor that `call` has answered with, or its failure.
///
/// # Safety
/// Nobody else owns the descriptor: the kernel has just made it.
#[inline(always)]
pub(crate) unsafe fn own(call: &'static str, fd: libc::c_int) -> Result<OwnedFd, CallError> {
    let fd = check(call, fd)?;
    // SAFETY: as the caller promises.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What is found, asked for again as long as others have the CPU for longer than the patience with a child.
#[cfg(test)]
#[track_caller]
pub(crate) fn in_time<T>(mut ask: impl FnMut() -> Result<T, CallError>) -> T {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        match ask() {
            Err(CallError { errno: libc::ETIMEDOUT, .. }) if std::time::Instant::now() < until => {}
            found => return found.expect("a finding in time"),
        }
    }
}
