//! How a build places loops, read from its compiler flags. The build script asks, because rustc does not tell the crate.

/// Whether these flags (of `CARGO_ENCODED_RUSTFLAGS`) let every loop begin on a cache line of 64 bytes; the last one counts.
pub(crate) fn are_aligned(flags: &str) -> bool {
    let words = flags.split(['\u{1f}', ' ']);
    let mut asked = words.filter_map(|word| {
        let word = word.strip_prefix("-C").unwrap_or(word);
        word.strip_prefix("llvm-args=").unwrap_or(word).strip_prefix("-align-loops=")
    });
    asked.next_back().is_some_and(|bytes| bytes.parse::<u32>().is_ok_and(|bytes| bytes >= 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_flag_aligns_loops() {
        for flags in [
            "-Cllvm-args=-align-loops=64",
            "-Ctarget-cpu=native\u{1f}-C\u{1f}llvm-args=-x -align-loops=128",
            "-Cllvm-args=-align-loops=16\u{1f}-Cllvm-args=-align-loops=64",
        ] {
            assert!(are_aligned(flags), "{flags:?}");
        }
        for flags in [
            "",
            "-Ctarget-cpu=native",
            "-Cllvm-args=-align-loops=16",
            "-Cllvm-args=-align-loops=",
            "-Cllvm-args=-align-loops=64\u{1f}-Cllvm-args=-align-loops=1",
        ] {
            assert!(!are_aligned(flags), "{flags:?}");
        }
    }
}
