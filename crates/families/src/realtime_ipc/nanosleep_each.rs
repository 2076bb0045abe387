//! No server: every client sleeps until its next tick is due, as cyclictest does. clock_nanosleep(2), TIMER_ABSTIME.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::clock;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/nanosleep_each`
pub struct NanosleepEach {
    course: Course,
}

/// Nothing but the times of the session.
pub fn make(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(NanosleepEach { course: *course }))
}

impl Transport for NanosleepEach {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        // There is no server.
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        let passed = self.course.ticks_until(clock::now_ns()) as u64;
        clock::sleep_until(self.course.start_ns + passed * self.course.period_ns).map(|()| Got::Woken)
    }
}
