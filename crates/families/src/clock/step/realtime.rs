//! How fine CLOCK_REALTIME really is.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock::{self, Clock};

use super::readings::{self, Reading, Steps};
use crate::claims;

/// `clock/step/realtime`
pub static TOUCHED: Steps<Realtime> = Steps::touched(&CARD);
/// `clock/step/realtime/cold`
pub static COLD: Steps<Realtime> = Steps::cold(&CARD_COLD);

static CARD: Card = readings::card("clock/step/realtime", "step of CLOCK_REALTIME", CallPath::Vdso, None);
static CARD_COLD: Card = readings::cold("clock/step/realtime/cold", "step of CLOCK_REALTIME, cold", &CARD);

/// The clock that is read.
pub struct Realtime;

impl Reading for Realtime {
    const UNIT_NS: Option<f64> = Some(1.0);

    #[inline(always)]
    fn now() -> u64 {
        clock::read_ns(Clock::Realtime)
    }

    fn calls() -> Bound {
        claims::calls_of_readings(1.0)
    }
}
