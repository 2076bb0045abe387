//! From a path to what it names, one step at a time and by descriptors. A symbolic link is followed only if root or the
//! caller made it, so nobody else leads a file of this program to another place.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::Owner;

/// Enough to look things up below a directory, even one that may be entered and not read.
const PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A directory for reading.
pub(super) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// As many links as the kernel follows (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// Directories that are missing are made.
pub(super) struct Make<'a> {
    /// Their permissions, less the umask.
    pub(super) mode: Mode,
    /// Whom they are given to.
    pub(super) owner: Option<&'a Owner>,
}

/// Where a path ends.
pub(super) enum End {
    /// In a directory.
    Directory(OwnedFd),
    /// With a name in a directory: of something else than a directory, or of nothing yet.
    Name { parent: OwnedFd, name: OsString, found: Option<Stat>, magic: bool },
}

/// Walks down `path`.
pub(super) fn walk(path: &Path, make: Option<&Make<'_>>) -> io::Result<End> {
    if path.as_os_str().is_empty() {
        return Err(Errno::NOENT.into());
    }
    let start =
        |path: &Path| fs::openat(fs::CWD, if path.is_absolute() { "/" } else { "." }, PASS, Mode::empty());
    let mut at = start(path)?;
    let mut rest = steps(path);
    // So many of them are the path's own; what lies above them comes from a link.
    let mut own = rest.len();
    let mut links = 0;
    while let Some(name) = rest.pop() {
        let of_link = rest.len() >= own;
        own = own.min(rest.len());
        // With O_DIRECTORY the kernel mounts what is mounted on demand; a link is not a directory.
        at = match fs::openat(&at, &name, PASS | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => match make {
                // Where a link leads is there, or is not meant to be: a disk that is not mounted.
                Some(make) if !of_link => made(&at, &name, make)?,
                None if rest.is_empty() => {
                    return Ok(End::Name { parent: at, name, found: None, magic: false });
                }
                _ => return Err(Errno::NOENT.into()),
            },
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let found =
                    fs::openat(&at, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
                let stat = fs::fstat(&found)?;
                if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
                    if rest.is_empty() && make.is_none() {
                        return Ok(End::Name { parent: at, name, found: Some(stat), magic: false });
                    }
                    return Err(Errno::NOTDIR.into());
                }
                trusted(stat.st_uid, rustix::process::geteuid().as_raw())?;
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if rest.is_empty()
                    && make.is_none()
                    && let Some(stat) = open_file(&at, &name, &found)?
                {
                    return Ok(End::Name { parent: at, name, found: Some(stat), magic: true });
                }
                let target = fs::readlinkat(&found, "", Vec::new())?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                rest.extend(steps(&target));
                if target.is_absolute() { start(&target)? } else { at }
            }
            Err(error) => return Err(error.into()),
        };
    }
    Ok(End::Directory(at))
}

/// The steps of a path, the last one first.
fn steps(path: &Path) -> Vec<OsString> {
    let step = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().rev().filter_map(step).collect()
}

/// Fails for a link of a user who is neither root nor the caller, whose number is `own`.
fn trusted(user: u32, own: u32) -> io::Result<()> {
    if [0, own].contains(&user) {
        return Ok(());
    }
    let says = format!("the symbolic link of user {user} is not followed: name its target instead");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, says))
}

/// What a link of /proc/PID/fd stands for, if that is a pipe, a socket or a device: the text of such a link is no path
/// (proc_pid_fd(5)).
fn open_file(parent: &OwnedFd, name: &OsStr, link: &OwnedFd) -> io::Result<Option<Stat>> {
    if fs::fstatfs(link)?.f_type != PROC_SUPER_MAGIC {
        return Ok(None);
    }
    let stat = fs::statat(parent, name, AtFlags::empty())?;
    let of_path =
        matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory);
    Ok((!of_path).then_some(stat))
}

/// Makes a file or directory the owner's.
pub(super) fn give(fd: &OwnedFd, owner: &Owner) -> io::Result<()> {
    Ok(fs::fchown(fd, Some(Uid::from_raw(owner.uid)), Some(Gid::from_raw(owner.gid)))?)
}

/// A new directory.
fn made(parent: &OwnedFd, name: &OsStr, make: &Make<'_>) -> io::Result<OwnedFd> {
    let is_new = match fs::mkdirat(parent, name, make.mode) {
        Ok(()) => true,
        // Somebody else was faster.
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    // Opened before it is given away, so that whatever a user puts in its place is not given away.
    let directory = if is_new {
        fs::openat(parent, name, LOOK | OFlags::NOFOLLOW, Mode::empty())?
    } else {
        fs::openat(parent, name, PASS | OFlags::NOFOLLOW, Mode::empty())?
    };
    if let (true, Some(owner)) = (is_new, make.owner) {
        // Who may rename here may have put another directory of root's in its place: that one is not given away.
        if !is_own_and_empty(&directory)? {
            let says = "another directory was put in the place of the new one";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
        }
        give(&directory, owner)?;
    }
    if is_new {
        // A loss of power that takes its name takes all that is stored in it.
        match fs::openat(parent, ".", LOOK, Mode::empty()) {
            Ok(parent) => sync(&parent)?,
            // Who may not read there has no descriptor to ask with.
            Err(Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(directory)
}

/// Puts the names in a directory on the disk. Some file systems cannot, and need not.
pub(super) fn sync(directory: &OwnedFd) -> io::Result<()> {
    match rustix::io::retry_on_intr(|| fs::fsync(directory)) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        result => Ok(result?),
    }
}

fn is_own_and_empty(directory: &OwnedFd) -> io::Result<bool> {
    let own = fs::fstat(directory)?.st_uid == rustix::process::geteuid().as_raw();
    let has_entries = fs::Dir::read_from(directory)?
        .any(|entry| !entry.is_ok_and(|entry| [c".", c".."].contains(&entry.file_name())));
    Ok(own && !has_entries)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn links_of_root_and_of_the_caller_lead_on() {
        for (user, own) in [(0, 0), (0, 1000), (1000, 1000)] {
            trusted(user, own).unwrap();
        }
        for (user, own) in [(1000, 0), (1, 0), (1, 1000), (1001, 1000)] {
            trusted(user, own).unwrap_err();
        }
    }

    #[test]
    fn as_many_links_are_followed_as_the_kernel_follows() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("0"), "x").unwrap();
        for link in 1..=41 {
            symlink((link - 1).to_string(), home.path().join(link.to_string())).unwrap();
        }
        for (links, followed) in [(1, true), (40, true), (41, false)] {
            let path = home.path().join(links.to_string());
            assert_eq!(walk(&path, None).is_ok(), followed, "{links} links");
            assert_eq!(std::fs::read(&path).is_ok(), followed, "the kernel at {links} links");
        }
    }

    #[test]
    fn a_file_has_nothing_below_it() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "x").unwrap();
        let make = Make { mode: Mode::from_raw_mode(0o700), owner: None };
        for make in [None, Some(&make)] {
            assert!(walk(&home.path().join("file/below"), make).is_err());
            assert!(walk(&home.path().join("file/below/that"), make).is_err());
        }
        let new = walk(&home.path().join("new"), None);
        assert!(matches!(new, Ok(End::Name { found: None, magic: false, .. })));
        // Nor has a pipe that has no path, and no folder can take its place.
        let (pipe, _other) = std::io::pipe().unwrap();
        let link = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
        assert!(matches!(walk(&link, None), Ok(End::Name { magic: true, .. })));
        assert!(walk(&link.join("below"), None).is_err());
        assert!(walk(&link, Some(&make)).is_err());
    }

    #[test]
    fn a_directory_that_somebody_else_made_meanwhile_is_not_given_away() {
        if !rustix::process::geteuid().is_root() {
            return println!("SKIP a directory made meanwhile: these tests do not run as root");
        }
        let home = tempfile::tempdir().unwrap();
        let parent = fs::openat(fs::CWD, home.path(), PASS, Mode::empty()).unwrap();
        let owner = Owner { uid: 65534, gid: 65534, home: None };
        let make = Make { mode: Mode::from_raw_mode(0o700), owner: Some(&owner) };
        std::fs::create_dir(home.path().join("theirs")).unwrap();
        made(&parent, OsStr::new("theirs"), &make).unwrap();
        made(&parent, OsStr::new("ours"), &make).unwrap();
        let user = |name: &str| std::fs::metadata(home.path().join(name)).unwrap().uid();
        assert_eq!((user("theirs"), user("ours")), (0, 65534));
    }

    #[test]
    fn a_directory_that_is_given_away_is_the_callers_and_empty() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new");
        std::fs::create_dir(&path).unwrap();
        let new = || fs::openat(fs::CWD, &path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        assert!(is_own_and_empty(&new()).unwrap());
        std::fs::write(path.join("x"), "").unwrap();
        assert!(!is_own_and_empty(&new()).unwrap());
        std::fs::remove_file(path.join("x")).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            assert!(!is_own_and_empty(&new()).unwrap());
        }
    }

    #[test]
    fn where_a_link_leads_nothing_is_made() {
        let home = tempfile::tempdir().unwrap();
        symlink("missing", home.path().join("link")).unwrap();
        let make = Make { mode: Mode::from_raw_mode(0o700), owner: None };
        assert!(walk(&home.path().join("link/below"), Some(&make)).is_err());
        assert!(!home.path().join("missing").exists(), "a disk that is not mounted");
    }
}
