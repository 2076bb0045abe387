//! Sockets between processes of one machine: Unix datagrams, packets and streams, UDP and TCP over loopback. unix(7),
//! socket(2), sendto(2), recv(2).

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
};

/// How a pair of connected Unix sockets keeps messages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketKind {
    /// SOCK_DGRAM.
    Datagram,
    /// SOCK_SEQPACKET.
    Packets,
    /// SOCK_STREAM: it does not.
    Stream,
}

/// Two Unix sockets that are connected to one another. socketpair(2).
///
/// # Errors
/// The error of socketpair (EMFILE, ENFILE).
pub fn pair(kind: SocketKind) -> Result<[OwnedFd; 2], CallError> {
    let kind = match kind {
        SocketKind::Datagram => libc::SOCK_DGRAM,
        SocketKind::Packets => libc::SOCK_SEQPACKET,
        SocketKind::Stream => libc::SOCK_STREAM,
    };
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors to a local array.
    check("socketpair", unsafe {
        libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr())
    })?;
    // SAFETY: the kernel has just handed out these descriptors to us alone.
    Ok(ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// The address of a Unix socket in the file system.
#[derive(Clone, Copy)]
pub struct Path {
    address: libc::sockaddr_un,
}

impl PartialEq for Path {
    /// Whether it is the same path, byte for byte to its end.
    fn eq(&self, other: &Self) -> bool {
        let bytes = |path: &Self| path.address.sun_path.into_iter().take_while(|&byte| byte != 0);
        bytes(self).eq(bytes(other))
    }
}

impl Eq for Path {}

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Path")
    }
}

impl Path {
    /// The address of `path`.
    ///
    /// # Errors
    /// ENAMETOOLONG where it does not fit (107 bytes), EINVAL with a zero byte in it.
    pub fn new(path: &str) -> Result<Self, CallError> {
        // SAFETY: an all-zero sockaddr_un is valid.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        if path.len() >= address.sun_path.len() {
            return Err(CallError::new("bind", libc::ENAMETOOLONG));
        }
        if path.is_empty() || path.bytes().any(|byte| byte == 0) {
            return Err(CallError::new("bind", libc::EINVAL));
        }
        for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
            *to = from.cast_signed() as libc::c_char;
        }
        Ok(Self { address })
    }

    pub(crate) fn pointer(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        ((&raw const self.address).cast(), size_of::<libc::sockaddr_un>() as libc::socklen_t)
    }
}

/// A Unix datagram socket without an address.
///
/// # Errors
/// The error of socket.
pub fn datagram() -> Result<OwnedFd, CallError> {
    // SAFETY: socket touches no memory; the descriptor is new.
    unsafe { own("socket", libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)) }
}

/// A Unix datagram socket that receives what is sent to `path`, which must not exist and stays when the socket is closed.
///
/// # Errors
/// The error of socket or bind (EADDRINUSE: something has that name).
pub fn datagram_at(path: &Path) -> Result<OwnedFd, CallError> {
    let fd = datagram()?;
    bind(&fd, path)?;
    Ok(fd)
}

/// Gives a socket a name, which must not exist.
pub(crate) fn bind(fd: &OwnedFd, path: &Path) -> Result<(), CallError> {
    let (address, length) = path.pointer();
    // SAFETY: the kernel reads one sockaddr_un.
    check("bind", unsafe { libc::bind(fd.as_raw_fd(), address, length) }).map(|_| ())
}

/// The same with a mark, for its user alone: [`crate::folder::Folder::remove_marked_socket`] removes it.
///
/// # Errors
/// The error of socket, fchmod or bind (EADDRINUSE: something has that name).
pub fn marked_datagram_at(path: &Path) -> Result<OwnedFd, CallError> {
    let fd = datagram()?;
    mark(&fd)?;
    bind(&fd, path)?;
    Ok(fd)
}

/// Marks a socket that has no name yet: the kernel gives the name its mode. unix(7), net/unix/af_unix.c.
pub(crate) fn mark(fd: &OwnedFd) -> Result<(), CallError> {
    // SAFETY: fchmod touches no memory.
    check("fchmod", unsafe { libc::fchmod(fd.as_raw_fd(), 0o600 | crate::folder::STICKY) }).map(|_| ())
}

/// Sends a datagram to `path` without waiting for room. sendto(2).
///
/// # Errors
/// EAGAIN where the queue of the receiver is full; ECONNREFUSED and ENOENT where it is gone.
#[inline(always)]
pub fn send_to(fd: &OwnedFd, bytes: &[u8], path: &Path) -> Result<(), CallError> {
    let (address, length) = path.pointer();
    // SAFETY: the kernel reads the bytes and one sockaddr_un.
    let sent =
        unsafe { libc::sendto(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), SEND, address, length) };
    whole("sendto", sent, bytes.len())
}

/// Sends to whom the socket is connected without waiting for room: all or nothing but for a stream. How much was sent.
/// send(2).
///
/// # Errors
/// EAGAIN where there is no room; EPIPE, ECONNRESET and ECONNREFUSED where the other side is gone.
#[inline(always)]
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel reads the bytes.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), SEND) };
    usize::try_from(sent).map_err(|_| CallError::last("sendto"))
}

const SEND: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// Receives one message, or what is there of a stream, waiting for it. How many bytes; 0: the other side is gone. recv(2).
///
/// # Errors
/// The error of recv.
#[inline(always)]
pub fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most the length of the buffer.
    let got = unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    usize::try_from(got).map_err(|_| CallError::last("recvfrom"))
}

/// Sends a datagram to `path`, waiting for room in the receiver's queue. sendto(2).
///
/// # Errors
/// ECONNREFUSED and ENOENT where the receiver is gone.
#[inline(always)]
pub fn send_to_patiently(fd: &OwnedFd, bytes: &[u8], path: &Path) -> Result<(), CallError> {
    let (address, length) = path.pointer();
    // SAFETY: the kernel reads the bytes and one sockaddr_un.
    let sent = unsafe {
        libc::sendto(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL, address, length)
    };
    whole("sendto", sent, bytes.len())
}

/// Receives one datagram, waiting for it: how many bytes, and who sent it (`None`: a socket without a path).
/// recvfrom(2).
///
/// # Errors
/// The error of recvfrom.
#[inline(always)]
pub fn receive_from(fd: &OwnedFd, buffer: &mut [u8]) -> Result<(usize, Option<Path>), CallError> {
    // SAFETY: an all-zero sockaddr_un is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the kernel writes at most the length of the buffer, and at most one sockaddr_un.
    let got = unsafe {
        libc::recvfrom(
            fd.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            0,
            (&raw mut address).cast(),
            &raw mut length,
        )
    };
    let got = usize::try_from(got).map_err(|_| CallError::last("recvfrom"))?;
    let named = address.sun_path[0] != 0 && length as usize > size_of::<libc::sa_family_t>();
    Ok((got, named.then_some(Path { address })))
}

fn whole(call: &'static str, result: isize, length: usize) -> Result<(), CallError> {
    match usize::try_from(result) {
        Ok(sent) if sent == length => Ok(()),
        Ok(_) => Err(CallError::short(call)),
        Err(_) => Err(CallError::last(call)),
    }
}

/// A UDP socket on the loopback device, and its address.
///
/// # Errors
/// The error of socket or bind (EADDRNOTAVAIL without a loopback device).
pub fn udp() -> Result<(OwnedFd, SocketAddrV4), CallError> {
    let make = || -> std::io::Result<(OwnedFd, SocketAddrV4)> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = socket.local_addr()?.port();
        Ok((socket.into(), SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))
    };
    make().map_err(|error| of_std("bind", &error))
}

/// Sends a UDP datagram without waiting for room. sendto(2).
///
/// # Errors
/// ECONNREFUSED where nobody is there, ENETUNREACH without a loopback device that is up.
#[inline(always)]
pub fn send_udp(fd: &OwnedFd, bytes: &[u8], to: SocketAddrV4) -> Result<(), CallError> {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*to.ip()).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: the kernel reads the bytes and one sockaddr_in.
    let sent = unsafe {
        libc::sendto(
            fd.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            SEND,
            (&raw const address).cast(),
            size_of::<libc::sockaddr_in>() as libc::socklen_t,
        )
    };
    whole("sendto", sent, bytes.len())
}

/// Two ends of a TCP connection over the loopback device, which send at once (TCP_NODELAY).
///
/// # Errors
/// The error of bind, connect or accept (EADDRNOTAVAIL or ENETUNREACH without a loopback device).
pub fn tcp() -> Result<[OwnedFd; 2], CallError> {
    let make = || -> std::io::Result<[OwnedFd; 2]> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        // Somebody else may have found the port: only our own other end will do.
        let (far, from) = listener.accept()?;
        if from != near.local_addr()? {
            return Err(std::io::Error::from_raw_os_error(libc::ECONNREFUSED));
        }
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        Ok([near.into(), far.into()])
    };
    make().map_err(|error| of_std("connect", &error))
}

fn of_std(call: &'static str, error: &std::io::Error) -> CallError {
    CallError::new(call, error.raw_os_error().unwrap_or(libc::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    #[test]
    fn messages_arrive_whole_and_in_order() {
        for kind in [SocketKind::Datagram, SocketKind::Packets, SocketKind::Stream] {
            let [near, far] = pair(kind).expect("a pair");
            let mut buffer = [0; 8];
            assert_eq!(send(&near, b"one"), Ok(3));
            assert_eq!(receive(&far, &mut buffer), Ok(3));
            assert_eq!(&buffer[..3], b"one");
        }
    }

    #[test]
    fn a_full_queue_refuses_and_a_closed_one_is_gone() {
        // In a child, which forks nobody: a child of another test would have a copy of the end that is closed.
        let code = code_of(|| {
            let [near, far] = pair(SocketKind::Packets).expect("a pair");
            let full = (0..1_000_000).find_map(|_| send(&near, &[0; 64]).err()).expect("it fills");
            drop(far);
            let gone = send(&near, &[0; 64]).expect_err("nobody is there");
            let is_gone = [libc::EPIPE, libc::ECONNRESET].contains(&gone.errno);
            i32::from((full.errno, is_gone) != (libc::EAGAIN, true))
        });
        assert_eq!(code, Some(0));
    }

    #[test]
    fn a_path_is_sent_to_and_refuses_when_it_is_gone() {
        let directory = tempfile::tempdir().expect("a folder");
        let name = directory.path().join("socket");
        let path = Path::new(name.to_str().expect("text")).expect("a short path");
        let receiver = datagram_at(&path).expect("a socket");
        let sender = datagram().expect("a socket");
        send_to(&sender, b"x", &path).expect("sent");
        assert_eq!(receive(&receiver, &mut [0; 4]), Ok(1));
        // Who has no path is nobody; who has one is known by it.
        send_to_patiently(&sender, b"xy", &path).expect("sent");
        let (length, from) = receive_from(&receiver, &mut [0; 4]).expect("a message");
        assert_eq!((length, from.is_none()), (2, true));
        send_to_patiently(&receiver, b"x", &path).expect("sent");
        let (_, from) = receive_from(&receiver, &mut [0; 4]).expect("a message");
        assert!(from == Some(path) && from != Some(Path::new("/elsewhere").expect("a path")));
        drop(receiver);
        // Children of other tests may have a copy of it until they end.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let refused = loop {
            match send_to(&sender, b"x", &path) {
                Ok(_) | Err(CallError { errno: libc::EAGAIN, .. }) if std::time::Instant::now() < until => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                other => break other,
            }
        };
        assert!(refused.is_err_and(|error| error.errno == libc::ECONNREFUSED));
        directory.close().expect("removed");
        assert!(send_to(&sender, b"x", &path).is_err_and(|error| error.errno == libc::ENOENT));
        assert!(Path::new(&"x".repeat(200)).is_err());
    }
}
