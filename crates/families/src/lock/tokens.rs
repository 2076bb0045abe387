//! Tokens that serve as locks: behind a condition variable, in a pipe, in a System V queue.

use oscost_harness::{CallError, Object, Outcome, SetUp, Unable};
use oscost_sys::condition::Condition;
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::system_v_queue::SystemVQueue;

use crate::lack;
use crate::semaphore::{handover::Token, token};

// Behind a POSIX condition variable that processes share.
token!(Condition, |_, value| Ok(Condition::new(value > 0)?), |it| Ok(Some(it.is_there().into())));

/// One byte in a pipe as a token: a read takes it, a write gives it back.
impl Token for Pipe {
    // As in `context_switch/two_pipes.rs`.
    const WAKES_UNDER_A_LOCK: bool = true;

    fn make(_: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        let token = Pipe::new().map_err(lack::of_descriptors)?;
        (0..value).try_for_each(|_| pipe::write_byte(&token.writer))?;
        Ok(token)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        pipe::read_byte(&self.reader)
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        pipe::write_byte(&self.writer)
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        pipe::unread(&self.reader).map(|bytes| Some(bytes.into()))
    }
}

/// One System V message as a token: receiving takes it, sending gives it back.
impl Token for SystemVQueue {
    fn make(cx: &mut SetUp<'_>, value: u32) -> Result<Self, Unable> {
        cx.keeper
            .make(Object::SystemVQueue, |key| SystemVQueue::with_key(key, value > 0), SystemVQueue::id)
            .map_err(lack::of_system_v_queues)
    }

    #[inline(always)]
    fn wait(&self) -> Outcome {
        self.receive()
    }

    #[inline(always)]
    fn post(&self) -> Outcome {
        self.send()
    }

    fn there(&self) -> Result<Option<u64>, CallError> {
        self.messages().map(Some)
    }
}
