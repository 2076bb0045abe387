//! fork of a small process, of one that holds memory, whose page tables are copied, and of one with many mappings.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};
use oscost_sys::{file, offspring};

use crate::{lack, residency};

/// The benchmark, by what the process holds.
pub struct Fork {
    card: &'static Card,
    holds: Option<(usize, Pages)>,
    mappings: usize,
}

/// `process/fork`
pub static FORK: Fork = Fork { card: &CARD, holds: None, mappings: 0 };

/// `process/fork/mappings_1000`
pub static MAPPINGS_1000: Fork = Fork { card: &MAPPINGS_CARD, holds: None, mappings: 1000 };
static MAPPINGS_CARD: Card = Card {
    group: "process/fork/mappings_1000",
    parameters: &[("mappings", Parameter::Number(1000))],
    remark: "each mapping is of one page of a file, which nobody touches",
    ..super::card(
        "process/fork/mappings_1000",
        "fork with 1000 mappings more",
        "one fork of a process with 1000 mappings of a file, the exit of the child, and the wait for it",
    )
};

const OPERATION: &str = "one fork, the exit of the child, and the wait for it";
static CARD: Card = super::card("process/fork", "fork of a small process", OPERATION);

/// ms of a launch until so many bytes are there: 2 s for 1 GiB, where a host has to find the memory of a virtual machine first.
const fn filling_ms(bytes: usize) -> u64 {
    (bytes >> 19) as u64
}

macro_rules! resident {
    ($($name:ident, $card:ident, $id:literal, $size:literal, $bytes:expr, $pages:ident, $word:literal;)*) => {$(
        #[doc = concat!("`", $id, "`")]
        pub static $name: Fork = Fork { card: &$card, holds: Some(($bytes, Pages::$pages)), mappings: 0 };
        static $card: Card = Card {
            // What one member holds, every fork beside it would copy.
            group: $id,
            launch_ms: filling_ms($bytes),
            launches: if $bytes > 128 << 20 { Some(4) } else { None },
            parameters: &[("resident_bytes", Parameter::Number($bytes)), ("pages", Parameter::Text($word))],
            remark: concat!(
                "the process holds ",
                $size,
                " of touched memory, and the machine must have twice that"
            ),
            ..super::card(
                $id,
                concat!("fork with ", $size, " resident, ", $word, " pages"),
                concat!(
                    "one fork of a process with ",
                    $size,
                    " of touched memory in ",
                    $word,
                    " pages, the exit of the child, and the wait for it"
                ),
            )
        };
    )*};
}

resident! {
    RESIDENT_1M, CARD_1M, "process/fork/resident_1m/small_pages", "1 MiB", 1 << 20, Small, "small";
    RESIDENT_16M, CARD_16M, "process/fork/resident_16m/small_pages", "16 MiB", 16 << 20, Small, "small";
    RESIDENT_16M_HUGE, CARD_16M_HUGE, "process/fork/resident_16m/huge_pages", "16 MiB", 16 << 20, Huge, "huge";
    RESIDENT_256M, CARD_256M, "process/fork/resident_256m/small_pages", "256 MiB", 256 << 20, Small, "small";
    RESIDENT_256M_HUGE, CARD_256M_HUGE, "process/fork/resident_256m/huge_pages", "256 MiB", 256 << 20, Huge, "huge";
    RESIDENT_1G, CARD_1G, "process/fork/resident_1g/small_pages", "1 GiB", 1 << 30, Small, "small";
    RESIDENT_1G_HUGE, CARD_1G_HUGE, "process/fork/resident_1g/huge_pages", "1 GiB", 1 << 30, Huge, "huge";
}

impl Benchmark for Fork {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let held = self.holds.map(|(bytes, pages)| residency::resident(bytes, pages)).transpose()?;
        let mapped = match self.mappings {
            0 => None,
            mappings => {
                let page = page_bytes();
                let file = file::in_memory(page as u64).map_err(lack::of_descriptors)?;
                Some(Region::of_file(file, page, mappings, false).map_err(lack::of_memory)?)
            }
        };
        offspring::fork_and_reap().map_err(lack::of_processes)?;
        let mappings = self.mappings;
        Ok(Subject::Batched(Box::new(Forks {
            held,
            holds: self.holds,
            _mapped: mapped,
            mappings,
            unlocked: false,
        })))
    }
}

struct Forks {
    held: Option<Region>,
    holds: Option<(usize, Pages)>,
    _mapped: Option<Region>,
    mappings: usize,
    unlocked: bool,
}

impl Batched for Forks {
    /// Few processes that fork have locked what they hold.
    fn arm(&mut self) -> Outcome {
        if !self.unlocked {
            self.held.iter().try_for_each(Region::unlock)?;
            self.unlocked = true;
        }
        Ok(())
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            offspring::fork_and_reap()?;
        }
        Ok(())
    }

    /// What it copied is as the id says: resident, and in pages of this size.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let mut found = vec![super::nobody_unreaped()?, super::faults_of_a_child(offspring::fork_and_reap)?];
        found.extend(super::mappings(self.mappings));
        match (&self.held, self.holds) {
            (Some(region), Some((bytes, pages))) => {
                found.extend(residency::holds(region.smaps(), bytes, pages))
            }
            _ => found.extend(super::private_bytes()),
        }
        Ok(found)
    }
}
