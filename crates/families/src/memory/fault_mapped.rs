//! Faults of a private mapping of a file that lies in memory: the first read of a part, and the first write to a page that was read.

use std::os::fd::AsRawFd;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::region::{Region, page_bytes};
use oscost_sys::usage::{self, Whose};
use oscost_sys::{file, system_call};

use crate::row::row;
use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&row(&READ, |_| faults(false)), &row(&WRITE, |_| faults(true))];

/// Bytes of the file, and how often it is mapped one behind the other: more parts than a batch touches.
const FILE: usize = 4 << 20;
const TIMES: usize = 64;
/// The kernel maps pages around the one that is read: those of 64 KiB, unless it was told otherwise.
const AROUND: usize = 64 << 10;
/// Faults of a look afterwards.
const LOOK: u64 = 100;

/// One fault each: fewer, and pages were there; more, and something else faulted.
const CLAIMS: [Claim; 3] = {
    let [calls, switches, _] = claims::exactly(0.0);
    [calls, switches, Claim::Faults(Bound::Between(0.999, 1.01))]
};

const CARD: Card = Card {
    call_path: CallPath::Instruction,
    group: "memory/mapped",
    uses_up: true,
    claims: &CLAIMS,
    ..Card::BATCHED
};

const READ: Card = Card {
    id: "memory/fault_file",
    title: "page fault of a file in the page cache",
    operation: "the first read of one of the 64 KiB parts of a mapped file, all of which lies in the page cache",
    revision: 2,
    remark: "one fault maps the pages around it as well: 16 of 4 KiB, unless fault_around_bytes says otherwise; they are mapped elsewhere, as those of a library that others use",
    ..CARD
};
const WRITE: Card = Card {
    id: "memory/fault_copy",
    title: "page fault that copies a page",
    operation: "the first write to one page of a private mapping of a file, which was read before: the page is copied",
    remark: "the same happens to memory that is written to after a fork",
    ..CARD
};

/// Faults of pages that are read, or written to after they were read.
fn faults(writes: bool) -> Result<Subject, Unable> {
    let [region, other] = mapped(FILE * TIMES, writes)?;
    let stride = if writes { 1 } else { (AROUND / page_bytes()).max(1) };
    Ok(Subject::batched(Faults { region, _other: other, stride, writes, ready: 0, last: 0 }))
}

/// A file in memory, mapped until `bytes` are full, and once more with all pages there: the first mapping of a page costs more than
/// another one.
pub(super) fn mapped(bytes: usize, writable: bool) -> Result<[Region; 2], Unable> {
    let file = file::in_memory(FILE as u64).map_err(lack::of_descriptors)?;
    let part = [7; AROUND];
    for _ in 0..FILE / AROUND {
        if system_call::write(file.as_raw_fd(), &part)? != AROUND {
            return Err(CallError::short("write").into());
        }
    }
    let region = Region::of_file(&file, FILE, bytes / FILE, writable).map_err(lack::of_memory)?;
    let other = Region::of_file(&file, FILE, 1, false).map_err(lack::of_memory)?;
    for page in 0..other.pages() {
        let _ = other.read_page(page);
    }
    Ok([region, other])
}

struct Faults {
    region: Region,
    /// Where all pages of the file are mapped as well.
    _other: Region,
    /// From one page that is touched to the next.
    stride: usize,
    writes: bool,
    /// Pages that were read before a batch that writes.
    ready: usize,
    /// Faults of the last batch.
    last: usize,
}

impl Faults {
    #[inline(always)]
    fn touch(&mut self, pages: usize) {
        if self.writes {
            (0..pages).for_each(|index| self.region.write_page(index));
        } else {
            for index in 0..pages {
                let _ = self.region.read_page(index * self.stride);
            }
        }
    }
}

impl Batched for Faults {
    /// No page is there when a batch begins, or each is as the file has it: of those that a batch twice as long would touch.
    fn arm(&mut self) -> Outcome {
        self.region.unlock()?;
        self.region.drop_pages()?;
        if self.writes {
            self.ready = (2 * self.last).clamp(1, self.region.pages());
            for index in 0..self.ready {
                let _ = self.region.read_page(index);
            }
        }
        Ok(())
    }

    fn most(&self) -> u64 {
        (self.region.pages() / self.stride) as u64
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let pages = usize::try_from(iterations).unwrap_or(usize::MAX);
        if iterations > self.most() {
            return Err(CallError::told("a batch has more parts than are mapped"));
        }
        self.last = pages;
        self.touch(pages);
        Ok(())
    }

    /// As many faults were counted as pages were touched, and what is there is the file's, or was written.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.last = LOOK as usize;
        self.arm()?;
        let before = usage::own(Whose::Thread)?;
        self.batch(LOOK)?;
        let faults = usage::own(Whose::Thread)?.since(&before).minor_faults;
        let expected = if self.writes { 1 } else { 7 };
        let touched = (0..LOOK as usize).map(|index| self.region.read_page(index * self.stride));
        let found = touched.filter(|&byte| byte == expected).count();
        let next = self.region.read_page((LOOK as usize + 1) * self.stride);
        Ok(vec![
            PostCondition::exactly("pages_as_expected", LOOK as f64, found as f64),
            PostCondition::exactly("next_page_is_the_file's", 7.0, f64::from(next)),
            PostCondition::new(
                "faults_counted",
                Bound::Between(LOOK as f64, LOOK as f64 + 10.0),
                faults as f64,
            ),
        ])
    }
}
