//! Walks over memory: along a chain of pointers, one load after the other, and over blocks, read and set.

use crate::CallError;
use crate::region::{Pages, Region, Smaps};

/// Bytes of a link: one on each cache line.
const LINE: usize = 64;
const WORDS: usize = LINE / size_of::<u64>();

/// A region of memory with one pointer on each cache line, which form one cycle in random order: each load's address is what the
/// load before it found.
#[derive(Debug)]
pub struct Chain {
    region: Region,
    first: usize,
    at: usize,
    walked: u64,
}

impl Chain {
    /// Makes a chain over `bytes` of memory, in an order drawn from `seed`.
    ///
    /// # Errors
    /// The error of mmap or madvise.
    pub fn new(bytes: usize, pages: Pages, seed: u64) -> Result<Self, CallError> {
        let mut region = Region::new(bytes, pages)?;
        region.touch(pages)?;
        let words = region.words();
        let lines = words.len() / WORDS;
        let first = words.as_ptr().expose_provenance();
        // Sattolo's algorithm: whatever is drawn, the permutation is one cycle. It is drawn in place, as numbers of lines.
        for line in 0..lines {
            words[line * WORDS] = line as u64;
        }
        let mut state = seed | 1;
        for line in (1..lines).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let other = usize::try_from(state % line as u64).unwrap_or(0);
            words.swap(line * WORDS, other * WORDS);
        }
        for line in 0..lines {
            let next = usize::try_from(words[line * WORDS]).unwrap_or(0);
            words[line * WORDS] = (first + next * LINE) as u64;
        }
        Ok(Self { region, first, at: first, walked: 0 })
    }

    /// Makes so many loads, each from the address that the one before it found.
    #[inline(always)]
    pub fn walk(&mut self, steps: u64) {
        let mut at = self.at;
        for _ in 0..steps {
            // SAFETY: every link holds the address of a link of the region, which lives as long as self; `new` wrote them
            // all, and nobody writes to them again.
            at = unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() };
        }
        self.at = at;
        self.walked += steps;
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> u64 {
        (self.region.bytes() / LINE) as u64
    }

    /// After how many loads a walk is back where it began.
    pub fn cycle(&mut self) -> u64 {
        let (at, walked) = (self.at, self.walked);
        let mut length = 0;
        loop {
            self.walk(1);
            length += 1;
            if self.at == at || length > self.links() {
                self.walked = walked;
                return length;
            }
        }
    }

    /// How many loads there were since the beginning by the place where the walk is: the remainder by the length of the cycle.
    /// And how many it says there were.
    pub fn place(&mut self) -> (u64, u64) {
        let (at, walked) = (self.at, self.walked);
        self.at = self.first;
        let mut steps = 0;
        while self.at != at && steps <= self.links() {
            self.walk(1);
            steps += 1;
        }
        (self.at, self.walked) = (at, walked);
        (steps, walked % self.links())
    }

    /// What the kernel says of its memory.
    #[must_use]
    pub fn smaps(&self) -> Option<Smaps> {
        self.region.smaps()
    }
}

/// Words of a piece: 1 KiB.
pub const PIECE: usize = 128;

/// The sum of a block's pieces, by loads that the compiler makes as wide as the least processor of the architecture has them. Several
/// sums, as each addition waits for the one before it.
#[inline(always)]
#[must_use]
pub fn sum(piece: &[u64]) -> u64 {
    let (groups, rest) = std::hint::black_box(piece).as_chunks::<8>();
    let mut sums = [0_u64; 8];
    for group in groups {
        for (sum, &word) in sums.iter_mut().zip(group) {
            *sum = sum.wrapping_add(word);
        }
    }
    sums.iter().chain(rest).fold(0, |sum, &word| sum.wrapping_add(word))
}

/// Sets every byte of a block's piece by one memset of libc. memset(3).
#[inline(always)]
pub fn set(piece: &mut [u64], byte: u8) {
    let piece = std::hint::black_box(piece);
    // SAFETY: these are the words of a slice that is ours alone, and a u64 may hold any bytes.
    unsafe { libc::memset(piece.as_mut_ptr().cast(), byte.into(), size_of_val(piece)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_one_cycle_and_knows_its_place() {
        let mut chain = Chain::new(64 << 10, Pages::Small, 42).expect("mmap");
        assert_eq!((chain.links(), chain.cycle()), (1024, 1024));
        assert_eq!(chain.place(), (0, 0));
        chain.walk(1500);
        assert_eq!(chain.place(), (476, 476));
        // A link that leads to itself: the walk stands still, and is never back.
        let first = chain.first;
        chain.region.words()[WORDS] = (first + LINE) as u64;
        chain.walk(2000);
        let (place, said) = chain.place();
        assert!(chain.cycle() == 1 && place != said, "{place} {said}");
    }

    /// As 16 KiB are where pages have 64.
    #[test]
    fn a_chain_may_be_shorter_than_a_page() {
        let bytes = crate::region::page_bytes() / 4;
        let mut chain = Chain::new(bytes, Pages::Small, 42).expect("mmap");
        let links = (bytes / LINE) as u64;
        assert_eq!((chain.links(), chain.cycle()), (links, links));
        chain.walk(links + 3);
        assert_eq!(chain.place(), (3, 3));
    }

    #[test]
    fn a_piece_is_set_and_nothing_beside_it() {
        let mut words = [7; 3];
        set(&mut words[1..2], 0xab);
        assert_eq!(words, [7, 0xabab_abab_abab_abab, 7]);
    }

    #[test]
    fn a_piece_is_summed() {
        assert_eq!(sum(&[1; PIECE]), PIECE as u64);
    }
}
