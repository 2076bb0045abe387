//! The controller: runs one session per launch, with server and clients in their own processes, and collects the result.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use oscost_harness::{CallError, Outcome, RemarkCode, Series, SeriesPlan, Sink, Unable};
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::Child;
use oscost_sys::scheduling::{self, Policy};
use oscost_sys::{clock, cpu_time, readiness};

use crate::lack;

use super::course::{Course, Ground, Kind};
use super::load::{Busy, Loading};
use super::shape::{Shape, planned};
use super::table::Table;
use super::transport::Make;
use super::{client, server, tell, tell_load};

/// The share of ticks that clients must get one by one, for their calls to be those of a tick. Between two such sessions, of N and
/// 2N ticks, there are 0.6 to 1.2 receptions for each tick and client, and the claims allow 0.5 to 1.4 calls.
const ATTENDED: f64 = 0.8;
/// A launch of at most this is one of `--quick`, ns.
const QUICK_NS: u64 = 20_000_000;
/// Patience with participants that should have answered or ended, ns.
const PATIENCE_NS: u64 = 1_500_000_000;

/// The most that a session may last beyond what is usual, as long as it goes on, ns.
const MOST_PATIENCE_NS: u64 = 20_000_000_000;

/// Sessions of one shape over one transport.
pub struct Session {
    pub make: Make,
    pub kind: Kind,
    pub shape: Shape,
    pub policy: Policy,
    /// CPU of the server, then of each client.
    pub cpus: Vec<usize>,
    /// CPUs of the load, if there is one.
    pub load_cpus: Vec<usize>,
    pub ground: Ground,
}

/// Ticks, counted from the first, before which the load goes on and off: of those that count two parts are before it, three
/// under it, and one after it.
fn load_ticks(discarded: usize, ticks: usize) -> (usize, usize) {
    let counted = ticks.saturating_sub(discarded + 1);
    (discarded + counted / 3, discarded + counted - counted / 6)
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

    /// Runs a session to its end, with a load between the two ticks of `loaded`; nobody of it lives afterwards.
    fn run(
        &mut self,
        ticks: usize,
        loaded: Option<(usize, usize)>,
    ) -> Result<(Rc<Table>, Option<Busy>), CallError> {
        // Before anything else: it inherits nothing of the session, and gets ready before the first tick.
        let mut load = match self.shape.load.filter(|_| loaded.is_some()) {
            Some(load) => Some(Loading::ready(load, &self.load_cpus).map_err(refused)?),
            None => None,
        };
        let mut course = self.course(ticks);
        let table = Rc::new(Table::new(self.shape.clients, ticks)?);
        let mut transport = (self.make)(&mut self.ground, &course, &table).map_err(refused)?;
        let (ready, life) = (Pipe::new()?, Pipe::new()?);
        let mut participants = Vec::with_capacity(self.shape.clients + 1);
        for client in 0..self.shape.clients {
            let place = (client, self.cpu(client + 1));
            let tell = ready.writer.try_clone().map_err(|error| of_std(&error))?;
            let child = Child::fork(|| code(client::attend(&table, &mut *transport, &course, place, tell)))
                .map_err(|error| crowded(error, client))?;
            transport.joined(client, child.pid())?;
            participants.push(child);
        }
        for _ in 0..self.shape.clients {
            if !readiness::poll_readable(&[&ready.reader], PATIENCE_NS)?[0] {
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
        } else if course.kind == Kind::Kernel {
            course.start_ns = clock::now_ns() + 3_000_000;
            transport.start(&course)?;
        } else {
            course.start_ns = clock::now_ns() + 3_000_000;
            let cpu = self.cpu(0);
            let server = Child::fork(|| code(server::serve(&table, &mut *transport, &course, cpu)))?;
            participants.push(server);
        }
        // The other end is open in every participant until it ends, however it does.
        drop(life.writer);
        let mut busy = None;
        if let (Some((on, off)), Some(mut load)) = (loaded, load.take()) {
            let wait = |tick: usize| {
                let until = course.start_ns + tick as u64 * course.period_ns;
                readiness::poll_readable(&[&life.reader], until.saturating_sub(clock::now_ns()))
            };
            wait(on)?;
            load.go()?;
            wait(off)?;
            busy = Some(load.stop().map_err(|words| told(&self.shape, &words))?);
        }
        let course_ns = course.start_ns.saturating_sub(clock::now_ns()) + ticks as u64 * course.period_ns;
        if !ends(&life.reader, &table, 2 * course_ns)? {
            return Err(first_failure(participants, "a participant's end"));
        }
        for participant in participants {
            let ended = participant.wait()?;
            match (ended.code, ended.signal) {
                (Some(0), _) => {}
                (Some(code), _) => return Err(failure(code)),
                (None, _) => return Err(CallError::gone("a participant, ended by a signal")),
            }
        }
        transport.stamps(&table);
        check(&table, course.kind)?;
        Ok((table, busy))
    }

    fn cpu(&self, participant: usize) -> usize {
        self.cpus.get(participant).copied().unwrap_or(0)
    }
}

/// Waits until nobody holds the other end of `life`; whether that was so. Who is slow is waited for as long as ticks come to
/// somebody, after `usual_ns`: where calls are counted, or the machine is busy, each takes its time.
fn ends(life: &OwnedFd, table: &Table, usual_ns: u64) -> Result<bool, CallError> {
    let mut until = clock::now_ns() + usual_ns + PATIENCE_NS;
    let last = until + MOST_PATIENCE_NS;
    let mut progress = table.progress();
    loop {
        let now_ns = clock::now_ns();
        if readiness::poll_readable(&[life], until.saturating_sub(now_ns))?[0] {
            return Ok(true);
        }
        if clock::now_ns() < until {
            continue;
        }
        let progressed = table.progress();
        if progressed == progress || clock::now_ns() >= last {
            return Ok(false);
        }
        progress = progressed;
        until = clock::now_ns() + PATIENCE_NS;
    }
}

/// Why the calls of a session are not those of its ticks, if they are not: a client that waited for the counter of its calls got
/// several ticks with one call. A timer, or a server in the kernel, does not wait for whoever is counted.
fn lagged(table: &Table) -> Option<String> {
    let wanted = table.sent() * table.clients();
    let receptions: usize = (0..table.clients()).map(|client| table.receptions(client)).sum();
    ((receptions as f64) < ATTENDED * wanted as f64).then(|| {
        format!(
            "clients lagged behind their ticks while their calls were counted, and got {wanted} ticks in {receptions} turns: \
             measure while the machine is idle, or with longer ticks (--set tick=10ms)"
        )
    })
}

/// Exit code of a participant whose failure has words and no error number: more than any system has.
const NO_CALL: i32 = 255;

/// Exit code of a participant: 0, or the error number of what failed.
fn code(outcome: Outcome) -> i32 {
    outcome.err().map_or(0, |error| if (1..NO_CALL).contains(&error.errno) { error.errno } else { NO_CALL })
}

/// What a participant failed of that ended with this code.
fn failure(code: i32) -> CallError {
    match code {
        NO_CALL => CallError::told("a participant broke a rule of its own: a message came out of its order"),
        errno => CallError::new("a participant's loop", errno),
    }
}

/// Of what worked a moment ago, at the set-up.
fn refused(unable: Unable) -> CallError {
    match unable {
        Unable::Failed(error) => error,
        Unable::Unsupported { why, .. } => CallError::told(String::leak(why)),
    }
}

/// Of a fork: which limit there is, where one forbids it.
fn crowded(error: CallError, clients: usize) -> CallError {
    if error.symbol() != Some("EAGAIN") {
        return error;
    }
    CallError::told(String::leak(format!(
        "{error} after {clients} clients: the limit of processes of this user (ulimit -u) or of the cgroup (pids.max) allows \
         no more"
    )))
}

/// What a load said when it failed. A worker that says it ends soon.
fn told(shape: &Shape, words: &str) -> CallError {
    let name = shape.load.map_or("", |load| load.name());
    CallError::told(String::leak(format!("the load {name} failed: {words}")))
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
            Some(code) => Some(failure(code)),
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
            return Err(CallError::told("the account does not hold: sent = received + dropped + missed"));
        }
    }
    Ok(())
}

impl Series for Session {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        // An audit counts the session's own calls, and so has no load in it.
        let (discarded, ticks, loaded) = match plan.observations {
            Some(observations) => (0, usize::try_from(observations).unwrap_or(usize::MAX), None),
            None => {
                let (discarded, ticks) = planned(&self.shape, plan.duration_ns <= QUICK_NS);
                (discarded, ticks, self.shape.load.map(|_| load_ticks(discarded, ticks)))
            }
        };
        let before = cpu_time::now(&self.cpus);
        let (table, busy) = self.run(ticks, loaded)?;
        let idle_share =
            cpu_time::now(&self.cpus).zip(before).and_then(|(after, before)| after.idle_share(&before));
        sink.operations(table.sent() as u64);
        if let Some(why) = lagged(&table) {
            sink.uncountable(why);
        }
        // Where there is no server process, nobody left its account.
        let server = (!self.kind.is_without_server_process()).then_some(None);
        for participant in (0..self.shape.clients).map(Some).chain(server) {
            let account = table.account(participant);
            sink.used(&account.usage, account.migrations);
        }
        let course = self.course(ticks);
        if tell::was_refused(&table, &course) {
            sink.say(match scheduling::probe_real_time() {
                Err(refusal) => {
                    RemarkCode::NotRealTime.with(&[&format_args!("{refusal}; {}", refusal.cause.remedy())])
                }
                Ok(()) => RemarkCode::NotRealTime
                    .with(&[&"the priority was lost during the session, or granted too late"]),
            });
        }
        tell::tell(&table, discarded, &course, (idle_share, busy.as_ref()), sink);
        if let Some(busy) = &busy {
            tell_load::tell(&table, discarded, &self.shape, busy, sink)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime_ipc::Load;

    #[test]
    fn clients_that_got_many_ticks_at_once_made_other_calls_than_a_tick_has() {
        // Ten ticks to two clients: the first got each with a call of its own, the other got them in so many turns.
        let of = |turns: u64| {
            let table = Table::new(2, 10).unwrap();
            for tick in 0..10 {
                table.publish(tick, 1, 1);
                table.receive(0, tick, 100 + tick as u64);
                table.receive(1, tick, 100 + (tick as u64).min(turns - 1));
            }
            table.finish(10, 0, 0);
            lagged(&table)
        };
        assert_eq!((of(10), of(6)), (None, None));
        let words = of(5).expect("15 turns are too few for 20 ticks");
        assert!(words.contains("got 20 ticks in 15 turns"), "{words}");
    }

    #[test]
    fn a_participant_that_failed_without_a_call_is_told_in_words() {
        assert_eq!(code(Ok(())), 0);
        let of_call = CallError::new("a participant's loop", 5);
        assert_eq!(failure(code(Err(CallError::new("read", 5)))), of_call);
        for nameless in [CallError::told("a message came out of its order"), CallError::new("write", 0)] {
            let told = failure(code(Err(nameless))).to_string();
            assert!(told.contains("a rule of its own") && !told.contains("not permitted"), "{told}");
        }
    }

    #[test]
    fn a_load_has_half_of_the_ticks_that_count_after_a_third_of_them() {
        let plain = Shape::of(false, 1);
        assert_eq!(planned(&plain, false), (100, 201));
        assert_eq!(planned(&plain, true), (100, 151));
        let loaded = Shape { load: Some(Load::Cpu), ..plain };
        assert_eq!(planned(&loaded, false), (100, 3101));
        assert_eq!(planned(&Shape { tick_ns: 10_000_000, ..loaded }, true), (10, 71));
        assert_eq!(load_ticks(100, 3101), (1100, 2600));
        assert_eq!(load_ticks(10, 71), (30, 60));
    }
}
