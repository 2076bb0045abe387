//! fork and exec of a static program that ends at once.

use oscost_harness::{Benchmark, Card, SetUp, Subject, Unable};
use oscost_sys::offspring::StaticProgram;

use super::Children;
use crate::lack;

/// `process/exec_static`
pub struct ExecStatic;

static CARD: Card = Card {
    claims: &super::COPIED_RUN_AND_REAPED,
    baseline: Some("process/fork"),
    subtract: Some("process/fork"),
    ..super::card(
        "process/exec_static",
        "fork and exec of a static program",
        "one fork, the exec of a static program of one page that exits, and the wait for it",
    )
};

impl Benchmark for ExecStatic {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let program = StaticProgram::new().map_err(lack::of_programs_in_memory)?;
        Children::subject(move || program.fork_exec_and_reap())
    }
}
