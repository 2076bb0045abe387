//! A word in shared memory for every client, and a wake-up of each. futex(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::futex;
use std::sync::atomic::Ordering;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/futex_each`
pub struct FutexEach {
    table: Rc<Table>,
    seen: u32,
}

/// Nothing but the words of the session.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(FutexEach { table: Rc::clone(table), seen: 0 }))
}

impl Transport for FutexEach {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| {
            let bell = self.table.bell_of(client);
            bell.fetch_add(1, Ordering::Release);
            futex::wake(bell, 1).map(|_| ())
        })
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        loop {
            let bell = self.table.bell_of(client);
            // the kernel compares the low half
            let now = bell.load(Ordering::Acquire) as u32;
            if now != self.seen {
                self.seen = now;
                return Ok(Got::Woken);
            }
            futex::wait(bell, now)?;
        }
    }
}
