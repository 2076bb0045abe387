//! Semaphores that nobody else wants (document 000), and tokens handed over from process to process.

pub mod handover;

use oscost_harness::{Benchmark, CallError, Card, Claim, Object, Outcome, SetUp, Tier, Unable};
use oscost_sys::semaphore::{EventFd, NamedSemaphore, SystemV, Unnamed};

use crate::operation::{Operation, operation};
use crate::{claims, lack};
use handover::Token;

const PAIR: Card = Card {
    operation: "one wait and one post",
    heading: "one wait and one post",
    group: "semaphore",
    baseline: Some("semaphore/posix_named"),
    ..Card::BATCHED
};

/// What document 000 says of the same figures.
const TWO_OPERATIONS: &str = "document 000 counts this as two operations";

/// A wait and a post of a semaphore that swings between 1 and 0, and never blocks.
const fn pair<T: Token>(card: &'static Card) -> Operation<T, impl Fn(&mut T) -> Outcome + Copy + Sync> {
    let both = |token: &mut T| {
        token.wait()?;
        token.post()
    };
    operation(card, |cx| T::make(cx, 1), both).verify(|token| handover::verify(token))
}

/// The row of a hand-over: where, of what, its id, its name in words, what is claimed, and what else differs.
macro_rules! handover {
    ($place:ident $token:ty, $id:literal, $by:literal, $claims:expr $(, $field:ident: $value:expr)*) => {
        &handover::handover::<$token>(&Card {
            $($field: $value,)*
            ..handover::$place(
                $id,
                concat!("hand-over by ", $by),
                &$claims,
            )
        })
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    // A word in shared memory while nobody waits.
    &pair::<NamedSemaphore>(&Card {
        id: "semaphore/posix_named",
        title: "POSIX semaphore, named, uncontended",
        claims: &claims::exactly(0.0),
        baseline: None,
        document: Some("000"),
        remark: TWO_OPERATIONS,
        tier: Tier::Core,
        ..PAIR
    }),
    // A system call for each operation.
    &pair::<SystemV>(&Card {
        id: "semaphore/system_v",
        title: "System V semaphore, uncontended",
        operation: "one wait and one post, each one semop without SEM_UNDO",
        claims: &claims::named(SEMOP, 2.0),
        document: Some("000"),
        remark: TWO_OPERATIONS,
        tier: Tier::Core,
        ..PAIR
    }),
    &pair::<Unnamed>(&Card {
        id: "semaphore/posix_unnamed",
        title: "POSIX semaphore, unnamed, uncontended",
        claims: &claims::exactly(0.0),
        tier: Tier::Core,
        ..PAIR
    }),
    // Half the kernel entries.
    &operation(
        &Card {
            id: "semaphore/system_v_one_call",
            title: "System V semaphore, wait and post in one call",
            operation: "one wait and one post, in one semop without SEM_UNDO",
            claims: &claims::named(SEMOP, 1.0),
            ..PAIR
        },
        |cx| system_v_set(cx, 1, 2),
        |set| set.wait_and_post(),
    )
    .verify(|set| handover::verify(set)),
    // The kernel gives the token back if its owner dies.
    &operation(
        &Card {
            id: "semaphore/system_v_undo",
            title: "System V semaphore with SEM_UNDO",
            operation: "one wait and one post, both with SEM_UNDO",
            claims: &claims::named(SEMOP, 2.0),
            ..PAIR
        },
        |cx| system_v_set(cx, 1, 1),
        |set| {
            set.wait_undo()?;
            set.post_undo()
        },
    )
    .verify(|set| handover::verify(set)),
    &pair::<EventFd>(&Card {
        id: "semaphore/eventfd",
        title: "eventfd as a semaphore, uncontended",
        operation: "one wait (read of 8 bytes, EFD_SEMAPHORE) and one post (write of 8 bytes)",
        claims: &claims::named(READ_WRITE, 2.0),
        tier: Tier::Core,
        ..PAIR
    }),
    handover!(same_cpu NamedSemaphore, "semaphore/posix_named/handover/same_cpu", "a named POSIX semaphore", handover::BY_FUTEX,
        baseline: None, tier: Tier::Core),
    handover!(same_cpu SystemV, "semaphore/system_v/handover/same_cpu", "a System V semaphore", BY_SEMOP,
        operation: "one hand-over of the token to the other process by semop without SEM_UNDO, on one CPU", tier: Tier::Core),
    handover!(same_cpu Unnamed, "semaphore/posix_unnamed/handover/same_cpu", "an unnamed POSIX semaphore", handover::BY_FUTEX),
    handover!(same_cpu EventFd, "semaphore/eventfd/handover/same_cpu", "eventfd", BY_READ_WRITE,
        operation: "one hand-over of the token (8 bytes, EFD_SEMAPHORE) to the other process, on one CPU", tier: Tier::Core),
    handover!(cross_cpu NamedSemaphore, "semaphore/posix_named/handover/cross_cpu", "a named POSIX semaphore", handover::BY_FUTEX_ON_TWO_CPUS,
        baseline: None, tier: Tier::Core),
    handover!(cross_cpu SystemV, "semaphore/system_v/handover/cross_cpu", "a System V semaphore", handover::on_two_cpus(BY_SEMOP),
        operation: "one hand-over of the token to the other process by semop without SEM_UNDO, on another CPU", tier: Tier::Core),
    handover!(cross_cpu Unnamed, "semaphore/posix_unnamed/handover/cross_cpu", "an unnamed POSIX semaphore", handover::BY_FUTEX_ON_TWO_CPUS),
    handover!(cross_cpu EventFd, "semaphore/eventfd/handover/cross_cpu", "eventfd", handover::on_two_cpus(BY_READ_WRITE),
        operation: "one hand-over of the token (8 bytes, EFD_SEMAPHORE) to the other process, on another CPU", tier: Tier::Core),
];

const SEMOP: &[&str] = &["semop", "semtimedop"];
const READ_WRITE: &[&str] = &["read", "write"];
const BY_SEMOP: [Claim; 3] = handover::in_the_kernel(SEMOP);
const BY_READ_WRITE: [Claim; 3] = handover::in_the_kernel(READ_WRITE);

/// A semaphore of `sys` as a token: how it is made, and its value, asked in another way than by taking it.
macro_rules! token {
    ($token:ty, |$cx:pat_param, $value:ident| $make:expr, |$it:ident| $there:expr $(, $fact:ident = $is:literal)?) => {
        impl Token for $token {
            $(const $fact: bool = $is;)?

            fn make($cx: &mut SetUp<'_>, $value: u32) -> Result<Self, Unable> {
                $make
            }

            #[inline(always)]
            fn wait(&self) -> Outcome {
                <$token>::wait(self)
            }

            #[inline(always)]
            fn post(&self) -> Outcome {
                <$token>::post(self)
            }

            fn there(&self) -> Result<Option<u64>, CallError> {
                let $it = self;
                $there
            }
        }
    };
}
pub(crate) use token;

token!(
    NamedSemaphore,
    |cx, value| {
        let name = cx.unique_name()?;
        cx.keeper.keep(&Object::NamedSemaphore(name.clone()))?;
        NamedSemaphore::create(&name, value).map_err(lack::of_named_semaphores)
    },
    |it| it.value().map(|value| Some(value.into()))
);
token!(Unnamed, |_, value| Ok(Unnamed::new(value)?), |it| it.value().map(|value| Some(value.into())));
token!(SystemV, |cx, value| system_v_set(cx, value, 1), |it| it.value().map(|value| Some(value.into())));
// EFD_SEMAPHORE: a read takes a token, a write gives it back. fs/eventfd.c: eventfd_write wakes under the wait queue's lock, and
// eventfd_read takes it.
token!(
    EventFd,
    |_, value| EventFd::new(value).map_err(lack::of_descriptors),
    |it| Ok(it.value().map(u64::from)),
    WAKES_UNDER_A_LOCK = true
);

/// A private set of one semaphore, for calls of up to `operations` operations.
fn system_v_set(cx: &mut SetUp<'_>, value: u32, operations: u64) -> Result<SystemV, Unable> {
    lack::of_system_v_limits(cx, operations)?;
    cx.keeper
        .make(Object::SystemVSemaphore, |key| SystemV::with_key(key, value), SystemV::id)
        .map_err(lack::of_system_v_semaphores)
}
