//! Frames on a serial line: a header with length and checksum, the content, a line end. Anything else is rubbish.

/// Beginning of every frame.
const MAGIC: &[u8] = b"\n@oscost ";
/// Content is never longer: a guest that sends without end must not fill the memory.
const MOST: usize = 1 << 20;
/// A header is never longer: two numbers of at most eight digits.
const HEADER: usize = MAGIC.len() + 18;

/// The bytes that carry `content`: "\n@oscost LENGTH CRC32\n", both in hexadecimal, then the content.
#[must_use]
pub fn wrap(content: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(format!("{:x} {:08x}\n", content.len(), crc32fast::hash(content)).as_bytes());
    bytes.extend_from_slice(content);
    bytes.push(b'\n');
    bytes
}

/// What stood on the line instead of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rubbish(pub String);

/// Finds frames in bytes as they arrive.
#[derive(Debug, Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
}

impl FrameReader {
    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame, if there is one yet.
    ///
    /// # Errors
    /// [`Rubbish`]: what arrived is no frame, and nothing behind it is looked at.
    pub fn take(&mut self) -> Result<Option<Vec<u8>>, Rubbish> {
        // A line end more or less between frames is no harm.
        let start = self.bytes.iter().position(|&byte| byte != b'\n').unwrap_or(self.bytes.len());
        self.bytes.drain(..start.saturating_sub(1));
        if self.bytes.first() == Some(&b'@') {
            self.bytes.insert(0, b'\n');
        }
        let known = self.bytes.len().min(MAGIC.len());
        if self.bytes[..known] != MAGIC[..known] {
            return Err(self.rubbish("no frame"));
        }
        let header = &self.bytes[..self.bytes.len().min(HEADER)];
        let Some(end) = header.iter().skip(MAGIC.len()).position(|&byte| byte == b'\n') else {
            return if header.len() == HEADER {
                Err(self.rubbish("a frame without a length"))
            } else {
                Ok(None)
            };
        };
        let end = MAGIC.len() + end;
        let Some((length, sum)) = std::str::from_utf8(&self.bytes[MAGIC.len()..end]).ok().and_then(numbers)
        else {
            return Err(self.rubbish("a frame without a length"));
        };
        if length > MOST {
            return Err(self.rubbish("a frame that is too long"));
        }
        let (from, to) = (end + 1, end + 1 + length);
        if self.bytes.len() < to {
            return Ok(None);
        }
        let content = self.bytes[from..to].to_vec();
        if crc32fast::hash(&content) != sum {
            return Err(self.rubbish("a frame whose checksum is wrong"));
        }
        self.bytes.drain(..to);
        Ok(Some(content))
    }

    fn rubbish(&self, what: &str) -> Rubbish {
        let seen = String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(60)]);
        Rubbish(format!("{what}: {:?}", seen.trim()))
    }
}

fn numbers(text: &str) -> Option<(usize, u32)> {
    let (length, sum) = text.split_once(' ')?;
    Some((usize::from_str_radix(length, 16).ok()?, u32::from_str_radix(sum, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(reader: &mut FrameReader) -> Result<Vec<Vec<u8>>, Rubbish> {
        let mut found = Vec::new();
        while let Some(content) = reader.take()? {
            found.push(content);
        }
        Ok(found)
    }

    proptest! {
        #[test]
        fn frames_come_through_in_pieces(contents in proptest::collection::vec(any::<Vec<u8>>(), 0..6), piece in 1usize..50) {
            let bytes: Vec<u8> = contents.iter().flat_map(|content| wrap(content)).collect();
            let mut reader = FrameReader::default();
            let mut found = Vec::new();
            for part in bytes.chunks(piece) {
                reader.push(part);
                found.extend(all(&mut reader).expect("no rubbish"));
            }
            prop_assert_eq!(found, contents);
        }

        #[test]
        fn a_changed_byte_is_never_taken_for_content(content in proptest::collection::vec(any::<u8>(), 1..100), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut bytes = wrap(&content);
            let at = at.index(bytes.len() - 1); // the last line end is no part of it
            bytes[at] ^= 1 << bit;
            let mut reader = FrameReader::default();
            reader.push(&bytes);
            let found = all(&mut reader);
            let same = |found: &Vec<Vec<u8>>| found.is_empty() || found == &vec![content.clone()];
            prop_assert!(found.as_ref().map_or(true, same), "{:?}", found);
        }

        #[test]
        fn rubbish_is_told_and_never_panics(bytes in any::<Vec<u8>>()) {
            let mut reader = FrameReader::default();
            reader.push(&bytes);
            let _ = all(&mut reader);
        }
    }

    #[test]
    fn words_instead_of_a_frame_are_quoted() {
        let mut reader = FrameReader::default();
        reader.push(b"\nlogin: ");
        assert_eq!(reader.take(), Err(Rubbish("no frame: \"login:\"".into())));
        let mut reader = FrameReader::default();
        reader.push(b"\n@oscost ffffffff 00000000\n");
        assert_eq!(reader.take().expect_err("refused").0.split(':').next(), Some("a frame that is too long"));
    }
}
