//! Pages of anonymous memory that were written to, given back to the kernel.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};

use crate::{claims, lack};

/// `memory/give_back`
pub struct GiveBack;

/// More than a batch holds. Only what is touched is resident.
const PAGES: usize = 16384;
/// Pages of a look afterwards.
const LOOK: u64 = 100;

/// One call gives all pages of a batch back: more than 20, and no more than there are.
const ONCE: Bound = Bound::Between(0.9 / PAGES as f64, 0.05);
const CLAIMS: [Claim; 4] = {
    let [_, switches, faults] = claims::exactly(0.0);
    [Claim::SystemCalls(ONCE), Claim::CallsNamed(&["madvise"], ONCE), switches, faults]
};

static CARD: Card = Card {
    id: "memory/give_back",
    title: "giving a page of memory back",
    operation: "one touched small page of anonymous memory, given back with all others of its batch by one madvise (MADV_DONTNEED)",
    group: "memory/fault",
    claims: &CLAIMS,
    remark: "munmap and the end of a process give pages back in the same way",
    ..Card::BATCHED
};

impl Benchmark for GiveBack {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let region = Region::new(PAGES * page_bytes(), Pages::Small).map_err(lack::of_memory)?;
        Ok(Subject::Batched(Box::new(Given { region, last: 1 })))
    }
}

struct Given {
    region: Region,
    /// Pages of the last batch.
    last: usize,
}

impl Batched for Given {
    /// The pages of a batch twice as long are there.
    fn arm(&mut self) -> Outcome {
        self.region.unlock()?;
        (0..(2 * self.last).min(PAGES)).for_each(|page| self.region.write_page(page));
        Ok(())
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.last = usize::try_from(iterations).unwrap_or(usize::MAX).min(PAGES + 1);
        if self.last > PAGES {
            return Err(CallError::told("a batch has more pages than are mapped"));
        }
        self.region.drop_first(self.last)
    }

    /// As many pages are gone as were given back.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.last = LOOK as usize;
        self.arm()?;
        let before = self.region.resident_pages()?;
        self.batch(LOOK)?;
        let gone = before as f64 - self.region.resident_pages()? as f64;
        Ok(vec![PostCondition::exactly("pages_given_back", LOOK as f64, gone)])
    }
}
