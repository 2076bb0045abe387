//! Pages given back to the kernel: of anonymous memory that was written to, of a mapped file that was read.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};
use oscost_sys::usage::{self, Whose};

use crate::row::row;
use crate::{claims, lack};

use super::fault_mapped::mapped;

pub const ALL: &[&dyn Benchmark] = &[&row(&OF_MEMORY, |_| given(false)), &row(&OF_FILE, |_| given(true))];

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

const OF_MEMORY: Card = Card {
    id: "memory/give_back",
    title: "giving a page of memory back",
    operation: "one touched small page of anonymous memory, given back with all others of its batch by one madvise (MADV_DONTNEED)",
    group: "memory/fault",
    uses_up: true,
    claims: &CLAIMS,
    remark: "munmap and the end of a process give pages back in the same way",
    ..Card::BATCHED
};

const OF_FILE: Card = Card {
    id: "memory/give_back_file",
    title: "giving a page of a mapped file back",
    operation: "one resident page of a mapped file in memory, given back with all others of its batch by one madvise (MADV_DONTNEED)",
    remark: "the file stays in memory and is mapped elsewhere, too, as a library is",
    ..OF_MEMORY
};

fn given(of_file: bool) -> Result<Subject, Unable> {
    let bytes = PAGES * page_bytes();
    let (region, other) = if of_file {
        let [region, other] = mapped(bytes, false)?;
        (region, Some(other))
    } else {
        (Region::new(bytes, Pages::Small).map_err(lack::of_memory)?, None)
    };
    Ok(Subject::batched(Given { region, other, last: 1 }))
}

struct Given {
    region: Region,
    /// Where all pages of the file are mapped as well.
    other: Option<Region>,
    /// Pages of the last batch.
    last: usize,
}

impl Batched for Given {
    /// The pages of a batch twice as long are there.
    fn arm(&mut self) -> Outcome {
        self.region.unlock()?;
        for page in 0..(2 * self.last).min(PAGES) {
            if self.other.is_some() {
                let _ = self.region.read_page(page);
            } else {
                self.region.write_page(page);
            }
        }
        Ok(())
    }

    fn most(&self) -> u64 {
        PAGES as u64
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.last = usize::try_from(iterations).unwrap_or(usize::MAX).min(PAGES + 1);
        if self.last > PAGES {
            return Err(CallError::told("a batch has more pages than are mapped"));
        }
        self.region.drop_first(self.last)
    }

    /// As many pages are gone as were given back; those of a file, which stays in memory, fault when they are read again.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.last = LOOK as usize;
        self.arm()?;
        let before = self.region.resident_pages()?;
        self.batch(LOOK)?;
        if self.other.is_some() {
            let before = usage::own(Whose::Thread)?;
            let read = (0..LOOK as usize).filter(|&page| self.region.read_page(page) == 7).count();
            let faults = usage::own(Whose::Thread)?.since(&before).minor_faults;
            return Ok(vec![
                PostCondition::exactly("pages_as_expected", LOOK as f64, read as f64),
                PostCondition::new("faults_counted", Bound::AtLeast(1.0), faults as f64),
            ]);
        }
        let gone = before as f64 - self.region.resident_pages()? as f64;
        Ok(vec![PostCondition::exactly("pages_given_back", LOOK as f64, gone)])
    }
}
