//! A KiB of a block that is read, written, set or copied, piece by piece from its beginning to its end and again.

use oscost_harness::{
    Batched, Benchmark, CallError, CallPath, Card, Outcome, Parameter, PostCondition, Subject, Unable,
};
use oscost_sys::memory_walk::{self, PIECE};
use oscost_sys::region::{Pages, Region};

use crate::row::row;
use crate::{claims, lack, residency};

const PIECE_BYTES: usize = PIECE * size_of::<u64>();

/// What is done with a piece.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Read,
    Write,
    Set,
    Copy,
}

impl Way {
    /// How a piece is moved: as the machine code of the loop has it (`oscost/tests/it/disassembly.rs`).
    const fn remark(self) -> &'static str {
        match self {
            Self::Read => "1024 divided by the ns is GB/s; an inlined loop of loads of 16 bytes",
            Self::Write => {
                "1024 divided by the ns is GB/s; an inlined loop of stores of 16 bytes: memory/bandwidth/memset is libc's way"
            }
            Self::Set => "1024 divided by the ns is GB/s; one memset of libc",
            Self::Copy => "1024 divided by the ns is GB/s; one memcpy of libc",
        }
    }
}

macro_rules! blocks {
    ($($id:literal, $way:ident, $word:literal, $verb:literal, $by:literal, $size:literal, $bytes:expr;)*) => {
        pub const ALL: &[&dyn Benchmark] = &[$(&row(
            &Card {
                id: $id,
                title: concat!($word, " 1 KiB of ", $size),
                operation: concat!($verb, " the next 1 KiB of a block of ", $size, " by ", $by),
                heading: "1 KiB of a block",
                call_path: CallPath::UserSpace,
                revision: 3,
                batch_at_least: super::once_around($bytes, PIECE_BYTES),
                // The caches are what it measures: nobody else may use them between its batches.
                group: $id,
                claims: &claims::exactly(0.0),
                parameters: &[("working_set_bytes", Parameter::Number($bytes)), ("way", Parameter::Text($word))],
                remark: Way::$way.remark(),
                ..Card::BATCHED
            },
            |_| moved(Way::$way, $bytes),
        )),*];
    };
}

blocks! {
    "memory/bandwidth/read/block_16k", Read, "reading", "reading", "loads of 16 bytes", "16 KiB", 16 << 10;
    "memory/bandwidth/read/block_1m", Read, "reading", "reading", "loads of 16 bytes", "1 MiB", 1 << 20;
    "memory/bandwidth/read/block_64m", Read, "reading", "reading", "loads of 16 bytes", "64 MiB", 64 << 20;
    "memory/bandwidth/write/block_16k", Write, "writing", "writing", "stores of 16 bytes", "16 KiB", 16 << 10;
    "memory/bandwidth/write/block_1m", Write, "writing", "writing", "stores of 16 bytes", "1 MiB", 1 << 20;
    "memory/bandwidth/write/block_64m", Write, "writing", "writing", "stores of 16 bytes", "64 MiB", 64 << 20;
    "memory/bandwidth/memset/block_16k", Set, "memset of", "setting", "libc's memset", "16 KiB", 16 << 10;
    "memory/bandwidth/memset/block_1m", Set, "memset of", "setting", "libc's memset", "1 MiB", 1 << 20;
    "memory/bandwidth/memset/block_64m", Set, "memset of", "setting", "libc's memset", "64 MiB", 64 << 20;
    "memory/bandwidth/copy/block_16k", Copy, "copying", "copying", "libc's memcpy", "16 KiB", 16 << 10;
    "memory/bandwidth/copy/block_1m", Copy, "copying", "copying", "libc's memcpy", "1 MiB", 1 << 20;
    "memory/bandwidth/copy/block_64m", Copy, "copying", "copying", "libc's memcpy", "64 MiB", 64 << 20;
}

fn moved(way: Way, bytes: usize) -> Result<Subject, Unable> {
    residency::enough(2 * bytes)?;
    let block = || -> Result<Region, Unable> {
        let mut region = Region::new(bytes, Pages::Small).map_err(lack::of_memory)?;
        region.touch(Pages::Small)?;
        region.words().fill(1);
        Ok(region)
    };
    let other = if way == Way::Copy { Some(block()?) } else { None };
    let pieces = Pieces { block: block()?, other, at: 0, sum: 0, pieces: 0, value: 1 };
    Ok(match way {
        Way::Read => Subject::batched(Read(pieces)),
        Way::Write => Subject::batched(Write(pieces)),
        Way::Set => Subject::batched(Set(pieces)),
        Way::Copy => Subject::batched(Copied(pieces)),
    })
}

struct Pieces {
    block: Region,
    /// Where copies go.
    other: Option<Region>,
    at: usize,
    sum: u64,
    pieces: u64,
    value: u64,
}

impl Pieces {
    /// The next piece begins here, in words.
    #[inline(always)]
    fn next(&mut self, words: usize) -> std::ops::Range<usize> {
        let start = self.at;
        self.at = if start + PIECE >= words { 0 } else { start + PIECE };
        start..start + PIECE
    }

    /// Pieces that go once around what a cache may hold of the block.
    fn around(&self) -> u64 {
        super::once_around(self.block.bytes(), PIECE_BYTES)
    }

    /// The byte that memset writes.
    fn byte(&self) -> u8 {
        self.value.to_le_bytes()[0]
    }

    /// The words that are not `value`.
    fn without(&mut self, value: u64) -> PostCondition {
        let stale = self.block.words().iter().filter(|&&word| word != value).count();
        PostCondition::exactly("words_left_unwritten", 0.0, stale as f64)
    }

    /// So many pieces are a whole block.
    fn all(&mut self) -> u64 {
        (self.block.words().len() / PIECE) as u64
    }
}

struct Read(Pieces);
struct Write(Pieces);
struct Set(Pieces);
struct Copied(Pieces);

impl Batched for Read {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let range = self.0.next(self.0.block.bytes() / 8);
            self.0.sum = self.0.sum.wrapping_add(memory_walk::sum(&self.0.block.words()[range]));
        }
        self.0.pieces += iterations;
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.batch(self.0.around())
    }

    /// Every word of every piece was read: each adds one.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        let expected = self.0.pieces * PIECE as u64;
        Ok(vec![PostCondition::exactly("sum_of_the_words", expected as f64, self.0.sum as f64)])
    }
}

impl Batched for Write {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let value = self.0.value;
        for _ in 0..iterations {
            let range = self.0.next(self.0.block.bytes() / 8);
            std::hint::black_box(&mut self.0.block.words()[range]).fill(value);
        }
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.batch(self.0.around())
    }

    /// A round with another value leaves no word of the old one.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.0.value += 1;
        self.0.at = 0;
        let all = self.0.all();
        self.batch(all)?;
        let value = self.0.value;
        Ok(vec![self.0.without(value)])
    }
}

impl Batched for Set {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        let byte = self.0.byte();
        for _ in 0..iterations {
            let range = self.0.next(self.0.block.bytes() / 8);
            memory_walk::set(&mut self.0.block.words()[range], byte);
        }
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.batch(self.0.around())
    }

    /// A round with another byte leaves no word without it.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.0.value += 1;
        self.0.at = 0;
        let all = self.0.all();
        self.batch(all)?;
        let word = u64::from_ne_bytes([self.0.byte(); 8]);
        Ok(vec![self.0.without(word)])
    }
}

impl Batched for Copied {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            let range = self.0.next(self.0.block.bytes() / 8);
            if let Some(other) = &mut self.0.other {
                let from = &self.0.block.words()[range.clone()];
                std::hint::black_box(&mut other.words()[range]).copy_from_slice(from);
            }
        }
        Ok(())
    }

    fn arm(&mut self) -> Outcome {
        self.batch(self.0.around())
    }

    /// A round over new values leaves the copy equal to the block.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.0.value += 1;
        let value = self.0.value;
        self.0.block.words().fill(value);
        self.0.at = 0;
        let all = self.0.all();
        self.batch(all)?;
        Ok(vec![self.copied()])
    }
}

impl Copied {
    fn copied(&mut self) -> PostCondition {
        let (words, value) = (self.0.block.words().len(), self.0.value);
        let same =
            self.0.other.iter_mut().map(|other| other.words().iter().filter(|&&word| word == value).count());
        PostCondition::exactly("words_copied", words as f64, same.sum::<usize>() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(other: bool) -> Pieces {
        let block = || {
            let mut region = Region::new(1 << 14, Pages::Small).expect("mapped");
            region.words().fill(1);
            region
        };
        Pieces { block: block(), other: other.then(block), at: 0, sum: 0, pieces: 0, value: 1 }
    }

    #[test]
    fn bytes_that_are_never_touched_are_contradicted() {
        let mut read = Read(pieces(false));
        read.batch(40).expect("read");
        assert!(read.verify().expect("looked at").iter().all(PostCondition::holds));
        // A piece that is counted and not read.
        read.0.pieces += 1;
        assert!(!read.verify().expect("looked at").iter().all(PostCondition::holds));
        let mut write = Write(pieces(false));
        assert!(write.verify().expect("looked at").iter().all(PostCondition::holds));
        write.0.value += 1;
        write.batch(3).expect("written");
        let value = write.0.value;
        assert!(!write.0.without(value).holds(), "three pieces of sixteen were written");
        let mut set = Set(pieces(false));
        assert!(set.verify().expect("looked at").iter().all(PostCondition::holds));
        set.0.value += 1;
        set.batch(3).expect("set");
        assert!(
            !set.0.without(u64::from_ne_bytes([set.0.byte(); 8])).holds(),
            "three pieces of sixteen were set"
        );
        let mut copied = Copied(pieces(true));
        assert!(copied.verify().expect("looked at").iter().all(PostCondition::holds));
        let mut nowhere = Copied(pieces(false));
        assert!(!nowhere.verify().expect("looked at").iter().all(PostCondition::holds));
    }
}
