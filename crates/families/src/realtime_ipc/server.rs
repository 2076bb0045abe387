//! The server's loop: sleeps until a tick is due, stamps it once, sends it to every client, skips ticks if it is late.

use oscost_harness::{CallError, Outcome};
use oscost_sys::clock;
use oscost_sys::ticks::Ticks;

use super::course::Course;
use super::participant::Participant;
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

/// Sequence number of the message that ends a session.
pub const END: u64 = u64::MAX;
/// Patience between the last tick and the end, ns: the clients get on with what they have.
const REST_NS: u64 = 2_000_000;

/// Serves a session, in the server's process.
pub fn serve(table: &Table, transport: &mut dyn Transport, course: &Course, cpu: usize) -> Outcome {
    let mut own = Participant::begin(cpu, course.policy, course.priorities.0)?;
    table.touch();
    let mut message = vec![0u8; course.size];
    let (mut sent, mut overruns) = (0, 0);
    let mut ticks = Ticks::new(course.start_ns, course.period_ns);
    own.start()?;
    // No loop without an end: a server that is always late gives up.
    let end_ns = course.start_ns + (course.ticks as u64 * 4 + 100) * course.period_ns;
    while sent < course.ticks && ticks.due_ns() < end_ns {
        let due_ns = ticks.due_ns();
        clock::sleep_until(due_ns)?;
        let now_ns = tick(table, transport, (sent, due_ns), &mut message)?;
        sent += 1;
        overruns += ticks.advance(now_ns);
    }
    let cpu_ns = own.cpu_ns();
    own.leave(None, table)?;
    clock::sleep_until(clock::now_ns() + REST_NS.max(course.period_ns.min(10 * REST_NS)))?;
    table.finish(sent, overruns, cpu_ns);
    write_head(&mut message, END, sent as u64)?;
    transport.send(&Recipients { table, last: true }, &message)
}

/// Stamps a tick, sends it, and notes when that was done.
#[inline(always)]
fn tick(
    table: &Table,
    transport: &mut dyn Transport,
    (sent, due_ns): (usize, u64),
    message: &mut [u8],
) -> Result<u64, CallError> {
    let stamp_ns = clock::now_ns();
    table.publish(sent, due_ns, stamp_ns);
    write_head(message, sent as u64, stamp_ns)?;
    transport.send(&Recipients { table, last: false }, message)?;
    let now_ns = clock::now_ns();
    table.sent_by(sent, now_ns);
    Ok(now_ns)
}

/// A transport that calls nothing, but goes through its clients as those do that have a call for each.
struct Nothing;

impl Transport for Nothing {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, _: &[u8]) -> Outcome {
        to.each(|_| Ok(()))
    }

    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        Ok(Got::Woken)
    }
}

/// Ticks of one run of [`own_cost`], and runs: the shortest counts, because whatever disturbs makes it longer.
const COST_TICKS: usize = 10_000;
const COST_RUNS: usize = 20;

/// What the server's loop costs a tick besides the calls of its transport and the sleep, ns: its body with a transport that
/// calls nothing, both clock readings included, with warm caches.
///
/// # Errors
/// The error of memfd_create, ftruncate or mmap.
pub fn own_cost(clients: usize) -> Result<f64, CallError> {
    let table = Table::new(clients, COST_TICKS)?;
    let mut message = [0; 24];
    let mut nothing = Nothing;
    let transport: &mut dyn Transport = std::hint::black_box(&mut nothing);
    let mut least = u64::MAX;
    for _ in 0..COST_RUNS {
        let start_ns = clock::now_ns();
        for sent in 0..COST_TICKS {
            tick(&table, transport, (sent, start_ns), &mut message)?;
        }
        least = least.min(clock::now_ns() - start_ns);
    }
    Ok(least as f64 / COST_TICKS as f64)
}

/// Puts the sequence number and the stamp at the beginning of a message.
#[inline(always)]
fn write_head(message: &mut [u8], sequence: u64, stamp: u64) -> Outcome {
    let Some((head, rest)) = message.split_first_chunk_mut::<8>() else {
        return Err(CallError::short("the head of a message"));
    };
    *head = sequence.to_ne_bytes();
    let Some((head, _)) = rest.split_first_chunk_mut::<8>() else {
        return Err(CallError::short("the head of a message"));
    };
    *head = stamp.to_ne_bytes();
    Ok(())
}
