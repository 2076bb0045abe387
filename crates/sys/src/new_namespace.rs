//! A process that makes a namespace and ends with it. namespaces(7), clone(2), unshare(2).

use std::ffi::c_void;

use crate::{CallError, error::check};

/// What a namespace keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Users and capabilities.
    User,
    /// Mounts.
    Mount,
    /// Network devices, addresses and sockets.
    Net,
    /// Process numbers.
    Pid,
    /// System V IPC and POSIX queues.
    Ipc,
    /// Host name.
    Uts,
    /// The root of control groups.
    Cgroup,
    /// Offsets of the monotonic clocks.
    Time,
}

impl Kind {
    fn flag(self) -> libc::c_int {
        match self {
            Self::User => libc::CLONE_NEWUSER,
            Self::Mount => libc::CLONE_NEWNS,
            Self::Net => libc::CLONE_NEWNET,
            Self::Pid => libc::CLONE_NEWPID,
            Self::Ipc => libc::CLONE_NEWIPC,
            Self::Uts => libc::CLONE_NEWUTS,
            Self::Cgroup => libc::CLONE_NEWCGROUP,
            // CLONE_NEWTIME, which shares its bit with a signal of clone(2).
            Self::Time => 0x80,
        }
    }

    /// The link in /proc/self/ns that a new one changes: of pid and time, the one of children.
    #[must_use]
    pub fn link(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Mount => "mnt",
            Self::Net => "net",
            Self::Pid => "pid_for_children",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Cgroup => "cgroup",
            Self::Time => "time_for_children",
        }
    }

    /// The namespace that the calling process has, or gives its children.
    ///
    /// # Errors
    /// The error of readlink.
    pub fn own(self) -> Result<std::path::PathBuf, CallError> {
        let path = format!("/proc/thread-self/ns/{}", self.link());
        std::fs::read_link(path)
            .map_err(|error| CallError::new("readlink", error.raw_os_error().unwrap_or(0)))
    }

    /// Gives the calling process a new one. It must have one thread.
    ///
    /// # Errors
    /// The error of unshare.
    pub fn unshare(self) -> Result<(), CallError> {
        // SAFETY: unshare touches no memory.
        check("unshare", unsafe { libc::unshare(self.flag()) }).map(|_| ())
    }
}

/// Makes processes that do nothing but make a namespace and end. Each uses the maker's memory, on a stack of its own, while the
/// maker waits: nothing is copied (CLONE_VM, CLONE_VFORK).
#[derive(Debug)]
pub struct Maker {
    stack: Vec<u128>,
}

/// Bytes of the stack: it calls one function of the C library.
const STACK: usize = 64 << 10;

impl Default for Maker {
    fn default() -> Self {
        Self { stack: vec![0; STACK / size_of::<u128>()] }
    }
}

/// The whole life of such a process; its exit code is the error number of unshare.
extern "C" fn live(flags: *mut c_void) -> libc::c_int {
    let flags = flags.addr() as libc::c_int;
    // SAFETY: unshare touches no memory. errno is that of the maker, who waits.
    if flags == 0 || unsafe { libc::unshare(flags) } == 0 { 0 } else { CallError::last("unshare").errno }
}

impl Maker {
    /// A process in a new namespace (in none of its own for `None`), until it has ended and is reaped: clone, unshare, exit,
    /// wait4.
    ///
    /// # Errors
    /// The error of clone or wait4, and that of unshare in the process.
    #[inline(always)]
    pub fn one(&mut self, kind: Option<Kind>) -> Result<(), CallError> {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let new = std::ptr::without_provenance_mut::<c_void>(kind.map_or(0, Kind::flag) as usize);
        let top = self.stack.as_mut_ptr_range().end.cast();
        // SAFETY: the stack is aligned to 16 bytes, large enough for `live`, and nobody else's while the maker waits; `live`
        // neither unwinds nor touches anything but its argument and errno.
        let pid = check("clone", unsafe { libc::clone(live, top, flags, new) })?;
        let mut status = 0;
        loop {
            // SAFETY: the kernel writes a status to a local variable.
            if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
                break;
            }
            let error = CallError::last("wait4");
            if error.errno != libc::EINTR {
                return Err(error);
            }
        }
        match status {
            0 => Ok(()),
            status if libc::WIFEXITED(status) => Err(CallError::new("unshare", libc::WEXITSTATUS(status))),
            _ => Err(CallError::gone("a process in a new namespace")),
        }
    }
}

/// How many network namespaces the kernel holds, those that it has yet to take down included; `None` where this user may not
/// know. proc(5), slabinfo.
#[must_use]
pub fn network_namespaces() -> Option<u64> {
    let table = crate::file::text("/proc/slabinfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("net_namespace "))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_ends_and_its_maker_stays_where_it_is() {
        let mut maker = Maker::default();
        maker.one(None).expect("made and reaped");
        let before = Kind::Uts.own();
        match maker.one(Some(Kind::Uts)) {
            Ok(()) => assert_eq!(Kind::Uts.own().expect("a link"), before.expect("a link")),
            Err(error) => {
                // Refused to this user, or to everybody (user.max_uts_namespaces); or the kernel has none, and so no link.
                let refused = [libc::EPERM, libc::ENOSPC].contains(&error.errno);
                let unknown = error.errno == libc::EINVAL && before.is_err();
                assert!(error.call == "unshare" && (refused || unknown), "{error}");
            }
        }
    }
}
