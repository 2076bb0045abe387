//! Two eventfds in turns, on which every client waits by poll: a plain wait queue, which is served from its head. poll(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::readiness;
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/poll_broadcast`
pub struct PollBroadcast {
    counters: [OwnedFd; 2],
    /// Number of the tick that is sent, or waited for.
    turn: usize,
    table: Rc<Table>,
}

/// The two eventfds.
pub fn make(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let counter = || readiness::counter().map_err(lack::of_descriptors);
    Ok(Box::new(PollBroadcast { counters: [counter()?, counter()?], turn: 0, table: Rc::clone(table) }))
}

impl Transport for PollBroadcast {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        // The next one is emptied before anybody can wait for it.
        let (now, next) = (&self.counters[self.turn % 2], &self.counters[(self.turn + 1) % 2]);
        readiness::drain(next)?;
        self.turn += 1;
        readiness::count(now)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        readiness::poll_one(&self.counters[self.turn % 2])?;
        // Who was late goes on with the tick after the newest.
        self.turn = match self.table.is_done() {
            true => self.turn + 1,
            false => self.table.head(),
        };
        Ok(Got::Woken)
    }
}
