//! Load `cpu`: a loop that never waits.

use super::Round;

/// Passes of a round: some milliseconds.
const PASSES: u64 = 1 << 20;

/// Nothing to make.
pub fn prepare() -> Round {
    Box::new(|| {
        let mut value = 1u64;
        for pass in 0..PASSES {
            value = std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(pass));
        }
        Ok(())
    })
}
