//! Connections over the loopback device: two UDP sockets that know each other, and TCP connections made and reset.
//! connect(2), accept4(2), socket(7) on SO_LINGER.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
    file_page, readiness, socket,
};

fn of_std(call: &'static str) -> impl Fn(std::io::Error) -> CallError {
    move |error| CallError::new(call, error.raw_os_error().unwrap_or(libc::EIO))
}

/// Two UDP sockets, each connected to the other: nobody else's datagrams reach them.
///
/// # Errors
/// The error of socket, bind or connect (EADDRNOTAVAIL or ENETUNREACH without a loopback device that is up).
pub fn udp_pair() -> Result<[OwnedFd; 2], CallError> {
    let bound = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(of_std("bind"));
    let (one, other) = (bound()?, bound()?);
    let address = |socket: &UdpSocket| socket.local_addr().map_err(of_std("getsockname"));
    one.connect(address(&other)?).map_err(of_std("connect"))?;
    other.connect(address(&one)?).map_err(of_std("connect"))?;
    Ok([one.into(), other.into()])
}

/// A socket that TCP connections are made to. The accepted end of each is closed first, and resets the connection: none is
/// left waiting for stray packets, which would fill the table of ports.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: libc::sockaddr_in,
}

impl Listener {
    /// Listens at a port of the kernel's choice.
    ///
    /// # Errors
    /// The error of socket, bind, listen or setsockopt.
    pub fn new() -> Result<Self, CallError> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(of_std("bind"))?;
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        // What is accepted inherits it.
        // SAFETY: the kernel reads one linger.
        check("setsockopt", unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            )
        })?;
        let port = socket.local_addr().map_err(of_std("getsockname"))?.port();
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() },
            sin_zero: [0; 8],
        };
        Ok(Self { socket, address })
    }

    /// Makes a connection: both its ends. socket, connect, accept4.
    ///
    /// # Errors
    /// The error of the call that failed.
    #[inline(always)]
    pub fn connect(&self) -> Result<[OwnedFd; 2], CallError> {
        // SAFETY: socket touches no memory; the descriptor is new.
        let near =
            unsafe { own("socket", libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)) }?;
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        // SAFETY: the kernel reads one sockaddr_in.
        check("connect", unsafe {
            libc::connect(near.as_raw_fd(), (&raw const self.address).cast(), length)
        })?;
        let none = std::ptr::null_mut();
        // SAFETY: the address of the other side is not asked for; the descriptor is new.
        Ok([near, unsafe {
            own(
                "accept4",
                libc::accept4(self.socket.as_raw_fd(), none, std::ptr::null_mut(), libc::SOCK_CLOEXEC),
            )
        }?])
    }

    /// Makes a connection and resets it: socket, connect, accept4, close, close.
    ///
    /// # Errors
    /// The error of the call that failed.
    #[inline(always)]
    pub fn connect_close(&self) -> Result<(), CallError> {
        let [near, far] = self.connect()?;
        file_page::close(far)?;
        file_page::close(near)
    }

    /// Bytes that come through a connection that is made now, of one that is sent; whether its ends are each other's.
    ///
    /// # Errors
    /// The error of the call that failed.
    pub fn carries(&self) -> Result<(usize, bool), CallError> {
        let [near, far] = self.connect()?;
        socket::send(&near, &[1])?;
        let got = socket::receive(&far, &mut [0; 4])?;
        let (near, far) = (TcpStream::from(near), TcpStream::from(far));
        let of = |address: std::io::Result<SocketAddr>| address.map_err(of_std("getsockname"));
        let paired = of(near.local_addr())? == of(far.peer_addr())?;
        drop(far);
        Ok((got, paired))
    }

    /// Whether a connection waits to be accepted.
    ///
    /// # Errors
    /// The error of poll.
    pub fn is_asked(&self) -> Result<bool, CallError> {
        Ok(readiness::poll_readable(&[&self.socket], 0)?.first().copied().unwrap_or(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_carry_bytes_and_leave_nothing() {
        let Ok(listener) = Listener::new() else { return println!("SKIP connections_carry: no loopback") };
        if listener.connect_close().is_err() {
            return println!("SKIP connections_carry: no loopback");
        }
        assert_eq!(listener.carries(), Ok((1, true)));
        assert_eq!(listener.is_asked(), Ok(false));
        let [one, other] = udp_pair().expect("sockets");
        assert_eq!(socket::send(&one, b"ab"), Ok(2));
        assert_eq!(socket::receive(&other, &mut [0; 4]), Ok(2));
    }
}
