//! The true step of each clock, from readings taken back to back (documents 003 and 004).

mod readings;

use oscost_harness::{Bound, CallPath, Card};
use oscost_sys::clock::{self, Clock};

use crate::claims;
use readings::{Reading, Steps};

/// How fine a clock really is: with readings in memory that was touched, and in memory that is new.
macro_rules! step {
    ($($name:ident, $clock:ident, $id:literal, $cold:literal, $title:literal, $card:expr, $unit_ns:expr, $calls:expr, $now:expr;)*) => {$(
        #[doc = concat!("`", $id, "`, and the same in memory that is new.")]
        pub static $name: [Steps<$clock>; 2] = [
            Steps::touched(&Card { id: $id, title: concat!("step of ", $title), ..$card }),
            Steps::cold(&Card {
                id: $cold,
                title: concat!("step of ", $title, ", cold"),
                remark: readings::COLD,
                ..$card
            }),
        ];

        #[doc = concat!("Reads ", $title, ".")]
        pub struct $clock;

        impl Reading for $clock {
            const UNIT_NS: Option<f64> = $unit_ns;

            #[inline(always)]
            fn now() -> u64 {
                $now
            }

            fn calls() -> Bound {
                $calls
            }
        }
    )*};
}

const OF_003: Card = Card { document: Some("003"), ..readings::CARD };
/// The first experiment of document 004.
const OF_004: Card = Card { document: Some("004"), ..readings::CARD };
const BY_INSTRUCTION: Card = Card { call_path: CallPath::Instruction, ..readings::CARD };

step! {
    GETTIMEOFDAY, Gettimeofday, "clock/step/gettimeofday", "clock/step/gettimeofday/cold", "gettimeofday",
        OF_004, Some(1000.0), claims::calls_of_readings(1.0), clock::gettimeofday_us();
    MONOTONIC, Monotonic, "clock/step/monotonic", "clock/step/monotonic/cold", "CLOCK_MONOTONIC",
        OF_003, Some(1.0), claims::calls_of_readings(1.0), clock::read_ns(Clock::Monotonic);
    MONOTONIC_RAW, MonotonicRaw, "clock/step/monotonic_raw", "clock/step/monotonic_raw/cold", "CLOCK_MONOTONIC_RAW",
        readings::CARD, Some(1.0), claims::calls_of_readings(1.0), clock::read_ns(Clock::MonotonicRaw);
    MONOTONIC_COARSE, MonotonicCoarse, "clock/step/monotonic_coarse", "clock/step/monotonic_coarse/cold", "CLOCK_MONOTONIC_COARSE",
        readings::CARD, Some(1.0), claims::calls_of_a_coarse_reading(), clock::read_ns(Clock::MonotonicCoarse);
    REALTIME, Realtime, "clock/step/realtime", "clock/step/realtime/cold", "CLOCK_REALTIME",
        readings::CARD, Some(1.0), claims::calls_of_readings(1.0), clock::read_ns(Clock::Realtime);
    // In ns by the rate that it had in the launch.
    TSC, Tsc, "clock/step/tsc", "clock/step/tsc/cold", "the time stamp counter",
        BY_INSTRUCTION, None, Bound::Exactly(0.0), clock::tsc();
}
