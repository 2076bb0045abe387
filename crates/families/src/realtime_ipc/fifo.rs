//! A FIFO to every client: a pipe with a name. fifo(7).

use std::rc::Rc;

use oscost_harness::{CallError, Object, Outcome, Unable};
use oscost_sys::pipe::{self, Pipe};

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport, receive_whole, send_whole};

use crate::lack;

/// `realtime_ipc/fifo`
pub struct Fifos {
    pipes: Vec<Pipe>,
}

/// A FIFO for every client, whose name is gone as soon as both ends are open. A kill may come before that.
pub fn make(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let name = oscost_sys::random::bits()?;
    let mut pipes = Vec::new();
    for client in 0..table.clients() {
        let name = format!("oscost-{name:032x}-{client}");
        let path = format!("/dev/shm/{name}");
        ground.keeper.keep(&Object::Socket(name))?;
        pipes.push(Pipe::fifo(&path).map_err(lack::of_shared_memory)?);
    }
    Ok(Box::new(Fifos { pipes }))
}

impl Transport for Fifos {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| pipe::write(&self.pipes[client].writer, part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        receive_whole(buffer, |rest| pipe::read(&self.pipes[client].reader, rest))
    }
}
