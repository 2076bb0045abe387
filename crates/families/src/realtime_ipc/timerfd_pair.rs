//! No server: two timers in turns that all clients share, each waiting for their edges by epoll. timerfd_create(2), epoll(7).

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::clock;
use oscost_sys::readiness::{self, Edges};
use std::os::fd::OwnedFd;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/timerfd_pair`
pub struct TimerFdPair {
    timers: [OwnedFd; 2],
    edges: Option<Edges>,
    course: Course,
}

/// The two timers; each client makes its own epoll.
pub fn make(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let timer =
        |first_ns| readiness::timer(first_ns, 2 * course.period_ns, false).map_err(lack::of_descriptors);
    let timers = [timer(course.start_ns)?, timer(course.start_ns + course.period_ns)?];
    Ok(Box::new(TimerFdPair { timers, edges: None, course: *course }))
}

impl Transport for TimerFdPair {
    fn enter(&mut self, _: usize) -> Outcome {
        let [one, other] = &self.timers;
        self.edges = Some(Edges::of(&[one, other])?);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        // There is no server.
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        let Some(edges) = &self.edges else { return Err(CallError::gone("epoll_wait")) };
        edges.wait()?;
        // A timer counts on when it is read: whoever comes first reads the one of the tick before. The one of this tick
        // stays ready for those who come later.
        let passed = self.course.ticks_until(clock::now_ns());
        readiness::drain(&self.timers[passed % 2])?;
        Ok(Got::Woken)
    }
}
