//! Opening a device by its path and closing it again.

use oscost_harness::{
    Batched, Benchmark, Bound, CallPath, Card, Claim, Outcome, SetUp, Sharing, Subject, Tier, Unable,
};
use oscost_sys::file;

use crate::{claims, lack};

/// `syscall/open_close`
pub struct OpenClose;

const PATH: &std::ffi::CStr = c"/dev/null";

/// What musl's open adds: for kernels that do not know O_CLOEXEC it says the same again by fcntl.
const AGAIN: f64 = if cfg!(target_env = "musl") { 1.0 } else { 0.0 };

/// One of each: two opens would be two calls as well.
const CLAIMS: [Claim; 5] = {
    let [calls, switches, faults] = claims::exactly(2.0 + AGAIN);
    [
        calls,
        Claim::CallsNamed(&["open", "openat"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["close"], Bound::Exactly(1.0)),
        switches,
        faults,
    ]
};

static CARD: Card = Card {
    id: "syscall/open_close",
    title: "open and close of /dev/null",
    operation: "one open of /dev/null with O_RDONLY and O_CLOEXEC, and one close",
    call_path: CallPath::Libc,
    group: "syscall/path",
    claims: &CLAIMS,
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for OpenClose {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Always("the path /dev/null")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        file::open_close(PATH).map_err(|error| lack::of_device("/dev/null", error))?;
        Ok(Subject::Batched(Box::new(OpenClose)))
    }
}

impl Batched for OpenClose {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            file::open_close(PATH)?;
        }
        Ok(())
    }
}
