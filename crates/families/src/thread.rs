//! A thread that is made, ends at once and is joined; with a stack that is mapped for it, or one that another left.

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Outcome, PostCondition, Subject, Unable,
};
use oscost_sys::thread::Threads;

use crate::lack;
use crate::row::row;

pub const ALL: &[&dyn Benchmark] = &[&row(&FRESH, |_| made(false)), &row(&CACHED, |_| made(true))];

/// One thread made and ended; `stacks` mapped for it and unmapped. The joining thread sleeps, or finds the other ended.
const fn claims(stacks: f64) -> [Claim; 5] {
    [
        Claim::CallsNamed(&["clone", "clone3"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["exit"], Bound::Exactly(1.0)),
        Claim::CallsNamed(&["mmap"], Bound::Exactly(stacks)),
        Claim::CallsNamed(&["munmap"], Bound::Exactly(stacks)),
        Claim::VoluntarySwitches(Bound::AtMost(1.5)),
    ]
}

const FRESH: Card = Card {
    claims: &claims(1.0),
    baseline: Some("thread/create_join/stack_cached"),
    remark: "the stack is 64 MiB of address space, more than glibc keeps: it is mapped and unmapped each time",
    ..card(
        "thread/create_join",
        "thread with a new stack",
        "one thread with a stack of 64 MiB that ends at once, from its creation until it is joined",
    )
};
const CACHED: Card = Card {
    claims: &claims(0.0),
    ..card(
        "thread/create_join/stack_cached",
        "thread with the stack of the one before",
        "one thread with a stack of the usual size that ends at once, from its creation until it is joined",
    )
};

const fn card(id: &'static str, title: &'static str, operation: &'static str) -> Card {
    Card {
        id,
        title,
        operation,
        heading: "one thread, made and joined",
        blocks: true,
        group: "thread",
        ..Card::BATCHED
    }
}

fn made(stack_is_kept: bool) -> Result<Subject, Unable> {
    if stack_is_kept && !cfg!(target_env = "gnu") {
        return Err(lack::of_kept_stacks());
    }
    let threads = Threads::new(stack_is_kept)?;
    threads.create_and_join().map_err(lack::of_processes)?;
    let before = threads.ran();
    Ok(Subject::batched(Made { threads, made: before }))
}

struct Made {
    threads: Threads,
    made: u64,
}

impl Batched for Made {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.threads.create_and_join()?;
        }
        self.made += iterations;
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(vec![PostCondition::exactly("threads_that_ran", self.made as f64, self.threads.ran() as f64)])
    }
}
