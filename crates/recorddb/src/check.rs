//! The checker: finds every invariant of a database that does not hold.
//!
//! It reads the files of a database that nobody has open, and closes them again: in a process that has the same database
//! open and locks by fcntl, that would drop its locks.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use oscost_sys::folder::{Folder, Making, Opening};

use crate::error::{Damage, Error};
use crate::options::Layout;
use crate::{book, fast, names, open};

/// What the checker found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Records that can be fetched.
    pub records: u64,
    /// Deleted records, or blocks, that wait to be used again.
    pub free: u64,
    /// Records, or blocks, that stand on no list: written by a process that was killed before it linked them, or after it
    /// unlinked them. They cost space and nothing else.
    pub lost: u64,
    /// Bytes of values that no record points to, for the same reason.
    pub lost_bytes: u64,
    /// What no process that runs to its end leaves behind.
    pub damages: Vec<Damage>,
}

impl CheckReport {
    /// Whether nothing is damaged. Lost space is no damage.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    /// Whether nothing is damaged and nothing lost, as it is when every process ran to its end.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.is_sound() && self.lost == 0 && self.lost_bytes == 0
    }
}

/// Checks the database at `path`, which nobody has open.
///
/// # Errors
/// The error of reading its files. What they hold is never an error: it is in the report.
pub fn check(path: &Path, layout: Layout) -> Result<CheckReport, Error> {
    let (folder, name) = open::place(path)?;
    check_in(&folder, &name, layout)
}

/// Checks the database whose files in `folder` begin with `name`, which nobody has open.
///
/// # Errors
/// As [`check`].
pub fn check_in(folder: &Folder, name: &OsStr, layout: Layout) -> Result<CheckReport, Error> {
    let read = |name: &OsStr| -> Result<Vec<u8>, Error> {
        let mut file = folder.file(name, Opening { write: false, making: Making::Never, mode: 0 })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| open::call("read", &error))?;
        Ok(bytes)
    };
    match layout {
        Layout::Book => {
            let (index, data) = names::book(name);
            Ok(book::check::check(&read(&index)?, &read(&data)?))
        }
        Layout::Fast => Ok(fast::check::check(&read(&names::fast(name))?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_space_is_no_damage_and_not_clean() {
        let reported = |report: CheckReport| (report.is_sound(), report.is_clean());
        assert_eq!(reported(CheckReport { records: 3, free: 2, ..CheckReport::default() }), (true, true));
        assert_eq!(reported(CheckReport { lost: 1, ..CheckReport::default() }), (true, false));
        assert_eq!(reported(CheckReport { lost_bytes: 1, ..CheckReport::default() }), (true, false));
        let damages = vec![Damage::index("a circle", 7)];
        assert_eq!(reported(CheckReport { damages, ..CheckReport::default() }), (false, false));
    }
}
