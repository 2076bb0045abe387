//! A queued signal to every client, waited for without a handler; stamps lie in shared memory. signal(7), sigwaitinfo(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::signal;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/signal`
pub struct Signal {
    pids: Vec<i32>,
}

/// Process ids come as the clients do.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(Signal { pids: vec![0; table.clients()] }))
}

impl Transport for Signal {
    fn joined(&mut self, client: usize, pid: i32) -> Outcome {
        self.pids[client] = pid;
        Ok(())
    }

    fn enter(&mut self, _: usize) -> Outcome {
        signal::hold()
    }

    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| signal::send(self.pids[client]))
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        signal::wait().map(|()| Got::Woken)
    }
}
