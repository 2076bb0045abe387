//! read of 0 bytes from /dev/zero: a kernel entry that also finds a file.

use std::os::fd::{AsRawFd, OwnedFd};

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Sharing, Subject, Tier, Unable};
use oscost_sys::{
    file::{self, OpenAccess},
    system_call,
};

use crate::{claims, lack};

/// `syscall/read0_devzero`
pub struct Read0Devzero;

static CARD: Card = Card {
    id: "syscall/read0_devzero",
    title: "read of 0 bytes from /dev/zero",
    operation: "one read of 0 bytes from /dev/zero",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["read"], 1.0),
    baseline: Some("syscall/invalid"),
    document: Some("004"),
    tier: Tier::Core,
    ..Card::BATCHED
};

impl Benchmark for Read0Devzero {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the open file")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let device = file::open(c"/dev/zero", OpenAccess::Read)
            .map_err(|error| lack::of_device("/dev/zero", error))?;
        Ok(Subject::Batched(Box::new(Device(device))))
    }
}

struct Device(OwnedFd);

impl Batched for Device {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let fd = self.0.as_raw_fd();
        for _ in 0..iterations {
            system_call::read(fd, &mut [])?;
        }
        Ok(())
    }
}
