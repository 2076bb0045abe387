//! A directory held by a descriptor: another user cannot redirect it by planting or swapping names.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::Owner;
use super::walk::{End, LOOK, Make, give, sync, walk};

/// An open directory, and whose the files made in it are.
pub(crate) struct Directory {
    fd: OwnedFd,
    owner: Option<Owner>,
}

/// Names of what is in the directory at `path`. The standard library's list ends the program where a sandbox refuses to close it.
pub(crate) fn names_at(path: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::Dir::new(fs::openat(fs::CWD, path, LOOK, Mode::empty())?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

impl Directory {
    /// Opens the directory at `path` and makes what is missing of it, with permissions `mode` less the umask.
    ///
    /// A link that neither root nor the caller made is an error.
    pub(crate) fn make(path: &Path, mode: u32, owner: Option<Owner>) -> io::Result<Self> {
        let make = Make { mode: Mode::from_raw_mode(mode), owner: owner.as_ref() };
        match walk(path, Some(&make))? {
            End::Directory(passed) => Self::of_passed(&passed, owner),
            End::Name { .. } => Err(Errno::NOTDIR.into()),
        }
    }

    /// The same for its owner alone (0700); one that belongs to a third user is an error.
    pub(crate) fn make_private(path: &Path, owner: Option<Owner>) -> io::Result<Self> {
        let directory = Self::make(path, 0o700, owner)?;
        let holder = fs::fstat(&directory.fd)?.st_uid;
        let user = directory.owner.as_ref().map(|owner| owner.uid);
        if ![Some(0), Some(rustix::process::geteuid().as_raw()), user].contains(&Some(holder)) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("the directory belongs to user {holder}"),
            ));
        }
        Ok(directory)
    }

    /// A directory that was found on the way, now for reading.
    pub(super) fn of_passed(passed: &OwnedFd, owner: Option<Owner>) -> io::Result<Self> {
        Ok(Self { fd: fs::openat(passed, ".", LOOK, Mode::empty())?, owner })
    }

    /// The same directory once more.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, owner: self.owner.clone() })
    }

    /// Names of the files in it that are text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// A file without a name; `None` where the file system cannot do that.
    pub(crate) fn unnamed(&self, mode: u32) -> io::Result<Option<File>> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match fs::openat(&self.fd, ".", flags, Mode::from_raw_mode(mode)) {
            Ok(fd) => self.given(fd).map(Some),
            // EISDIR: a kernel that does not know the flag (open(2), BUGS).
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A new file; it is an error if anything has that name.
    pub(crate) fn create(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.given(fs::openat(&self.fd, name, flags, Mode::from_raw_mode(mode))?)
    }

    /// Makes the file the owner's.
    fn given(&self, fd: OwnedFd) -> io::Result<File> {
        if let Some(owner) = &self.owner {
            give(&fd, owner)?;
        }
        Ok(File::from(fd))
    }

    /// A file that is there, for reading and writing. A FIFO or a device does not block, a link is an error.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.fd, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file)
    }

    /// Names an unnamed file; [`io::ErrorKind::Unsupported`] where this process may not.
    pub(crate) fn link(&self, file: &File, name: &str) -> io::Result<()> {
        // Without /proc, but only for the privileged, or for one's own descriptors since Linux 6.10.
        match fs::linkat(file, "", &self.fd, name, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {}
            result => return Ok(result?),
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        match fs::linkat(fs::CWD, path, &self.fd, name, AtFlags::SYMLINK_FOLLOW) {
            Err(Errno::NOENT | Errno::PERM | Errno::XDEV | Errno::OPNOTSUPP | Errno::ACCESS) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            result => Ok(result?),
        }
    }

    /// Whether anything has that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Renames; it is an error if the new name is taken.
    pub(crate) fn name_once(&self, from: &str, to: &str) -> io::Result<()> {
        match fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // File systems without the flag have links.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
                self.remove(from)
            }
            result => Ok(result?),
        }
    }

    /// Renames, in place of what had the name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Whether the open file still has a name.
    pub(crate) fn has_name(&self, file: &File) -> io::Result<bool> {
        Ok(file.metadata()?.nlink() > 0)
    }

    /// Puts the names on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync(&self.fd)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::place::{NewFile, PRIVATE};

    const NOBODY: u32 = 65534;

    fn nobody() -> Option<Owner> {
        if !rustix::process::geteuid().is_root() {
            println!("SKIP ownership under sudo: these tests do not run as root");
            return None;
        }
        Some(Owner { uid: NOBODY, gid: NOBODY, home: None })
    }

    #[test]
    fn what_root_makes_for_a_user_is_the_users() {
        let Some(owner) = nobody() else { return };
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".local/state/oscost/runs");
        let directory = Directory::make_private(&path, Some(owner)).unwrap();
        for name in ["unnamed", "named"] {
            let begin = if name == "named" { NewFile::begin_named } else { NewFile::begin };
            let mut new = begin(&directory, PRIVATE).unwrap();
            new.file().write_all(b"x").unwrap();
            new.publish(name).unwrap();
            let made = std::fs::metadata(path.join(name)).unwrap();
            assert_eq!((made.uid(), made.gid(), made.permissions().mode() & 0o7777), (NOBODY, NOBODY, 0o600));
        }
        let mut made = path.as_path();
        while made != home.path() {
            assert_eq!(std::fs::metadata(made).unwrap().uid(), NOBODY, "{}", made.display());
            made = made.parent().unwrap();
        }
        assert_eq!(std::fs::metadata(home.path()).unwrap().uid(), 0, "what was there stays whose it was");
    }

    #[test]
    fn root_acting_for_a_user_follows_no_link_of_theirs() {
        let Some(owner) = nobody() else { return };
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("etc");
        std::fs::create_dir(&target).unwrap();
        let link = home.path().join("link");
        symlink(&target, &link).unwrap();
        Directory::make_private(&link.join("runs"), Some(owner.clone())).unwrap();
        std::os::unix::fs::lchown(&link, Some(NOBODY), None).unwrap();
        for path in [link.join("other"), link.clone()] {
            let Err(error) = Directory::make_private(&path, Some(owner.clone())) else {
                panic!("{} was used", path.display())
            };
            assert!(error.to_string().contains("symbolic link of user 65534"), "{error}");
        }
        assert!(!target.join("other").exists());
    }

    #[test]
    fn a_directory_of_a_third_user_is_not_used() {
        if nobody().is_none() {
            return;
        }
        let home = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(home.path(), Some(4711), None).unwrap();
        let Err(error) = Directory::make_private(home.path(), None) else { panic!("it was used") };
        assert!(error.to_string().contains("belongs to user 4711"), "{error}");
    }

    #[test]
    fn a_users_own_links_are_followed() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("disk")).unwrap();
        symlink("disk", home.path().join("state")).unwrap();
        Directory::make_private(&home.path().join("state/oscost/runs"), None).unwrap();
        assert!(home.path().join("disk/oscost/runs").is_dir());
    }

    #[test]
    fn planted_names_are_no_way_out() {
        let home = tempfile::tempdir().unwrap();
        let directory = Directory::make_private(home.path(), None).unwrap();
        let victim = home.path().join("victim");
        std::fs::write(&victim, "old").unwrap();
        symlink(&victim, home.path().join("planted")).unwrap();
        assert_eq!(directory.create("planted", PRIVATE).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        directory.open("planted").unwrap_err();
        for begin in [NewFile::begin, NewFile::begin_named] {
            let new = begin(&directory, PRIVATE).unwrap();
            assert_eq!(new.publish("planted").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        // A link with the name of a stray is removed by no sweep, nor what it leads to.
        symlink(&victim, home.path().join(".0123456789abcdef.tmp")).unwrap();
        directory.sweep().unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 3);
    }

    #[test]
    fn only_names_that_this_program_draws_are_swept() {
        let home = tempfile::tempdir().unwrap();
        let directory = Directory::make_private(home.path(), None).unwrap();
        let drawn = ".oscost-0123456789abcdef.tmp";
        let others = [
            ".oscost-notes.tmp",
            ".oscost-0123456789abcde.tmp",
            ".oscost-0123456789abcdef0.tmp",
            ".oscost-0123456789ABCDEF.tmp",
            ".oscost-0123456789abcdef",
            "oscost-0123456789abcdef.tmp",
        ];
        for name in others.iter().chain([&drawn]) {
            std::fs::write(home.path().join(name), "half").unwrap();
        }
        directory.sweep().unwrap();
        assert!(!home.path().join(drawn).exists());
        assert!(others.iter().all(|name| home.path().join(name).exists()));
    }

    #[test]
    fn a_file_that_is_begun_beside_sweeps_keeps_its_name() {
        let home = tempfile::tempdir().unwrap();
        let directory = || Directory::make_private(home.path(), None).unwrap();
        let ended = AtomicBool::new(false);
        let sweep = || {
            let directory = directory();
            while !ended.load(Ordering::Relaxed) {
                directory.sweep().unwrap();
            }
        };
        let kept = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(sweep);
            }
            let directory = directory();
            let keeps = |_| {
                NewFile::begin_named(&directory, PRIVATE).and_then(|mut new| directory.has_name(new.file()))
            };
            let kept: Vec<io::Result<bool>> = (0..2000).map(keeps).collect();
            ended.store(true, Ordering::Relaxed);
            kept
        });
        assert!(kept.iter().all(|kept| matches!(kept, Ok(true))), "{kept:?}");
    }

    #[test]
    fn a_file_has_no_name_where_the_file_system_knows_such() {
        let folder = tempfile::tempdir().unwrap();
        let known = fs::open(folder.path(), OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR).is_ok();
        let directory = Directory::make(folder.path(), 0o700, None).unwrap();
        assert_eq!(directory.unnamed(PRIVATE).unwrap().is_some(), known);
    }
}
