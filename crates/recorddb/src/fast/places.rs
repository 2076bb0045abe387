//! Byte ranges of the locks of layout `fast`: one per stripe, one for the shared space, one for the whole.

use oscost_sys::record_lock::Range;

use super::format;
use crate::lock::{LockId, Places};

/// Where locks lie: behind every byte of the file for fcntl, one mutex a stripe.
pub(crate) const PLACES: Places = Places { range, number };
/// As above, for flock, which needs a file a lock: a sixteenth of them, each for 16 stripes.
pub(crate) const LOCK_FILES: Places = Places { range, number: file_number };
/// Lock files of flock.
pub(crate) const LOCK_FILE_COUNT: usize = format::STRIPES as usize / 16 + format::OTHER_LOCKS as usize;

fn range(id: LockId) -> (usize, Range) {
    (0, Range { start: (1 << 61) + number(id) as u64, length: 1 })
}

fn number(id: LockId) -> usize {
    let stripes = format::STRIPES as usize;
    match id {
        LockId::Chain(stripe) => stripe as usize,
        LockId::IndexAppend | LockId::DataAppend | LockId::FreeList => stripes,
        LockId::Creation => stripes + 1,
        LockId::Whole => stripes + 2,
    }
}

fn file_number(id: LockId) -> usize {
    let files = format::STRIPES as usize / 16;
    match id {
        LockId::Chain(stripe) => stripe as usize % files,
        other => number(other) - format::STRIPES as usize + files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs of other builds lock the same bytes: these are the format.
    #[test]
    fn locks_lie_behind_every_byte_of_the_file() {
        let start = |id| range(id).1.start - (1 << 61);
        assert_eq!([LockId::Chain(0), LockId::Chain(1023)].map(start), [0, 1023]);
        let others =
            [LockId::IndexAppend, LockId::DataAppend, LockId::FreeList, LockId::Creation, LockId::Whole];
        assert_eq!(others.map(start), [1024, 1024, 1024, 1025, 1026]);
        assert_eq!((range(LockId::Whole).0, range(LockId::Whole).1.length), (0, 1));
        let files =
            [LockId::Chain(0), LockId::Chain(63), LockId::Chain(64), LockId::IndexAppend, LockId::Whole];
        assert_eq!(files.map(file_number), [0, 63, 0, 64, 66]);
    }
}
