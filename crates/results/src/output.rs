//! Files that the user named: replaced in one step by a complete new file, or left as they are.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::place::{Directory, NewFile, Owner, Stream, Target, Writer};
use crate::{PathError, RunResult, SaveError, to_bytes};

/// Permissions of a new file, less the umask.
const SHARED: u32 = 0o666;
/// Permissions of a new folder, less the umask.
const SHARED_FOLDER: u32 = 0o777;

/// Saves a result where the user said (`--json FILE`).
///
/// # Errors
/// It was not saved; a file that was there before is as it was.
pub fn save_as(path: &Path, result: &RunResult) -> Result<(), SaveError> {
    Ok(write_file(path, &to_bytes(result)?)?)
}

/// Writes a file that the user named (`-o FILE`). See [`NamedFile`].
///
/// # Errors
/// It was not written; a file that was there before is as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let mut file = NamedFile::create(path)?;
    file.write_whole(bytes)?;
    file.finish()
}

/// Finds out, before anything is measured, whether [`NamedFile`] could be written there. Leaves nothing behind, and removes
/// what a killed writer left there.
///
/// # Errors
/// It could not: no such directory, no permission, a read-only file system, a directory of that name, a link that is not
/// followed.
pub fn check_writable(path: &Path) -> Result<(), PathError> {
    let check = || match Target::find(path)? {
        // Whether a pipe has a reader is for the time of writing.
        Target::Stream(_) => Ok(()),
        Target::File { directory, .. } => probe(&directory),
    };
    check().map_err(PathError::of("write", path))
}

/// Makes the folder at `path` where it is missing, and finds out whether files can be written there.
///
/// # Errors
/// They cannot.
pub fn make_folder(path: &Path) -> Result<(), PathError> {
    let make = || probe(&Directory::make(path, SHARED_FOLDER, Owner::invoking_sudo())?);
    make().map_err(PathError::of("write to", path))
}

fn probe(directory: &Directory) -> io::Result<()> {
    // In a folder of others not everything can be removed.
    let _ = directory.sweep();
    NewFile::begin(directory, SHARED).map(drop)
}

/// A file that the user named (`--raw FILE`), while it is written. Nobody sees it before [`Self::finish`], and a file that was
/// there is as it was until then. Devices and pipes are written to as they are; a pipe is waited for, for a while.
///
/// Under sudo a new file belongs to the user who called it, and an old one to whom it did. A symbolic link is followed where
/// it belongs to root or to the caller: the file behind it is replaced, not the link.
pub struct NamedFile {
    path: PathBuf,
    to: To,
}

enum To {
    File { new: NewFile, name: String },
    Stream(Stream),
    Opened(Writer),
}

impl NamedFile {
    /// Begins the file.
    ///
    /// # Errors
    /// See [`check_writable`].
    pub fn create(path: &Path) -> Result<Self, PathError> {
        let begin = || match Target::find(path)? {
            Target::Stream(stream) => Ok(To::Stream(stream)),
            Target::File { directory, name, old } => {
                let mut new = NewFile::begin(&directory, SHARED)?;
                if let Some(old) = old {
                    new.file().set_permissions(old)?;
                }
                Ok(To::File { new, name })
            }
        };
        Ok(Self { path: path.to_owned(), to: begin().map_err(PathError::of("write", path))? })
    }

    /// Its path, as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `bytes` and puts them on the disk: [`Self::finish`] needs no more room then.
    ///
    /// # Errors
    /// There is no room.
    pub fn write_whole(&mut self, bytes: &[u8]) -> Result<(), PathError> {
        let written = self.write_all(bytes).and_then(|()| match &mut self.to {
            To::File { new, .. } => new.file().sync_all(),
            To::Stream(_) | To::Opened(_) => Ok(()),
        });
        written.map_err(PathError::of("write", &self.path))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It has none; a file that was there before is as it was.
    pub fn finish(self) -> Result<(), PathError> {
        let Self { path, to } = self;
        let finish = || match to {
            To::File { new, name } => new.replace(&name),
            To::Stream(_) | To::Opened(_) => Ok(()),
        };
        finish().map_err(PathError::of("write", &path))
    }
}

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match &mut self.to {
                To::File { new, .. } => return new.file().write(bytes),
                To::Opened(writer) => return writer.write(bytes),
                To::Stream(stream) => self.to = To::Opened(stream.open()?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_result_is_saved_in_a_folder_that_is_made() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new");
        make_folder(&folder).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o7700, 0o700, "as any new folder: less the umask, and nothing more");
        }
        let result = crate::from_bytes(include_bytes!("../tests/samples/v2.json")).unwrap();
        save_as(&folder.join("one.json"), &result).unwrap();
        assert_eq!(crate::load(&folder.join("one.json")).unwrap(), result);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_replaced_and_nothing_lies_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        check_writable(&path).unwrap();
        assert!(!path.exists(), "looking leaves nothing");
        write_file(&path, b"first").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0, "what was written is no program");
            assert_eq!(mode & 0o600, 0o600);
        }
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

    #[test]
    fn a_folder_that_is_not_there_has_a_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("none");
        for error in [check_writable(&missing.join("file")), write_file(&missing.join("file"), b"text")] {
            let told = error.unwrap_err().to_string();
            assert!(
                told.ends_with(&format!("make its folder first: mkdir -p {}", missing.display())),
                "{told}"
            );
        }
        let under_a_file = write_file(Path::new("/dev/null/file"), b"text").unwrap_err().to_string();
        assert!(!under_a_file.contains("mkdir"), "{under_a_file}");
    }

    /// Permission to run a file does not give permission to write it.
    #[cfg(unix)]
    #[test]
    fn a_program_that_nobody_may_write_is_read_only() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, "old").unwrap();
        for (mode, writable) in [(0o555, false), (0o755, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_writable(&path).is_ok(), writable, "{mode:o}");
        }
    }

    #[test]
    fn a_path_through_a_file_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "old").unwrap();
        assert!(check_writable(&file.join("below")).is_err());
        assert!(write_file(&file.join("below"), b"new").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
    }
}
