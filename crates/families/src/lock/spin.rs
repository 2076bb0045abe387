//! A spin lock of one word: waiters keep their CPU busy.

use std::sync::atomic::Ordering;

use oscost_harness::{CallError, CallPath, Card, Outcome, SetUp, Unable};
use oscost_sys::memory::SharedWords;
use oscost_sys::system_call;

use super::excluding::{self, Lock, Uncontended};
use crate::claims;

/// Spins after which the CPU is offered to somebody else: the holder may be waiting for it.
const SPINS: u32 = 10_000;

/// The lock.
pub struct Spin(SharedWords);

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

/// `lock/spin`
pub static UNCONTENDED: Uncontended<Spin> = Uncontended::new(&CARD);

static CARD: Card = Card {
    call_path: CallPath::UserSpace,
    ..excluding::uncontended("lock/spin", "spin lock, uncontended", &claims::exactly(0.0))
};
