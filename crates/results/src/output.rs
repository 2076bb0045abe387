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
        let (path, old) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return Ok(Self::Stream),
            Ok(found) if found.permissions().readonly() => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            // Through a symbolic link: the file behind it is replaced, not the link.
            Ok(found) => (fs::canonicalize(path)?, Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name in UTF-8"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.map_or_else(|| PathBuf::from("."), Path::to_owned);
        let owner = old.as_ref().map_or_else(Owner::invoking_sudo, Owner::of_replaced);
        let directory = Directory::open_existing(&parent, owner)?;
        Ok(Self::File { directory, name: name.to_owned(), permissions: old.map(|old| old.permissions()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_lies_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        check_writable(&path).unwrap();
        assert!(!path.exists(), "looking leaves nothing");
        write_file(&path, b"first").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first", "looking changes nothing");
        write_file(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_found_before() {
        let directory = tempfile::tempdir().unwrap();
        for path in
            [directory.path().to_owned(), directory.path().join("no/such/out.json"), "/".into(), "".into()]
        {
            let error = check_writable(&path).unwrap_err();
            assert_eq!(error.path, path);
            assert!(write_file(&path, b"").is_err());
        }
        let read_only = directory.path().join("read_only");
        fs::write(&read_only, "old").unwrap();
        let mut permissions = fs::metadata(&read_only).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&read_only, permissions).unwrap();
        assert!(check_writable(&read_only).unwrap_err().to_string().contains("read-only"));
        assert!(write_file(&read_only, b"new").is_err());
        assert_eq!(fs::read(&read_only).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_of_the_old_file_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        #[cfg(target_os = "linux")]
        if rustix::process::geteuid().is_root() {
            use std::os::unix::fs::{MetadataExt, chown};
            chown(&file, Some(65534), Some(65534)).unwrap();
            write_file(&file, b"newer").unwrap();
            assert_eq!(fs::metadata(&file).unwrap().uid(), 65534, "root leaves a file whose it was");
        } else {
            println!("SKIP owner of a replaced file: these tests do not run as root");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_as_they_are() {
        check_writable(Path::new("/dev/null")).unwrap();
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        let full = write_file(Path::new("/dev/full"), b"no room").unwrap_err();
        assert_eq!(full.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(full.to_string(), "cannot write /dev/full: No space left on device (os error 28)");
    }
}
