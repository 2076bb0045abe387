//! The controller: one session a launch, with a server and its clients in processes of their own, and what came of it.

use std::rc::Rc;

use oscost_harness::janitor::Keeper;
use oscost_harness::{CallError, Outcome, Series, SeriesPlan, Sink, Unable};
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::{self, Child};
use oscost_sys::{clock, scheduling::Policy};

use crate::lack;

use super::shape::Shape;
use super::table::Table;
use super::transport::{Kind, Make};
use super::{client, server, tell};

/// Beginning of every session that does not count, ns.
const DISCARDED_NS: u64 = 100_000_000;
/// Ticks that count in a launch, and in one of `--quick`.
const TICKS: usize = 100;
const TICKS_QUICK: usize = 50;
/// A launch of at most this is one of `--quick`, ns.
const QUICK_NS: u64 = 20_000_000;
/// Patience with participants that should have answered or ended, ns.
const PATIENCE_NS: u64 = 1_500_000_000;

/// What everybody in a session knows from the beginning.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// The first tick is due then, ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Time between ticks, ns.
    pub period_ns: u64,
    /// Ticks of the session.
    pub ticks: usize,
    /// Bytes of a message.
    pub size: usize,
    /// Scheduling of the participants.
    pub policy: Policy,
    /// Priorities of server and clients.
    pub priorities: (i32, i32),
    /// How clients learn of ticks.
    pub kind: Kind,
}

impl Course {
    /// Ticks that were due until `now_ns`.
    #[inline(always)]
    pub fn ticks_until(&self, now_ns: u64) -> usize {
        let Some(passed) = now_ns.checked_sub(self.start_ns) else { return 0 };
        usize::try_from(passed / self.period_ns + 1).unwrap_or(usize::MAX).min(self.ticks)
    }
}

/// What transports are made of besides the session itself.
pub struct Ground {
    /// Where objects that outlive a process are declared.
    pub keeper: Keeper,
}

/// Sessions of one shape over one transport.
pub struct Session {
    pub make: Make,
    pub kind: Kind,
    pub shape: Shape,
    pub policy: Policy,
    /// CPU of the server, then of each client.
    pub cpus: Vec<usize>,
    pub ground: Ground,
}

/// Ticks of one launch: those that are discarded at the beginning, and all.
fn planned(shape: &Shape, plan: &SeriesPlan) -> (usize, usize) {
    if let Some(observations) = plan.observations {
        return (0, usize::try_from(observations).unwrap_or(usize::MAX));
    }
    let counted = match shape.ticks {
        Some(ticks) => ticks,
        None if plan.duration_ns <= QUICK_NS => TICKS_QUICK,
        None => TICKS,
    };
    let discarded = usize::try_from(DISCARDED_NS.div_ceil(shape.tick_ns)).unwrap_or(usize::MAX);
    // A client that ends delays the others: the last tick does not count.
    (discarded, discarded + counted + 1)
}

impl Session {
    /// Makes the transport once, to know whether it can be.
    pub fn try_transport(&mut self) -> Result<(), Unable> {
        let course = self.course(1);
        let table = Rc::new(Table::new(self.shape.clients, 1).map_err(lack::of_descriptors)?);
        (self.make)(&mut self.ground, &course, &table).map(drop)
    }

    fn course(&self, ticks: usize) -> Course {
        // Clients with timers of their own have to be there when the first one is due.
        let ahead_ns = 20_000_000 + 1_000_000 * self.shape.clients as u64;
        Course {
            start_ns: clock::now_ns() + ahead_ns,
            period_ns: self.shape.tick_ns,
            ticks,
            size: self.shape.size,
            policy: self.policy,
            priorities: (50, 49),
            kind: self.kind,
        }
    }

    /// Runs a session to its end; nobody of it lives afterwards.
    fn run(&mut self, ticks: usize) -> Result<Rc<Table>, CallError> {
        let mut course = self.course(ticks);
        let table = Rc::new(Table::new(self.shape.clients, ticks)?);
        let mut transport =
            (self.make)(&mut self.ground, &course, &table).map_err(|unable| match unable {
                Unable::Failed(error) => error,
                Unable::Unsupported { .. } => CallError::no_answer("the transport"),
            })?;
        let (ready, life) = (Pipe::new()?, Pipe::new()?);
        let mut participants = Vec::with_capacity(self.shape.clients + 1);
        for client in 0..self.shape.clients {
            let place = (client, self.cpu(client + 1));
            let tell = ready.writer.try_clone().map_err(|error| of_std(&error))?;
            let child = Child::fork(|| code(client::attend(&table, &mut *transport, &course, place, tell)))?;
            transport.joined(client, child.pid())?;
            participants.push(child);
        }
        for _ in 0..self.shape.clients {
            if !process::poll_readable(&[&ready.reader], PATIENCE_NS)?[0] {
                return Err(first_failure(participants, "a real-time client"));
            }
            pipe::read_byte(&ready.reader)?;
        }
        if course.kind == Kind::Timer {
            for tick in 0..ticks {
                let due_ns = course.start_ns + tick as u64 * course.period_ns;
                table.publish(tick, due_ns, due_ns);
                table.sent_by(tick, due_ns);
            }
            table.finish(ticks, 0, 0);
        } else {
            course.start_ns = clock::now_ns() + 3_000_000;
            let cpu = self.cpu(0);
            let server = Child::fork(|| code(server::serve(&table, &mut *transport, &course, cpu)))?;
            participants.push(server);
        }
        // The other end is open in every participant until it ends, however it does.
        drop(life.writer);
        let course_ns = course.start_ns.saturating_sub(clock::now_ns()) + ticks as u64 * course.period_ns;
        let ended = process::poll_readable(&[&life.reader], 2 * course_ns + PATIENCE_NS)?[0];
        if !ended {
            return Err(first_failure(participants, "a participant's end"));
        }
        for participant in participants {
            let ended = participant.wait()?;
            match (ended.code, ended.signal) {
                (Some(0), _) => {}
                (Some(errno), _) => return Err(CallError::new("a participant's loop", errno)),
                (None, _) => return Err(CallError::gone("a participant, ended by a signal")),
            }
        }
        check(&table, course.kind)?;
        Ok(table)
    }

    fn cpu(&self, participant: usize) -> usize {
        self.cpus.get(participant).copied().unwrap_or(0)
    }
}

/// Exit code of a participant: 0, or the error number of what failed.
fn code(outcome: Outcome) -> i32 {
    outcome.err().map_or(0, |error| error.errno.clamp(1, 255))
}

fn of_std(error: &std::io::Error) -> CallError {
    CallError::new("fcntl", error.raw_os_error().unwrap_or(0))
}

/// Why somebody did not answer: what he failed of, or the silence itself. All are ended.
fn first_failure(participants: Vec<Child>, silence: &'static str) -> CallError {
    let failed = participants.into_iter().find_map(|participant| {
        if !participant.has_ended() {
            return None;
        }
        match participant.wait().ok()?.code {
            Some(0) => None,
            Some(errno) => Some(CallError::new("a participant's loop", errno)),
            None => Some(CallError::gone("a participant, ended by a signal")),
        }
    });
    failed.unwrap_or(CallError::no_answer(silence))
}

/// Whether every tick of every client is accounted for: sent = received + dropped + missed, by three who count apart.
fn check(table: &Table, kind: Kind) -> Outcome {
    let sent = table.sent() as u64;
    for client in 0..table.clients() {
        let [received, gaps, dropped] = table.counts(client);
        let noted = (0..table.sent()).filter(|&tick| table.received(client, tick).is_some()).count() as u64;
        // A full queue is a gap in what the client sees: what is no drop was missed.
        let explained = kind != Kind::Queue || dropped <= gaps;
        if received + gaps != sent || noted != received || !explained {
            return Err(CallError::short("the account: sent = received + dropped + missed"));
        }
    }
    Ok(())
}

impl Series for Session {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let (discarded, ticks) = planned(&self.shape, plan);
        let before = tell::idle(&self.cpus);
        let table = self.run(ticks)?;
        let idle_share = tell::idle(&self.cpus).zip(before).and_then(|(after, before)| after.share(&before));
        sink.operations(table.sent() as u64);
        for participant in (0..self.shape.clients).map(Some).chain([None]) {
            let account = table.account(participant);
            sink.used(&account.usage, account.migrations);
        }
        tell::tell(&table, discarded, self, idle_share, sink);
        Ok(())
    }
}
