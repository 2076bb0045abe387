//! A System V semaphore for every client, all posted by one semop; stamps lie in shared memory. semop(2).

use std::rc::Rc;

use oscost_harness::Object;
use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::semaphore::SystemVSet;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/system_v_semaphore`
pub struct SystemVSemaphores {
    set: SystemVSet,
}

/// A set with a semaphore for every client.
pub fn make(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let count = u16::try_from(table.clients()).unwrap_or(u16::MAX);
    let set = ground
        .keeper
        .make(Object::SystemVSemaphore, |key| SystemVSet::with_key(key, count), SystemVSet::id)
        .map_err(lack::of_system_v_semaphores)?;
    Ok(Box::new(SystemVSemaphores { set }))
}

impl Transport for SystemVSemaphores {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.set.post_all()
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.set.wait(u16::try_from(client).unwrap_or(u16::MAX)).map(|()| Got::Woken)
    }
}
