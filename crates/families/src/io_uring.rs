//! An operation that does nothing, submitted and completed by one io_uring_enter; alone, and with 31 others.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::io_uring::Ring;

use crate::row::row;
use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&row(&NOP, |_| submitted(1)), &row(&BATCH_32, |_| submitted(32))];

const NOP: Card = Card {
    id: "io_uring/nop",
    title: "io_uring: no-op, one per call",
    operation: "one IORING_OP_NOP submitted and its completion taken, by one io_uring_enter of a ring without SQPOLL",
    heading: "one operation",
    group: "io_uring",
    claims: &claims::named(&["io_uring_enter"], 1.0),
    ..Card::BATCHED
};

const BATCH_32: Card = Card {
    id: "io_uring/nop/batch_32",
    title: "io_uring: no-op, 32 per call",
    operation: "one IORING_OP_NOP submitted and its completion taken, 32 of them by one io_uring_enter of a ring without SQPOLL",
    operations_per_iteration: 32,
    claims: &claims::named(&["io_uring_enter"], 1.0 / 32.0),
    parameters: &[("batch", Parameter::Number(32))],
    baseline: Some("io_uring/nop"),
    ..NOP
};

/// So many operations that do nothing by one call.
fn submitted(batch: u32) -> Result<Subject, Unable> {
    let ring = Ring::new(batch).map_err(lack::of_io_uring)?;
    Ok(Subject::batched(Submitted { ring, batch, made: 0 }))
}

struct Submitted {
    ring: Ring,
    batch: u32,
    /// Operations that batches were asked for.
    made: u64,
}

impl Batched for Submitted {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.ring.nothing(self.batch)?;
        }
        self.made += iterations * u64::from(self.batch);
        Ok(())
    }

    /// All were submitted, taken by the kernel by its own count, and completed in their order.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let (submitted, completed) = self.ring.counts();
        let turned_over = f64::from(self.made as u32);
        Ok(vec![
            PostCondition::exactly("submissions", self.made as f64, submitted as f64),
            PostCondition::exactly("completions", self.made as f64, completed as f64),
            PostCondition::exactly("taken_by_the_kernel", turned_over, self.ring.taken_by_kernel().into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_were_never_submitted_are_contradicted() {
        let Ok(ring) = Ring::new(1) else { return println!("SKIP operations_never_submitted: no io_uring") };
        let mut lying = Submitted { ring, batch: 1, made: 0 };
        lying.batch(5).expect("entered");
        assert!(lying.verify().expect("looked at").iter().all(PostCondition::holds));
        lying.made += 5;
        let found = lying.verify().expect("looked at");
        assert!(found.iter().all(|it| !it.holds()), "{found:?}");
    }
}
