//! UDP over the loopback device, sent to the port of each client. udp(7).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::socket;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/udp`
pub struct Udp {
    server: OwnedFd,
    clients: Vec<(OwnedFd, SocketAddrV4)>,
}

/// A socket for every client, and one of the server.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let (server, address) = socket::udp().map_err(lack::of_loopback)?;
    let socket = |_| socket::udp().map_err(lack::of_loopback);
    let clients = (0..table.clients()).map(socket).collect::<Result<_, _>>()?;
    // A device that is down takes addresses and no messages: the server tells itself, and nobody listens.
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
