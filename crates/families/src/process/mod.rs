//! Processes: made, ended and reaped, with what they hold and what they become.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::offspring;

use crate::lack;

mod exec_static;
mod fork;
mod posix_spawn;

pub const ALL: &[&dyn Benchmark] = &[
    &fork::FORK,
    &posix_spawn::PosixSpawn,
    &exec_static::ExecStatic,
    &fork::RESIDENT_1M,
    &fork::RESIDENT_16M,
    &fork::RESIDENT_16M_HUGE,
    &fork::RESIDENT_256M,
    &fork::RESIDENT_256M_HUGE,
    &fork::RESIDENT_1G,
    &fork::RESIDENT_1G_HUGE,
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

/// What makes a child and reaps it, again and again.
struct Children<M> {
    make: M,
}

impl<M: Fn() -> Outcome + 'static> Children<M> {
    /// Tries it once: whoever may start no process learns it here.
    fn subject(make: M) -> Result<Subject, Unable> {
        make().map_err(lack::of_processes)?;
        Ok(Subject::Batched(Box::new(Self { make })))
    }
}

impl<M: Fn() -> Outcome> Batched for Children<M> {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            (self.make)()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(vec![nobody_unreaped()?])
    }
}

/// That no child of this process has ended without being waited for.
fn nobody_unreaped() -> Result<PostCondition, CallError> {
    let unreaped = offspring::is_one_unreaped()?;
    Ok(PostCondition::exactly("children_unreaped", 0.0, f64::from(u8::from(unreaped))))
}
