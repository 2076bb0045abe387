//! No server: timers wake the clients, each its own or two for all.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use oscost_harness::{CallError, Outcome};
use oscost_sys::clock;
use oscost_sys::readiness::{self, Edges};

use super::course::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Made, Transport};
use crate::lack;

struct NanosleepEach(Course);

/// `realtime_ipc/nanosleep_each`: every client sleeps until its next tick is due, as cyclictest does. clock_nanosleep(2),
/// TIMER_ABSTIME.
pub fn nanosleep_each(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Made {
    Ok(Box::new(NanosleepEach(*course)))
}

impl Transport for NanosleepEach {
    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        let passed = self.0.ticks_until(clock::now_ns()) as u64;
        clock::sleep_until(self.0.start_ns + passed * self.0.period_ns).map(|()| Got::Woken)
    }
}

/// Each client makes its own timer.
struct TimerFdEach {
    course: Course,
    timer: Option<OwnedFd>,
}

/// `realtime_ipc/timerfd_each`: every client reads its own. timerfd_create(2).
pub fn timerfd_each(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Made {
    Ok(Box::new(TimerFdEach { course: *course, timer: None }))
}

impl Transport for TimerFdEach {
    fn enter(&mut self, _: usize) -> Outcome {
        self.timer = Some(readiness::timer(self.course.start_ns, self.course.period_ns, true)?);
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

/// Each client makes its own epoll.
struct TimerFdPair {
    timers: [OwnedFd; 2],
    edges: Option<Edges>,
    course: Course,
}

/// `realtime_ipc/timerfd_pair`: two timers in turns that all clients share, each waiting for their edges by epoll.
/// timerfd_create(2), epoll(7).
pub fn timerfd_pair(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Made {
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
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        let Some(edges) = &self.edges else { return Err(CallError::gone("epoll_wait")) };
        edges.wait()?;
        // A timer counts on when it is read: the first client to come reads the one of the tick before. The one of this tick
        // stays ready for those who come later.
        let passed = self.course.ticks_until(clock::now_ns());
        readiness::drain(&self.timers[passed % 2])?;
        Ok(Got::Woken)
    }
}
