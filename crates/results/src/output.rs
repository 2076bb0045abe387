//! Files that the user named: an old good one is replaced in one step by a whole new one, or stays as it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::place::{Directory, NewFile, Owner};
use crate::{PathError, RunResult, SaveError, to_bytes};

/// Permissions of a new file, less the umask.
const SHARED: u32 = 0o666;

/// Saves a result where the user said (`--json FILE`).
///
/// # Errors
/// It was not saved; a file that was there before is as it was.
pub fn save_as(path: &Path, result: &RunResult) -> Result<(), SaveError> {
    Ok(write_file(path, &to_bytes(result)?)?)
}

/// Writes a file that the user named (`--raw FILE`, `-o FILE`). Devices and FIFOs are written to as they are.
///
/// # Errors
/// It was not written; a file that was there before is as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let write = || match Target::of(path)? {
        Target::Stream => OpenOptions::new().write(true).open(path)?.write_all(bytes),
        Target::File { directory, name, permissions } => {
            let mut new = NewFile::begin(&directory, SHARED)?;
            if let Some(permissions) = permissions {
                new.file().set_permissions(permissions)?;
            }
            new.file().write_all(bytes)?;
            new.replace(&name)
        }
    };
    write().map_err(PathError::of("write", path))
}

/// Finds out, before anything is measured, whether [`write_file`] could write there. Leaves nothing behind.
///
/// # Errors
/// It could not: no such directory, no permission, a read-only file system, a directory of that name.
pub fn check_writable(path: &Path) -> Result<(), PathError> {
    let check = || match Target::of(path)? {
        // A FIFO without a reader would block here; whether it has one is for the time of writing.
        Target::Stream => Ok(()),
        Target::File { directory, .. } => NewFile::begin(&directory, SHARED).map(drop),
    };
    check().map_err(PathError::of("write", path))
}

/// What is to be written.
enum Target {
    /// No regular file: nothing to keep, nothing to replace.
    Stream,
    /// A file in a directory; permissions if there is one already.
    File { directory: Directory, name: String, permissions: Option<fs::Permissions> },
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        let (path, permissions) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return Ok(Self::Stream),
            Ok(found) if found.permissions().readonly() => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            // Through a symbolic link: the file behind it is replaced, not the link.
            Ok(found) => (fs::canonicalize(path)?, Some(found.permissions())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name in UTF-8"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.map_or_else(|| PathBuf::from("."), Path::to_owned);
        let directory = Directory::open_existing(&parent, Owner::invoking_sudo())?;
        Ok(Self::File { directory, name: name.to_owned(), permissions })
    }
}
