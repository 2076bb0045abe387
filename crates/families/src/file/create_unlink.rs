//! Making a file of nothing and removing it again.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Directory, Outcome, PostCondition, SetUp, Subject,
    Unable,
};
use oscost_sys::file_page;

use super::{NAME, lies_on};
use crate::{claims, lack};

/// `file/create_unlink`
pub struct CreateUnlink;

const CLAIMS: [Claim; 6] = {
    let [calls, switches, faults] = claims::exactly(3.0);
    [
        calls,
        Claim::CallsNamed(&["openat"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["close"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["unlinkat"], Bound::Exactly(1.0)),
        switches,
        faults,
    ]
};

static CARD: Card = Card {
    id: "file/create_unlink",
    title: "making and removing a file",
    operation: "one open with O_CREAT and O_EXCL that makes an empty file, its close and its unlink",
    group: "file",
    claims: &CLAIMS,
    baseline: Some("file/open_close"),
    ..Card::BATCHED
};

impl Benchmark for CreateUnlink {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let made = Made { directory: Directory::make(cx)? };
        made.once().map_err(lack::of_files)?;
        Ok(Subject::Batched(Box::new(made)))
    }
}

struct Made {
    directory: Directory,
}

impl Made {
    #[inline(always)]
    fn once(&self) -> Outcome {
        file_page::close(file_page::create(self.directory.folder(), NAME)?)?;
        file_page::remove(self.directory.folder(), NAME)
    }
}

impl Batched for Made {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.once()?;
        }
        Ok(())
    }

    /// Nothing is left; a file is there once it is made, and it is gone once it is removed.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let names = || self.directory.folder().names().map(|names| names.len() as f64);
        let left = names()?;
        file_page::close(file_page::create(self.directory.folder(), NAME)?)?;
        let made = names()?;
        file_page::remove(self.directory.folder(), NAME)?;
        Ok(vec![
            PostCondition::exactly("files_left", 0.0, left),
            PostCondition::exactly("files_made", 1.0, made),
            PostCondition::exactly("files_after_removal", 0.0, names()?),
        ])
    }

    fn remarks(&self) -> Vec<String> {
        vec![lies_on(&self.directory)]
    }
}
