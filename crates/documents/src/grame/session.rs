//! A session of the document's own method as a hidden benchmark: server and clients in processes of their own, on one CPU.

use oscost_results::quantity;
use std::os::fd::OwnedFd;

use oscost_families::realtime_ipc::Loading;
use oscost_harness::{
    Benchmark, Bound, CallError, Card, Claim, Outcome, Placement, Series, SeriesPlan, SetUp, Sink, Subject,
    Tier, Unable,
};
use oscost_harness::{Keeper, Object};
use oscost_sys::pipe::Pipe;
use oscost_sys::process::Child;
use oscost_sys::{clock, readiness, socket};

use super::record::{Count, Record};
use super::shape::Shape;
use super::{client, derive, server};

/// How much later than asked for a sleep ends, ns, and what passes before the first tick and after the last, ms, at most where
/// nothing disturbs.
const LATER_NS: u64 = 200_000;
const MEETING_MS: u64 = 200;
/// Patience beyond the time that a session takes, ns.
const PATIENCE_NS: u64 = 3_000_000_000;
/// How often the controller looks for the first tick of a session with a load, ns.
const FIRST_NS: u64 = 2_000_000;
/// Name of the track that marks a load: the first value under it and the first after it.
pub(super) const LOAD_TRACK: &str = "load";
/// The audit counts calls, and times nothing: its ticks may follow one another faster, ns.
const AUDIT_TICK_NS: u64 = 1_000_000;

/// The benchmark of a session's id; `None` for any other.
#[must_use]
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let shape = Shape::parse(id)?;
    // A program makes a handful of these in its life, and a card lives as long as the program.
    let id: &'static str = Box::leak(id.to_owned().into_boxed_str());
    let plural = if shape.clients == 1 { "" } else { "s" };
    let under = shape.load.map_or(String::new(), |load| format!(", load: {}", load.words()));
    let card = Card {
        id,
        title: Box::leak(
            format!("document 002's own session, {} client{plural}{under}", shape.clients).into_boxed_str(),
        ),
        operation: "one sending loop of the server",
        blocks: true,
        placement: Placement::SameCpu,
        group: id,
        tier: Tier::Hidden,
        document: Some("002"),
        // A relative sleep is longer than the tick.
        claims: Vec::leak(claims(shape.clients as f64)),
        launch_ms: shape.ticks as u64 * (shape.tick_ns + LATER_NS) / 1_000_000 + MEETING_MS,
        quantities: derive::QUANTITIES,
        parameters: shape.parameters().leak(),
        ..Card::SERIES
    };
    Some(Box::leak(Box::new(LiteralSession { card: Box::leak(Box::new(card)), shape })))
}

/// One message to each client, received by each, and one sleep of the server; clients open and close one after another, so
/// that some loops have fewer. A clock that is no vDSO's makes calls of its own.
fn claims(clients: f64) -> Vec<Claim> {
    vec![
        Claim::CallsNamed(&["sendto"], Bound::Between(0.4 * clients, 1.1 * clients + 0.2)),
        Claim::CallsNamed(&["recvfrom"], Bound::Between(0.4 * clients, 1.1 * clients + 0.2)),
        Claim::SystemCalls(Bound::AtMost(4.0 * clients + 6.0)),
    ]
}

struct LiteralSession {
    card: &'static Card,
    shape: Shape,
}

impl Benchmark for LiteralSession {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let mut session = Session { shape: self.shape, cpu: cx.cpu, keeper: cx.keeper.another()? };
        // Whether the sockets can be made is known before the first launch.
        session.sockets().map_err(of_sockets)?;
        if let Some(load) = self.shape.load {
            Loading::ready(load, &[cx.cpu])?;
        }
        Ok(Subject::Series(Box::new(session)))
    }
}

fn of_sockets(error: CallError) -> Unable {
    let remedy = match error.symbol() {
        Some("EMFILE") => "raise the limit of open files: ulimit -n 4096",
        Some("ENOENT" | "EACCES" | "EROFS" | "ENOSPC") => "run where /dev/shm can be written",
        _ => return Unable::Failed(error),
    };
    Unable::Unsupported {
        why: format!("the session's sockets cannot be made: {error}"),
        remedy: remedy.to_owned(),
    }
}

struct Session {
    shape: Shape,
    cpu: usize,
    keeper: Keeper,
}

/// A bound socket, whose name goes with it.
struct Named {
    socket: OwnedFd,
    address: socket::Path,
    path: String,
}

impl Drop for Named {
    fn drop(&mut self) {
        // That it is gone already is no harm. A forked participant never drops its copy: it ends by _exit.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Everybody's sockets. Bound before anybody starts: the document's server is not awaited by its script, and its names in
/// /tmp are fixed.
struct Sockets {
    server: server::ServerSockets,
    listening: socket::Path,
    clients: Vec<Named>,
    _names: Named,
}

impl Session {
    fn sockets(&mut self) -> Result<Sockets, CallError> {
        let name = oscost_sys::random::bits()?;
        let mut bound = |what: &str| -> Result<Named, CallError> {
            let name = format!("oscost-{name:032x}-{what}");
            let path = format!("/dev/shm/{name}");
            let address = socket::Path::new(&path)?;
            self.keeper.keep(&Object::Socket(name))?;
            Ok(Named { socket: socket::datagram_at(&address)?, address, path })
        };
        let names = bound("server")?;
        let listening = names.socket.try_clone().map_err(|error| of_std(&error))?;
        // The document's server has two sockets where it does not wait, else one for both ways.
        let sending = if self.shape.waits {
            names.socket.try_clone().map_err(|error| of_std(&error))?
        } else {
            socket::datagram()?
        };
        let clients =
            (0..self.shape.clients).map(|client| bound(&client.to_string())).collect::<Result<_, _>>()?;
        let address = names.address;
        Ok(Sockets {
            server: server::ServerSockets { listening, sending },
            listening: address,
            clients,
            _names: names,
        })
    }

    /// Runs a session to its end, and says when it was busy, in us since 1970; nobody of it lives afterwards.
    fn run(
        &mut self,
        values: usize,
        sink: &mut dyn Sink,
    ) -> Result<(Record, Option<derive::Busy>), CallError> {
        let (shape, cpu) = (self.shape, self.cpu);
        let load = match shape.load {
            Some(load) => Some(Loading::ready(load, &[cpu]).map_err(|unable| match unable {
                Unable::Failed(error) => error,
                Unable::Unsupported { .. } => CallError::no_answer("the load"),
            })?),
            None => None,
        };
        let sockets = self.sockets()?;
        let known: Vec<socket::Path> = sockets.clients.iter().map(|client| client.address).collect();
        // Clients open one after another: the server has more loops than each has values.
        let record = Record::new(shape.clients, values, 2 * values + 200)?;
        let life = Pipe::new()?;
        let whom = (&sockets.listening, &*known);
        let server = Child::fork(|| code(server::serve(&record, &sockets.server, &shape, cpu, whom)))?;
        // The other end is open in the server alone until it ends, however it does.
        drop(life.writer);
        let mut clients = Vec::with_capacity(shape.clients);
        for (number, own) in sockets.clients.iter().enumerate() {
            let attend = || client::attend(&record, &own.socket, &sockets.listening, &shape, (number, cpu));
            clients.push(Child::fork(|| code(attend()))?);
        }
        let busy = match load {
            Some(load) => Some(make_busy(load, &shape, &record, &life.reader)?),
            None => None,
        };
        let expected_ns = values as u64 * (shape.tick_ns * 5 / 4 + 200_000);
        let ended = readiness::poll_readable(&[&life.reader], 2 * expected_ns + PATIENCE_NS)?[0];
        if !ended {
            return Err(CallError::no_answer("the server's end"));
        }
        // Whoever was taken off the list still waits for a message; a queue that is full wakes its client anyway.
        let end = server::message(server::CLOSE, 0);
        for (own, child) in sockets.clients.iter().zip(&clients) {
            if !child.has_ended() {
                let _ = socket::send_to(&sockets.server.sending, &end, &own.address);
            }
        }
        let deadline = clock::now_ns() + PATIENCE_NS;
        for participant in std::iter::once(server).chain(clients) {
            let ended = participant.wait_at_most(deadline.saturating_sub(clock::now_ns()))?;
            // Each says at its end that it is where it was pinned, or fails.
            sink.used(&ended.usage, Some(0));
            match (ended.code, ended.signal) {
                (Some(0), _) => {}
                (Some(errno), _) => return Err(CallError::new("a participant's loop", errno)),
                (None, _) => return Err(CallError::gone("a participant, ended by a signal")),
            }
        }
        Ok((record, busy))
    }
}

/// Lets the load go when a fifth of the values that count is there, and ends it while there is some of the session left: the
/// document's script starts it 3 s after a client that stays for 11.
fn make_busy(
    mut load: Loading,
    shape: &Shape,
    record: &Record,
    life: &OwnedFd,
) -> Result<derive::Busy, CallError> {
    let wait = |ns: u64| readiness::poll_readable(&[life], ns).map(|ended| ended[0]);
    // The server looks for its first client every 100 ms.
    while record.counted(Count::Ticks) == 0 && !wait(FIRST_NS)? {}
    let counted_ns = (shape.ticks - shape.discard) as u64 * shape.tick_ns;
    wait(shape.discard as u64 * shape.tick_ns + counted_ns * 2 / 10)?;
    let start_us = clock::gettimeofday_us();
    load.go()?;
    wait(counted_ns * 5 / 10)?;
    let busy = load.stop().map_err(|words| {
        // A worker that says it ends soon.
        CallError::told(String::leak(format!("the load failed: {words}")))
    })?;
    Ok(derive::Busy {
        start_us,
        end_us: start_us + (busy.end_ns - busy.start_ns) / 1000,
        rounds: busy.rounds,
    })
}

/// Exit code of a participant: 0, or the error number of what failed.
fn code(outcome: Outcome) -> i32 {
    outcome.err().map_or(0, |error| error.errno.clamp(1, 255))
}

fn of_std(error: &std::io::Error) -> CallError {
    CallError::new("fcntl", error.raw_os_error().unwrap_or(0))
}

impl Series for Session {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let (values, discard) = match plan.observations {
            Some(observations) => {
                // Nor is there a load in it, which would be counted too.
                self.shape.tick_ns = self.shape.tick_ns.min(AUDIT_TICK_NS);
                self.shape.load = None;
                (usize::try_from(observations).unwrap_or(usize::MAX), 0)
            }
            None => (self.shape.ticks, self.shape.discard),
        };
        let (record, busy) = self.run(values, sink)?;
        sink.operations(record.counted(Count::Ticks));
        let series: Vec<_> = (0..record.clients()).map(|client| record.of(client, discard)).collect();
        let loops = record.loops();
        match &busy {
            Some(busy) => {
                let Some(parts) = derive::parts(&series, busy) else {
                    return Err(CallError::told("the load left no value before it or under it"));
                };
                derive::tell_idle(&parts.idle, sink);
                derive::tell(&parts.busy, &loops, &self.shape, sink);
                sink.quantity(quantity::LOAD_ROUNDS, busy.rounds as f64);
                sink.track(LOAD_TRACK.to_owned(), parts.marks, true);
            }
            None => derive::tell(&series, &loops, &self.shape, sink),
        }
        derive::tell_tracks(&series, sink);
        for (name, what) in [
            (quantity::OPENED, Count::Opened),
            (quantity::CLOSED, Count::Closed),
            (quantity::DROPPED, Count::Dropped),
            (quantity::LOST, Count::Lost),
        ] {
            sink.quantity(name, record.counted(what) as f64);
        }
        let granted = record.counted(Count::Granted) > 0
            && (0..record.clients()).all(|client| record.was_granted(client));
        sink.quantity(quantity::REAL_TIME, f64::from(u8::from(granted)));
        Ok(())
    }
}
