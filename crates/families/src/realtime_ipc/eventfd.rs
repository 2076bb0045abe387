//! An eventfd to every client, of which a read takes one; stamps lie in shared memory. eventfd(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::semaphore::EventFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/eventfd`
pub struct EventFds {
    counters: Vec<EventFd>,
}

/// An eventfd for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let counter = |_| EventFd::new(0).map_err(lack::of_descriptors);
    Ok(Box::new(EventFds { counters: (0..table.clients()).map(counter).collect::<Result<_, _>>()? }))
}

impl Transport for EventFds {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| self.counters[client].post())
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.counters[client].wait().map(|()| Got::Woken)
    }
}
