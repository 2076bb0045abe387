//! How fine CLOCK_MONOTONIC really is.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock::{self, Clock};

use super::readings::{self, Reading, Steps};
use crate::claims;

/// `clock/step/monotonic`
pub static TOUCHED: Steps<Monotonic> = Steps::touched(&CARD);
/// `clock/step/monotonic/cold`
pub static COLD: Steps<Monotonic> = Steps::cold(&CARD_COLD);

static CARD: Card =
    readings::card("clock/step/monotonic", "step of CLOCK_MONOTONIC", CallPath::Vdso, Some("003"));
static CARD_COLD: Card = readings::cold("clock/step/monotonic/cold", "step of CLOCK_MONOTONIC, cold", &CARD);

/// The clock that is read.
pub struct Monotonic;

impl Reading for Monotonic {
    const UNIT_NS: Option<f64> = Some(1.0);

    #[inline(always)]
    fn now() -> u64 {
        clock::read_ns(Clock::Monotonic)
    }

    fn calls() -> Bound {
        claims::calls_of_readings(1.0)
    }
}
