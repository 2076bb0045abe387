//! The bytes of layout `book`: pure reading and writing, no I/O.
//!
//! The index file is text: a free-list pointer and 137 chain pointers, each 7 characters wide, a newline, then records:
//! pointer (7), length (4), and `key:offset:length` with a newline. The data file holds values, each with a newline.
//! Pointers are blank-padded decimals; 0 ends a list. A deleted record has a blank key and stands on the free list.

use std::ops::Range;

use crate::error::Damage;

/// Hash chains.
pub const CHAINS: u32 = 137;
/// Characters of a pointer.
pub const POINTER: usize = 7;
/// Characters of the length of an index record.
pub const LENGTH: usize = 4;
/// Bytes before the first index record: the free list, the chains, a newline.
pub const HEADER: u64 = (CHAINS as u64 + 1) * POINTER as u64 + 1;
/// Largest offset that a pointer can hold.
pub const MAX_OFFSET: u64 = 9_999_999;
/// Shortest and longest body of an index record, newline included.
pub const BODY: Range<usize> = 6..1025;
/// Shortest and longest value with its newline.
pub const VALUE: Range<usize> = 2..1025;
/// Index records that a file can hold at most: no list is longer.
pub const MAX_RECORDS: u64 = (MAX_OFFSET - HEADER) / (POINTER + LENGTH + BODY.start) as u64 + 1;

/// Where the pointer to the free list stands.
pub const FREE_LIST: u64 = 0;

/// Where the pointer to a chain stands.
#[must_use]
pub const fn chain_at(chain: u32) -> u64 {
    POINTER as u64 * (1 + chain as u64)
}

/// The chain of a key: the sum of its bytes, each times its place, modulo the number of chains.
#[must_use]
pub fn chain_of(key: &[u8]) -> u32 {
    let sum: u64 = (1u64..).zip(key).map(|(place, byte)| place * u64::from(*byte)).sum();
    // below CHAINS
    (sum % u64::from(CHAINS)) as u32
}

/// A blank-padded decimal. `None` if it is none.
#[must_use]
pub fn number(text: &[u8]) -> Option<u64> {
    let digits = &text[text.iter().position(|byte| *byte != b' ')?..];
    digits.iter().try_fold(0u64, |value, byte| {
        byte.is_ascii_digit().then(|| value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))).flatten()
    })
}

/// Writes a blank-padded decimal; the caller knows that it fits.
pub fn put_number(text: &mut [u8], mut value: u64) {
    for byte in text.iter_mut().rev() {
        *byte = if value == 0 { b' ' } else { b'0' + (value % 10) as u8 };
        value /= 10;
    }
    // 0 itself is a digit too.
    if let [.., last @ b' '] = text {
        *last = b'0';
    }
}

/// Reads a pointer to an index record that stands at `at`: 0, or an offset behind the header.
///
/// # Errors
/// Damage, if it is neither.
pub fn pointer(text: &[u8; POINTER], at: u64) -> Result<u64, Damage> {
    match number(text) {
        Some(0) => Ok(0),
        Some(value) if value >= HEADER => Ok(value),
        Some(_) => Err(Damage::index("a pointer into the header", at)),
        None => Err(Damage::index("a pointer that is no number", at)),
    }
}

/// Reads the length of the body of an index record that stands at `at`.
///
/// # Errors
/// Damage, if no body can have it.
pub fn body_length(text: &[u8; LENGTH], at: u64) -> Result<usize, Damage> {
    let length = number(text).and_then(|value| usize::try_from(value).ok());
    length.filter(|length| BODY.contains(length)).ok_or(Damage::index("a record's length out of bounds", at))
}

/// The parts of the body of an index record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body {
    /// Bytes of the key, from the start of the body.
    pub key: usize,
    /// Offset of the value in the data file.
    pub data_at: u64,
    /// Length of the value, its newline included.
    pub data_length: usize,
}

/// Reads the body of the index record that stands at `at`.
///
/// # Errors
/// Damage, if a separator, the newline or a number is missing, or a number is out of bounds.
pub fn body(text: &[u8], at: u64) -> Result<Body, Damage> {
    let Some((b'\n', text)) = text.split_last() else {
        return Err(Damage::index("a record without its newline", at));
    };
    let mut parts = text.split(|byte| *byte == b':');
    let (Some(key), Some(data_at), Some(length), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Damage::index("a record without its two separators", at));
    };
    if key.is_empty() {
        return Err(Damage::index("a record with an empty key", at));
    }
    let data_at = number(data_at).filter(|offset| *offset <= MAX_OFFSET);
    let data_at = data_at.ok_or(Damage::index("a value's offset out of bounds", at))?;
    let length = number(length).and_then(|length| usize::try_from(length).ok());
    let data_length = length
        .filter(|length| VALUE.contains(length))
        .ok_or(Damage::index("a value's length out of bounds", at))?;
    Ok(Body { key: key.len(), data_at, data_length })
}

/// Whether a key is that of a deleted record.
#[must_use]
pub fn is_blank(key: &[u8]) -> bool {
    key.iter().all(|byte| *byte == b' ')
}

/// What is wrong with a key, if anything is.
#[must_use]
pub fn refuse_key(key: &[u8]) -> Option<&'static str> {
    if key.is_empty() || is_blank(key) {
        Some("a key is neither empty nor blank: a blank key is how layout book marks a deleted record")
    } else if key.iter().any(|byte| matches!(byte, b':' | b'\n' | 0)) {
        Some("a key of layout book has no colon, newline or NUL")
    } else if key.len() + b":0000000:0000\n".len() > BODY.end - 1 {
        Some("a key of layout book has at most 1010 bytes")
    } else {
        None
    }
}

/// What is wrong with a value, if anything is.
#[must_use]
pub fn refuse_value(value: &[u8]) -> Option<&'static str> {
    (!VALUE.contains(&(value.len() + 1))).then_some("a value of layout book has 1 to 1023 bytes")
}

/// An empty index file.
#[must_use]
pub fn empty_index() -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=CHAINS {
        bytes.extend_from_slice(b"      0");
    }
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_size_of_the_book() {
        assert_eq!(HEADER, 967);
        assert_eq!(empty_index().len(), 967);
        assert_eq!(chain_at(0), 7);
        assert_eq!(chain_at(136), 959);
    }

    #[test]
    fn numbers_are_blank_padded_decimals() {
        for (value, text) in [(0, b"      0"), (967, b"    967"), (9_999_999, b"9999999")] {
            let mut written = [0; POINTER];
            put_number(&mut written, value);
            assert_eq!(&written, text);
            assert_eq!(number(text), Some(value));
        }
        for none in [b"       ", b"  -967 ", b" 9 6 7 ", b"967    ", b"   0x10"] {
            assert_eq!(number(none), None, "{none:?}");
        }
    }

    #[test]
    fn the_hash_is_the_sum_of_bytes_times_places() {
        assert_eq!(chain_of(b"Alpha"), (65 + 2 * 108 + 3 * 112 + 4 * 104 + 5 * 97) % 137);
        assert_ne!(chain_of(b"ab"), chain_of(b"ba"));
    }

    #[test]
    fn a_body_has_two_separators_and_numbers_within_bounds() {
        assert_eq!(body(b"key:12:34\n", 0), Ok(Body { key: 3, data_at: 12, data_length: 34 }));
        for bad in ["key:12\n", "k:e:12:34\n", "key::34\n", "key:x:34\n", ""] {
            assert!(body(bad.as_bytes(), 0).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn pointers_begin_behind_the_header_and_bodies_within_their_bounds() {
        let text = |value: u64| {
            let mut text = [0; POINTER];
            put_number(&mut text, value);
            text
        };
        assert_eq!([0, HEADER, MAX_OFFSET].map(|at| pointer(&text(at), 5)), [0, HEADER, MAX_OFFSET].map(Ok));
        assert_eq!(pointer(&text(HEADER - 1), 5), Err(Damage::index("a pointer into the header", 5)));
        assert_eq!(pointer(b"   12 3", 5), Err(Damage::index("a pointer that is no number", 5)));
        let length = |text: &[u8; LENGTH]| body_length(text, 9).map_err(|damage| damage.at);
        let lengths = [b"   5", b"   6", b"1024", b"1025", b"  x6"].map(length);
        assert_eq!(lengths, [Err(9), Ok(6), Ok(1024), Err(9), Err(9)]);
    }

    #[test]
    fn a_body_ends_at_the_largest_offset_and_the_longest_value() {
        let read = |text: &str| body(text.as_bytes(), 0).map(|body| (body.data_at, body.data_length));
        assert_eq!(read("k:9999999:2\n"), Ok((MAX_OFFSET, 2)));
        assert_eq!(read("k:0:1024\n"), Ok((0, 1024)));
        for (text, what) in [
            ("k:10000000:2\n", "a value's offset out of bounds"),
            ("k:0:1\n", "a value's length out of bounds"),
            ("k:0:1025\n", "a value's length out of bounds"),
            (":0:2\n", "a record with an empty key"),
            ("k:0:2", "a record without its newline"),
            ("k:0:2:\n", "a record without its two separators"),
        ] {
            assert_eq!(body(text.as_bytes(), 7), Err(Damage::index(what, 7)), "{text:?}");
        }
    }

    #[test]
    fn keys_and_values_that_fit_are_taken_and_no_others() {
        assert_eq!([&b""[..], b"   ", b" a", b"a "].map(is_blank), [true, true, false, false]);
        for (key, refused) in [
            (&b""[..], Some("neither empty nor blank")),
            (b"  ", Some("neither empty nor blank")),
            (b" a", None),
            (b"a:b", Some("no colon, newline or NUL")),
            (b"a\n", Some("no colon, newline or NUL")),
            (b"\0a", Some("no colon, newline or NUL")),
            (&[b'k'; 1010], None),
            (&[b'k'; 1011], Some("at most 1010 bytes")),
        ] {
            let why = refuse_key(key);
            assert_eq!(why.is_some(), refused.is_some(), "{key:?}");
            assert!(why.zip(refused).is_none_or(|(why, refused)| why.contains(refused)), "{why:?}");
        }
        assert_eq!(
            [0, 1, 1023, 1024].map(|length| refuse_value(&vec![b'v'; length]).is_some()),
            [true, false, false, true]
        );
    }

    #[test]
    fn an_empty_index_points_nowhere() {
        let index = empty_index();
        let (newline, pointers) = index.split_last().expect("a header");
        assert_eq!(*newline, b'\n');
        let pointers: Vec<Option<u64>> = pointers.chunks(POINTER).map(number).collect();
        assert_eq!(pointers, vec![Some(0); 138]);
    }
}
