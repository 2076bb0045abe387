//! A POSIX semaphore in shared memory for every client; stamps lie beside it. sem_overview(7).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::semaphore::Unnamed;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/posix_semaphore`
pub struct PosixSemaphores {
    semaphores: Vec<Unnamed>,
}

/// A semaphore for every client.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let semaphore = |_| Unnamed::new(0);
    Ok(Box::new(PosixSemaphores {
        semaphores: (0..table.clients()).map(semaphore).collect::<Result<_, _>>()?,
    }))
}

impl Transport for PosixSemaphores {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| self.semaphores[client].post())
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.semaphores[client].wait().map(|()| Got::Woken)
    }
}
