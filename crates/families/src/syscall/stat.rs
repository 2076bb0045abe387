//! Asking for the attributes of a device by its path.

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Sharing, Subject, Tier, Unable};
use oscost_sys::file;

use crate::{claims, lack};

/// `syscall/stat`
pub struct Stat;

const PATH: &std::ffi::CStr = c"/dev/null";

static CARD: Card = Card {
    id: "syscall/stat",
    title: "stat of /dev/null",
    operation: "one stat of /dev/null",
    heading: super::CALL,
    call_path: CallPath::Libc,
    group: "syscall/path",
    claims: &claims::named(&["stat", "newfstatat", "fstatat64", "statx"], 1.0),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Stat {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Always("the path /dev/null")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        file::stat(PATH).map_err(|error| lack::of_device("/dev/null", error))?;
        Ok(Subject::Batched(Box::new(Stat)))
    }
}

impl Batched for Stat {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            file::stat(PATH)?;
        }
        Ok(())
    }
}
