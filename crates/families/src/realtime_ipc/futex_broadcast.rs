//! One word in shared memory, and a wake-up of everybody who sleeps on it. futex(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::futex;
use std::sync::atomic::Ordering;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/futex_broadcast`
pub struct FutexBroadcast {
    table: Rc<Table>,
    seen: u32,
}

/// Nothing but the word of the session.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(FutexBroadcast { table: Rc::clone(table), seen: 0 }))
}

impl Transport for FutexBroadcast {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.table.bell().fetch_add(1, Ordering::Release);
        futex::wake(self.table.bell(), i32::MAX).map(|_| ())
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        loop {
            // the kernel compares the low half
            let now = self.table.bell().load(Ordering::Acquire) as u32;
            if now != self.seen {
                self.seen = now;
                return Ok(Got::Woken);
            }
            futex::wait(self.table.bell(), now)?;
        }
    }
}
