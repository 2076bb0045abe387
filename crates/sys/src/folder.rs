//! A folder held by its descriptor: what is done in it is done there, whatever somebody renames or links above or in it.
//! openat2(2), mkdirat(2), linkat(2), unlinkat(2), flock(2), ioctl_iflags(2).

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::file::{c_path, stat_of};
use crate::record_lock::{self, LockKind};
use crate::{
    CallError,
    error::{check, own},
    identity,
};

/// An open folder. Names in it are single words: no slash, no way up.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
}

/// How a file in a folder is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// For writing besides reading.
    pub write: bool,
    /// What becomes of it where it is not there, or is.
    pub making: Making,
    /// Permissions of a file that is made, less the umask.
    pub mode: u32,
}

/// Whether a file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Making {
    /// It must be there.
    Never,
    /// Where it is not there.
    Missing,
    /// It must not be there.
    Always,
}

/// What the kernel says of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileStatus {
    /// Its user, in the caller's user namespace.
    pub uid: u32,
    /// Permissions, with the sticky bit.
    pub mode: u32,
    /// Device and number: the same for the same folder alone.
    pub identity: (u64, u64),
    /// Whether it has no name any more: it was removed.
    pub is_removed: bool,
}

impl FileStatus {
    /// Whether it has the mark of [`Folder::make_marked_folder`].
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.mode & STICKY != 0
    }
}

const LOOK: libc::c_int = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
/// The mark of what this program made. Linux has no other use for it on a socket, or in a folder of one user.
pub(crate) const STICKY: u32 = 0o1000;

impl Folder {
    /// Opens the folder that a user named: links in the path are followed, as everywhere.
    ///
    /// # Errors
    /// The error of open.
    pub fn open(path: &Path) -> Result<Self, CallError> {
        let path = c_path(path)?;
        // SAFETY: the path is a C string; the descriptor is new.
        Ok(Self { fd: unsafe { own("open", libc::open(path.as_ptr(), LOOK)) }? })
    }

    /// Names of what is in the folder at `path`. The standard library's list ends the program where a sandbox refuses to
    /// close it.
    ///
    /// # Errors
    /// The error of open, openat or readdir.
    pub fn names_at(path: impl AsRef<Path>) -> Result<Vec<OsString>, CallError> {
        Self::open(path.as_ref())?.names()
    }

    /// A folder in this one; a link is an error (ELOOP or ENOTDIR).
    ///
    /// # Errors
    /// The error of openat; EINVAL for a name that is no single word.
    pub fn folder(&self, name: &OsStr) -> Result<Self, CallError> {
        Ok(Self { fd: self.open_beneath(&word(name)?, LOOK, 0)? })
    }

    /// A new folder in this one, for its user alone.
    ///
    /// # Errors
    /// The error of mkdirat or openat; EPERM where what was made is somebody else's.
    pub fn make_folder(&self, name: &OsStr) -> Result<Self, CallError> {
        self.make_with(name, 0o700)
    }

    /// The same with the sticky bit, which does nothing in a folder for its user alone: it is a mark that is there from the
    /// folder's first moment on, whenever its maker is killed.
    ///
    /// # Errors
    /// As [`Self::make_folder`].
    pub fn make_marked_folder(&self, name: &OsStr) -> Result<Self, CallError> {
        self.make_with(name, 0o700 | STICKY)
    }

    /// Has folders that are made in this one lie far from it, and from where much is made and removed, if its file system can do that
    /// (ext4); whether it can. `chattr +T`, ioctl_iflags(2).
    pub fn scatter(&self) -> bool {
        const TOPDIR: libc::c_long = 0x0002_0000;
        let mut flags: libc::c_long = 0;
        let (fd, get, set) = (self.fd.as_raw_fd(), libc::FS_IOC_GETFLAGS, libc::FS_IOC_SETFLAGS);
        // SAFETY: the kernel writes one number, of 32 bits, to a local variable of at least as many.
        let read = unsafe { libc::ioctl(fd, get, &raw mut flags) };
        flags |= TOPDIR;
        // SAFETY: the kernel reads the same number.
        read == 0 && unsafe { libc::ioctl(fd, set, &raw const flags) } == 0
    }

    fn make_with(&self, name: &OsStr, mode: libc::mode_t) -> Result<Self, CallError> {
        let c_name = word(name)?;
        // SAFETY: the name is a C string.
        check("mkdir", unsafe { libc::mkdirat(self.fd.as_raw_fd(), c_name.as_ptr(), mode) })?;
        match self.folder(name).and_then(|made| made.status().map(|status| (made, status))) {
            Ok((made, status)) if status.uid == identity::effective_uid() => Ok(made),
            Ok(_) => Err(CallError::new("mkdir", libc::EPERM)),
            Err(error) => {
                // Nobody would know of it. If it cannot be removed either, there is nothing left to do.
                let _ = self.remove_folder(name);
                Err(error)
            }
        }
    }

    /// A regular file in this folder; a link is an error (ELOOP), and so is anything else that is no file (EINVAL). Nothing
    /// of it blocks.
    ///
    /// # Errors
    /// The error of openat or fstat.
    pub fn file(&self, name: &OsStr, how: Opening) -> Result<File, CallError> {
        let access = if how.write { libc::O_RDWR } else { libc::O_RDONLY };
        let making = match how.making {
            Making::Never => 0,
            Making::Missing => libc::O_CREAT,
            Making::Always => libc::O_CREAT | libc::O_EXCL,
        };
        let flags = access | making | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let fd = self.open_beneath(&word(name)?, flags, if making == 0 { 0 } else { how.mode })?;
        match stat_of(&fd)?.st_mode & libc::S_IFMT {
            libc::S_IFREG => Ok(fd.into()),
            _ => Err(CallError::new("open", libc::EINVAL)),
        }
    }

    /// A file in this folder that has no name yet, for its user alone: it is gone when it is closed, unless it gets one. open(2),
    /// O_TMPFILE.
    ///
    /// # Errors
    /// The error of openat: EOPNOTSUPP where the file system has no such files, EISDIR before Linux 3.11.
    pub fn unnamed_file(&self) -> Result<File, CallError> {
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        Ok(self.open_beneath(c".", flags, 0o600)?.into())
    }

    /// Gives a file of [`Self::unnamed_file`] its name in this folder. linkat(2).
    ///
    /// # Errors
    /// The error of linkat: EEXIST where something has the name; ENOENT without /proc, for who may not do without it.
    pub fn name_file(&self, file: &File, name: &OsStr) -> Result<(), CallError> {
        let (folder, name) = (self.fd.as_raw_fd(), word(name)?);
        let link = |from, path: &CStr, flags| {
            // SAFETY: both names are C strings.
            check("link", unsafe { libc::linkat(from, path.as_ptr(), folder, name.as_ptr(), flags) })
        };
        // Without /proc, but only for the privileged, or for one's own descriptors since Linux 6.10.
        let linked = match link(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH) {
            Err(error) if error.errno != libc::EEXIST => {
                let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
                    .map_err(|_| CallError::new("link", libc::EINVAL))?;
                link(libc::AT_FDCWD, &path, libc::AT_SYMLINK_FOLLOW)
            }
            linked => linked,
        };
        linked.map(|_| ())
    }

    /// Removes what has this name and is no folder: a link itself, not what it leads to.
    ///
    /// # Errors
    /// The error of unlinkat (EISDIR: a folder).
    pub fn remove(&self, name: &OsStr) -> Result<(), CallError> {
        self.unlink(name, 0)
    }

    /// Removes a socket with the mark of [`crate::socket::marked_datagram_at`] or of [`crate::registration::listen`]. Whatever else has this name stays.
    ///
    /// # Errors
    /// The error of fstatat or unlinkat; ENOTSOCK where it is no socket with the mark.
    pub fn remove_marked_socket(&self, name: &OsStr) -> Result<(), CallError> {
        let c_name = word(name)?;
        // SAFETY: an all-zero stat is valid.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        let (folder, flags) = (self.fd.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
        // SAFETY: the name is a C string, and the kernel writes one stat to a local variable.
        check("stat", unsafe { libc::fstatat(folder, c_name.as_ptr(), &raw mut stat, flags) })?;
        match stat.st_mode & libc::S_IFMT {
            libc::S_IFSOCK if stat.st_mode & STICKY != 0 => self.remove(name),
            _ => Err(CallError::new("unlink", libc::ENOTSOCK)),
        }
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// The error of unlinkat (ENOTEMPTY, ENOTDIR).
    pub fn remove_folder(&self, name: &OsStr) -> Result<(), CallError> {
        self.unlink(name, libc::AT_REMOVEDIR)
    }

    /// Removes everything in it, and in folders in it down to `depth` more levels. The first error is told at the end.
    ///
    /// # Errors
    /// The error of unlinkat, openat or readdir.
    pub fn empty(&self, depth: u32) -> Result<(), CallError> {
        let mut done = Ok(());
        for name in self.names()? {
            let removed = match self.remove(&name) {
                Err(error) if error.errno == libc::EISDIR && depth > 0 => self
                    .folder(&name)
                    .and_then(|folder| folder.empty(depth - 1))
                    .and_then(|()| self.remove_folder(&name)),
                Err(error) if error.errno == libc::ENOENT => Ok(()),
                removed => removed,
            };
            done = done.and(removed);
        }
        done
    }

    /// Names of what is in it.
    ///
    /// # Errors
    /// The error of openat or readdir.
    pub fn names(&self) -> Result<Vec<OsString>, CallError> {
        // A description of its own: the position belongs to that.
        let fd = self.open_beneath(c".", LOOK, 0)?;
        // SAFETY: the descriptor is open; on success the stream owns it.
        let stream = unsafe { libc::fdopendir(fd.as_raw_fd()) };
        if stream.is_null() {
            return Err(CallError::last("fdopendir"));
        }
        std::mem::forget(fd);
        let mut names = Vec::new();
        let ended = loop {
            // readdir tells its end from an error by errno alone.
            // SAFETY: errno is the calling thread's.
            unsafe { *libc::__errno_location() = 0 };
            // SAFETY: the stream is open, and used by this thread alone.
            let entry = unsafe { libc::readdir(stream) };
            if entry.is_null() {
                break CallError::last("readdir");
            }
            // SAFETY: an entry's name is a C string that lives until the next call.
            let name = unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) };
            if name != c"." && name != c".." {
                names.push(OsString::from_vec(name.to_bytes().to_vec()));
            }
        };
        // SAFETY: the stream is open and not used after this.
        unsafe { libc::closedir(stream) };
        if ended.errno == 0 { Ok(names) } else { Err(ended) }
    }

    /// What the kernel says of it.
    ///
    /// # Errors
    /// The error of fstat.
    pub fn status(&self) -> Result<FileStatus, CallError> {
        let stat = stat_of(&self.fd)?;
        Ok(FileStatus {
            uid: stat.st_uid,
            mode: stat.st_mode & 0o7777,
            identity: (stat.st_dev, stat.st_ino),
            is_removed: stat.st_nlink == 0,
        })
    }

    /// Why somebody besides the caller and root may rename what the caller makes in it, and put something else in its place;
    /// `None`: nobody may. In a folder with the sticky bit everybody renames what is his alone.
    ///
    /// # Errors
    /// The error of fstat.
    pub fn renamed_by(&self) -> Result<Option<String>, CallError> {
        let FileStatus { uid, mode, .. } = self.status()?;
        let own = identity::effective_uid();
        Ok(if uid != own && uid != 0 {
            Some(format!("it belongs to user {uid}, who may rename files that user {own} makes in it"))
        } else if mode & 0o022 != 0 && mode & STICKY == 0 {
            let who = if mode & 0o002 == 0 { "its group" } else { "everybody" };
            Some(format!("{who} may rename the files in it (permissions {mode:04o})"))
        } else {
            None
        })
    }

    /// Locks it for this description, and whoever inherits it, until the last of them is closed; whether that could be done
    /// at once. flock(2).
    ///
    /// # Errors
    /// The error of flock, but for EWOULDBLOCK.
    pub fn try_lock(&self) -> Result<bool, CallError> {
        record_lock::try_flock(self.fd.as_fd(), LockKind::Write)
    }

    /// The same folder under a description of its own, with locks of its own.
    ///
    /// # Errors
    /// The error of openat.
    pub fn again(&self) -> Result<Self, CallError> {
        Ok(Self { fd: self.open_beneath(c".", LOOK, 0)? })
    }

    fn unlink(&self, name: &OsStr, flags: libc::c_int) -> Result<(), CallError> {
        let name = word(name)?;
        // SAFETY: the name is a C string.
        check("unlink", unsafe { libc::unlinkat(self.fd.as_raw_fd(), name.as_ptr(), flags) }).map(|_| ())
    }

    /// Opens a name in this folder without following a link: by openat2, which also keeps the kernel from leaving the
    /// folder; where there is none (before Linux 5.6, or a sandbox that does not know it) by openat.
    fn open_beneath(&self, name: &CStr, flags: libc::c_int, mode: u32) -> Result<OwnedFd, CallError> {
        let flags = flags | libc::O_NOFOLLOW;
        // SAFETY: an all-zero open_how is valid.
        let mut how: libc::open_how = unsafe { std::mem::zeroed() };
        how.flags = u64::from(flags.cast_unsigned());
        how.mode = u64::from(mode);
        how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS;
        let (folder, size) = (self.fd.as_raw_fd(), size_of::<libc::open_how>());
        // SAFETY: the name is a C string, and the kernel reads one open_how.
        let opened = unsafe { libc::syscall(libc::SYS_openat2, folder, name.as_ptr(), &raw const how, size) };
        let opened = match i32::try_from(opened) {
            Ok(fd) if fd >= 0 => Ok(fd),
            _ => Err(CallError::last("open")),
        };
        let fd = match opened {
            Err(error) if matches!(error.errno, libc::ENOSYS | libc::EPERM) => {
                // SAFETY: the name is a C string; a mode follows where a file may be made.
                check("open", unsafe { libc::openat(folder, name.as_ptr(), flags, mode) })?
            }
            opened => opened?,
        };
        // SAFETY: the kernel has just handed out this descriptor to us alone.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl From<OwnedFd> for Folder {
    /// Of a descriptor that was inherited. What is no folder fails at its first use.
    fn from(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Folder {
    fn as_raw_fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }
}

/// The name of an entry: one word.
fn word(name: &OsStr) -> Result<CString, CallError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.contains(&b'/') || bytes == b"." || bytes == b".." {
        return Err(CallError::new("open", libc::EINVAL));
    }
    CString::new(bytes).map_err(|_| CallError::new("open", libc::EINVAL))
}

#[cfg(test)]
mod tests;
