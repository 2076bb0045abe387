//! Names of the files of a database, which lie in one folder.

use std::ffi::{OsStr, OsString};

/// `name` with `suffix` behind it: a dot in the name stays what it was.
fn with(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// Index and data of layout `book`.
#[must_use]
pub(crate) fn book(name: &OsStr) -> (OsString, OsString) {
    (with(name, ".idx"), with(name, ".dat"))
}

/// The file of mutexes of layout `book`.
#[must_use]
pub(crate) fn mutexes(name: &OsStr) -> OsString {
    with(name, ".mutexes")
}

/// The file of layout `fast`.
#[must_use]
pub(crate) fn fast(name: &OsStr) -> OsString {
    with(name, ".fast")
}

/// The lock files of flock: one directory.
#[must_use]
pub(crate) fn lock_files(name: &OsStr) -> OsString {
    with(name, ".locks")
}
