//! Counts by a tracer, if seccomp user notification is refused. ptrace(2).

use std::fs::File;
use std::io::{self, Read, Write};

use super::table::TABLE;
use super::{CallCounts, QUIET_NS, UNREST_NS};
use crate::tracer::{self, Stop};
use crate::{CallError, error::check, process, system_call::marked};

/// Runs `body` in a child that is traced, counts its system calls and those of all its descendants, and returns what the
/// body returned (at most what a pipe holds at once is written before anybody reads: the reader is the tracer's caller).
///
/// # Errors
/// The error of fork, ptrace (EPERM under Yama 3 or a sandbox) or pipe; EIO where the child died before its result, or where
/// the kernel tells no tracer which call it sees, as before Linux 5.3.
pub fn by_ptrace(body: impl FnOnce() -> Vec<u8>) -> Result<(Vec<u8>, CallCounts), CallError> {
    let pipe = crate::pipe::Pipe::new()?;
    let crate::pipe::Pipe { reader, writer } = pipe;
    let child = process::Child::fork(|| {
        if tracer::ask_for_tracer().is_err() {
            return 3;
        }
        // SAFETY: raise touches no memory; the tracer lets the child go on.
        unsafe { libc::raise(libc::SIGSTOP) };
        i32::from(send(&body(), File::from(writer)).is_err())
    })?;
    let collector = std::thread::Builder::new()
        .spawn(move || receive(File::from(reader)))
        .map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))?;
    trace(child.pid())?;
    // The tracer has reaped the child already.
    std::mem::forget(child);
    match collector.join() {
        Ok(Ok(bytes)) if !bytes.is_empty() => Ok((bytes, TABLE.counts())),
        _ => Err(CallError::new("ptrace", libc::EIO)),
    }
}

/// Sends how many bytes there are, and these: whose `close` fails keeps the stream open, and nobody may wait for its end.
fn send(bytes: &[u8], mut to: impl Write) -> io::Result<()> {
    to.write_all(&bytes.len().to_ne_bytes())?;
    to.write_all(bytes)
}

/// What [`send`] sent.
fn receive(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; size_of::<usize>()];
    from.read_exact(&mut length)?;
    let mut bytes = vec![0; usize::from_ne_bytes(length)];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A marker that waits for silence.
struct Waiting {
    pid: i32,
    phase: u64,
    since: u64,
    last_call: u64,
}

/// Follows `root` and its descendants until `root` has ended.
fn trace(root: i32) -> Result<(), CallError> {
    let mut status = 0;
    // SAFETY: writes a status to a local variable.
    check("waitpid", unsafe { libc::waitpid(root, &raw mut status, libc::__WALL) })?;
    if !libc::WIFSTOPPED(status) {
        return Err(CallError::new("ptrace", libc::EPERM));
    }
    tracer::follow(root)?;
    tracer::go_on(root, 0);
    let mut marker: Option<Waiting> = None;
    loop {
        let stop = tracer::next(marker.is_some())?;
        if let Some(waiting) = &marker {
            let now = crate::clock::now_ns();
            if now - waiting.last_call >= QUIET_NS || now - waiting.since >= UNREST_NS {
                TABLE.mark(waiting.phase);
                tracer::go_on(waiting.pid, 0);
                marker = None;
            } else if stop.is_none() {
                crate::clock::pause(std::time::Duration::from_micros(100));
            }
        }
        match stop {
            None => {}
            Some((pid, Stop::Exited(_) | Stop::Killed(_))) if pid == root => return Ok(()),
            Some((_, Stop::Exited(_) | Stop::Killed(_))) => {}
            Some((pid, Stop::Entered(call))) => {
                if let Some(phase) = marked(call.number, call.arguments[0]) {
                    let since = crate::clock::now_ns();
                    marker = Some(Waiting { pid, phase, since, last_call: since });
                    continue;
                }
                TABLE.count(pid, call.number);
                if let Some(waiting) = &mut marker {
                    waiting.last_call = crate::clock::now_ns();
                }
                tracer::go_on(pid, 0);
            }
            // SIGSTOP is the stop that every new tracee starts with.
            Some((pid, Stop::Signal(signal))) if signal != libc::SIGTRAP && signal != libc::SIGSTOP => {
                tracer::go_on(pid, signal);
            }
            Some((pid, _)) => tracer::go_on(pid, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that is never ended: whoever reads on after its bytes would wait for ever.
    struct Unended(Vec<u8>);

    impl Read for Unended {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "the end of the stream is waited for");
            let count = self.0.as_slice().read(into)?;
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn a_result_is_received_without_the_end_of_its_stream() {
        let sent = |bytes: &[u8]| {
            let mut sent = Vec::new();
            send(bytes, &mut sent).expect("memory");
            sent
        };
        for bytes in [&b"a result"[..], &[7; 100_000], b""] {
            assert_eq!(receive(Unended(sent(bytes))).expect("received"), bytes);
        }
        // Whoever died in the middle sent nothing.
        let torn = sent(b"a result");
        assert!(receive(&torn[..torn.len() - 1]).is_err() && receive(&torn[..3]).is_err());
    }
}
