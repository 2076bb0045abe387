//! The first write to a page of anonymous memory: the fault that brings it, zeroed.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};
use oscost_sys::usage::{self, Whose};

use crate::row::row;
use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&row(&CARD, |_| faults())];

/// More than a batch holds. Only what is touched is resident.
const PAGES: usize = 16384;
/// Pages of a look afterwards.
const LOOK: u64 = 100;

/// One fault a page: fewer, and pages were there; more, and something else faulted.
const CLAIMS: [Claim; 3] = {
    let [calls, switches, _] = claims::exactly(0.0);
    [calls, switches, Claim::Faults(Bound::Between(0.999, 1.01))]
};

const CARD: Card = Card {
    id: "memory/fault_anonymous",
    title: "page fault of anonymous memory",
    operation: "the first write to one small page of anonymous memory",
    call_path: CallPath::Instruction,
    group: "memory/fault",
    uses_up: true,
    claims: &CLAIMS,
    remark: "the page comes from what the process gave back before",
    ..Card::BATCHED
};

fn faults() -> Result<Subject, Unable> {
    let region = Region::new(PAGES * page_bytes(), Pages::Small).map_err(lack::of_memory)?;
    Ok(Subject::batched(Faults(region)))
}

struct Faults(Region);

impl Batched for Faults {
    /// No page is there when a batch begins; those of the batch stay until the next.
    fn arm(&mut self) -> Outcome {
        self.0.unlock()?;
        self.0.drop_pages()
    }

    fn most(&self) -> u64 {
        PAGES as u64
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let pages = usize::try_from(iterations).unwrap_or(usize::MAX);
        if pages > PAGES {
            return Err(CallError::told("a batch has more pages than are mapped"));
        }
        for page in 0..pages {
            self.0.write_page(page);
        }
        Ok(())
    }

    /// As many pages are resident, and as many faults were counted, as were written to.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.arm()?;
        let before = usage::own(Whose::Thread)?;
        self.batch(LOOK)?;
        let faults = usage::own(Whose::Thread)?.since(&before).minor_faults;
        let resident = self.0.resident_pages()?;
        Ok(vec![
            PostCondition::exactly("pages_resident", LOOK as f64, resident as f64),
            PostCondition::new(
                "faults_counted",
                Bound::Between(LOOK as f64, LOOK as f64 + 10.0),
                faults as f64,
            ),
        ])
    }
}
