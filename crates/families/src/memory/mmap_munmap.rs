//! A page that is mapped and unmapped, and never touched.

use oscost_harness::{Benchmark, Card, PostCondition};
use oscost_sys::region::{map_and_unmap, mappings, page_bytes};

use crate::operation::operation;
use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&operation(
    &Card {
        id: "memory/mmap_munmap",
        title: "mmap and munmap of an untouched page",
        operation: "one mmap of one private anonymous page and one munmap, without touching it",
        group: "memory",
        claims: &claims::one_each(&["mmap"], &["munmap"]),
        ..Card::BATCHED
    },
    |_| map_and_unmap(page_bytes()).map(|()| page_bytes()).map_err(lack::of_memory),
    |bytes| map_and_unmap(*bytes),
)
// Mapping and unmapping leaves as many mappings as there were.
.verify(|bytes| {
    // A thread's first reading may make a mapping itself: that of what the thread allocates from.
    let _ = mappings();
    let before = mappings();
    (0..100).try_for_each(|_| map_and_unmap(*bytes))?;
    let left = before.zip(mappings()).map(|(before, after)| after as f64 - before as f64);
    Ok(left.map(|left| PostCondition::exactly("mappings_left", 0.0, left)).into_iter().collect())
})];
