//! An operation that does nothing, submitted and completed by one io_uring_enter; alone, and with 31 others.

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Outcome, Parameter, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::io_uring::Ring;

use crate::{claims, lack};

pub const ALL: &[&dyn Benchmark] = &[&NOP, &BATCH_32];

/// So many operations that do nothing by one call.
pub struct Nop {
    card: &'static Card,
    batch: u32,
}

/// `io_uring/nop`
pub static NOP: Nop = Nop { card: &CARD, batch: 1 };
/// `io_uring/nop/batch_32`
pub static BATCH_32: Nop = Nop { card: &BATCH_32_CARD, batch: 32 };

const CARD: Card = Card {
    id: "io_uring/nop",
    title: "io_uring: no-op, one per call",
    operation: "one IORING_OP_NOP submitted and its completion taken, by one io_uring_enter of a ring without SQPOLL",
    heading: "one operation",
    group: "io_uring",
    claims: &claims::named(&["io_uring_enter"], 1.0),
    ..Card::BATCHED
};

const BATCH_32_CARD: Card = Card {
    id: "io_uring/nop/batch_32",
    title: "io_uring: no-op, 32 per call",
    operation: "one IORING_OP_NOP submitted and its completion taken, 32 of them by one io_uring_enter of a ring without SQPOLL",
    operations_per_iteration: 32,
    claims: &claims::named(&["io_uring_enter"], 1.0 / 32.0),
    parameters: &[("batch", Parameter::Number(32))],
    baseline: Some("io_uring/nop"),
    ..CARD
};

impl Benchmark for Nop {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let ring = Ring::new(self.batch).map_err(lack::of_io_uring)?;
        Ok(Subject::Batched(Box::new(Submitted { ring, batch: self.batch, made: 0 })))
    }
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
