//! Processes: made, ended and reaped, with what they hold and what they become.

use oscost_harness::{Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, Unable};
use oscost_sys::offspring::{self, StaticProgram};
use oscost_sys::usage::{self, Whose};

use crate::lack;
use crate::operation::operation;
use crate::row::joined;

mod fork;

pub const ALL: &[&dyn Benchmark] = &joined::<11>(&[SMALL_ONES, fork::RESIDENT]);

const SMALL_ONES: &[&dyn Benchmark] = &[
    &fork::FORK,
    // No copy of the parent's memory is made.
    &operation(
        &Card {
            claims: &SPAWNED_RUN_AND_REAPED,
            baseline: Some("process/fork"),
            remark: "glibc before 2.38 looks at the action of every signal in the child: the figure includes these calls",
            ..card(
                "process/posix_spawn",
                "posix_spawn of a static program",
                "one posix_spawn of a static program of one page that exits, and the wait for it",
            )
        },
        |_| tried(StaticProgram::spawn_and_reap),
        |program| program.spawn_and_reap(),
    )
    .verify(|program| Ok(vec![nobody_unreaped()?, faults_of_a_child(|| program.spawn_and_reap())?])),
    &operation(
        &Card {
            claims: &COPIED_RUN_AND_REAPED,
            baseline: Some("process/fork"),
            subtract: Some("process/fork"),
            ..card(
                "process/exec_static",
                "fork and exec of a static program",
                "one fork, the exec of a static program of one page that exits, and the wait for it",
            )
        },
        |_| tried(StaticProgram::fork_exec_and_reap),
        |program| program.fork_exec_and_reap(),
    )
    .verify(|program| {
        let mut found = vec![nobody_unreaped()?, faults_of_a_child(|| program.fork_exec_and_reap())?];
        found.extend(private_bytes());
        found.extend(mappings(0));
        Ok(found)
    }),
    &fork::MAPPINGS_1000,
];

/// Both endings: one child made, ended by itself, and reaped. What else the C library does is its own affair.
const MADE_AND_REAPED: [Claim; 4] = [
    Claim::CallsNamed(&["clone", "clone3", "fork", "vfork"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["exit_group"], Bound::Exactly(1.0)),
    Claim::CallsNamed(&["wait4", "waitid"], Bound::Exactly(1.0)),
    // The parent sleeps until the child has ended, or finds it ended.
    Claim::VoluntarySwitches(Bound::AtMost(1.0 + RARE)),
];

/// The same, of a copy that becomes another program.
const COPIED_RUN_AND_REAPED: [Claim; 5] = {
    let [made, ended, reaped, switches] = MADE_AND_REAPED;
    [made, EXECUTED, ended, reaped, switches]
};
/// The same, of a child that shares its parent's memory until then: the parent sleeps until the exec, too.
const SPAWNED_RUN_AND_REAPED: [Claim; 5] = {
    let [made, ended, reaped, _] = MADE_AND_REAPED;
    [made, EXECUTED, ended, reaped, Claim::VoluntarySwitches(Bound::AtMost(2.0 + RARE))]
};
/// Nothing else of the operation waits, but for a lock of the kernel that somebody else has: less than once in a hundred.
const RARE: f64 = 0.01;
const EXECUTED: Claim = Claim::CallsNamed(&["execve"], Bound::Exactly(1.0));

/// A card of this family.
const fn card(id: &'static str, title: &'static str, operation: &'static str) -> Card {
    Card {
        id,
        title,
        operation,
        heading: "one child, made and reaped",
        blocks: true,
        group: "process",
        claims: &MADE_AND_REAPED,
        ..Card::BATCHED
    }
}

/// A program, run once: whoever may start no process learns it here.
fn tried(run: fn(&StaticProgram) -> Outcome) -> Result<StaticProgram, Unable> {
    let program = StaticProgram::new().map_err(lack::of_programs_in_memory)?;
    run(&program).map_err(lack::of_processes)?;
    Ok(program)
}

/// A small process has less private memory than this: the figure is that of the program itself, with what it links.
const SMALL: f64 = 32.0 * 1048576.0;

/// That the process which forks is small.
fn private_bytes() -> Option<PostCondition> {
    oscost_sys::region::private_bytes()
        .map(|bytes| PostCondition::new("private_bytes", Bound::AtMost(SMALL), bytes as f64))
}

/// That the process which forks has at least so many mappings. The bill of a program prices them by themselves.
fn mappings(least: usize) -> Option<PostCondition> {
    oscost_sys::region::mappings()
        .map(|mappings| PostCondition::new("mappings", Bound::AtLeast(least as f64), mappings as f64))
}

/// That a child runs: it touches a page at least. The bill of a program prices such faults by themselves.
fn faults_of_a_child(mut make: impl FnMut() -> Outcome) -> Result<PostCondition, CallError> {
    const CHILDREN: u32 = 16;
    let before = usage::own(Whose::Children)?;
    (0..CHILDREN).try_for_each(|_| make())?;
    let faults = usage::own(Whose::Children)?.since(&before).faults() as f64;
    Ok(PostCondition::new("faults_of_a_child", Bound::AtLeast(1.0), faults / f64::from(CHILDREN)))
}

/// That no child of this process has ended without being waited for.
fn nobody_unreaped() -> Result<PostCondition, CallError> {
    Ok(PostCondition::is("children_unreaped", false, offspring::is_one_unreaped()?))
}
