//! A POSIX mutex for the threads of one process.

use oscost_harness::{CallError, Card, Outcome, SetUp, Unable};
use oscost_sys::mutex::{Mutex, MutexKind};

use super::excluding::{self, Lock, Uncontended};
use crate::claims;

/// The lock. Two processes cannot share it, so only threads contest it.
pub struct Private(Mutex);

impl Lock for Private {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(Mutex::new(MutexKind::Private)?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        self.0.lock()
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.unlock()
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        self.0.is_free().map(Some)
    }
}

/// `lock/mutex`
pub static UNCONTENDED: Uncontended<Private> = Uncontended::new(&CARD);

static CARD: Card =
    excluding::uncontended("lock/mutex", "mutex of one process, uncontended", &claims::exactly(0.0));
