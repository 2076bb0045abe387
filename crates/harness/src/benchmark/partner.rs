//! The partner process of an operation: started, placed and ready before timing begins.

use std::sync::{Arc, atomic::Ordering};

use oscost_sys::CallError;
use oscost_sys::memory::SharedWords;
use oscost_sys::{
    pipe::{self, Pipe},
    process::Child,
};

use super::{Outcome, PostCondition, SetUp, Unable, lack};

/// Starts a partner (pinned to the partner's CPU if `pinned`) and returns when it is about to run `body`. The partner ends
/// when a call in `body` fails, when it is dropped, and when the measuring process dies.
///
/// # Errors
/// [`Unable::Unsupported`] where no descriptor or process is left, [`Unable::Failed`] where it died before it was ready.
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

/// Turns of both sides: each of ours is one of the partner's, or somebody did not wait.
pub struct Turns {
    partner: Arc<SharedWords>,
    ours: u64,
}

impl Turns {
    /// None made yet. The partner is forked, or its thread started, later.
    ///
    /// # Errors
    /// The call that failed: no memory to share.
    pub fn new() -> Result<Self, CallError> {
        Ok(Self { partner: Arc::new(SharedWords::new(1)?), ours: 0 })
    }

    /// The partner's counter.
    #[must_use]
    pub fn of_partner(&self) -> Counter {
        Counter { words: Arc::clone(&self.partner), turns: 0 }
    }

    /// So many of ours were made.
    pub fn add(&mut self, turns: u64) {
        self.ours += turns;
    }

    /// The partner has made as many as we have.
    #[must_use]
    pub fn verify(&self) -> PostCondition {
        let partner = self.partner.word(0).load(Ordering::Acquire);
        PostCondition::exactly("turns_of_the_partner", self.ours as f64, partner as f64)
    }
}

/// The partner's side of [`Turns`]: one store a turn, to a line that nobody else reads meanwhile.
pub struct Counter {
    words: Arc<SharedWords>,
    turns: u64,
}

impl Counter {
    /// A turn begins, and the other side still waits.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.turns += 1;
        self.words.word(0).store(self.turns, Ordering::Release);
    }
}

/// Repeats a call that waits, as often as a signal interrupts it: that is no failure of the operation.
///
/// # Errors
/// The call's first other error.
#[inline(always)]
pub fn uninterrupted(call: impl Fn() -> Outcome) -> Outcome {
    loop {
        match call() {
            Err(error) if error.symbol() == Some("EINTR") => {}
            outcome => return outcome,
        }
    }
}
