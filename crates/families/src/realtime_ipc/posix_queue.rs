//! A POSIX message queue to every client. mq_overview(7).

use std::rc::Rc;

use oscost_harness::Object;
use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::posix_queue::PosixQueue;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/posix_queue`
pub struct PosixQueues {
    queues: Vec<PosixQueue>,
}

/// A queue of ten messages for every client: as many as every user may have.
pub fn make(ground: &mut Ground, course: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let name = oscost_sys::random::bits()?;
    let queue = |client| -> Result<PosixQueue, Unable> {
        let name = format!("/oscost-{name:032x}-{client}");
        ground.keeper.keep(&Object::PosixQueue(name.clone()))?;
        PosixQueue::new(&name, 10, course.size)
            .map_err(|error| lack::of_posix_queues(error, table.clients(), course.size))
    };
    Ok(Box::new(PosixQueues { queues: (0..table.clients()).map(queue).collect::<Result<_, _>>()? }))
}

impl Transport for PosixQueues {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| self.queues[client].send(bytes))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        self.queues[client].receive(buffer).map(Got::Message)
    }
}
