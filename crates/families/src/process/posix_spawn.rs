//! posix_spawn of a static program that ends at once: no copy of the parent's memory is made.

use oscost_harness::{Benchmark, Card, SetUp, Subject, Unable};
use oscost_sys::offspring::StaticProgram;

use super::Children;
use crate::lack;

/// `process/posix_spawn`
pub struct PosixSpawn;

static CARD: Card = Card {
    claims: &super::SPAWNED_RUN_AND_REAPED,
    baseline: Some("process/fork"),
    remark: "in the child, glibc queries the action of every signal: the figure includes these calls, about 60",
    ..super::card(
        "process/posix_spawn",
        "posix_spawn of a static program",
        "one posix_spawn of a static program of one page that exits, and the wait for it",
    )
};

impl Benchmark for PosixSpawn {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let program = StaticProgram::new().map_err(lack::of_programs_in_memory)?;
        Children::subject(move || program.spawn_and_reap())
    }
}
