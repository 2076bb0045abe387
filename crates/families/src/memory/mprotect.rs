//! The protection of a resident page, changed to and fro.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::region::{self, Pages, Region};

use crate::row::row;
use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&row(&CARD, |_| protected())];

const CARD: Card = Card {
    id: "memory/mprotect",
    title: "mprotect of a resident page",
    operation: "one mprotect of one resident page: read-only and writable in turn",
    operations_per_iteration: 2,
    call_path: CallPath::Inline,
    group: "memory",
    claims: &claims::named(&["mprotect"], 1.0),
    ..Card::BATCHED
};

fn protected() -> Result<Subject, Unable> {
    let mut region = Region::new(region::page_bytes(), Pages::Small).map_err(lack::of_memory)?;
    region.touch(Pages::Small)?;
    Ok(Subject::batched(Protected(region)))
}

struct Protected(Region);

impl Batched for Protected {
    fn arm(&mut self) -> Outcome {
        self.0.unlock()
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.0.protect(false)?;
            self.0.protect(true)?;
        }
        Ok(())
    }

    /// The kernel says of the page what each call asked for, and that it is still there.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let mut found = Vec::new();
        for (writable, name) in [(false, "writable_while_protected"), (true, "writable_again")] {
            self.0.protect(writable)?;
            found.extend(self.0.smaps().map(|it| PostCondition::is(name, writable, it.writable)));
        }
        found.push(PostCondition::exactly("pages_resident", 1.0, self.0.resident_pages()? as f64));
        Ok(found)
    }
}
