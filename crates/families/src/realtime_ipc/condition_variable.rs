//! A number behind a condition variable that processes share, and a broadcast. pthread_cond_broadcast(3).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::broadcast::Broadcast;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/condition_variable`
pub struct ConditionVariable {
    broadcast: Broadcast,
    seen: u64,
}

/// The number.
pub fn make(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(ConditionVariable { broadcast: Broadcast::new()?, seen: 0 }))
}

impl Transport for ConditionVariable {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.broadcast.advance()
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.seen = self.broadcast.wait_beyond(self.seen)?;
        Ok(Got::Woken)
    }
}
