//! read of 0 bytes from an empty pipe whose writer is open: it returns at once.

use std::os::fd::AsRawFd;

use oscost_harness::{Batched, Benchmark, CallPath, Card, Outcome, SetUp, Sharing, Subject, Unable};
use oscost_sys::{pipe::Pipe, system_call};

use crate::{claims, lack};

/// `syscall/read0_pipe`
pub struct Read0Pipe;

static CARD: Card = Card {
    id: "syscall/read0_pipe",
    title: "read of 0 bytes from a pipe",
    operation: "one read of 0 bytes from an empty pipe",
    heading: super::CALL,
    call_path: CallPath::Inline,
    group: "syscall",
    claims: &claims::named(&["read"], 1.0),
    baseline: Some("syscall/invalid"),
    document: Some("004"),
    ..Card::BATCHED
};

impl Benchmark for Read0Pipe {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the pipe")
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let pipe = Pipe::new().map_err(lack::of_descriptors)?;
        Ok(Subject::Batched(Box::new(Empty(pipe))))
    }
}

struct Empty(Pipe);

impl Batched for Empty {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let fd = self.0.reader.as_raw_fd();
        for _ in 0..iterations {
            system_call::read(fd, &mut [])?;
        }
        Ok(())
    }
}
