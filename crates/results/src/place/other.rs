//! A directory by its path, with what std offers on every system.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Owner;

/// A directory that is there.
pub(crate) struct Directory {
    path: PathBuf,
}

/// Names of what is in the directory at `path`.
pub(crate) fn names_at(path: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
}

impl Directory {
    /// Makes what is missing of the directory at `path`, on Unix with permissions `mode` less the umask.
    pub(crate) fn make(path: &Path, mode: u32, _: Option<Owner>) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        #[cfg(not(unix))]
        let _ = mode;
        builder.recursive(true).create(path)?;
        Ok(Self { path: path.to_owned() })
    }

    /// The same for its owner alone.
    pub(crate) fn make_private(path: &Path, owner: Option<Owner>) -> io::Result<Self> {
        Self::make(path, 0o700, owner)
    }

    /// The same directory once more.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone() })
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

    /// Whether anything has that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path.join(name).symlink_metadata().is_ok()
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

/// What is to be written.
pub(crate) enum Target {
    /// A file in a directory; permissions if there is one already.
    File { directory: Directory, name: String, old: Option<fs::Permissions> },
    /// No regular file: nothing to keep, nothing to replace.
    Stream(Stream),
}

impl Target {
    /// What `path` names. Through a symbolic link: the file behind it is replaced, not the link.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let (path, old) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return Ok(Self::Stream(Stream(path.to_owned()))),
            Ok(found) if found.permissions().readonly() => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            Ok(found) => (fs::canonicalize(path)?, Some(found.permissions())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name in UTF-8"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.map_or_else(|| PathBuf::from("."), Path::to_owned);
        if !fs::metadata(&parent)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self::File { directory: Directory { path: parent }, name: name.to_owned(), old })
    }
}

/// What is written to as it is.
pub(crate) struct Stream(PathBuf);

/// See [`Stream`].
pub(crate) type Writer = File;

impl Stream {
    /// Opens it for writing.
    pub(crate) fn open(&self) -> io::Result<Writer> {
        OpenOptions::new().write(true).open(&self.0)
    }
}

/// The bytes of a file; `None` if there are more than `most`.
pub(crate) fn read(path: &Path, most: u64, _: bool) -> io::Result<Option<Vec<u8>>> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    if found.len() > most { Ok(None) } else { super::read_at_most(File::open(path)?, most) }
}
