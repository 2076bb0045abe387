//! One load whose address the load before it found, in working sets from a first-level cache to memory.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::memory_walk::Chain;
use oscost_sys::region::Pages;

use crate::row::row;
use crate::{claims, residency};

/// Bytes from one link to the next.
const LINE: usize = 64;

/// The order is the same in every launch: what differs is where the pages lie.
const SEED: u64 = 0x6f73_636f_7374;

macro_rules! sizes {
    ($($id:literal, $size:literal, $bytes:expr, $pages:ident, $word:literal;)*) => {
        pub const ALL: &[&dyn Benchmark] = &[$(&row(
            &Card {
                id: $id,
                title: concat!("load from ", $size, ", ", $word, " pages"),
                operation: concat!("one load at a random place in ", $size, ", whose address comes from the load before it"),
                heading: "one load that depends on the one before",
                call_path: CallPath::Instruction,
                revision: 3,
                batch_at_least: super::once_around($bytes, LINE),
                // The caches are what it measures: nobody else may use them between its batches.
                group: $id,
                claims: &claims::exactly(0.0),
                parameters: &[("working_set_bytes", Parameter::Number($bytes)), ("pages", Parameter::Text($word))],
                ..Card::BATCHED
            },
            |_| walk($bytes, Pages::$pages),
        )),*];
    };
}

sizes! {
    "memory/latency/size_16k/small_pages", "16 KiB", 16 << 10, Small, "small";
    "memory/latency/size_128k/small_pages", "128 KiB", 128 << 10, Small, "small";
    "memory/latency/size_1m/small_pages", "1 MiB", 1 << 20, Small, "small";
    "memory/latency/size_8m/small_pages", "8 MiB", 8 << 20, Small, "small";
    "memory/latency/size_8m/huge_pages", "8 MiB", 8 << 20, Huge, "huge";
    "memory/latency/size_64m/small_pages", "64 MiB", 64 << 20, Small, "small";
    "memory/latency/size_64m/huge_pages", "64 MiB", 64 << 20, Huge, "huge";
}

fn walk(bytes: usize, pages: Pages) -> Result<Subject, Unable> {
    residency::enough(bytes)?;
    let chain = Chain::new(bytes, pages, SEED).map_err(|error| residency::of(error, pages))?;
    residency::huge_enough(chain.smaps(), bytes, pages)?;
    Ok(Subject::batched(Walk { chain, walked: 0, bytes, pages }))
}

struct Walk {
    chain: Chain,
    /// Loads that batches were asked for.
    walked: u64,
    bytes: usize,
    pages: Pages,
}

impl Batched for Walk {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.chain.walk(iterations);
        self.walked += iterations;
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.batch(super::once_around(self.bytes, LINE))
    }

    /// The chain is one cycle over all lines, the walk is where so many loads lead, and the pages are of this size.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let (at, _) = self.chain.place();
        let said = self.walked % self.chain.links().max(1);
        let mut found = vec![
            PostCondition::exactly(
                "links_of_the_cycle",
                self.chain.links() as f64,
                self.chain.cycle() as f64,
            ),
            PostCondition::exactly("links_walked", said as f64, at as f64),
        ];
        found.extend(residency::holds(self.chain.smaps(), self.bytes, self.pages));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(walk: &mut Walk) -> Vec<&'static str> {
        let found = walk.verify().expect("nothing fails");
        found.iter().filter(|it| !it.holds()).map(|it| it.name).collect()
    }

    fn walk_in(bytes: usize) -> Walk {
        let chain = Chain::new(64 << 10, Pages::Small, SEED).expect("mmap");
        Walk { chain, walked: 0, bytes, pages: Pages::Small }
    }

    /// A batch of a few loads would find what others took from the cache gone, each time.
    #[test]
    fn a_batch_and_what_goes_before_it_go_once_around_what_a_cache_holds() {
        for (card, around) in ALL.iter().map(|it| it.card()).zip([256, 2048, 16384, 16384]) {
            assert_eq!(card.least_iterations(), around, "{}", card.id);
        }
        let mut walk = walk_in(64 << 10);
        walk.arm().expect("loads");
        assert_eq!(walk.walked, walk.chain.links());
    }

    #[test]
    fn loads_that_are_never_made_are_contradicted() {
        let mut honest = walk_in(64 << 10);
        honest.batch(1500).expect("loads");
        assert_eq!(broken(&mut honest), [""; 0]);
        // The operation without its essential part: a batch that makes half of its loads.
        honest.chain.walk(250);
        honest.walked += 500;
        assert_eq!(broken(&mut honest), ["links_walked"]);
    }

    #[test]
    fn a_working_set_of_half_the_size_is_contradicted() {
        let mut small = walk_in(128 << 10);
        small.batch(10).expect("loads");
        let found = broken(&mut small);
        if small.chain.smaps().is_some() {
            assert!(!found.is_empty(), "half of the working set was believed");
        } else {
            println!("SKIP a_working_set_of_half_the_size: no smaps");
        }
    }
}
