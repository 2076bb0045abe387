//! Writing a page of a file and having it written to where the file lies.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::file_page;

use super::Place;
use super::write_4k::Stamped;
use crate::lack;

/// `file/fsync`
pub struct Fsync;

/// Whoever waits for a disk may be switched away any number of times.
const CLAIMS: [Claim; 3] = [
    Claim::SystemCalls(Bound::Exactly(2.0)),
    Claim::CallsNamed(&["pwrite64"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["fsync"], Bound::Exactly(1.0)),
];

static CARD: Card = Card {
    id: "file/fsync",
    title: "write of 4 KiB and fsync",
    operation: "one pwrite over the same 4 KiB of a file, and one fsync",
    // Where a disk is waited for, others would be.
    group: "file/fsync",
    claims: &CLAIMS,
    remark: "in memory (tmpfs) an fsync does nothing: name a folder on a disk with --set directory=",
    ..Card::BATCHED
};

impl Benchmark for Fsync {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let mut page = Synced(Stamped::new(Place::make(cx)?));
        page.batch(1).map_err(lack::of_files)?;
        Ok(Subject::Batched(Box::new(page)))
    }
}

struct Synced(Stamped);

impl Batched for Synced {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.write()?;
            file_page::write_through(&self.0.place.file)?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.0.verify()
    }

    fn remarks(&self) -> Vec<String> {
        self.0.place.remarks()
    }
}
