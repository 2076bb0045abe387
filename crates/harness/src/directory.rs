//! A directory of our own for files that are measured: in memory, or where the user wants them.

use std::path::{Path, PathBuf};

use oscost_sys::CallError;

use crate::benchmark::{SetUp, Unable};
use crate::janitor::{Object, SHARED_MEMORY};

/// A directory with a name that nobody can predict, removed with the value; where its maker is killed, by the janitor or
/// with the private namespace.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Makes one in the directory of the user's, or in memory.
    ///
    /// # Errors
    /// [`Unable::Unsupported`] where none can be made, with what to do.
    pub fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable> {
        // Below a private /dev/shm nothing of the host's is seen; the file system is of the same kind.
        let wanted = cx.directory.filter(|wanted| !wanted.starts_with(SHARED_MEMORY));
        let base = wanted.unwrap_or(Path::new(SHARED_MEMORY));
        let name = cx.unique_name()?;
        let path = base.join(name.trim_start_matches('/'));
        std::fs::create_dir(&path).map_err(|error| Unable::Unsupported {
            why: format!("no directory can be made in {}: {error}", base.display()),
            remedy: match wanted {
                Some(_) => "another --directory, in which this user may write".into(),
                None => "mount -t tmpfs -o mode=1777 tmpfs /dev/shm, or --directory DIR".into(),
            },
        })?;
        let directory = Self(path);
        let text = directory.0.to_str().ok_or(CallError::new("mkdir", 22))?.to_owned();
        cx.keeper.keep(&Object::Directory(text))?;
        Ok(directory)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes everything in it.
    ///
    /// # Errors
    /// The error of unlink or rmdir.
    pub fn empty(&self) -> Result<(), CallError> {
        let remove = || -> std::io::Result<()> {
            for entry in std::fs::read_dir(&self.0)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    std::fs::remove_dir_all(entry.path())?;
                } else {
                    std::fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        };
        remove().map_err(|error| CallError::new("unlink", error.raw_os_error().unwrap_or(0)))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // It cannot be told to anybody here, and the janitor tries again.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
