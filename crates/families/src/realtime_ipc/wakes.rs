//! Transports that only wake, while stamps lie in shared memory: eventfds, semaphores, futexes, a condition variable, signals.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use oscost_harness::{CallError, Object, Outcome};
use oscost_sys::broadcast::Broadcast;
use oscost_sys::readiness::{self, Edges};
use oscost_sys::semaphore::{EventFd, SystemVSet, Unnamed};
use oscost_sys::{futex, signal};

use super::course::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Made, Recipients, Transport, for_each};
use crate::lack;
use crate::semaphore::handover::Token;

/// A token for every client, which takes it.
struct Tokens<T>(Vec<T>);

impl<T: Token> Transport for Tokens<T> {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| self.0[client].post())
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.0[client].wait().map(|()| Got::Woken)
    }
}

/// `realtime_ipc/eventfd`: one to every client, of which a read takes one. eventfd(2).
pub fn eventfd(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Tokens(for_each(table, |_| EventFd::new(0).map_err(lack::of_descriptors))?)))
}

/// `realtime_ipc/posix_semaphore`: one in shared memory for every client. sem_overview(7).
pub fn posix_semaphore(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Tokens(for_each(table, |_| Ok(Unnamed::new(0)?))?)))
}

/// Each client makes its own epoll.
struct EventFdBroadcast {
    counter: OwnedFd,
    edges: Option<Edges>,
}

/// `realtime_ipc/eventfd_broadcast`: one for all, on whose edges every client waits. epoll(7), EPOLLET.
pub fn eventfd_broadcast(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Made {
    let counter = readiness::counter().map_err(lack::of_descriptors)?;
    Ok(Box::new(EventFdBroadcast { counter, edges: None }))
}

impl Transport for EventFdBroadcast {
    fn enter(&mut self, _: usize) -> Outcome {
        self.edges = Some(Edges::of(&[&self.counter])?);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        readiness::count(&self.counter)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        match &self.edges {
            Some(edges) => edges.wait().map(|_| Got::Woken),
            None => Err(CallError::gone("epoll_wait")),
        }
    }
}

struct PollBroadcast {
    counters: [OwnedFd; 2],
    /// Number of the tick that is sent, or waited for.
    turn: usize,
    table: Rc<Table>,
}

/// `realtime_ipc/poll_broadcast`: two eventfds in turns, on which every client waits: a plain wait queue, which is served from
/// its head. poll(2).
pub fn poll_broadcast(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
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

/// Words of the session: one for all, or one for each client.
struct Futexes<const EACH: bool> {
    table: Rc<Table>,
    seen: u32,
}

/// `realtime_ipc/futex_broadcast`: a wake-up of everybody who sleeps on one word. futex(2).
pub fn futex_broadcast(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Futexes::<false> { table: Rc::clone(table), seen: 0 }))
}

/// `realtime_ipc/futex_each`: a word for every client, and a wake-up of each.
pub fn futex_each(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Futexes::<true> { table: Rc::clone(table), seen: 0 }))
}

/// Rings a bell for so many sleepers.
#[inline(always)]
fn ring(bell: &AtomicU64, sleepers: i32) -> Outcome {
    bell.fetch_add(1, Ordering::Release);
    futex::wake(bell, sleepers).map(|_| ())
}

impl<const EACH: bool> Transport for Futexes<EACH> {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        if EACH {
            to.each(|client| ring(self.table.bell_of(client), 1))
        } else {
            ring(self.table.bell(), i32::MAX)
        }
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        let bell = if EACH { self.table.bell_of(client) } else { self.table.bell() };
        loop {
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

struct Spin {
    table: Rc<Table>,
    seen: u64,
}

/// `realtime_ipc/spin`: every client reads a word without pause: the floor, at a CPU for each, and without real time.
pub fn spin(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Spin { table: Rc::clone(table), seen: 0 }))
}

/// Some seconds on any machine of today.
const MOST_SPINS: u64 = 2_000_000_000;

impl Transport for Spin {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.table.bell().fetch_add(1, Ordering::Release);
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        // No loop without an end: a server that has died rings no more.
        for _ in 0..MOST_SPINS {
            let now = self.table.bell().load(Ordering::Acquire);
            if now != self.seen {
                self.seen = now;
                return Ok(Got::Woken);
            }
            std::hint::spin_loop();
        }
        Err(CallError::no_answer("the word of the session"))
    }
}

struct SystemVSemaphores(SystemVSet);

/// `realtime_ipc/system_v_semaphore`: one of a set for every client, all posted by one semop. semop(2).
pub fn system_v_semaphore(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    let count = u16::try_from(table.clients()).unwrap_or(u16::MAX);
    let set = ground
        .keeper
        .make(Object::SystemVSemaphore, |key| SystemVSet::with_key(key, count), SystemVSet::id)
        .map_err(lack::of_system_v_semaphores)?;
    Ok(Box::new(SystemVSemaphores(set)))
}

impl Transport for SystemVSemaphores {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.0.post_all()
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.0.wait(u16::try_from(client).unwrap_or(u16::MAX)).map(|()| Got::Woken)
    }
}

struct ConditionVariable {
    broadcast: Broadcast,
    seen: u64,
}

/// `realtime_ipc/condition_variable`: a number behind one that processes share, and a broadcast. pthread_cond_broadcast(3).
pub fn condition_variable(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Made {
    Ok(Box::new(ConditionVariable { broadcast: Broadcast::new()?, seen: 0 }))
}

impl Transport for ConditionVariable {
    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        self.broadcast.advance()
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.seen = self.broadcast.wait_beyond(self.seen)?;
        Ok(Got::Woken)
    }
}

/// Process ids come as the clients do.
struct Signal(Vec<i32>);

/// `realtime_ipc/signal`: a queued one to every client, waited for without a handler. signal(7), sigwaitinfo(2).
pub fn signal(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    Ok(Box::new(Signal(vec![0; table.clients()])))
}

impl Transport for Signal {
    fn joined(&mut self, client: usize, pid: i32) -> Outcome {
        self.0[client] = pid;
        Ok(())
    }

    fn enter(&mut self, _: usize) -> Outcome {
        signal::hold()
    }

    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|client| signal::send(self.0[client]))
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        signal::wait().map(|()| Got::Woken)
    }
}

/// The group is that of the first client.
struct SignalGroup(i32);

/// `realtime_ipc/signal_group`: one queued signal to the process group of the clients. kill(2).
pub fn signal_group(_: &mut Ground, _: &Course, _: &Rc<Table>) -> Made {
    Ok(Box::new(SignalGroup(0)))
}

impl Transport for SignalGroup {
    fn joined(&mut self, client: usize, pid: i32) -> Outcome {
        if client == 0 {
            self.0 = pid;
        }
        signal::join_group(pid, self.0)
    }

    fn enter(&mut self, _: usize) -> Outcome {
        signal::hold()
    }

    #[inline(always)]
    fn send(&mut self, _: &Recipients<'_>, _: &[u8]) -> Outcome {
        signal::send_group(self.0)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        signal::wait().map(|()| Got::Woken)
    }
}
