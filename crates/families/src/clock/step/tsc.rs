//! How fine the time stamp counter really is, in ns by the rate that it had in the launch.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock;

use super::readings::{self, Reading, Steps};

/// `clock/step/tsc`
pub static TOUCHED: Steps<Tsc> = Steps::touched(&CARD);
/// `clock/step/tsc/cold`
pub static COLD: Steps<Tsc> = Steps::cold(&CARD_COLD);

static CARD: Card =
    readings::card("clock/step/tsc", "step of the time stamp counter", CallPath::Instruction, None);
static CARD_COLD: Card = readings::cold("clock/step/tsc/cold", "step of the time stamp counter, cold", &CARD);

/// The clock that is read.
pub struct Tsc;

impl Reading for Tsc {
    const UNIT_NS: Option<f64> = None;

    #[inline(always)]
    fn now() -> u64 {
        clock::tsc()
    }

    fn calls() -> Bound {
        Bound::Exactly(0.0)
    }
}
