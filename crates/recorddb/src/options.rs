//! How a database is opened, what its operations answer, and what each layout does.

use crate::error::Error;
use crate::io::IoCalls;
use crate::lock::{LockCalls, LockWay};

/// How the files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// As the book describes it: text, 137 chains, one free list. Two files, `NAME.idx` and `NAME.dat`. It records neither
    /// byte order nor version nor way to lock, has no checksum, and does not recover from a process that was killed.
    Book,
    /// What would be built today: one file, `NAME.fast`, of words in the byte order of the machine; a tree over hashes in
    /// 1024 stripes, free blocks by size, a checksum in each record, every change made by one word. It records byte order,
    /// version and way to lock, and recovers from killed processes: at most the operation in flight is missing. It does
    /// not recover from a loss of power.
    Fast,
}

/// How the bytes are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// lseek and read, write.
    SeekRead,
    /// pread, pwrite.
    Positioned,
    /// A shared mapping.
    Mapped,
}

/// How a database is opened.
///
/// The default opens an existing database of layout `book` by seek and read, for writing, with fine fcntl locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Layout of the files.
    pub layout: Layout,
    /// Way to the bytes.
    pub access: Access,
    /// Way to lock; all who have it open must use the same. Layout `fast` records it: the first that writes chooses it, and whoever
    /// only reads must use the way of the last that wrote.
    pub lock: LockWay,
    /// Make the files if there are none.
    pub create: bool,
    /// Empty the database, under the lock of creation.
    pub truncate: bool,
    /// Allow store and delete. A database of layout `fast` whose way to lock is a mutex can only be opened so: it lies in the file.
    pub write: bool,
    /// Permissions of files that are made. 0o2600 (set-group-id without group-execute) asks for mandatory locking where
    /// the kernel and the mount have it.
    pub mode: u32,
    /// Measure how long calls that take a lock last: two clock readings a lock.
    pub time_locks: bool,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            layout: Layout::Book,
            access: Access::SeekRead,
            lock: LockWay::By(crate::Primitive::Fcntl, crate::Granularity::Fine),
            create: false,
            truncate: false,
            write: true,
            mode: 0o600,
            time_locks: false,
        }
    }
}

/// What [`crate::Database::store`] does with a key that exists, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// Only if it does not exist.
    Insert,
    /// Only if it exists.
    Replace,
    /// Either way.
    Either,
}

/// What [`crate::Database::store`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A new record.
    Inserted {
        /// In the place of a deleted one; else at the end of the file.
        reused: bool,
    },
    /// A new value for a key that existed.
    Replaced {
        /// Over the old one; else elsewhere.
        in_place: bool,
    },
    /// Nothing: it was to be inserted, and the key exists.
    Exists,
    /// Nothing: it was to be replaced, and there is no such key.
    NotFound,
}

/// What a database has done since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// System calls of I/O.
    pub io: IoCalls,
    /// Calls of the locking primitive.
    pub locks: LockCalls,
    /// Index records that were read, on chains and on the free list.
    pub visits: u64,
}

/// What each layout does.
pub(crate) trait Records {
    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error>;
    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error>;
    fn delete(&mut self, key: &[u8]) -> Result<bool, Error>;
    fn rewind(&mut self);
    fn next_record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, Error>;
    fn counters(&self) -> Counters;
}
