//! A queued signal to one process or to a group, waited for without a handler. signal(7), sigwaitinfo(2), setpgid(2).

use std::mem::MaybeUninit;

use crate::{CallError, error::check};

/// The signal: the first real-time one that libc leaves, which is queued, so that none is lost in another.
fn number() -> i32 {
    libc::SIGRTMIN()
}

fn set() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the local set, to which the signal is added.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), number());
        set.assume_init()
    }
}

/// Keeps the signal from ending the caller: it waits to be taken by [`wait`].
///
/// # Errors
/// The error of sigprocmask.
pub fn hold() -> Result<(), CallError> {
    let set = set();
    // SAFETY: reads one set; the old one is not asked for.
    check("sigprocmask", unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })
        .map(|_| ())
}

/// Sleeps until the signal is there, and takes it.
///
/// # Errors
/// The error of sigwaitinfo; another signal is none.
#[inline(always)]
pub fn wait() -> Result<(), CallError> {
    let set = set();
    // SAFETY: reads one set; the details are not asked for.
    if unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) } >= 0 {
        return Ok(());
    }
    let error = CallError::last("rt_sigtimedwait");
    if error.errno == libc::EINTR { Ok(()) } else { Err(error) }
}

/// Sends the signal to one process.
///
/// # Errors
/// ESRCH where it is gone, EAGAIN where too many signals are queued (RLIMIT_SIGPENDING); EINVAL for no single process.
#[inline(always)]
pub fn send(pid: i32) -> Result<(), CallError> {
    if pid <= 1 {
        return Err(CallError::new("kill", libc::EINVAL));
    }
    // SAFETY: kill touches no memory.
    check("kill", unsafe { libc::kill(pid, number()) }).map(|_| ())
}

/// Sends the signal to every process of a group.
///
/// # Errors
/// ESRCH where nobody is left; EINVAL for the caller's own group.
#[inline(always)]
pub fn send_group(group: i32) -> Result<(), CallError> {
    if group <= 1 {
        return Err(CallError::new("kill", libc::EINVAL));
    }
    // SAFETY: kill touches no memory.
    check("kill", unsafe { libc::kill(-group, number()) }).map(|_| ())
}

/// Puts process `pid`, a child that has not called exec, into `group`; 0 makes it the first of a new one.
///
/// # Errors
/// The error of setpgid.
pub fn join_group(pid: i32, group: i32) -> Result<(), CallError> {
    // SAFETY: setpgid touches no memory.
    check("setpgid", unsafe { libc::setpgid(pid, group) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Child;

    #[test]
    fn a_held_signal_is_waited_for() {
        let child = Child::fork(|| {
            let own = std::process::id().cast_signed();
            i32::from(hold().and_then(|()| send(own)).and_then(|()| send(own)).is_err())
                + i32::from(wait().and_then(|()| wait()).is_err())
        })
        .expect("fork");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("it ends").code, Some(0));
        assert!(send(-1).is_err() && send_group(0).is_err());
    }
}
