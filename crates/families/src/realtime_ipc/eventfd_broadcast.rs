//! One eventfd for all, on whose edges every client waits by epoll; stamps lie in shared memory. epoll(7), EPOLLET.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::readiness::{self, Edges};
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/eventfd_broadcast`
pub struct EventFdBroadcast {
    counter: OwnedFd,
    edges: Option<Edges>,
}

/// The eventfd; each client makes its own epoll.
pub fn make(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let counter = readiness::counter().map_err(lack::of_descriptors)?;
    Ok(Box::new(EventFdBroadcast { counter, edges: None }))
}

impl Transport for EventFdBroadcast {
    fn enter(&mut self, _: usize) -> Outcome {
        self.edges = Some(Edges::of(&[&self.counter])?);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        readiness::count(&self.counter)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        match &self.edges {
            Some(edges) => edges.wait().map(|_| Got::Woken),
            None => Err(CallError::gone("epoll_wait")),
        }
    }
}
