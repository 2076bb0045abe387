//! Reading a page of a file from the page cache.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Sharing, Subject, Unable,
};
use oscost_sys::file_page::{self, PAGE};

use super::Place;
use crate::claims;

/// `file/read_4k`
pub struct Read;

static CARD: Card = Card {
    id: "file/read_4k",
    title: "read of 4 KiB from the page cache",
    operation: "one pread of the same 4 KiB of a file, which lie in the page cache",
    group: "file",
    claims: &claims::named(&["pread64"], 1.0),
    ..Card::BATCHED
};

impl Benchmark for Read {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the open file")
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Cached { place: Place::make(cx)?, page: Box::new([0; PAGE]), seen: 1 })))
    }
}

struct Cached {
    place: Place,
    page: Box<[u8; PAGE]>,
    /// What the page is full of.
    seen: u8,
}

impl Batched for Cached {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            file_page::read(&self.place.file, &mut self.page)?;
        }
        Ok(())
    }

    /// What was read is what the file holds; it is in the page cache; and what is written next is read next.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let equal = |page: &[u8; PAGE], byte| page.iter().filter(|&&it| it == byte).count() as f64;
        let found = equal(&self.page, self.seen);
        let cached = f64::from(u8::from(file_page::is_cached(&self.place.file)?));
        self.seen = self.seen.wrapping_add(1);
        file_page::write(&self.place.file, &[self.seen; PAGE])?;
        self.batch(1)?;
        Ok(vec![
            PostCondition::exactly("bytes_read_as_written", PAGE as f64, found),
            PostCondition::exactly("bytes_read_as_rewritten", PAGE as f64, equal(&self.page, self.seen)),
            PostCondition::exactly("pages_in_the_page_cache", 1.0, cached),
        ])
    }

    fn remarks(&self) -> Vec<String> {
        self.place.remarks()
    }
}
