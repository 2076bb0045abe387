//! A pipe to every client, whose writer never waits. pipe(7).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::pipe::{self, Pipe};

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport, receive_whole, send_whole};

use crate::lack;

/// `realtime_ipc/pipe`
pub struct Pipes {
    pipes: Vec<Pipe>,
}

/// A pipe for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let pipe = |_| Pipe::without_waiting_writer().map_err(lack::of_descriptors);
    Ok(Box::new(Pipes { pipes: (0..table.clients()).map(pipe).collect::<Result<_, _>>()? }))
}

impl Transport for Pipes {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| pipe::write(&self.pipes[client].writer, part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        receive_whole(buffer, |rest| pipe::read(&self.pipes[client].reader, rest))
    }
}
