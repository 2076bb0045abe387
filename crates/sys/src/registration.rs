//! Packets between programs that find each other by a path: who listens knows who connects, and how it ends. unix(7),
//! SOCK_SEQPACKET, SO_PEERCRED, SO_RCVTIMEO.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::socket::Path;
use crate::{
    CallError,
    error::{check, own},
};

/// Connections that wait to be accepted.
const BACKLOG: libc::c_int = 64;

/// Who is at the other end, as the kernel had it when the connection was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Process id in the caller's PID namespace; 0 where it has none there.
    pub pid: i32,
    /// User id in the caller's user namespace.
    pub uid: u32,
}

fn packets() -> Result<OwnedFd, CallError> {
    // SAFETY: socket touches no memory; the descriptor is new.
    unsafe { own("socket", libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0)) }
}

/// A socket to which others connect by `path`, which must not exist. It has the mark by which
/// [`crate::folder::Folder::remove_marked_socket`] removes it.
///
/// # Errors
/// The error of socket, fchmod, bind or listen.
pub fn listen(path: &Path) -> Result<OwnedFd, CallError> {
    let fd = packets()?;
    crate::socket::mark(&fd)?;
    crate::socket::bind(&fd, path)?;
    // SAFETY: listen touches no memory.
    check("listen", unsafe { libc::listen(fd.as_raw_fd(), BACKLOG) })?;
    Ok(fd)
}

/// The next connection, waiting for it.
///
/// # Errors
/// The error of accept4 (EMFILE, ENFILE).
pub fn accept(listener: &OwnedFd) -> Result<OwnedFd, CallError> {
    // SAFETY: without an address the kernel writes nothing; the descriptor is new.
    unsafe {
        own(
            "accept4",
            libc::accept4(
                listener.as_raw_fd(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                libc::SOCK_CLOEXEC,
            ),
        )
    }
}

/// Connects to the listener at `path`.
///
/// # Errors
/// ENOENT where there is no such path, ECONNREFUSED where nobody listens any more, EACCES.
pub fn connect(path: &Path) -> Result<OwnedFd, CallError> {
    let fd = packets()?;
    connect_to(&fd, path)?;
    Ok(fd)
}

/// Makes a datagram socket hear nobody but who is bound to `path`. connect(2).
///
/// # Errors
/// The error of connect.
pub fn connect_to(fd: &OwnedFd, path: &Path) -> Result<(), CallError> {
    let (address, length) = path.pointer();
    // SAFETY: the kernel reads one sockaddr_un.
    check("connect", unsafe { libc::connect(fd.as_raw_fd(), address, length) }).map(|_| ())
}

/// Who is at the other end of a connection.
///
/// # Errors
/// The error of getsockopt.
pub fn peer(fd: &OwnedFd) -> Result<Peer, CallError> {
    let mut found = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most the given length to a local variable.
    check("getsockopt", unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut length,
        )
    })?;
    Ok(Peer { pid: found.pid, uid: found.uid })
}

/// Who waits on this socket gives up with EAGAIN after `timeout_ns`.
///
/// # Errors
/// The error of setsockopt.
pub fn give_up_after(fd: &OwnedFd, timeout_ns: u64) -> Result<(), CallError> {
    // clamped to a day
    let us = (timeout_ns / 1000).clamp(1, 86_400_000_000) as libc::c_long;
    let timeout = libc::timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 };
    // SAFETY: the kernel reads one timeval.
    check("setsockopt", unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw const timeout).cast(),
            size_of::<libc::timeval>() as libc::socklen_t,
        )
    })
    .map(|_| ())
}

/// Receives a packet that is there already: how long it was, which may be more than fits the buffer; 0: the other side is
/// gone. recv(2), MSG_TRUNC.
///
/// # Errors
/// EAGAIN where there is none, and the error of recv.
pub fn receive_now(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most the length of the buffer.
    let got = unsafe {
        libc::recv(
            fd.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            libc::MSG_DONTWAIT | libc::MSG_TRUNC,
        )
    };
    usize::try_from(got).map_err(|_| CallError::last("recvfrom"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket;

    #[test]
    fn both_sides_know_each_other_and_who_has_gone() {
        let folder =
            std::env::temp_dir().join(format!("oscost-reg-{:x}", crate::random::bits().expect("bits")));
        std::fs::create_dir(&folder).expect("a folder");
        let at = |name: &str| Path::new(folder.join(name).to_str().expect("text")).expect("a short path");
        assert_eq!(connect(&at("server")).map_err(|error| error.errno).err(), Some(libc::ENOENT));
        let listener = listen(&at("server")).expect("a listener");
        let near = connect(&at("server")).expect("a connection");
        let far = accept(&listener).expect("a connection");
        let own = (i32::try_from(std::process::id()).expect("a pid"), crate::identity::effective_uid());
        assert_eq!(peer(&far).map(|peer| (peer.pid, peer.uid)), Ok(own));
        let mut buffer = [0; 4];
        assert_eq!(receive_now(&far, &mut buffer).map_err(|error| error.errno), Err(libc::EAGAIN));
        socket::send(&near, b"longer").expect("sent");
        assert_eq!(receive_now(&far, &mut buffer), Ok(6));
        give_up_after(&far, 1_000_000).expect("set");
        assert_eq!(socket::receive(&far, &mut buffer).map_err(|error| error.errno), Err(libc::EAGAIN));
        drop(near);
        // Another test may have forked meanwhile: its child has a copy until it ends.
        give_up_after(&far, 10_000_000_000).expect("set");
        assert_eq!(socket::receive(&far, &mut buffer), Ok(0));
        // A datagram socket that is connected hears nobody else.
        let (one, other) =
            (socket::datagram_at(&at("one")).expect("a socket"), socket::datagram_at(&at("other")));
        let stranger = socket::datagram().expect("a socket");
        connect_to(&one, &at("other")).expect("connected");
        let refused = socket::send_to(&stranger, b"x", &at("one"));
        assert_eq!(refused.map_err(|error| error.errno), Err(libc::EPERM));
        socket::send_to(&other.expect("a socket"), b"x", &at("one")).expect("sent");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
