//! How fine CLOCK_MONOTONIC_RAW really is.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock::{self, Clock};

use super::readings::{self, Reading, Steps};
use crate::claims;

/// `clock/step/monotonic_raw`
pub static TOUCHED: Steps<MonotonicRaw> = Steps::touched(&CARD);
/// `clock/step/monotonic_raw/cold`
pub static COLD: Steps<MonotonicRaw> = Steps::cold(&CARD_COLD);

static CARD: Card =
    readings::card("clock/step/monotonic_raw", "step of CLOCK_MONOTONIC_RAW", CallPath::Vdso, None);
static CARD_COLD: Card =
    readings::cold("clock/step/monotonic_raw/cold", "step of CLOCK_MONOTONIC_RAW, cold", &CARD);

/// The clock that is read.
pub struct MonotonicRaw;

impl Reading for MonotonicRaw {
    const UNIT_NS: Option<f64> = Some(1.0);

    #[inline(always)]
    fn now() -> u64 {
        clock::read_ns(Clock::MonotonicRaw)
    }

    fn calls() -> Bound {
        claims::calls_of_readings(1.0)
    }
}
