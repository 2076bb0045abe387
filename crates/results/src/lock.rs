//! Allows one run at a time on a machine, whoever starts it.
//!
//! The lock is a flock on the root directory: it exists everywhere, everyone may open it, nobody else can plant, remove
//! or replace it, nothing is written and nothing is left behind, and the kernel releases it with its last holder. A file
//! of our own would need a directory that all users share and can write to, and there a name can be taken first
//! (/tmp; and /run/lock is root's alone on some systems); so can the name of an abstract socket. What any such lock
//! allows any user, this one does too: to hold it, and so to make others say `--force`, while that process lives.
//! Containers with a root of their own are not seen.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is read of the table of locks, bytes.
const MOST_LOCKS: u64 = 16 << 20;

/// Held while this machine is measured. Dropping it releases it at once, even while a child that was just forked still has a
/// copy of the descriptor. Dying releases it with the last copy.
#[derive(Debug)]
pub struct RunLock {
    root: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Closing alone would leave the lock to every process that was forked meanwhile, until it calls exec.
        let _ = self.root.unlock();
    }
}

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else measures.
    #[error("another run is measuring on this machine{}",
        .pid.map_or_else(String::new, |pid| format!(" (process {pid})")))]
    Busy {
        /// Its process, where this user may see it.
        pid: Option<u32>,
    },
    /// It cannot be found out here.
    #[error("cannot find out whether another run is measuring: flock on /: {0}")]
    Io(#[from] io::Error),
}

impl RunLock {
    /// Takes the lock of this machine.
    ///
    /// # Errors
    /// Another run has it, or this file system has no locks.
    pub fn acquire() -> Result<Self, LockError> {
        Self::acquire_on(Path::new("/"))
    }

    pub(crate) fn acquire_on(path: &Path) -> Result<Self, LockError> {
        let root = File::open(path)?;
        match root.try_lock() {
            Ok(()) => Ok(Self { root }),
            Err(TryLockError::WouldBlock) => {
                let locks = locks();
                Err(LockError::Busy { pid: holder(&locks, root.metadata()?.ino()) })
            }
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

/// The kernel's table of locks, as far as it is read.
fn locks() -> String {
    let mut bytes = Vec::new();
    let mut options = File::options();
    // Whatever is mounted there, nobody waits for its other side.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let table = options.read(true).open("/proc/locks").ok();
    // What cannot be read, or is no file, names nobody; a line that is cut is none.
    let table = table.filter(|file| file.metadata().is_ok_and(|it| it.is_file()));
    let _ = table.map(|file| file.take(MOST_LOCKS).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Who holds the flock on an inode, from /proc/locks (proc_locks(5)): `1: FLOCK  ADVISORY  WRITE 42 fe:00:2 0 EOF`.
fn holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let pid = (fields.next()? == "FLOCK").then(|| fields.nth(2)).flatten()?;
        let locked = fields.next()?.rsplit(':').next()?;
        // 0 is a process outside this PID namespace.
        (locked.parse() == Ok(inode)).then(|| pid.parse().ok().filter(|&pid| pid != 0)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_until_the_first_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let first = RunLock::acquire_on(directory.path()).unwrap();
        let refused = RunLock::acquire_on(directory.path()).unwrap_err();
        if cfg!(target_os = "linux") && Path::new("/proc/locks").exists() {
            assert!(
                matches!(refused, LockError::Busy { pid: Some(pid) } if pid == std::process::id()),
                "{refused}"
            );
        }
        assert!(matches!(refused, LockError::Busy { .. }), "{refused}");
        drop(first);
        RunLock::acquire_on(directory.path()).unwrap();
    }

    /// A fork copies the descriptor, and the copy lives until the child calls exec.
    #[test]
    fn a_copy_of_the_descriptor_holds_nothing_after_the_drop() {
        let directory = tempfile::tempdir().unwrap();
        let first = RunLock::acquire_on(directory.path()).unwrap();
        let copy = first.root.try_clone().unwrap();
        drop(first);
        RunLock::acquire_on(directory.path()).unwrap();
        drop(copy);
    }

    #[test]
    fn holder_is_read_from_the_kernels_table() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:2 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 41 fe:00:22 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 42 fe:00:2 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 43 fe:00:2 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 fe:00:5 0 EOF\n";
        assert_eq!(holder(locks, 2), Some(42));
        assert_eq!(holder(locks, 5), None);
        assert_eq!(holder("", 2), None);
        assert_eq!(holder("1: FLOCK\nrubbish", 2), None);
    }
}
