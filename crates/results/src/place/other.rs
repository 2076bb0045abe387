//! A directory by its path, with what std offers on every system.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Owner;

/// A directory that is there.
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Makes what is missing of the directory at `path`, on Unix for its owner alone.
    pub(crate) fn make(path: &Path, _: Option<Owner>) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path)?;
        Ok(Self { path: path.to_owned() })
    }

    /// Takes the directory at `path` as it is.
    pub(crate) fn open_existing(path: &Path, _: Option<Owner>) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            Ok(Self { path: path.to_owned() })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Names of the files in it that are text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    /// Files without a name are Linux's.
    pub(crate) fn unnamed(&self, _: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// See [`Self::unnamed`].
    pub(crate) fn link(&self, _: &File, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A new file; it is an error if anything has that name.
    pub(crate) fn create(&self, name: &str, mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        options.read(true).write(true).create_new(true).open(self.path.join(name))
    }

    /// A file that is there, for reading and writing.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.path.join(name))
    }

    /// Renames; it is an error if the new name is taken.
    pub(crate) fn name_once(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.path.join(from), self.path.join(to))?;
        self.remove(from)
    }

    /// Renames, in place of what had the name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Whether the open file still has a name, where the system tells.
    pub(crate) fn has_name(&self, file: &File) -> io::Result<bool> {
        #[cfg(unix)]
        return Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0);
        #[cfg(not(unix))]
        file.metadata().map(|_| true)
    }

    /// std cannot put the names of a directory on the disk everywhere; files themselves are synchronised.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
