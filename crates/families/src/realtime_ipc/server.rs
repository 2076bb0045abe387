//! The server's loop: sleeps until a tick is due, stamps it once, sends it to everybody, skips what it is too late for.

use oscost_harness::{CallError, Outcome};
use oscost_sys::clock;

use super::participant::Participant;
use super::session::Course;
use super::table::Table;
use super::transport::{Recipients, Transport};

/// Sequence number of the message that ends a session.
pub const END: u64 = u64::MAX;
/// Patience between the last tick and the end, ns: the clients get on with what they have.
const REST_NS: u64 = 2_000_000;

/// Serves a session, in the server's process.
pub fn serve(table: &Table, transport: &mut dyn Transport, course: &Course, cpu: usize) -> Outcome {
    let mut own = Participant::begin(cpu, course.policy, course.priorities.0)?;
    table.touch();
    let mut message = vec![0u8; course.size];
    let to = |last: bool| Recipients { table, last };
    let (mut sent, mut number, mut overruns) = (0, 0, 0);
    own.start();
    // No loop without an end: a server that is always late gives up.
    let most = course.ticks as u64 * 4 + 100;
    while sent < course.ticks && number < most {
        let due_ns = course.start_ns + number * course.period_ns;
        clock::sleep_until(due_ns)?;
        let stamp_ns = clock::now_ns();
        table.publish(sent, due_ns, stamp_ns);
        write_head(&mut message, sent as u64, stamp_ns)?;
        transport.send(&to(false), &message)?;
        let now_ns = clock::now_ns();
        table.sent_by(sent, now_ns);
        sent += 1;
        number += 1;
        // A tick whose time has passed is left out and counted, never made up for in a burst.
        while course.start_ns + number * course.period_ns <= now_ns {
            number += 1;
            overruns += 1;
        }
    }
    let cpu_ns = own.cpu_ns();
    own.leave(None, table)?;
    clock::sleep_until(clock::now_ns() + REST_NS.max(course.period_ns.min(10 * REST_NS)))?;
    table.finish(sent, overruns, cpu_ns);
    write_head(&mut message, END, sent as u64)?;
    transport.send(&to(true), &message)
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
