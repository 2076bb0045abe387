//! Every invariant of layout `fast`, over the bytes of its file.

use super::format::{self, BlockKind, CHUNK_MARK, FIRST_CHUNK, MAGIC, VERSION, header};
use super::survey::{Led, Survey};
use super::words::{MemoryWords, Words};
use crate::check::CheckReport;
use crate::error::Error;

/// Checks the bytes of a file that nobody writes.
///
/// Every block is led to by one slot or one free list, records stand where their hash belongs and their checksums are
/// right, arenas allocate where nothing is. A changed byte is seen wherever something is read: in heads, slots, lists,
/// keys and values; not in mutexes and in space that is free.
#[must_use]
pub fn check(bytes: &[u8]) -> CheckReport {
    let mut words =
        MemoryWords(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect());
    let mut report = CheckReport::default();
    if let Err(Error::Damaged(damage)) = check_words(&mut words, &mut report) {
        report.damages.push(damage);
    }
    report
}

fn check_words(words: &mut MemoryWords, report: &mut CheckReport) -> Result<(), Error> {
    if words.load(header::MAGIC)? != MAGIC {
        return Err(format::damage("no database of this layout", header::MAGIC).into());
    }
    if words.load(header::VERSION)? > VERSION {
        return Err(format::damage("a newer version than this program reads", header::VERSION).into());
    }
    if words.load(header::END)? > words.0.len() as u64 || FIRST_CHUNK > words.0.len() as u64 {
        return Err(format::damage("the file was cut", words.0.len() as u64).into());
    }
    let survey = Survey::of(words)?;
    report.damages = survey.damages;
    // Behind the last chunk are zeros, but for the mark of a chunk whose maker was killed.
    let end = usize::try_from(words.load(header::END)?).unwrap_or(usize::MAX);
    let mut behind = words.0.iter().zip(0u64..).skip(end);
    if let Some((_, at)) = behind.find(|(word, at)| **word != 0 && (**word, *at) != (CHUNK_MARK, end as u64))
    {
        report.damages.push(format::damage("a word of nobody behind the last chunk", at));
    }
    report.records = survey.records;
    for block in survey.blocks {
        match (block.led, block.head.kind) {
            (Led::FreeList, _) => report.free += 1,
            (Led::Nothing, _) => report.lost += 1,
            (Led::Tree, BlockKind::Record | BlockKind::Node | BlockKind::Free) => {}
        }
    }
    // The tail of a chunk that its arena left is cut into blocks at once: what is left over is smaller than any.
    report.lost_bytes =
        survey.tails.iter().map(|(from, to)| (to - from) * 8).filter(|bytes| *bytes >= 32).sum();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::format::{self as layout, CHUNK, Head};
    use super::super::open;
    use super::*;

    const CHUNK_END: u64 = FIRST_CHUNK + CHUNK;

    /// A file of one chunk, or of none, with these words in it; what is found.
    fn found(length: u64, end: u64, words: &[(u64, u64)]) -> CheckReport {
        let mut made = MemoryWords(vec![0; usize::try_from(length.max(FIRST_CHUNK)).expect("small")]);
        open::fill(&mut made).expect("memory");
        made.store(header::END, end).expect("within");
        for (at, word) in words {
            made.store(*at, *word).expect("within");
        }
        let bytes = made.0.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        check(&bytes[..usize::try_from(length * 8).expect("small")])
    }

    fn damages(report: &CheckReport) -> Vec<(&'static str, u64)> {
        report.damages.iter().map(|damage| (damage.what, damage.at / 8)).collect()
    }

    #[test]
    fn a_file_has_all_its_chunks_and_a_header_that_is_known() {
        assert!(found(FIRST_CHUNK, FIRST_CHUNK, &[]).is_clean());
        let chunk = [(FIRST_CHUNK, CHUNK_MARK), (layout::arena(0), FIRST_CHUNK + 1)];
        assert!(found(CHUNK_END, CHUNK_END, &chunk).is_clean());
        let cut = |length, end| damages(&found(length, end, &chunk[1..]));
        assert_eq!(cut(CHUNK_END - 1, CHUNK_END), [("the file was cut", CHUNK_END - 1)]);
        assert_eq!(cut(FIRST_CHUNK - 1, 0), [("the file was cut", FIRST_CHUNK - 1)]);
        let header = |at, word| damages(&found(FIRST_CHUNK, FIRST_CHUNK, &[(at, word)]));
        assert_eq!(header(header::MAGIC, 7), [("no database of this layout", header::MAGIC)]);
        let newer = "a newer version than this program reads";
        assert_eq!(header(header::VERSION, VERSION + 1), [(newer, header::VERSION)]);
    }

    #[test]
    fn behind_the_last_chunk_is_the_mark_of_another_or_nothing() {
        let behind = |at, word| damages(&found(FIRST_CHUNK + 9, FIRST_CHUNK, &[(at, word)]));
        let nobodys = |at| vec![("a word of nobody behind the last chunk", at)];
        assert_eq!(behind(FIRST_CHUNK, CHUNK_MARK), []);
        assert_eq!(behind(FIRST_CHUNK, 7), nobodys(FIRST_CHUNK));
        assert_eq!(behind(FIRST_CHUNK + 1, CHUNK_MARK), nobodys(FIRST_CHUNK + 1));
        assert_eq!(behind(FIRST_CHUNK + 8, 7), nobodys(FIRST_CHUNK + 8));
    }

    /// Three blocks of 4 words are free, six of all sizes are lost, and so is the rest of the chunk where it could hold a block.
    #[test]
    fn blocks_and_bytes_are_counted_by_what_leads_to_them() {
        let start = FIRST_CHUNK + layout::CHUNK_HEADER;
        let class = |words| layout::class_of(words).expect("a class");
        for (rest, lost_bytes) in [(4, 32), (3, 0), (5, 40)] {
            let mut words = vec![(FIRST_CHUNK, CHUNK_MARK)];
            let mut at = start;
            for size in [1024, 896, 4, 4, 4, 4, 4, 96, 11 - rest] {
                words.push((at, Head::free(class(size)).word()));
                at += size;
            }
            // Three on a list.
            let first = start + 1024 + 896;
            words.extend([(header::POOL, first), (first + 1, first + 4), (first + 5, first + 12)]);
            let report = found(CHUNK_END, CHUNK_END, &words);
            assert_eq!(damages(&report), [], "{rest}");
            assert_eq!((report.records, report.free, report.lost, report.lost_bytes), (0, 3, 6, lost_bytes));
        }
    }
}
