//! What is counted together: calls whose price is one. The same for a tracer and in the kernel.

/// No class.
pub const NONE: u8 = 255;
/// Added to the operation of a futex that woke nobody.
pub const NOBODY: u8 = 64;

/// Calls of one number whose price is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    /// Number of the call.
    pub number: u16,
    /// What decides the price beside the size, as the rule of the call says.
    pub on: u8,
    /// [`class`] of the size, or [`NONE`].
    pub size: u8,
    /// [`class`] of the number of descriptors or vectors, or [`NONE`].
    pub count: u8,
    /// 1: it slept.
    pub slept: u8,
}

/// The power of four that is the least upper bound of `value`.
#[must_use]
pub fn class(value: u64) -> u8 {
    (0..32).find(|&power| 1u64 << (2 * power) >= value).unwrap_or(32)
}

/// The upper bound of a class.
#[must_use]
pub fn bound(class: u8) -> Option<u64> {
    match class {
        0..32 => Some(1 << (2 * class)),
        NONE => None,
        _ => Some(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_powers_of_four() {
        let bounds = [0, 1, 2, 4, 5, 16, 17, 4096, 4097].map(|value| bound(class(value)));
        assert_eq!(bounds, [1, 1, 4, 4, 16, 16, 64, 4096, 16384].map(Some));
        assert_eq!((bound(class(u64::MAX)), bound(NONE)), (Some(u64::MAX), None));
    }
}
