//! Waiting for descriptors: epoll with edges, poll, and what becomes ready: counters and timers. epoll(7), poll(2),
//! eventfd(2), timerfd_create(2).

use std::os::fd::{AsRawFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
};

/// Waits for edges of some descriptors. epoll(7), EPOLLET.
#[derive(Debug)]
pub struct Edges {
    fd: OwnedFd,
}

impl Edges {
    /// Waits for edges of `sources` from now on.
    ///
    /// # Errors
    /// The error of epoll_create1 or epoll_ctl.
    pub fn of(sources: &[&OwnedFd]) -> Result<Self, CallError> {
        // SAFETY: epoll_create1 touches no memory; the descriptor is new.
        let fd = unsafe { own("epoll_create1", libc::epoll_create1(libc::EPOLL_CLOEXEC)) }?;
        for source in sources {
            let mut event =
                libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET).cast_unsigned(), u64: 0 };
            // SAFETY: the kernel reads one epoll_event.
            check("epoll_ctl", unsafe {
                libc::epoll_ctl(fd.as_raw_fd(), libc::EPOLL_CTL_ADD, source.as_raw_fd(), &raw mut event)
            })?;
        }
        Ok(Self { fd })
    }

    /// Sleeps until there is an edge. How many descriptors had one, of the first two; 0: a signal came.
    ///
    /// # Errors
    /// The error of epoll_wait; a signal is none.
    #[inline(always)]
    pub fn wait(&self) -> Result<u32, CallError> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 2];
        // SAFETY: the kernel writes at most two events to a local array.
        match unsafe { libc::epoll_wait(self.fd.as_raw_fd(), events.as_mut_ptr(), 2, -1) } {
            -1 => unless_interrupted(CallError::last("epoll_wait")).map(|()| 0),
            ready => Ok(ready.unsigned_abs()),
        }
    }
}

fn unless_interrupted(error: CallError) -> Result<(), CallError> {
    if error.errno == libc::EINTR { Ok(()) } else { Err(error) }
}

/// Sleeps until `fd` can be read. poll(2).
///
/// # Errors
/// The error of poll; a signal is none.
#[inline(always)]
pub fn poll_one(fd: &OwnedFd) -> Result<(), CallError> {
    let mut polled = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    match unsafe { libc::poll(&raw mut polled, 1, -1) } {
        -1 => unless_interrupted(CallError::last("poll")),
        _ => Ok(()),
    }
}

/// Descriptors that are asked together whether they can be read. poll(2).
#[derive(Debug)]
pub struct Polled {
    sources: Vec<OwnedFd>,
    entries: Vec<libc::pollfd>,
}

impl Polled {
    /// These, in this order.
    #[must_use]
    pub fn new(sources: Vec<OwnedFd>) -> Self {
        let entry = |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        Self { entries: sources.iter().map(entry).collect(), sources }
    }

    /// The descriptors.
    #[must_use]
    pub fn sources(&self) -> &[OwnedFd] {
        &self.sources
    }

    /// How many can be read now; nothing is waited for.
    ///
    /// # Errors
    /// The error of poll.
    #[inline(always)]
    pub fn ready(&mut self) -> Result<u32, CallError> {
        let (entries, count) = (self.entries.as_mut_ptr(), self.entries.len() as libc::nfds_t);
        // SAFETY: the entries live through the call, and are as many as it is told.
        check("poll", unsafe { libc::poll(entries, count, 0) }).map(i32::unsigned_abs)
    }

    /// How many can be read, as soon as one can: the kernel is told to wait until then, without a timeout.
    ///
    /// # Errors
    /// The error of poll.
    #[inline(always)]
    pub fn wait(&mut self) -> Result<u32, CallError> {
        let (entries, count) = (self.entries.as_mut_ptr(), self.entries.len() as libc::nfds_t);
        // SAFETY: the entries live through the call, and are as many as it is told.
        check("poll", unsafe { libc::poll(entries, count, -1) }).map(i32::unsigned_abs)
    }

    /// Whether the last question found that this one can be read.
    #[must_use]
    pub fn was_ready(&self, index: usize) -> bool {
        self.entries.get(index).is_some_and(|entry| entry.revents & libc::POLLIN != 0)
    }
}

/// A counter of 0 that never makes its users wait. eventfd(2), EFD_NONBLOCK.
///
/// # Errors
/// The error of eventfd.
pub fn counter() -> Result<OwnedFd, CallError> {
    // SAFETY: eventfd touches no memory; the descriptor is new.
    unsafe { own("eventfd", libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }
}

/// Adds one to a counter: everybody who waits for it is woken.
///
/// # Errors
/// The error of write.
#[inline(always)]
pub fn count(fd: &OwnedFd) -> Result<(), CallError> {
    let one = 1u64;
    // SAFETY: the kernel reads 8 bytes of a local variable.
    match unsafe { libc::write(fd.as_raw_fd(), (&raw const one).cast(), 8) } {
        8 => Ok(()),
        _ => Err(CallError::last("write")),
    }
}

/// Takes all that a counter or a timer holds, waiting for it if the descriptor does; 0 where it holds nothing.
///
/// # Errors
/// The error of read.
#[inline(always)]
pub fn drain(fd: &OwnedFd) -> Result<u64, CallError> {
    let mut value = 0u64;
    // SAFETY: the kernel writes 8 bytes to a local variable.
    if unsafe { libc::read(fd.as_raw_fd(), (&raw mut value).cast(), 8) } == 8 {
        return Ok(value);
    }
    let error = CallError::last("read");
    if matches!(error.errno, libc::EAGAIN | libc::EINTR) { Ok(0) } else { Err(error) }
}

/// A timer on CLOCK_MONOTONIC that expires at `first_ns` and every `period_ns` from then on; it counts on only when it
/// is read, for which readers wait if `waits`. timerfd_create(2).
///
/// # Errors
/// The error of timerfd_create or timerfd_settime.
pub fn timer(first_ns: u64, period_ns: u64, waits: bool) -> Result<OwnedFd, CallError> {
    let waits = if waits { 0 } else { libc::TFD_NONBLOCK };
    // SAFETY: timerfd_create touches no memory; the descriptor is new.
    let fd = unsafe {
        own("timerfd_create", libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | waits))
    }?;
    // times lie within the machine's uptime
    let time = |ns: u64| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    let setting = libc::itimerspec { it_interval: time(period_ns), it_value: time(first_ns.max(1)) };
    // SAFETY: the kernel reads one itimerspec; the old one is not asked for.
    check("timerfd_settime", unsafe {
        libc::timerfd_settime(
            fd.as_raw_fd(),
            libc::TFD_TIMER_ABSTIME,
            &raw const setting,
            std::ptr::null_mut(),
        )
    })?;
    Ok(fd)
}

/// Waits until one of `fds` is readable (or closed at the other end), for at most `timeout_ns`; which ones are. poll(2).
///
/// # Errors
/// The error of ppoll. EINTR is an empty answer: the caller looks at its flags and comes back.
pub fn poll_readable(fds: &[&dyn AsRawFd], timeout_ns: u64) -> Result<Vec<bool>, CallError> {
    let mut polled: Vec<libc::pollfd> =
        fds.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    // clamped to a day
    let wait = {
        let ns = timeout_ns.min(86_400_000_000_000);
        libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        }
    };
    // SAFETY: the array has as many entries as is said, and lives through the call.
    let result = unsafe {
        libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, &raw const wait, std::ptr::null())
    };
    if result == -1 {
        let error = CallError::last("ppoll");
        if error.errno != libc::EINTR {
            return Err(error);
        }
        return Ok(vec![false; fds.len()]);
    }
    Ok(polled.iter().map(|entry| entry.revents != 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_told_once() {
        let counter = counter().expect("an eventfd");
        let edges = Edges::of(&[&counter]).expect("epoll");
        count(&counter).expect("counted");
        assert_eq!(edges.wait(), Ok(1));
        count(&counter).expect("counted");
        assert_eq!(edges.wait(), Ok(1), "another edge, though nothing was read");
        assert_eq!(drain(&counter), Ok(2));
        assert_eq!(drain(&counter), Ok(0));
    }

    #[test]
    fn the_one_that_can_be_read_is_told() {
        let mut polled = Polled::new((0..3).map(|_| counter().expect("an eventfd")).collect());
        assert_eq!(polled.ready(), Ok(0));
        count(&polled.sources()[2]).expect("counted");
        assert_eq!((polled.ready(), polled.wait()), (Ok(1), Ok(1)));
        assert!(polled.was_ready(2) && !polled.was_ready(0));
    }

    #[test]
    fn a_timer_counts_its_periods() {
        let start = crate::clock::now_ns();
        let timer = timer(start + 1_000_000, 1_000_000, true).expect("a timer");
        let mut expired = 0;
        while expired < 3 {
            expired += drain(&timer).expect("read");
        }
        assert!(crate::clock::now_ns() >= start + 3_000_000);
    }
}
