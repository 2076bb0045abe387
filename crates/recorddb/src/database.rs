//! The database as a program sees it: open, fetch, store, delete, rewind, next record.

use std::ffi::OsStr;
use std::path::Path;

use oscost_sys::folder::Folder;

use crate::error::Error;
use crate::open;
use crate::options::{Counters, DatabaseOptions, Records, StoreMode, Stored};

/// An open database.
///
/// One process opens it for itself: a child must not use what its parent opened. A program opens the same database once:
/// closing one of two would drop the fcntl locks of the other.
///
/// ```
/// use oscost_recorddb::{Database, DatabaseOptions, StoreMode};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = std::env::temp_dir().join(format!("recorddb-doc-{}", std::process::id()));
/// # std::fs::create_dir(&directory)?;
/// let options = DatabaseOptions { create: true, ..DatabaseOptions::default() };
/// let mut database = Database::open(&directory.join("people"), &options)?;
/// database.store(b"ada", b"1815", StoreMode::Insert)?;
/// assert_eq!(database.fetch(b"ada")?.as_deref(), Some(b"1815".as_slice()));
/// assert!(database.delete(b"ada")?);
/// assert!(!database.delete(b"ada")?);
/// # drop(database);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
pub struct Database {
    records: Box<dyn Records>,
}

impl Database {
    /// Opens the database whose files begin with `path`.
    ///
    /// # Errors
    /// The error of a call; [`Error::Refused`] where the files are none of this layout.
    pub fn open(path: &Path, options: &DatabaseOptions) -> Result<Self, Error> {
        let (folder, name) = open::place(path)?;
        Self::open_in(&folder, &name, options)
    }

    /// Opens the database whose files in `folder` begin with `name`. None of them may be a link, and none is looked for
    /// anywhere else, whatever becomes of the folder's own name.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_in(folder: &Folder, name: &OsStr, options: &DatabaseOptions) -> Result<Self, Error> {
        Ok(Self { records: open::open(folder, name, options)? })
    }

    /// The value of `key`, if there is such a record.
    ///
    /// # Errors
    /// A key that the layout cannot hold, a failed call, damage.
    pub fn fetch(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut value = Vec::new();
        Ok(self.fetch_into(key, &mut value)?.then_some(value))
    }

    /// As [`Database::fetch`], into memory of the caller; whether there is such a record.
    ///
    /// # Errors
    /// As [`Database::fetch`].
    #[inline]
    pub fn fetch_into(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        self.records.fetch(key, value)
    }

    /// Stores `value` under `key`.
    ///
    /// # Errors
    /// A key or value that the layout cannot hold, no room, a failed call, damage. After a failed call layout `book` may
    /// have lost the record of this key; no other.
    #[inline]
    pub fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        self.records.store(key, value, how)
    }

    /// Deletes the record of `key`; whether there was one.
    ///
    /// # Errors
    /// As [`Database::store`].
    #[inline]
    pub fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.records.delete(key)
    }

    /// Makes [`Database::next_record`] begin again.
    pub fn rewind(&mut self) {
        self.records.rewind();
    }

    /// The next record, in no order of keys; `false` after the last. A record that is there all the while is met once
    /// (layout `book`: at least once, and again if it was replaced meanwhile).
    ///
    /// # Errors
    /// As [`Database::fetch`].
    pub fn next_record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, Error> {
        self.records.next_record(key, value)
    }

    /// What it has done since it was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.records.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Access, Layout};

    #[test]
    fn what_nobody_asks_for_is_the_book_and_changes_no_file() {
        let options = DatabaseOptions::default();
        assert_eq!((options.layout, options.access), (Layout::Book, Access::SeekRead));
        assert_eq!(options.lock.name(), "fine_fcntl");
        assert_eq!((options.create, options.truncate, options.write), (false, false, true));
        assert_eq!((options.mode, options.time_locks), (0o600, false));
    }
}
