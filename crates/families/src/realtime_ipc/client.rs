//! A client's loop: waits, reads the clock, and notes which ticks it has got.

use oscost_harness::{CallError, Outcome};
use oscost_sys::{clock, pipe};
use std::os::fd::OwnedFd;

use super::course::{Course, Kind};
use super::participant::Participant;
use super::server::END;
use super::table::Table;
use super::transport::{Got, Transport};

/// Stamps that stay readable: who sleeps through more ticks than this has missed the oldest.
const RING: usize = 1024;

/// Attends a session, in the process of client `client`; tells `ready` when it may be sent to.
pub fn attend(
    table: &Table,
    transport: &mut dyn Transport,
    course: &Course,
    (client, cpu): (usize, usize),
    ready: OwnedFd,
) -> Outcome {
    let mut own = Participant::begin(cpu, course.policy, course.priorities.1)?;
    table.touch();
    transport.enter(client)?;
    let mut buffer = vec![0u8; course.size];
    pipe::write_byte(&ready)?;
    drop(ready);
    own.start()?;
    let mut next = 0;
    loop {
        let got = transport.receive(client, &mut buffer)?;
        let now_ns = clock::now_ns();
        match got {
            Got::Message(length) => {
                let (sequence, stamp) = head(buffer.get(..length).unwrap_or_default())?;
                let last = sequence == END;
                // The end says how many there were.
                let until = usize::try_from(if last { stamp } else { sequence }).unwrap_or(usize::MAX);
                if until < next || until > table.ticks() {
                    return Err(CallError::told("a message came out of its order"));
                }
                table.miss(client, (until - next) as u64);
                next = until;
                if last {
                    break;
                }
                table.receive(client, next, now_ns);
                next += 1;
            }
            Got::Woken | Got::Counted { .. } => {
                let head = match got {
                    Got::Counted { sent, .. } => sent.min(course.ticks),
                    _ if course.kind == Kind::Timer => course.ticks_until(now_ns),
                    _ => table.head(),
                };
                let oldest = head.saturating_sub(RING);
                if next < oldest {
                    table.miss(client, (oldest - next) as u64);
                    next = oldest;
                }
                while next < head {
                    table.receive(client, next, now_ns);
                    next += 1;
                }
                let ended = match got {
                    Got::Counted { done, .. } => done,
                    _ if course.kind == Kind::Timer => next >= course.ticks,
                    _ => table.is_done() && next >= table.sent(),
                };
                if ended {
                    break;
                }
            }
        }
    }
    own.leave(Some(client), table)
}

/// Sequence number and stamp of a message.
#[inline(always)]
fn head(message: &[u8]) -> Result<(u64, u64), CallError> {
    let parts = message
        .split_first_chunk::<8>()
        .and_then(|(sequence, rest)| Some((sequence, rest.split_first_chunk::<8>()?.0)));
    match parts {
        Some((sequence, stamp)) => Ok((u64::from_ne_bytes(*sequence), u64::from_ne_bytes(*stamp))),
        None => Err(CallError::short("the head of a message")),
    }
}
