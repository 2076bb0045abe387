//! The locks: what one worker at a time may hold, each shared with children and threads.

use std::sync::atomic::Ordering;

use oscost_harness::{CallError, Outcome, SetUp, Unable};
use oscost_sys::futex;
use oscost_sys::memory::SharedWords;
use oscost_sys::mutex::{Mutex, MutexKind};
use oscost_sys::rwlock::RwLock;
use oscost_sys::system_call;

use super::excluding::Lock;

/// A POSIX mutex, of the kind at this place of [`KINDS`].
pub struct Posix<const KIND: usize>(Mutex);

const KINDS: [MutexKind; 4] =
    [MutexKind::Private, MutexKind::Shared, MutexKind::Robust, MutexKind::PriorityInheritance];

/// Of the threads of one process: two processes cannot share it, so only threads contest it.
pub type Private = Posix<0>;
/// Processes share it.
pub type Shared = Posix<1>;
/// If its holder dies, the next process learns of it.
pub type Robust = Posix<2>;
/// Its holder inherits the priority of its waiters.
pub type Inheriting = Posix<3>;

impl<const KIND: usize> Lock for Posix<KIND> {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(Mutex::new(KINDS[KIND])?))
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

/// A POSIX reader-writer lock that processes share, taken by writers or by readers, which do not exclude each other.
pub struct ReaderWriter<const WRITES: bool>(RwLock);

/// Taken by readers.
pub type Reading = ReaderWriter<false>;
/// Taken by writers.
pub type Writing = ReaderWriter<true>;

impl<const WRITES: bool> Lock for ReaderWriter<WRITES> {
    const EXCLUDES: bool = WRITES;

    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(RwLock::new()?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        if WRITES { self.0.write() } else { self.0.read() }
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.unlock()
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        let free = if WRITES { self.0.is_free_for_readers() } else { self.0.is_free_for_writers() };
        free.map(Some)
    }
}

/// A lock of one word and the futex system call, without a library.
pub struct Raw(futex::Lock);

impl Lock for Raw {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(futex::Lock::new()?))
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
        Ok(Some(self.0.is_free()))
    }
}

/// A spin lock of one word: waiters keep their CPU busy.
pub struct Spin(SharedWords);

/// Spins after which the CPU is offered to somebody else: the holder may be waiting for it.
const SPINS: u32 = 10_000;

impl Lock for Spin {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self(SharedWords::new(1)?))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        let word = self.0.word(0);
        let mut spins = 0;
        while word.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while word.load(Ordering::Relaxed) != 0 {
                std::hint::spin_loop();
                spins += 1;
                if spins == SPINS {
                    spins = 0;
                    system_call::sched_yield()?;
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        self.0.word(0).store(0, Ordering::Release);
        Ok(())
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        Ok(Some(self.0.word(0).load(Ordering::Acquire) == 0))
    }
}

/// No lock at all, the control that must lose updates, or zero lost updates prove nothing: everybody is let in.
pub struct Nothing;

impl Lock for Nothing {
    const LOCKS: bool = false;

    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        Ok(Self)
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        Ok(())
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        Ok(())
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        Ok(Some(true))
    }
}
