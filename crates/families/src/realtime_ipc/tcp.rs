//! A TCP connection over the loopback device to every client; messages have a fixed length. tcp(7), TCP_NODELAY.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::socket;
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport, receive_whole, send_whole};

use crate::lack;

/// `realtime_ipc/tcp`
pub struct Tcp {
    /// (the server's end, the client's).
    pairs: Vec<[OwnedFd; 2]>,
}

/// A connection for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let pair = |_| socket::tcp().map_err(lack::of_loopback);
    Ok(Box::new(Tcp { pairs: (0..table.clients()).map(pair).collect::<Result<_, _>>()? }))
}

impl Transport for Tcp {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| socket::send(&self.pairs[client][0], part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        receive_whole(buffer, |rest| socket::receive(&self.pairs[client][1], rest))
    }
}
