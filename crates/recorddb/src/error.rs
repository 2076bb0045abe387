//! Errors of the database, and their messages.

use oscost_sys::CallError;

/// Why an operation was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A call of the system failed. The operation may be half done; `layout book` has no recovery from that.
    #[error("{0}")]
    Call(#[from] CallError),
    /// A file holds what no writer of this layout leaves.
    #[error("{0}")]
    Damaged(#[from] Damage),
    /// A key or a value that the layout cannot hold.
    #[error("{0}")]
    Input(&'static str),
    /// The layout has no room for one more record: its offsets end, or the mapping does.
    #[error("no room: {0}")]
    Full(&'static str),
    /// The file is no database of this layout, or none that this program may use.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

/// Why a file is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It begins otherwise.
    #[error("no database of this layout")]
    OtherFile,
    /// It was written on a machine of the other byte order.
    #[error("written on a machine of the other byte order")]
    OtherByteOrder,
    /// It was written by a newer program.
    #[error("format version {found}, this program reads up to {newest}")]
    NewerVersion {
        /// Version of the file.
        found: u64,
        /// Newest version that is understood.
        newest: u64,
    },
    /// It is locked in another way: neither would see the other's locks. A reader is refused even where it is alone, because it
    /// cannot tell those who come to write how it locks.
    #[error("its way of locking is {found}: open it with the same (mutexes need write access)")]
    OtherLockWay {
        /// The way of those who have it open, or of the last that wrote.
        found: &'static str,
    },
    /// More programs have it open than it has places for.
    #[error("too many programs have it open: at most {most}")]
    TooManyOpeners {
        /// Places.
        most: usize,
    },
    /// It was to be emptied while another program has it open.
    #[error("in use by another program: it cannot be emptied")]
    InUse,
    /// Nothing may be written: it was opened for reading.
    #[error("opened for reading only")]
    ReadOnly,
}

/// What is wrong, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("damaged: {what}, at byte {at} of the {file} file")]
#[non_exhaustive]
pub struct Damage {
    /// What is wrong.
    pub what: &'static str,
    /// The file: "index", "data", or "database" where there is one.
    pub file: &'static str,
    /// Where, byte offset.
    pub at: u64,
}

impl Damage {
    pub(crate) const fn index(what: &'static str, at: u64) -> Self {
        Self { what, file: "index", at }
    }

    pub(crate) const fn data(what: &'static str, at: u64) -> Self {
        Self { what, file: "data", at }
    }
}
