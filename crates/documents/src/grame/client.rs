//! The document's client (client.c): opens, reads messages and the clock until its table is full, closes.

use std::os::fd::OwnedFd;

use oscost_harness::{CallError, Outcome};
use oscost_sys::scheduling::{self, Policy};
use oscost_sys::{affinity, clock, socket};

use super::record::{ClientValue, Record};
use super::server::{CLOSE, MESSAGE, OPEN, TIME, message, prioritise, read};
use super::shape::{CLIENT, Shape};

/// Attends a session, in the process of client `client`.
///
/// # Errors
/// The call that failed.
pub(super) fn attend(
    record: &Record,
    own: &OwnedFd,
    server: &socket::Path,
    shape: &Shape,
    (client, cpu): (usize, usize),
) -> Outcome {
    affinity::pin_to(cpu)?;
    record.touch();
    let granted = prioritise(shape.policy, CLIENT);
    socket::send_to_patiently(own, &message(OPEN, 0), server)?;
    let mut buffer = [0; MESSAGE + 1];
    let mut count = 0;
    while count < record.values() {
        let length = socket::receive(own, &mut buffer)?;
        let now_us = clock::gettimeofday_us();
        match read(buffer.get(..length).unwrap_or_default()) {
            Some((TIME, stamp_us)) => {
                let latency_us = now_us.cast_signed().wrapping_sub(stamp_us.cast_signed());
                record.store(client, count, ClientValue { stamp_us, latency_us });
                count += 1;
            }
            // The server has ended, or has taken this client off its list: the document's waits for ever.
            Some((CLOSE, _)) => break,
            _ => return Err(CallError::short("a message of the server")),
        }
    }
    let kept = shape.policy == Policy::Other || scheduling::get() == Ok(Some((shape.policy, CLIENT)));
    affinity::still_on(cpu)?;
    record.leave(client, count, granted && kept);
    // Its main thread closes, without real time.
    scheduling::set(Policy::Other, 0)?;
    match socket::send_to_patiently(own, &message(CLOSE, 0), server) {
        Err(error) if !matches!(error.symbol(), Some("ECONNREFUSED" | "ENOENT")) => Err(error),
        _ => Ok(()),
    }
}
