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

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of these bytes, the last one padded with zeros.
    fn packed(bytes: &[u8]) -> Vec<u64> {
        let padded = |chunk: &[u8]| std::array::from_fn(|at| chunk.get(at).copied().unwrap_or(0));
        bytes.chunks(8).map(|chunk| u64::from_ne_bytes(padded(chunk))).collect()
    }

    #[test]
    fn a_key_of_any_length_is_its_bytes_as_words_and_back() {
        let bytes: Vec<u8> = (1..=255).cycle().take(format::LONGEST_KEY).collect();
        let mut unpacked = b"before".to_vec();
        for length in (1..=150).chain([format::LONGEST_KEY]) {
            let key = Key::new(&bytes[..length], 7).expect("a key");
            let words = packed(&bytes[..length]);
            assert_eq!((key.words(), key.count, key.length), (&words[..], words.len(), length));
            assert_eq!(key.hash, format::hash(7, &words, length));
            unpack(key.words(), length, &mut unpacked);
            assert_eq!(unpacked, bytes[..length]);
        }
    }

    /// Programs of other builds compute the same: these folds are the format.
    #[test]
    fn a_check_is_over_every_word_but_itself() {
        let words = [3, 1, 4, 1, 5];
        let expected = [1, 1, 5].iter().fold(3, |check, word| format::fold(check, *word));
        assert_eq!(check_of(&words), expected);
    }
}
