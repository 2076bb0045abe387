//! What a way to send a message is to the server and to its clients. The files of their kinds implement it.

use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};

use super::course::{Course, Ground};
use super::table::Table;

/// What a client got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// A message of so many bytes is in the buffer.
    Message(usize),
    /// It was woken; maybe for nothing.
    Woken,
    /// It was woken, and the kernel says how many ticks there were, and whether that is all.
    Counted {
        /// Ticks until now.
        sent: usize,
        /// There will be no more.
        done: bool,
    },
}

/// A way to send a message to every client. Made by the controller, used by the server's and the clients' processes, each
/// of which has its own copy of whatever is not shared.
pub trait Transport {
    /// In the controller: process `pid` is client `client`.
    ///
    /// # Errors
    /// The call that failed.
    fn joined(&mut self, _client: usize, _pid: i32) -> Outcome {
        Ok(())
    }

    /// In the process of client `client`, before it may be sent to.
    ///
    /// # Errors
    /// The call that failed.
    fn enter(&mut self, _client: usize) -> Outcome {
        Ok(())
    }

    /// In the controller, when every client waits: a server inside the kernel starts. Its course says when.
    ///
    /// # Errors
    /// The call that failed.
    fn start(&mut self, _course: &Course) -> Outcome {
        Ok(())
    }

    /// In the controller, after the end: what a server inside the kernel noted.
    fn stamps(&self, _table: &Table) {}

    /// In the server: hands `bytes` to every client, or wakes all. Where the kernel does that there is nothing to do.
    ///
    /// # Errors
    /// The call that failed other than by a full queue or a client that is gone: [`Recipients::each`] knows those.
    fn send(&mut self, _to: &Recipients<'_>, _bytes: &[u8]) -> Outcome {
        Ok(())
    }

    /// In client `client`: waits.
    ///
    /// # Errors
    /// The call that failed.
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError>;
}

/// Makes a transport for the clients of a session.
pub type Make = fn(&mut Ground, &Course, &Rc<Table>) -> Made;

/// The transport, or why there is none.
pub type Made = Result<Box<dyn Transport>, Unable>;

/// What `make` makes for every client.
pub fn for_each<T>(table: &Table, make: impl FnMut(usize) -> Result<T, Unable>) -> Result<Vec<T>, Unable> {
    (0..table.clients()).map(make).collect()
}

/// Tries at the last message of a session, 1 ms apart: a client that lags has to make room for it.
const LAST_TRIES: u32 = 500;

/// The clients of a tick, and what becomes of its message on the way to each.
pub struct Recipients<'a> {
    /// Where it is noted.
    pub table: &'a Table,
    /// This is the end of the session, which nobody may miss.
    pub last: bool,
}

impl Recipients<'_> {
    /// Sends to every client that still lives. A full queue is a drop and a client that is gone is left out from now on,
    /// and both are counted.
    ///
    /// # Errors
    /// Any other error of `send`.
    #[inline(always)]
    pub fn each(&self, mut send: impl FnMut(usize) -> Outcome) -> Outcome {
        for client in 0..self.table.clients() {
            if self.table.is_gone(client) {
                continue;
            }
            let mut tries = 0;
            while let Err(error) = send(client) {
                match error.symbol() {
                    Some("EAGAIN" | "ENOBUFS") if self.last && tries < LAST_TRIES => {
                        tries += 1;
                        oscost_sys::clock::pause(std::time::Duration::from_millis(1));
                    }
                    Some("EAGAIN" | "ENOBUFS") => {
                        if !self.last {
                            self.table.drop_for(client);
                        }
                        break;
                    }
                    Some("ECONNREFUSED" | "ECONNRESET" | "ENOENT" | "EPIPE" | "ESRCH") => {
                        self.table.lose(client);
                        break;
                    }
                    _ => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// Sends all of a message over a stream. A part of one is never left there: the rest is pressed after it.
///
/// # Errors
/// EAGAIN where not even a part had room; ETIMEDOUT where the rest had none for half a second.
#[inline(always)]
pub fn send_whole(bytes: &[u8], send: impl Fn(&[u8]) -> Result<usize, CallError>) -> Outcome {
    let mut sent = send(bytes)?;
    let mut tries = 0;
    while sent < bytes.len() {
        match send(&bytes[sent..]) {
            Ok(more) => sent += more,
            Err(error) if error.symbol() == Some("EAGAIN") && tries < LAST_TRIES => {
                tries += 1;
                oscost_sys::clock::pause(std::time::Duration::from_millis(1));
            }
            Err(error) if error.symbol() == Some("EAGAIN") => {
                return Err(CallError::no_answer("the rest of a message"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives all of a message that fills `buffer` from a stream.
///
/// # Errors
/// EIO at the end of the stream, and the error of `receive`.
#[inline(always)]
pub fn receive_whole(
    buffer: &mut [u8],
    receive: impl Fn(&mut [u8]) -> Result<usize, CallError>,
) -> Result<Got, CallError> {
    let mut got = 0;
    while got < buffer.len() {
        match receive(&mut buffer[got..])? {
            0 => return Err(CallError::short("the message of a stream")),
            more => got += more,
        }
    }
    Ok(Got::Message(got))
}
