//! No lock at all: the control that must lose updates, or zero lost updates prove nothing.

use oscost_harness::{CallError, CallPath, Card, Outcome, SetUp, Trait, Unable};

use super::excluding::{self, Lock, Uncontended};
use crate::claims;

/// Everybody is let in.
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

/// `lock/none`
pub static UNCONTENDED: Uncontended<Nothing> = Uncontended::new(&CARD);

static CARD: Card = Card {
    call_path: CallPath::UserSpace,
    operation: "nothing: the control for the count of lost updates",
    traits: &[Trait::ExcludesNothing],
    ..excluding::uncontended("lock/none", "no lock at all", &claims::exactly(0.0))
};
