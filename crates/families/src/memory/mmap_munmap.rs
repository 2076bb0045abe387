//! A page that is mapped and unmapped, and never touched.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::region;

use crate::{claims, lack};

/// `memory/mmap_munmap`
pub struct MmapMunmap;

const CLAIMS: [Claim; 5] = {
    let [calls, switches, faults] = claims::exactly(2.0);
    [
        calls,
        Claim::CallsNamed(&["mmap"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["munmap"], Bound::Exactly(1.0)),
        switches,
        faults,
    ]
};

static CARD: Card = Card {
    id: "memory/mmap_munmap",
    title: "mmap and munmap of an untouched page",
    operation: "one mmap of one private anonymous page and one munmap, without touching it",
    group: "memory",
    claims: &CLAIMS,
    ..Card::BATCHED
};

impl Benchmark for MmapMunmap {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let page = region::page_bytes();
        region::map_and_unmap(page).map_err(lack::of_memory)?;
        Ok(Subject::Batched(Box::new(Pages(page))))
    }
}

struct Pages(usize);

impl Batched for Pages {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            region::map_and_unmap(self.0)?;
        }
        Ok(())
    }

    /// Mapping and unmapping leaves as many mappings as there were.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        // A thread's first reading may make a mapping itself: that of what the thread allocates from.
        let _ = region::mappings();
        let before = region::mappings();
        self.batch(100)?;
        let left = before.zip(region::mappings()).map(|(before, after)| after as f64 - before as f64);
        Ok(left.map(|left| PostCondition::exactly("mappings_left", 0.0, left)).into_iter().collect())
    }
}
