//! Another process's descriptors: the family and type of a socket. pidfd_getfd(2), getsockopt(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::process;

/// Family and type of the socket that another process has under a number; `None` where it is none, or may not be looked at.
#[must_use]
pub fn socket_of(pid: i32, number: i32) -> Option<(i32, i32)> {
    let process = process::pidfd(pid).ok()?;
    // SAFETY: pidfd_getfd touches no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) };
    let fd = i32::try_from(fd).ok().filter(|&fd| fd >= 0)?;
    // SAFETY: the kernel has just handed out this descriptor to us alone.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let option = |name| {
        let (mut value, mut size) = (0i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: the kernel writes at most one integer to a local variable.
        let result = unsafe {
            libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut size)
        };
        (result == 0).then_some(value)
    };
    Some((option(libc::SO_DOMAIN)?, option(libc::SO_TYPE)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_told_from_what_is_none() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let pipe = crate::pipe::Pipe::new().expect("a pipe");
        if process::pidfd(own).is_ok() {
            assert_eq!(socket_of(own, socket.as_raw_fd()), Some((libc::AF_UNIX, libc::SOCK_STREAM)));
        }
        assert_eq!(socket_of(own, pipe.reader.as_raw_fd()), None);
    }
}
