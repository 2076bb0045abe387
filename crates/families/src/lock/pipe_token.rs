//! One byte in a pipe as a token: a read takes it, a write gives it back.

use oscost_harness::{CallError, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::pipe::{self, Pipe};

use super::excluding::{self, Held, Uncontended};
use crate::semaphore::handover::{self, Handover, Token};
use crate::{claims, lack};

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

/// `lock/pipe_token`
pub static UNCONTENDED: Uncontended<Held<Pipe>> = Uncontended::new(&CARD);
/// `lock/pipe_token/handover/same_cpu`
pub static SAME_CPU: Handover<Pipe> = Handover::new(&CARD_SAME_CPU);
/// `lock/pipe_token/handover/cross_cpu`
pub static CROSS_CPU: Handover<Pipe> = Handover::new(&CARD_CROSS_CPU);

const CLAIMS: [Claim; 3] = handover::in_the_kernel(&["read", "write"]);

static CARD: Card = Card {
    group: "lock/kernel",
    baseline: Some("lock/futex_wake"),
    operation: "one read and one write of the token of 1 byte",
    ..excluding::uncontended(
        "lock/pipe_token",
        "byte in a pipe as a token, uncontended",
        &claims::named(&["read", "write"], 2.0),
    )
};
static CARD_SAME_CPU: Card = Card {
    operation: "one hand-over of the token of 1 byte to the other process, on one CPU",
    ..excluding::token_same_cpu("lock/pipe_token/handover/same_cpu", "hand-over of a byte in a pipe", &CLAIMS)
};
static CARD_CROSS_CPU: Card = Card {
    operation: "one hand-over of the token of 1 byte to the other process, on another CPU",
    ..excluding::token_cross_cpu(
        "lock/pipe_token/handover/cross_cpu",
        "hand-over of a byte in a pipe",
        &handover::on_two_cpus(CLAIMS),
    )
};
