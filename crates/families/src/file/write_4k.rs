//! Writing a page of a file into the page cache, over what was there.

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, PostCondition, SetUp, Subject, Unable};
use oscost_sys::file_page::{self, PAGE};

use super::Place;
use crate::{claims, lack};

/// `file/write_4k`
pub struct Write;

static CARD: Card = Card {
    id: "file/write_4k",
    title: "write of 4 KiB to the page cache",
    operation: "one pwrite over the same 4 KiB of a file, which lie in the page cache",
    group: "file",
    claims: &claims::named(&["pwrite64"], 1.0),
    baseline: Some("file/read_4k"),
    ..Card::BATCHED
};

impl Benchmark for Write {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let page = Stamped::new(Place::make(cx)?);
        file_page::write(&page.place.file, &page.page).map_err(lack::of_files)?;
        Ok(Subject::Batched(Box::new(Written(page))))
    }
}

/// A page whose first bytes say which write it was.
pub struct Stamped {
    pub place: Place,
    page: Box<[u8; PAGE]>,
    writes: u64,
}

impl Stamped {
    pub fn new(place: Place) -> Self {
        Self { place, page: Box::new([0; PAGE]), writes: 0 }
    }

    #[inline(always)]
    pub fn write(&mut self) -> Outcome {
        self.writes += 1;
        self.page[..8].copy_from_slice(&self.writes.to_ne_bytes());
        file_page::write(&self.place.file, &self.page)
    }

    /// The file has the stamp of the last write; asked by reading it.
    pub fn verify(&self) -> Result<Vec<PostCondition>, CallError> {
        let mut page = [0; PAGE];
        file_page::read(&self.place.file, &mut page)?;
        let found = page.first_chunk().map_or(0, |stamp| u64::from_ne_bytes(*stamp));
        let cached = f64::from(u8::from(file_page::is_cached(&self.place.file)?));
        Ok(vec![
            PostCondition::exactly("writes_in_the_file", self.writes as f64, found as f64),
            PostCondition::exactly("pages_in_the_page_cache", 1.0, cached),
        ])
    }
}

struct Written(Stamped);

impl Batched for Written {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.write()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_harness::Keeper;

    #[test]
    fn writes_that_never_reach_the_file_are_contradicted() {
        let mut keeper = Keeper::in_private_namespaces();
        let mut cx = SetUp {
            cpu: 0,
            partner_cpu: 0,
            cpus: &[0],
            host_system_v_limits: None,
            keeper: &mut keeper,
            directory: None,
        };
        let mut page = match Place::make(&mut cx) {
            Ok(place) => Stamped::new(place),
            Err(_) => return println!("SKIP writes_that_never_reach_the_file: no folder in memory"),
        };
        page.write().expect("written");
        assert!(page.verify().expect("read").iter().all(PostCondition::holds));
        // The operation without its essential call.
        page.writes += 1;
        let found = page.verify().expect("read");
        assert!(found.iter().any(|it| it.name == "writes_in_the_file" && !it.holds()), "{found:?}");
    }
}
