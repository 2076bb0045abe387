//! read of 0 bytes from a regular file, which lives in memory and leaves nothing behind.

use std::os::fd::{AsRawFd, OwnedFd};

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Sharing, Subject, Unable};
use oscost_sys::{file, system_call};

use crate::{claims, lack};

/// `syscall/read0_file`
pub struct Read0File;

static CARD: Card = Card {
    id: "syscall/read0_file",
    title: "read of 0 bytes from a file",
    operation: "one read of 0 bytes from a regular file in memory (memfd)",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["read"], 1.0),
    baseline: Some("syscall/invalid"),
    document: Some("004"),
    ..Card::BATCHED
};

impl Benchmark for Read0File {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the open file")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let file = file::in_memory(4096).map_err(lack::of_descriptors)?;
        Ok(Subject::Batched(Box::new(Memory(file))))
    }
}

struct Memory(OwnedFd);

impl Batched for Memory {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let fd = self.0.as_raw_fd();
        for _ in 0..iterations {
            system_call::read(fd, &mut [])?;
        }
        Ok(())
    }
}
