//! No lock at all: what the count of lost updates must see, or it proves nothing of the others.

use oscost_harness::{CallPath, Card, Outcome, SetUp, Unable};

use super::excluding::{self, Lock, Uncontended};
use crate::claims;

/// Everybody is let in.
pub struct Nothing;

impl Lock for Nothing {
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
}

/// `lock/none`
pub static UNCONTENDED: Uncontended<Nothing> = Uncontended::new(&CARD);

static CARD: Card = Card {
    call_path: CallPath::UserSpace,
    operation: "nothing: the control of the count of lost updates",
    ..excluding::uncontended("lock/none", "no lock at all", &claims::exactly(0.0))
};
