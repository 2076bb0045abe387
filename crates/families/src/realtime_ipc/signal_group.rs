//! One queued signal to the process group of the clients; stamps lie in shared memory. kill(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::signal;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/signal_group`
pub struct SignalGroup {
    group: i32,
}

/// The group is that of the first client.
pub fn make(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(SignalGroup { group: 0 }))
}

impl Transport for SignalGroup {
    fn joined(&mut self, client: usize, pid: i32) -> Outcome {
        if client == 0 {
            self.group = pid;
        }
        signal::join_group(pid, self.group)
    }

    fn enter(&mut self, _: usize) -> Outcome {
        signal::hold()
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        signal::send_group(self.group)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        signal::wait().map(|()| Got::Woken)
    }
}
