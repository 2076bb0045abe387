//! Locks on files: fcntl(2) POSIX locks, open file description locks, flock(2).
//!
//! A POSIX lock belongs to the process: closing any descriptor of the file drops all its locks on it, and a child inherits
//! none. The other two belong to the open file description: a child shares them. A cross deadlock is refused with EDEADLK
//! by POSIX locks alone; the others wait for ever.

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::{CallError, error::check};

/// Shared or exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockKind {
    /// Any number of holders, none of which writes.
    Read,
    /// One holder.
    Write,
}

/// Bytes of a file. They need not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// Number of bytes; 0 is to the end of the file, wherever that will be.
    pub length: u64,
}

/// Who owns a lock of fcntl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Owner {
    /// The process: F_SETLK.
    Process,
    /// The open file description: F_OFD_SETLK.
    Description,
}

/// A lock that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// Read or write.
    pub kind: LockKind,
    /// What it covers.
    pub range: Range,
    /// Its process; -1 for a lock of an open file description.
    pub pid: i32,
}

#[inline(always)]
// offsets of files are below 2^63; others come back as EINVAL
fn description(kind: libc::c_int, range: Range) -> libc::flock {
    // SAFETY: an all-zero flock is valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = range.start as libc::off_t;
    lock.l_len = range.length as libc::off_t;
    lock
}

const fn number(kind: LockKind) -> libc::c_int {
    match kind {
        LockKind::Read => libc::F_RDLCK,
        LockKind::Write => libc::F_WRLCK,
    }
}

#[inline(always)]
fn set(fd: BorrowedFd<'_>, command: libc::c_int, kind: libc::c_int, range: Range) -> Result<(), CallError> {
    let lock = description(kind, range);
    // SAFETY: the kernel reads one flock, which lives through the call.
    check("fcntl", unsafe { libc::fcntl(fd.as_raw_fd(), command, &raw const lock) }).map(|_| ())
}

/// Waits for the lock. One fcntl.
///
/// # Errors
/// EINTR after a signal, EDEADLK (POSIX locks) where waiting could not end, ENOLCK without room for locks, EBADF where the
/// descriptor is not open for that kind.
#[inline(always)]
pub fn lock(fd: BorrowedFd<'_>, owner: Owner, kind: LockKind, range: Range) -> Result<(), CallError> {
    let command = match owner {
        Owner::Process => libc::F_SETLKW,
        Owner::Description => libc::F_OFD_SETLKW,
    };
    set(fd, command, number(kind), range)
}

/// Takes the lock if nobody is in the way; whether it did. One fcntl.
///
/// # Errors
/// The error of fcntl, but for EAGAIN and EACCES, which say that somebody is in the way.
#[inline(always)]
pub fn try_lock(fd: BorrowedFd<'_>, owner: Owner, kind: LockKind, range: Range) -> Result<bool, CallError> {
    match set(fd, set_command(owner), number(kind), range) {
        Ok(()) => Ok(true),
        Err(error) if error.errno == libc::EAGAIN || error.errno == libc::EACCES => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the range back. One fcntl.
///
/// # Errors
/// The error of fcntl; ENOLCK where a lock would have to be split and there is no room.
#[inline(always)]
pub fn unlock(fd: BorrowedFd<'_>, owner: Owner, range: Range) -> Result<(), CallError> {
    set(fd, set_command(owner), libc::F_UNLCK, range)
}

const fn set_command(owner: Owner) -> libc::c_int {
    match owner {
        Owner::Process => libc::F_SETLK,
        Owner::Description => libc::F_OFD_SETLK,
    }
}

/// A lock of somebody else that keeps the caller from such a lock. One fcntl (F_GETLK, F_OFD_GETLK).
///
/// # Errors
/// The error of fcntl.
// the kernel gives offsets of a file
pub fn in_the_way(
    fd: BorrowedFd<'_>,
    owner: Owner,
    kind: LockKind,
    range: Range,
) -> Result<Option<Held>, CallError> {
    let command = match owner {
        Owner::Process => libc::F_GETLK,
        Owner::Description => libc::F_OFD_GETLK,
    };
    let mut lock = description(number(kind), range);
    // SAFETY: the kernel reads and writes one flock, a local variable.
    check("fcntl", unsafe { libc::fcntl(fd.as_raw_fd(), command, &raw mut lock) })?;
    let kind = match i32::from(lock.l_type) {
        libc::F_RDLCK => LockKind::Read,
        libc::F_WRLCK => LockKind::Write,
        _ => return Ok(None),
    };
    let range = Range { start: lock.l_start as u64, length: lock.l_len as u64 };
    Ok(Some(Held { kind, range, pid: lock.l_pid }))
}

/// Waits for the lock on the whole file. One flock.
///
/// # Errors
/// EINTR after a signal, ENOLCK without room for locks.
#[inline(always)]
pub fn flock(fd: BorrowedFd<'_>, kind: LockKind) -> Result<(), CallError> {
    // SAFETY: flock touches no memory.
    check("flock", unsafe { libc::flock(fd.as_raw_fd(), flock_number(kind)) }).map(|_| ())
}

/// Takes the lock on the whole file if nobody is in the way; whether it did. One flock.
///
/// # Errors
/// The error of flock, but for EWOULDBLOCK.
#[inline(always)]
pub fn try_flock(fd: BorrowedFd<'_>, kind: LockKind) -> Result<bool, CallError> {
    // SAFETY: flock touches no memory.
    match check("flock", unsafe { libc::flock(fd.as_raw_fd(), flock_number(kind) | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(error) if error.errno == libc::EWOULDBLOCK => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the whole file back. One flock.
///
/// # Errors
/// The error of flock.
#[inline(always)]
pub fn funlock(fd: BorrowedFd<'_>) -> Result<(), CallError> {
    // SAFETY: flock touches no memory.
    check("flock", unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_UN) }).map(|_| ())
}

const fn flock_number(kind: LockKind) -> libc::c_int {
    match kind {
        LockKind::Read => libc::LOCK_SH,
        LockKind::Write => libc::LOCK_EX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    const BYTE: Range = Range { start: 7, length: 1 };

    /// What a child of its own finds in the way of a write lock on `range`.
    fn seen(fd: BorrowedFd<'_>, range: Range) -> bool {
        let code = crate::process::code_of(|| {
            i32::from(in_the_way(fd, Owner::Process, LockKind::Write, range).is_ok_and(|held| held.is_some()))
        });
        code == Some(1)
    }

    #[test]
    fn another_process_sees_the_locked_bytes_and_no_others() {
        let file = crate::file::in_memory(100).expect("memfd");
        for owner in [Owner::Process, Owner::Description] {
            lock(file.as_fd(), owner, LockKind::Write, BYTE).expect("lock");
            assert!(seen(file.as_fd(), BYTE));
            assert!(!seen(file.as_fd(), Range { start: 8, length: 0 }));
            assert!(seen(file.as_fd(), Range { start: 0, length: 0 }));
            unlock(file.as_fd(), owner, BYTE).expect("unlock");
            assert!(!seen(file.as_fd(), BYTE));
        }
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let file = crate::file::in_memory(100).expect("memfd");
        lock(file.as_fd(), Owner::Process, LockKind::Read, BYTE).expect("lock");
        let tried = |kind| {
            crate::process::code_of(|| {
                try_lock(file.as_fd(), Owner::Process, kind, BYTE).map_or(2, i32::from)
            })
        };
        assert_eq!(tried(LockKind::Read), Some(1));
        assert_eq!(tried(LockKind::Write), Some(0));
    }
}
