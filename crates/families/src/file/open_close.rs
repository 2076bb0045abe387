//! Opening a file that is there and closing it again: what making one is compared with.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Sharing, Subject,
    Unable,
};
use oscost_sys::file_page;

use super::{NAME, Place};
use crate::claims;

/// `file/open_close`
pub struct OpenClose;

const CLAIMS: [Claim; 5] = {
    let [calls, switches, faults] = claims::exactly(2.0);
    [
        calls,
        Claim::CallsNamed(&["openat"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["close"], Bound::Exactly(1.0)),
        switches,
        faults,
    ]
};

static CARD: Card = Card {
    id: "file/open_close",
    title: "open and close of a file",
    operation: "one open of an existing file with O_RDONLY and O_CLOEXEC, and one close",
    group: "file",
    claims: &CLAIMS,
    ..Card::BATCHED
};

impl Benchmark for OpenClose {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the file")
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Opened(Place::make(cx)?))))
    }
}

struct Opened(Place);

impl Batched for Opened {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            file_page::close(file_page::open(self.0.folder(), NAME)?)?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let names = self.0.folder().names()?.len();
        Ok(vec![PostCondition::exactly("files_in_the_folder", 1.0, names as f64)])
    }

    fn remarks(&self) -> Vec<String> {
        self.0.remarks()
    }
}
