//! How fine gettimeofday really is: the first experiment of document 004.

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock;

use super::readings::{self, Reading, Steps};
use crate::claims;

/// `clock/step/gettimeofday`
pub static TOUCHED: Steps<Gettimeofday> = Steps::touched(&CARD);
/// `clock/step/gettimeofday/cold`
pub static COLD: Steps<Gettimeofday> = Steps::cold(&CARD_COLD);

static CARD: Card =
    readings::card("clock/step/gettimeofday", "step of gettimeofday", CallPath::Vdso, Some("004"));
static CARD_COLD: Card = readings::cold("clock/step/gettimeofday/cold", "step of gettimeofday, cold", &CARD);

/// The clock that is read.
pub struct Gettimeofday;

impl Reading for Gettimeofday {
    const UNIT_NS: Option<f64> = Some(1000.0);

    #[inline(always)]
    fn now() -> u64 {
        clock::gettimeofday_us()
    }

    fn calls() -> Bound {
        claims::calls_of_readings(1.0)
    }
}
