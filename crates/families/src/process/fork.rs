//! fork of a small process, of one that holds memory, whose page tables are copied, and of one with many mappings.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::region::{Pages, Region, page_bytes};
use oscost_sys::{file, offspring};

use crate::row::{Row, row};
use crate::{lack, residency};

pub const FORK: Row = row(&CARD, |_| forks(None, 0));
pub const MAPPINGS_1000: Row = row(&MAPPINGS_CARD, |_| forks(None, 1000));

const MAPPINGS_CARD: Card = Card {
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
const CARD: Card = super::card("process/fork", "fork of a small process", OPERATION);

/// ms of a launch until so many bytes are there: 2 s for 1 GiB, where a host has to find the memory of a virtual machine first.
const fn filling_ms(bytes: usize) -> u64 {
    (bytes >> 19) as u64
}

macro_rules! resident {
    ($($id:literal, $size:literal, $bytes:expr, $pages:ident, $word:literal;)*) => {
        pub const RESIDENT: &[&dyn Benchmark] = &[$(&row(
            const { &Card {
                // What one member holds, every fork beside it would copy.
                group: $id,
                launch_ms: filling_ms($bytes),
                launches: if $bytes > 128 << 20 { Some(4) } else { None },
                parameters: &[("resident_bytes", Parameter::Number($bytes)), ("pages", Parameter::Text($word))],
                remark: concat!("the process holds ", $size, " of touched memory, and the machine must have twice that"),
                ..super::card(
                    $id,
                    concat!("fork with ", $size, " resident, ", $word, " pages"),
                    concat!(
                        "one fork of a process with ", $size, " of touched memory in ", $word,
                        " pages, the exit of the child, and the wait for it"
                    ),
                )
            } },
            |_| forks(Some(($bytes, Pages::$pages)), 0),
        )),*];
    };
}

resident! {
    "process/fork/resident_1m/small_pages", "1 MiB", 1 << 20, Small, "small";
    "process/fork/resident_16m/small_pages", "16 MiB", 16 << 20, Small, "small";
    "process/fork/resident_16m/huge_pages", "16 MiB", 16 << 20, Huge, "huge";
    "process/fork/resident_256m/small_pages", "256 MiB", 256 << 20, Small, "small";
    "process/fork/resident_256m/huge_pages", "256 MiB", 256 << 20, Huge, "huge";
    "process/fork/resident_1g/small_pages", "1 GiB", 1 << 30, Small, "small";
    "process/fork/resident_1g/huge_pages", "1 GiB", 1 << 30, Huge, "huge";
}

fn forks(holds: Option<(usize, Pages)>, mappings: usize) -> Result<Subject, Unable> {
    let held = holds.map(|(bytes, pages)| residency::resident(bytes, pages)).transpose()?;
    let mapped = match mappings {
        0 => None,
        mappings => {
            let page = page_bytes();
            let file = file::in_memory(page as u64).map_err(lack::of_descriptors)?;
            Some(Region::of_file(file, page, mappings, false).map_err(lack::of_memory)?)
        }
    };
    offspring::fork_and_reap().map_err(lack::of_processes)?;
    Ok(Subject::batched(Forks { held, holds, _mapped: mapped, mappings, unlocked: false }))
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
