//! One System V message as a token: receiving takes it, sending gives it back.

use oscost_harness::Object;
use oscost_harness::{CallError, Card, Claim, Outcome, SetUp, Unable};
use oscost_sys::system_v_queue::SystemVQueue;

use super::excluding::{self, Held, Uncontended};
use crate::semaphore::handover::{self, Handover, Token};
use crate::{claims, lack};

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

/// `lock/system_v_message`
pub static UNCONTENDED: Uncontended<Held<SystemVQueue>> = Uncontended::new(&CARD);
/// `lock/system_v_message/handover/same_cpu`
pub static SAME_CPU: Handover<SystemVQueue> = Handover::new(&CARD_SAME_CPU);
/// `lock/system_v_message/handover/cross_cpu`
pub static CROSS_CPU: Handover<SystemVQueue> = Handover::new(&CARD_CROSS_CPU);

const CLAIMS: [Claim; 3] = handover::in_the_kernel(&["msgsnd", "msgrcv"]);

static CARD: Card = Card {
    group: "lock/kernel",
    baseline: Some("lock/futex_wake"),
    operation: "one receive and one send of the token, a message of 0 bytes",
    ..excluding::uncontended(
        "lock/system_v_message",
        "System V message as a token, uncontended",
        &claims::named(&["msgsnd", "msgrcv"], 2.0),
    )
};
static CARD_SAME_CPU: Card = Card {
    operation: "one hand-over of the token, a message of 0 bytes, to the other process, on one CPU",
    ..excluding::token_same_cpu(
        "lock/system_v_message/handover/same_cpu",
        "hand-over of a System V message",
        &CLAIMS,
    )
};
static CARD_CROSS_CPU: Card = Card {
    operation: "one hand-over of the token, a message of 0 bytes, to the other process, on another CPU",
    ..excluding::token_cross_cpu(
        "lock/system_v_message/handover/cross_cpu",
        "hand-over of a System V message",
        &handover::on_two_cpus(CLAIMS),
    )
};
