//! The pipe's price without a switch: one process writes a byte and reads it back. lmbench subtracts this, document 004
//! does not; both figures need it in their group.

use oscost_harness::{Batched, Benchmark, CallError, Card, Outcome, Placement, PostCondition, Subject};
use oscost_sys::pipe::{self, Pipe, read_byte, write_byte};

use super::two_pipes;
use crate::row::{Row, row};
use crate::{claims, lack};

pub const SAME_CPU: &dyn Benchmark = &alone(const { &card("the pipe alone", Placement::SameCpu) });
pub const CROSS_CPU: &dyn Benchmark = &alone(const { &card("the pipe alone", Placement::CrossCpu) });
pub const UNPINNED: &dyn Benchmark = &alone(const { &card("the pipe alone, unpinned", Placement::Unpinned) });

const fn card(title: &'static str, placement: Placement) -> Card {
    Card {
        operation: "one write and one read of 1 byte through a pipe, in one process",
        heading: "one write and one read through a pipe, no switch",
        operations_per_iteration: 1,
        blocks: false,
        claims: const { &claims::named(&["read", "write"], 2.0) },
        baseline: None,
        subtract: None,
        ..two_pipes::card(two_pipes::pipe_alone(placement), title, placement)
    }
}

const fn alone(card: &'static Card) -> Row {
    row(card, |_| Ok(Subject::batched(Alone(Pipe::new().map_err(lack::of_descriptors)?))))
}

struct Alone(Pipe);

impl Batched for Alone {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            write_byte(&self.0.writer)?;
            read_byte(&self.0.reader)?;
        }
        Ok(())
    }

    /// A byte that is written is in the pipe, and one that is read is not.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let unread = || pipe::unread(&self.0.reader).map(f64::from);
        let mut found = vec![PostCondition::exactly("bytes_at_rest", 0.0, unread()?)];
        write_byte(&self.0.writer)?;
        let written = unread()?;
        found.push(PostCondition::exactly("bytes_after_a_write", 1.0, written));
        if written > 0.0 {
            read_byte(&self.0.reader)?;
            found.push(PostCondition::exactly("bytes_after_a_read", 0.0, unread()?));
        }
        Ok(found)
    }
}
