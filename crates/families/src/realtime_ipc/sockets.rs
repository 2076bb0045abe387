//! Transports over sockets: Unix sockets of every type, UDP and TCP over the loopback device.

use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use oscost_harness::{CallError, Object, Outcome};
use oscost_sys::socket::{self, SocketKind};

use super::course::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Made, Recipients, Transport, for_each, receive_whole, send_whole};
use crate::lack;

/// A connection to every client: (the server's end, the client's). Messages of a stream have a fixed length.
struct Connections<const STREAM: bool>(Vec<[OwnedFd; 2]>);

impl<const STREAM: bool> Transport for Connections<STREAM> {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| socket::send(&self.0[client][0], part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        let own = &self.0[client][1];
        if STREAM {
            receive_whole(buffer, |rest| socket::receive(own, rest))
        } else {
            socket::receive(own, buffer).map(Got::Message)
        }
    }
}

fn connected<const STREAM: bool>(table: &Table, kind: SocketKind) -> Made {
    let pairs = for_each(table, |_| socket::pair(kind).map_err(lack::of_descriptors))?;
    Ok(Box::new(Connections::<STREAM>(pairs)))
}

/// `realtime_ipc/unix_stream`. unix(7), SOCK_STREAM.
pub fn unix_stream(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    connected::<true>(table, SocketKind::Stream)
}

/// `realtime_ipc/unix_seqpacket`: messages are kept apart and in order. unix(7), SOCK_SEQPACKET.
pub fn unix_seqpacket(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    connected::<false>(table, SocketKind::Packets)
}

/// `realtime_ipc/unix_datagram_connected`: no path to look up, and a longer queue.
pub fn unix_datagram_connected(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    connected::<false>(table, SocketKind::Datagram)
}

/// `realtime_ipc/tcp`. tcp(7), TCP_NODELAY.
pub fn tcp(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Connections::<true>(for_each(table, |_| socket::tcp().map_err(lack::of_loopback))?)))
}

struct Udp {
    server: OwnedFd,
    clients: Vec<(OwnedFd, SocketAddrV4)>,
}

/// `realtime_ipc/udp`: sent to the port of each client. udp(7).
pub fn udp(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    let (server, address) = socket::udp().map_err(lack::of_loopback)?;
    let clients = for_each(table, |_| socket::udp().map_err(lack::of_loopback))?;
    // A device that is down takes addresses and no messages: the server sends to itself, and nobody listens.
    socket::send_udp(&server, &[0; 16], address).map_err(lack::of_loopback)?;
    Ok(Box::new(Udp { server, clients }))
}

impl Transport for Udp {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| socket::send_udp(&self.server, bytes, self.clients[client].1))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        socket::receive(&self.clients[client].0, buffer).map(Got::Message)
    }
}

struct UnixDatagram {
    server: OwnedFd,
    clients: Vec<OwnedFd>,
    paths: Vec<Named>,
}

/// The name of a client's socket, which goes with it.
struct Named {
    address: socket::Path,
    path: String,
}

impl Drop for Named {
    fn drop(&mut self) {
        // That it is gone already is no harm. A forked participant never drops its copy: it ends by _exit.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// `realtime_ipc/unix_datagram`, the transport of document 002: each message is sent to the path of its client.
pub fn unix_datagram(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    let server = socket::datagram().map_err(lack::of_descriptors)?;
    let name = oscost_sys::random::bits()?;
    let (mut clients, mut paths) = (Vec::new(), Vec::new());
    for client in 0..table.clients() {
        let name = format!("oscost-{name:032x}-{client}");
        let path = format!("/dev/shm/{name}");
        let address = socket::Path::new(&path)?;
        ground.keeper.keep(&Object::Socket(name))?;
        clients.push(socket::datagram_at(&address).map_err(lack::of_shared_memory)?);
        paths.push(Named { address, path });
    }
    Ok(Box::new(UnixDatagram { server, clients, paths }))
}

impl Transport for UnixDatagram {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| socket::send_to(&self.server, bytes, &self.paths[client].address))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        socket::receive(&self.clients[client], buffer).map(Got::Message)
    }
}
