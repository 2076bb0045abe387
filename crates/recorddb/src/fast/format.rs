//! The words of layout `fast`: pure reading and writing, no I/O.
//!
//! One file of words of 8 bytes in the byte order of the machine: a header, arenas, stripes, chunks of blocks. A block is
//! a record, a node of the tree, or free. Everything that is reached is reached through a *slot*, one word: to link, to
//! unlink and to replace is to store one word, so a process that is killed leaves either what was before or what is
//! after. What it had taken and not linked is lost until the next recovery, and nothing else.

use crate::error::Damage;

/// "recorddb" in the byte order of the machine that wrote it.
pub const MAGIC: u64 = u64::from_le_bytes(*b"recorddb");
/// Version of the layout that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Words of the header, by their index.
pub mod header {
    /// [`super::MAGIC`]; written last when a database is made.
    pub const MAGIC: u64 = 0;
    /// [`super::VERSION`].
    pub const VERSION: u64 = 1;
    /// Seed of the hash.
    pub const SEED: u64 = 2;
    /// Check over the three above.
    pub const CHECK: u64 = 3;
    /// Number of the way to lock of those who have it open, from 1.
    pub const LOCK_WAY: u64 = 4;
    /// Where the next chunk will begin.
    pub const END: u64 = 5;
    /// Not 0 after a process was killed, until space is recovered.
    pub const UNCLEAN: u64 = 6;
    /// Heads of the free lists that all share, one a class.
    pub const POOL: u64 = 64;
    /// Words of the header.
    pub const WORDS: u64 = 128;
}

/// Arenas: each opener has one for itself, to allocate without a lock.
pub const ARENAS: usize = 128;
/// Words of an arena: where its chunk is used up to, in use or not, heads of its free lists.
pub const ARENA_WORDS: u64 = 64;
/// Whether an arena's owner is at work, or was killed.
pub const ARENA_IN_USE: u64 = 1;
/// Heads of an arena's free lists.
pub const ARENA_LISTS: u64 = 2;

/// Word of arena `number`.
#[must_use]
pub const fn arena(number: usize) -> u64 {
    header::WORDS + number as u64 * ARENA_WORDS
}

/// Stripes: each has a lock and some roots.
pub const STRIPES: u32 = 1024;
/// Words of a stripe: its mutex on one cache line, its roots on the next.
pub const STRIPE_WORDS: u64 = 16;
/// Where the roots of a stripe begin.
pub const ROOTS_AT: u64 = 8;
/// Roots of a stripe.
pub const ROOTS: u64 = 8;
/// Locks besides those of the stripes; each takes the words of a stripe behind them.
pub const OTHER_LOCKS: u32 = 3;

/// Word of stripe `number`.
#[must_use]
pub const fn stripe(number: u32) -> u64 {
    header::WORDS + ARENAS as u64 * ARENA_WORDS + number as u64 * STRIPE_WORDS
}

/// Where chunks begin.
pub const FIRST_CHUNK: u64 = stripe(STRIPES + OTHER_LOCKS).next_multiple_of(512);
/// Words of a chunk.
pub const CHUNK: u64 = 2048;
/// Words of a chunk before its first block.
pub const CHUNK_HEADER: u64 = 1;
/// The first word of a chunk.
pub const CHUNK_MARK: u64 = 0x6b6e_7568_6320_0001;

/// Where the chunk of `at` ends. What is not within a chunk, its first word included, has none.
#[must_use]
pub const fn chunk_end(at: u64) -> u64 {
    if at < FIRST_CHUNK || (at - FIRST_CHUNK).is_multiple_of(CHUNK) {
        at
    } else {
        // A damaged file may hold any number.
        (at - (at - FIRST_CHUNK) % CHUNK).saturating_add(CHUNK)
    }
}

/// Whether chunks may end there.
#[must_use]
pub const fn is_end(at: u64) -> bool {
    at >= FIRST_CHUNK && (at - FIRST_CHUNK).is_multiple_of(CHUNK)
}

/// What is wrong with an end that is none.
pub const NO_END: &str = "an end that is between two chunks";

/// A slot without a record. Not 0: zeros are what a file that was cut reads as.
pub const EMPTY: u64 = 1;
/// Slots of a node.
pub const FAN_OUT: u64 = 16;
/// Words of a node.
pub const NODE_WORDS: u64 = 1 + FAN_OUT;
/// Shift of the hash by which a stripe's root is chosen; below it each level of nodes takes 4 bits.
pub const ROOT_SHIFT: u32 = 64 - 10 - 3;

/// Which stripe and which of its roots a hash belongs to.
#[inline]
#[must_use]
// ten bits
pub const fn root(hash: u64) -> (u32, u64) {
    ((hash >> 54) as u32, (hash >> ROOT_SHIFT) & (ROOTS - 1))
}

/// What a slot points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Nothing.
    Empty,
    /// A record, and 15 bits of its hash.
    Record(u64, u16),
    /// A node.
    Node(u64),
}

const RECORD_BIT: u64 = 1 << 15;
const NODE_TAG: u64 = 0x4e0d;

/// The slot that points to a record.
#[inline]
#[must_use]
pub const fn record_slot(at: u64, hash: u64) -> u64 {
    at << 16 | RECORD_BIT | (hash & (RECORD_BIT - 1))
}

/// The slot that points to a node.
#[inline]
#[must_use]
pub const fn node_slot(at: u64) -> u64 {
    at << 16 | NODE_TAG
}

/// Reads a slot that stands at `at`.
///
/// # Errors
/// Damage, if it is none.
#[inline]
// 15 bits
pub fn slot(word: u64, at: u64) -> Result<Slot, Damage> {
    let target = word >> 16;
    if word == EMPTY {
        Ok(Slot::Empty)
    } else if target < FIRST_CHUNK {
        Err(damage("a slot that points to no block", at))
    } else if word & RECORD_BIT != 0 {
        Ok(Slot::Record(target, (word & (RECORD_BIT - 1)) as u16))
    } else if word & 0xffff == NODE_TAG {
        Ok(Slot::Node(target))
    } else {
        Err(damage("a slot that points to no block", at))
    }
}

/// Damage at a word.
#[must_use]
pub const fn damage(what: &'static str, word: u64) -> Damage {
    Damage { what, file: "database", at: word.saturating_mul(8) }
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Header, hash, check, key, value.
    Record,
    /// Header, slots.
    Node,
    /// Header, next free block of the same class.
    Free,
}

/// The first word of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What it is.
    pub kind: BlockKind,
    /// Its size class.
    pub class: usize,
    /// Bytes of the key. Of a node: half of a mark of where it hangs.
    pub key: usize,
    /// Bytes of the value. Of a node: the other half.
    pub value: usize,
}

/// Words of a record before its key.
pub const RECORD_HEAD: u64 = 3;
/// Longest key, bytes.
pub const LONGEST_KEY: usize = 1024;
/// Longest value, bytes.
pub const LONGEST_VALUE: usize = 7000;

const MARK: u64 = 0xb10c;

impl Head {
    /// A node below a slot at `shift`, whose keys have hashes that begin as `hash` does.
    #[inline]
    #[must_use]
    // 32 bits of a hash
    pub const fn node(class: usize, hash: u64, shift: u32) -> Self {
        let mark = fold(hash >> shift, shift as u64);
        Self {
            kind: BlockKind::Node,
            class,
            key: (mark >> 16 & 0xffff) as usize,
            value: (mark & 0xffff) as usize,
        }
    }

    /// A free block.
    #[must_use]
    pub const fn free(class: usize) -> Self {
        Self { kind: BlockKind::Free, class, key: 0, value: 0 }
    }

    /// As a word: 16 bits each of mark and kind with class, key and value.
    #[inline]
    #[must_use]
    pub const fn word(self) -> u64 {
        let kind = match self.kind {
            BlockKind::Record => 1,
            BlockKind::Node => 2,
            BlockKind::Free => 3,
        };
        MARK << 48 | kind << 40 | (self.class as u64) << 32 | (self.key as u64) << 16 | self.value as u64
    }

    /// Reads the head of the block at `at`.
    ///
    /// # Errors
    /// Damage, if it is none.
    #[inline]
    // fields of 16 bits
    pub fn read(word: u64, at: u64) -> Result<Self, Damage> {
        let kind = match (word >> 48, word >> 40 & 0xff) {
            (MARK, 1) => BlockKind::Record,
            (MARK, 2) => BlockKind::Node,
            (MARK, 3) => BlockKind::Free,
            _ => return Err(damage("a block without its head", at)),
        };
        let (class, key, value) =
            ((word >> 32 & 0xff) as usize, (word >> 16 & 0xffff) as usize, word & 0xffff);
        let head = Self { kind, class, key, value: value as usize };
        let fits = class < CLASSES
            && match kind {
                BlockKind::Record => {
                    key > 0
                        && key <= LONGEST_KEY
                        && head.value <= LONGEST_VALUE
                        && head.words() <= SIZES[class]
                }
                BlockKind::Node => NODE_WORDS <= SIZES[class],
                BlockKind::Free => key == 0 && value == 0,
            };
        if fits { Ok(head) } else { Err(damage("a block that does not hold what it says", at)) }
    }

    /// Words that a record with this head takes.
    #[inline]
    #[must_use]
    pub const fn words(self) -> u64 {
        RECORD_HEAD + (self.key.div_ceil(8) + self.value.div_ceil(8)) as u64
    }
}

/// Size classes.
pub const CLASSES: usize = 13 + 8 * 6;

/// Words of a block of each class: 4 to 16, then eight to a doubling, to 1024.
pub const SIZES: [u64; CLASSES] = {
    let mut sizes = [0; CLASSES];
    let (mut class, mut size, mut step) = (0, 4u64, 1);
    while class < CLASSES {
        sizes[class] = size;
        if size >= 16 && size.is_power_of_two() {
            step = size / 8;
        }
        size += step;
        class += 1;
    }
    sizes
};

/// The smallest class that holds so many words. `None` if none does.
#[inline]
#[must_use]
// at most 1024
pub const fn class_of(words: u64) -> Option<usize> {
    if words <= 4 {
        return Some(0);
    }
    if words <= 16 {
        return Some(words as usize - 4);
    }
    if words > SIZES[CLASSES - 1] {
        return None;
    }
    // The doubling that it lies in, and its eighth of it, upwards.
    let below = words - 1;
    let doubling = below.ilog2();
    let eighth = (below - (1 << doubling)) >> (doubling - 3);
    Some(12 + (doubling as usize - 4) * 8 + eighth as usize + 1)
}

/// The largest class of at most so many words.
#[must_use]
pub fn class_within(words: u64) -> Option<usize> {
    SIZES.iter().rposition(|size| *size <= words)
}

/// Folds one word into a running hash: the two halves of a product.
#[inline]
#[must_use]
// the halves
pub const fn fold(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word) as u128 * 0xf39c_c060_5ced_c835;
    let mixed = (product >> 64) as u64 ^ product as u64;
    mixed.wrapping_add(hash.rotate_left(23))
}

/// The hash of a key, given as words padded with zeros, and its length in bytes.
#[inline]
#[must_use]
pub fn hash(seed: u64, key: &[u64], length: usize) -> u64 {
    let hash = key.iter().fold(seed ^ length as u64, |hash, word| fold(hash, *word));
    fold(hash, 0x6a09_e667_f3bc_c908)
}

/// Packs bytes into words, the last one padded with zeros; how many there are.
#[inline]
pub fn pack(bytes: &[u8], words: &mut [u64]) -> usize {
    let mut count = 0;
    for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
        *word = match chunk.first_chunk::<8>() {
            Some(whole) => u64::from_ne_bytes(*whole),
            // Byte by byte: a call of memcpy for so few costs more.
            None => u64::from_le(chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))),
        };
        count += 1;
    }
    count
}

/// The check over the header's words that never change.
#[must_use]
pub fn header_check(version: u64, seed: u64) -> u64 {
    [MAGIC, version, seed, u64::from(STRIPES)].iter().fold(CHUNK, |check, word| fold(check, *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_the_smallest_class_that_holds_it() {
        assert_eq!((SIZES[0], SIZES[12], SIZES[13], SIZES[CLASSES - 1]), (4, 16, 18, 1024));
        for words in 1..=1024 {
            let class = class_of(words).expect("a class");
            assert!(SIZES[class] >= words, "{words} in {}", SIZES[class]);
            assert!(class == 0 || SIZES[class - 1] < words, "{words} in {}", SIZES[class]);
        }
        assert_eq!(class_of(1025), None);
        assert_eq!(class_within(3), None);
        assert_eq!(class_within(17), Some(12));
    }

    #[test]
    fn heads_and_slots_survive_being_written() {
        let head = Head { kind: BlockKind::Record, class: 20, key: 11, value: 39 };
        assert_eq!(Head::read(head.word(), 0), Ok(head));
        assert_eq!(Head::read(Head::free(60).word(), 0), Ok(Head::free(60)));
        assert!(Head::read(0, 0).is_err());
        assert_eq!(slot(record_slot(FIRST_CHUNK, 0x1_ffff), 0), Ok(Slot::Record(FIRST_CHUNK, 0x7fff)));
        assert_eq!(slot(node_slot(FIRST_CHUNK), 0), Ok(Slot::Node(FIRST_CHUNK)));
        assert!(slot(0, 0).is_err());
    }

    #[test]
    fn hashes_of_like_keys_spread_over_the_stripes() {
        let mut stripes = [0u32; STRIPES as usize];
        for number in 0..102_400u32 {
            let mut words = [0; 4];
            let key = format!("c0-{number}");
            let count = pack(key.as_bytes(), &mut words);
            stripes[root(hash(1, &words[..count], key.len())).0 as usize] += 1;
        }
        // 100 a stripe, standard deviation 10.
        assert!(stripes.iter().all(|count| (40..170).contains(count)));
    }

    #[test]
    fn a_slot_points_to_a_block_or_to_nothing() {
        assert_eq!(slot(EMPTY, 5), Ok(Slot::Empty));
        let damaged = Err(damage("a slot that points to no block", 5));
        for word in [0, 2, record_slot(FIRST_CHUNK - 1, 1), node_slot(FIRST_CHUNK - 1), FIRST_CHUNK << 16 | 1]
        {
            assert_eq!(slot(word, 5), damaged, "{word:x}");
        }
    }

    #[test]
    fn a_head_holds_what_its_class_has_room_for() {
        let record = |class, key, value| Head { kind: BlockKind::Record, class, key, value };
        let read = |head: Head| Head::read(head.word(), 0).is_ok();
        // Three words of its own, and those of key and value: a class of four has room for eight bytes.
        assert!(read(record(0, 8, 0)) && !read(record(0, 9, 0)) && !read(record(0, 8, 1)));
        assert!(read(record(1, 1, 1)) && !read(record(1, 0, 1)), "no key is empty");
        let most = CLASSES - 1;
        assert!(read(record(most, LONGEST_KEY, 1)) && !read(record(most, LONGEST_KEY + 1, 1)));
        assert!(read(record(most, 1, LONGEST_VALUE)) && !read(record(most, 1, LONGEST_VALUE + 1)));
        assert!(!read(record(CLASSES, 1, 1)), "there is no such class");
        assert!(read(Head::node(13, 7, 4)) && !read(Head::node(12, 7, 4)), "16 words hold no node");
        assert!(read(Head::free(3)));
        assert!(!read(Head { key: 1, ..Head::free(3) }) && !read(Head { value: 1, ..Head::free(3) }));
        assert_eq!(Head::read(7, 9), Err(damage("a block without its head", 9)));
    }

    #[test]
    fn classes_hold_no_more_than_is_there() {
        assert_eq!([3, 4, 15, 16, 18, 19, 20, 1024, 9999].map(class_within), {
            [None, Some(0), Some(11), Some(12), Some(13), Some(13), Some(14), Some(60), Some(60)]
        });
    }

    /// A file is read by other programs than the one that wrote it: these numbers are the format.
    #[test]
    fn hashes_and_checks_are_those_of_version_1() {
        let mut words = [9; 3];
        assert_eq!(pack(b"abcdefgh", &mut words), 1);
        assert_eq!(pack(b"abcdefghi", &mut words), 2);
        assert_eq!(words, [u64::from_ne_bytes(*b"abcdefgh"), u64::from_ne_bytes(*b"i\0\0\0\0\0\0\0"), 9]);
        assert_eq!(header_check(1, 7), 0xd148_67ef_9583_96e4);
        let little = [*b"abcdefgh", *b"i\0\0\0\0\0\0\0"].map(u64::from_le_bytes);
        assert_eq!(hash(7, &little, 9), 0xfc1e_09bb_9c19_5c59);
        assert_ne!(hash(7, &little, 9), hash(7, &little, 10), "blanks at the end count");
    }
}
