//! Keys and values of layout `fast` as words: how they are packed, hashed and checked.

use super::format;
use crate::error::Error;

/// A key as words, and what follows from it.
pub(super) struct Key {
    short: [u64; 8],
    long: Vec<u64>,
    pub(super) count: usize,
    pub(super) length: usize,
    pub(super) hash: u64,
}

impl Key {
    #[inline]
    pub(super) fn new(key: &[u8], seed: u64) -> Result<Self, Error> {
        if key.is_empty() || key.len() > format::LONGEST_KEY {
            return Err(Error::Input("a key of layout fast has 1 to 1024 bytes"));
        }
        let mut made = Self {
            short: [0; 8],
            long: Vec::new(),
            count: key.len().div_ceil(8),
            length: key.len(),
            hash: 0,
        };
        // Clearing room for the longest key would cost more than all the rest.
        if made.count > made.short.len() {
            made.long.resize(made.count, 0);
            format::pack(key, &mut made.long);
        } else {
            format::pack(key, &mut made.short);
        }
        made.hash = format::hash(seed, made.words(), key.len());
        Ok(made)
    }

    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        if self.long.is_empty() { &self.short[..self.count] } else { &self.long }
    }
}

/// The check of a record: over all its words but the check itself.
#[inline]
pub(super) fn check_of(words: &[u64]) -> u64 {
    let start = format::fold(words[0], words[1]);
    words[3..].iter().fold(start, |check, word| format::fold(check, *word))
}

/// Unpacks a value of `length` bytes.
#[inline]
pub(super) fn unpack(words: &[u64], length: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.reserve(words.len() * 8);
    for word in words {
        bytes.extend_from_slice(&word.to_ne_bytes());
    }
    bytes.truncate(length);
}
