//! Unix datagrams between connected sockets: no path to look up, and a longer queue.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::socket::{self, SocketKind};
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport, send_whole};

use crate::lack;

/// `realtime_ipc/unix_datagram_connected`
pub struct UnixDatagramConnected {
    /// (the server's end, the client's).
    pairs: Vec<[OwnedFd; 2]>,
}

/// A pair of sockets for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let pair = |_| socket::pair(SocketKind::Datagram).map_err(lack::of_descriptors);
    Ok(Box::new(UnixDatagramConnected { pairs: (0..table.clients()).map(pair).collect::<Result<_, _>>()? }))
}

impl Transport for UnixDatagramConnected {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| socket::send(&self.pairs[client][0], part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        socket::receive(&self.pairs[client][1], buffer).map(Got::Message)
    }
}
