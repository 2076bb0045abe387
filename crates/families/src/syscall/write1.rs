//! write of 1 byte to /dev/null.

use std::os::fd::{AsRawFd, OwnedFd};

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Sharing, Subject, Tier, Unable};
use oscost_sys::{
    CallError,
    file::{self, OpenAccess},
    system_call,
};

use crate::{claims, lack};

/// `syscall/write1`
pub struct Write1;

static CARD: Card = Card {
    id: "syscall/write1",
    title: "write of 1 byte to /dev/null",
    operation: "one write of 1 byte to /dev/null",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["write"], 1.0),
    baseline: Some("syscall/invalid"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Write1 {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the open file")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let device = file::open(c"/dev/null", OpenAccess::Write)
            .map_err(|error| lack::of_device("/dev/null", error))?;
        Ok(Subject::Batched(Box::new(Device(device))))
    }
}

struct Device(OwnedFd);

impl Batched for Device {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let fd = self.0.as_raw_fd();
        for _ in 0..iterations {
            if system_call::write(fd, &[0])? != 1 {
                return Err(CallError::short("write"));
            }
        }
        Ok(())
    }
}
