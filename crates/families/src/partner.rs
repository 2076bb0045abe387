//! The process on the other side of an operation: started, placed and ready before anything is timed.

use oscost_harness::{CallError, Outcome, SetUp, Unable};
use oscost_sys::{
    pipe::{self, Pipe},
    process::Child,
};

use crate::lack;

/// Starts a partner (pinned to the partner's CPU if `pinned`) and returns when it is about to run `body`. The partner ends
/// when a call in `body` fails, when it is dropped, and when the measuring process dies.
pub fn start(cx: &SetUp<'_>, pinned: bool, body: impl FnOnce() -> Outcome) -> Result<Child, Unable> {
    let Pipe { reader, writer } = Pipe::new().map_err(lack::of_descriptors)?;
    let child = cx
        .fork_partner(pinned, || i32::from(pipe::write_byte(&writer).and_then(|()| body()).is_err()))
        .map_err(lack::of_processes)?;
    // Without our own end open, a partner that dies before it is ready is the end of the stream, and not a wait for ever.
    drop(writer);
    pipe::read_byte(&reader).map_err(|error| CallError::new("start of the partner process", error.errno))?;
    Ok(child)
}

/// Repeats a call that waits, as often as a signal interrupts it: that is no failure of the operation.
#[inline(always)]
pub fn uninterrupted(call: impl Fn() -> Outcome) -> Outcome {
    loop {
        match call() {
            Err(error) if error.symbol() == Some("EINTR") => {}
            outcome => return outcome,
        }
    }
}
