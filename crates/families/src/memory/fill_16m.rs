//! 16 MiB of fresh memory, written and given back: no cache holds its pages any more when they are used again.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};

use crate::{claims, lack};

/// `memory/fill_16m`
pub struct Fill;

/// 16 MiB, where pages have 4 KiB.
const PAGES: usize = 4096;
/// Pages of a look afterwards.
const LOOK: usize = 100;

const CLAIMS: [Claim; 4] = {
    let [calls, switches, _] = claims::exactly(1.0);
    let faults = Claim::Faults(Bound::Between(0.999 * PAGES as f64, 1.01 * PAGES as f64));
    [calls, Claim::CallsNamed(&["madvise"], Bound::Exactly(1.0)), switches, faults]
};

static CARD: Card = Card {
    id: "memory/fill_16m",
    title: "16 MiB of memory, filled and given back",
    operation: "one write to each of 4096 small pages of anonymous memory, and one madvise (MADV_DONTNEED) of all",
    group: "memory/fill_16m",
    claims: &CLAIMS,
    remark: "the pages were in use long ago, as those of a large program that starts; memory/fault_anonymous and memory/give_back use few again and again",
    ..Card::BATCHED
};

impl Benchmark for Fill {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let region = Region::new(PAGES * page_bytes(), Pages::Small).map_err(lack::of_memory)?;
        Ok(Subject::Batched(Box::new(Filled(region))))
    }
}

struct Filled(Region);

impl Batched for Filled {
    /// No page is there when a batch begins.
    fn arm(&mut self) -> Outcome {
        self.0.unlock()?;
        self.0.drop_pages()
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            (0..PAGES).for_each(|page| self.0.write_page(page));
            self.0.drop_pages()?;
        }
        Ok(())
    }

    /// What is written is there, and nothing is after an operation.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.arm()?;
        (0..LOOK).for_each(|page| self.0.write_page(page));
        let there = self.0.resident_pages()?;
        self.batch(1)?;
        Ok(vec![
            PostCondition::exactly("pages_resident", LOOK as f64, there as f64),
            PostCondition::exactly("pages_left", 0.0, self.0.resident_pages()? as f64),
        ])
    }
}
