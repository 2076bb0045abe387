//! Names of the files of a database.

use std::path::{Path, PathBuf};

/// `path` with `suffix` behind it: a dot in the name stays what it was.
fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Index and data of layout `book`.
#[must_use]
pub(crate) fn book(path: &Path) -> (PathBuf, PathBuf) {
    (with(path, ".idx"), with(path, ".dat"))
}

/// The file of mutexes of layout `book`.
#[must_use]
pub(crate) fn mutexes(path: &Path) -> PathBuf {
    with(path, ".mutexes")
}

/// The file of layout `fast`.
#[must_use]
pub(crate) fn fast(path: &Path) -> PathBuf {
    with(path, ".fast")
}

/// The lock files of flock: one directory.
#[must_use]
pub(crate) fn lock_files(path: &Path) -> PathBuf {
    with(path, ".locks")
}
