//! An empty loop: the part that every measured loop has.

use oscost_harness::{Batched, Outcome};
use oscost_sys::clock::keep;

pub struct EmptyLoop;

impl Batched for EmptyLoop {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        // The count itself passes through a register that the compiler may assume nothing of: no instruction is added.
        let mut left = iterations;
        while left > 0 {
            left = keep(left).wrapping_sub(1);
        }
        Ok(())
    }
}
