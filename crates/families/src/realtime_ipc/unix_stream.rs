//! A Unix stream to every client; messages have a fixed length. unix(7), SOCK_STREAM.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::socket::{self, SocketKind};
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport, receive_whole, send_whole};

use crate::lack;

/// `realtime_ipc/unix_stream`
pub struct UnixStream {
    /// (the server's end, the client's).
    pairs: Vec<[OwnedFd; 2]>,
}

/// A pair of sockets for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let pair = |_| socket::pair(SocketKind::Stream).map_err(lack::of_descriptors);
    Ok(Box::new(UnixStream { pairs: (0..table.clients()).map(pair).collect::<Result<_, _>>()? }))
}

impl Transport for UnixStream {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| socket::send(&self.pairs[client][0], part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        receive_whole(buffer, |rest| socket::receive(&self.pairs[client][1], rest))
    }
}
