//! How fine CLOCK_MONOTONIC_COARSE really is.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock::{self, Clock};

use super::readings::{self, Reading, Steps};
use crate::claims;

/// `clock/step/monotonic_coarse`
pub static TOUCHED: Steps<MonotonicCoarse> = Steps::touched(&CARD);
/// `clock/step/monotonic_coarse/cold`
pub static COLD: Steps<MonotonicCoarse> = Steps::cold(&CARD_COLD);

static CARD: Card =
    readings::card("clock/step/monotonic_coarse", "step of CLOCK_MONOTONIC_COARSE", CallPath::Vdso, None);
static CARD_COLD: Card =
    readings::cold("clock/step/monotonic_coarse/cold", "step of CLOCK_MONOTONIC_COARSE, cold", &CARD);

/// The clock that is read.
pub struct MonotonicCoarse;

impl Reading for MonotonicCoarse {
    const UNIT_NS: Option<f64> = Some(1.0);

    #[inline(always)]
    fn now() -> u64 {
        clock::read_ns(Clock::MonotonicCoarse)
    }

    fn calls() -> Bound {
        claims::calls_of_a_coarse_reading()
    }
}
