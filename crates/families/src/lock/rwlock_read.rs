//! A process-shared POSIX reader-writer lock, taken by readers, which do not exclude each other.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::rwlock::RwLock;

use super::excluding::{self, Lock, Uncontended};
use crate::claims;

/// The lock.
pub struct Reading(RwLock);

impl Lock for Reading {
    const EXCLUDES: bool = false;

    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(RwLock::new()?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        self.0.read()
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.unlock()
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        self.0.is_free_for_writers().map(Some)
    }
}

/// `lock/rwlock_read`
pub static UNCONTENDED: Uncontended<Reading> = Uncontended::new(&CARD);

static CARD: Card = excluding::uncontended(
    "lock/rwlock_read",
    "reader-writer lock, reading, uncontended",
    &claims::exactly(0.0),
);
