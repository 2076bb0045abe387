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
