//! No server: every client reads a timer of its own. timerfd_create(2).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::readiness;
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// `realtime_ipc/timerfd_each`
pub struct TimerFdEach {
    course: Course,
    timer: Option<OwnedFd>,
}

/// Each client makes its own timer.
pub fn make(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    Ok(Box::new(TimerFdEach { course: *course, timer: None }))
}

impl Transport for TimerFdEach {
    fn enter(&mut self, _: usize) -> Outcome {
        self.timer = Some(readiness::timer(self.course.start_ns, self.course.period_ns, true)?);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        // There is no server.
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        match &self.timer {
            Some(timer) => readiness::drain(timer).map(|_| Got::Woken),
            None => Err(CallError::gone("read")),
        }
    }
}
