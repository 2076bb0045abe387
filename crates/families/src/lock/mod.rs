//! Uncontended locks and hand-overs of locks. Contended locks are in `contention`.

pub mod excluding;
pub mod locks;
mod tokens;

use std::sync::atomic::AtomicU64;

use oscost_harness::{Benchmark, CallError, CallPath, Card, Claim, PostCondition, Trait};
use oscost_sys::condition::Condition;
use oscost_sys::memory::SharedWords;
use oscost_sys::pipe::Pipe;
use oscost_sys::process::Child;
use oscost_sys::system_v_queue::SystemVQueue;
use oscost_sys::{clock, futex, system_call};

use crate::claims;
use crate::operation::operation;
use crate::semaphore::handover;
use excluding::{Held, RING, RING_CROSS, free};
use locks::{Inheriting, Nothing, Private, Raw, Reading, Robust, Shared, Spin, Writing};

/// Card of what makes no system call.
const fn in_user_space(id: &'static str, title: &'static str) -> Card {
    excluding::uncontended(id, title, const { &claims::exactly(0.0) })
}

/// Card of what always makes system calls, beside the cheapest call of its kind.
const fn in_the_kernel(id: &'static str, title: &'static str, claims: &'static [Claim]) -> Card {
    Card {
        group: "lock/kernel",
        baseline: Some("lock/futex_wake"),
        ..excluding::uncontended(id, title, claims)
    }
}

/// The row of a hand-over in a ring: one lock, one place.
macro_rules! ring {
    ($place:ident $lock:ty, $id:literal, $title:literal, $claims:expr $(, $field:ident: $value:expr)?) => {
        &excluding::ring::<$lock>(&Card {
            $($field: $value,)?
            ..excluding::$place(
                $id,
                concat!("hand-over of ", $title),
                &$claims,
            )
        })
    };
}

/// The row of a token handed over, beside the locks.
macro_rules! token {
    ($place:ident $token:ty, $id:literal, $title:literal, $claims:expr $(, $field:ident: $value:expr)?) => {
        &handover::handover::<$token>(&Card {
            $($field: $value,)?
            ..excluding::token::$place(
                $id,
                concat!("hand-over ", $title),
                &$claims,
            )
        })
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    &free::<Shared>(&Card {
        baseline: None,
        ..in_user_space("lock/shared_mutex", "process-shared mutex, uncontended")
    }),
    &free::<Private>(&Card {
        revision: 2,
        ..in_user_space("lock/mutex", "mutex of one process, uncontended")
    }),
    &free::<Robust>(&in_user_space("lock/robust_mutex", "robust mutex, uncontended")),
    &free::<Inheriting>(&in_user_space("lock/pi_mutex", "priority-inheritance mutex, uncontended")),
    &free::<Reading>(&in_user_space("lock/rwlock_read", "reader-writer lock, reading, uncontended")),
    &free::<Writing>(&in_user_space("lock/rwlock_write", "reader-writer lock, writing, uncontended")),
    &free::<Held<Condition>>(&Card {
        operation: "one wait that finds the token, and one signal without a waiter",
        ..in_user_space("lock/condition_variable", "condition variable, uncontended")
    }),
    &free::<Raw>(&Card {
        call_path: CallPath::UserSpace,
        ..in_user_space("lock/futex", "lock of one futex word, uncontended")
    }),
    // The price of asking.
    &operation(
        &Card {
            operation: "one FUTEX_WAKE on a shared word that nobody waits for",
            baseline: None,
            ..in_the_kernel("lock/futex_wake", "futex wake without a waiter", &claims::named(&["futex"], 1.0))
        },
        |_| Ok(AtomicU64::new(0)),
        |word| futex::wake(word, 1).map(|_| ()),
    )
    .verify(|_| Ok(vec![wakes_a_sleeper()?])),
    // The word has changed, so that the call returns at once: the price of a lost race.
    &operation(
        &Card {
            operation: "one FUTEX_WAIT on a shared word that finds another value and returns",
            ..in_the_kernel(
                "lock/futex_mismatch",
                "futex wait that does not sleep",
                &claims::named(&["futex"], 1.0),
            )
        },
        |_| Ok(AtomicU64::new(1)),
        |word| futex::wait(word, 0).map(|_| ()),
    )
    .verify(|word| Ok(vec![PostCondition::is("sleeps", false, futex::wait(word, 0)?), wakes_a_sleeper()?])),
    &free::<Held<Pipe>>(&Card {
        operation: "one read and one write of the token of 1 byte",
        ..in_the_kernel(
            "lock/pipe_token",
            "byte in a pipe as a token, uncontended",
            &claims::named(READ_WRITE, 2.0),
        )
    }),
    &free::<Held<SystemVQueue>>(&Card {
        operation: "one receive and one send of the token, a message of 0 bytes",
        ..in_the_kernel(
            "lock/system_v_message",
            "System V message as a token, uncontended",
            &claims::named(MESSAGES, 2.0),
        )
    }),
    &free::<Spin>(&Card {
        call_path: CallPath::UserSpace,
        ..in_user_space("lock/spin", "spin lock, uncontended")
    }),
    &free::<Nothing>(&Card {
        call_path: CallPath::UserSpace,
        operation: "nothing: the control for the count of lost updates",
        traits: &[Trait::ExcludesNothing],
        ..in_user_space("lock/none", "no lock at all")
    }),
    ring!(same_cpu Shared, "lock/shared_mutex/handover/same_cpu", "a process-shared mutex", RING, baseline: None),
    ring!(same_cpu Robust, "lock/robust_mutex/handover/same_cpu", "a robust mutex", RING),
    ring!(same_cpu Inheriting, "lock/pi_mutex/handover/same_cpu", "a priority-inheritance mutex", RING),
    ring!(same_cpu Writing, "lock/rwlock_write/handover/same_cpu", "a reader-writer lock, writing", RING),
    token!(same_cpu Condition, "lock/condition_variable/handover/same_cpu", "by a condition variable", BY_CONDITION),
    ring!(same_cpu Raw, "lock/futex/handover/same_cpu", "a futex lock", RING),
    token!(same_cpu Pipe, "lock/pipe_token/handover/same_cpu", "of a byte in a pipe", handover::in_the_kernel(READ_WRITE),
        operation: "one hand-over of the token of 1 byte to the other process, on one CPU"),
    token!(same_cpu SystemVQueue, "lock/system_v_message/handover/same_cpu", "of a System V message", handover::in_the_kernel(MESSAGES),
        operation: "one hand-over of the token, a message of 0 bytes, to the other process, on one CPU"),
    ring!(cross_cpu Shared, "lock/shared_mutex/handover/cross_cpu", "a process-shared mutex", RING_CROSS, baseline: None),
    ring!(cross_cpu Robust, "lock/robust_mutex/handover/cross_cpu", "a robust mutex", RING_CROSS),
    ring!(cross_cpu Inheriting, "lock/pi_mutex/handover/cross_cpu", "a priority-inheritance mutex", RING_CROSS),
    ring!(cross_cpu Writing, "lock/rwlock_write/handover/cross_cpu", "a reader-writer lock, writing", RING_CROSS),
    token!(cross_cpu Condition, "lock/condition_variable/handover/cross_cpu", "by a condition variable", BY_CONDITION_ON_TWO_CPUS),
    ring!(cross_cpu Raw, "lock/futex/handover/cross_cpu", "a futex lock", RING_CROSS),
    token!(cross_cpu Pipe, "lock/pipe_token/handover/cross_cpu", "of a byte in a pipe", handover::on_two_cpus(handover::in_the_kernel(READ_WRITE)),
        operation: "one hand-over of the token of 1 byte to the other process, on another CPU"),
    token!(cross_cpu SystemVQueue, "lock/system_v_message/handover/cross_cpu", "of a System V message", handover::on_two_cpus(handover::in_the_kernel(MESSAGES)),
        operation: "one hand-over of the token, a message of 0 bytes, to the other process, on another CPU"),
];

const READ_WRITE: &[&str] = &["read", "write"];
const MESSAGES: &[&str] = &["msgsnd", "msgrcv"];

/// A hand-over takes the mutex three times (to post, to wait, and again after waiting) and waits for the condition: a side
/// sleeps in four places at most, and each sleep is ended by one wake-up. Two more calls are the signal that nobody hears, and
/// the wait that finds its word changed.
const CALLS: f64 = 10.0;
/// Each of the four sleeps is a switch, and so may each wake-up be that preempts.
const SWITCHES: f64 = 8.0;
const BY_CONDITION: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(1.0, CALLS)),
    claims::NO_OTHER_CALLS,
    handover::switches_between(1.0, SWITCHES),
];
const BY_CONDITION_ON_TWO_CPUS: [Claim; 3] = [
    Claim::CallsNamed(&["futex"], claims::shared_between(0.0, CALLS)),
    claims::NO_OTHER_CALLS,
    handover::switches_at_most(SWITCHES),
];

/// Wakes a sleeper in a process of its own: one, by the call that the batches make.
fn wakes_a_sleeper() -> Result<PostCondition, CallError> {
    const PATIENCE_NS: u64 = 5_000_000_000;
    let words = SharedWords::new(1)?;
    let sleeper = Child::fork(|| i32::from(!futex::wait(words.word(0), 0).is_ok_and(|slept| slept)))?;
    let until = clock::now_ns() + PATIENCE_NS;
    let mut woken = 0;
    while woken == 0 && !sleeper.has_ended() && clock::now_ns() < until {
        system_call::sched_yield()?;
        woken = futex::wake(words.word(0), 1)?;
    }
    Ok(PostCondition::exactly("sleepers_woken", 1.0, woken.into()))
}
