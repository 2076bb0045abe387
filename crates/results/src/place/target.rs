//! What a path that the user gave names: a file that is replaced, or a pipe or device that is written to as it is. And what
//! may be read: files, and pipes for a while. Nothing here waits for ever.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::walk::{End, walk};
use super::{Directory, Owner, read_at_most};

/// How long nobody may be at the other side of a pipe that the user named, s.
const ABSENT_S: i64 = 3;
/// How long the one who is there may do nothing, s.
const IDLE_S: i64 = 10;
/// How often somebody is looked for who is not there, ns.
const LOOK_NS: i64 = 20_000_000;
/// How often they are looked for.
const LOOKS: i64 = ABSENT_S * 1_000_000_000 / LOOK_NS;

/// What is to be written.
pub(crate) enum Target {
    /// A file in a directory; permissions if there is one already.
    File { directory: Directory, name: String, old: Option<Permissions> },
    /// A pipe or a character device: nothing to keep, nothing to replace.
    Stream(Stream),
}

impl Target {
    /// What `path` names.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let (parent, name, found, magic) = match walk(path, None)? {
            End::Directory(_) => return Err(io::ErrorKind::IsADirectory.into()),
            End::Name { .. } if names_a_folder(path) => {
                let why = "its name ends as a folder's does, and there is no such folder";
                return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
            }
            End::Name { parent, name, found, magic } => (parent, name, found, magic),
        };
        let kind = found.map(|stat| FileType::from_raw_mode(stat.st_mode));
        let owner = match (kind, &found) {
            (Some(FileType::RegularFile), Some(stat)) if stat.st_mode & 0o222 == 0 => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            (Some(FileType::RegularFile), Some(stat)) => {
                may_be_replaced(&parent, &name, stat)?;
                Owner::of_replaced(stat.st_uid, stat.st_gid)
            }
            (None, _) => Owner::invoking_sudo(),
            (Some(FileType::BlockDevice), _) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "a disk cannot take a file"));
            }
            (Some(kind), _) => return Ok(Self::Stream(Stream { parent, name, magic, kind })),
        };
        let name = name.into_string();
        let name = name.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "no file name in UTF-8"))?;
        let directory = Directory::of_passed(&parent, owner)?;
        // Not its set-user-id bits: what is written now is no program.
        let old = found.map(|stat| Permissions::from_mode(stat.st_mode & 0o777));
        Ok(Self::File { directory, name, old })
    }
}

/// Fails where the kernel lets nobody rename anything to the name of this file: in a sticky folder it is another user's, or it may
/// not be changed. Only of what could be removed does the kernel say that it is no folder.
fn may_be_replaced(parent: &OwnedFd, name: &OsString, found: &Stat) -> io::Result<()> {
    if fs::unlinkat(parent, name, AtFlags::REMOVEDIR) != Err(Errno::PERM) {
        return Ok(());
    }
    let why = match found.st_uid {
        own if own == rustix::process::geteuid().as_raw() => "the file cannot be changed (lsattr)".to_owned(),
        uid => format!("the file is user {uid}'s, and only its owner may replace it in that folder"),
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Whether a path can only be that of a folder: the last part of `x/` and of `x/.` is `x` all the same.
fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// A pipe or a character device that was found and not opened yet.
pub(crate) struct Stream {
    parent: OwnedFd,
    name: OsString,
    magic: bool,
    kind: FileType,
}

impl Stream {
    /// Opens it for writing. A pipe that nobody reads is waited for, for a while.
    pub(crate) fn open(&self) -> io::Result<Writer> {
        let follow = if self.magic { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | follow;
        for _ in 0..LOOKS {
            match fs::openat(&self.parent, &self.name, flags, Mode::empty()) {
                Err(Errno::NXIO) if self.kind == FileType::Fifo => pause()?,
                Err(error) => return Err(error.into()),
                Ok(fd) if FileType::from_raw_mode(fs::fstat(&fd)?.st_mode) != self.kind => {
                    return Err(io::Error::other("something else took its place"));
                }
                Ok(fd) => return Ok(Writer(File::from(fd))),
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("nobody has read from it for {ABSENT_S} s")))
    }
}

/// Writes, and waits for a while where there is no room.
pub(crate) struct Writer(File);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(&self.0, PollFlags::OUT, "its reader took nothing")?;
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what a pipe holds, and waits for a while where there is nothing.
struct Reader {
    pipe: File,
    /// Somebody is or was at the other side.
    met: bool,
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut looks = 0;
        loop {
            match self.pipe.read(bytes) {
                // Not yet the end: nobody has written so far.
                Ok(0) if !self.met => {
                    looks += 1;
                    if looks > LOOKS {
                        let says = format!("nobody has written to it for {ABSENT_S} s");
                        return Err(io::Error::new(io::ErrorKind::TimedOut, says));
                    }
                    pause()?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.met = true;
                    wait(&self.pipe, PollFlags::IN, "nothing was written to it")?;
                }
                done => {
                    self.met = true;
                    return done;
                }
            }
        }
    }
}

/// The bytes of a file, or of a pipe where `pipes` may be read; `None` if there are more than `most`.
///
/// A device is not even opened, since that alone can act. Nor is what says that it is empty: files of /proc say so, and some
/// of them wait for ever, or take what they show.
pub(crate) fn read(path: &Path, most: u64, pipes: bool) -> io::Result<Option<Vec<u8>>> {
    let found = fs::openat(fs::CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let stat = fs::fstat(&found)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_size == 0 => Ok(Some(Vec::new())),
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size > most) => Ok(None),
        FileType::RegularFile => read_at_most(File::from(open_found(path, &found, &stat)?), most),
        FileType::Fifo if pipes => {
            read_at_most(Reader { pipe: File::from(open_found(path, &found, &stat)?), met: false }, most)
        }
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
    }
}

/// Opens for reading what was found; without /proc by its path again, if it is still the same.
fn open_found(path: &Path, found: &OwnedFd, stat: &Stat) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let by_number = format!("/proc/self/fd/{}", found.as_raw_fd());
    match fs::openat(fs::CWD, by_number, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => open_again(path, flags, stat),
        opened => Ok(opened?),
    }
}

/// Opens by its path what was found there before, if it is still the same.
fn open_again(path: &Path, flags: OFlags, stat: &Stat) -> io::Result<OwnedFd> {
    let fd = fs::openat(fs::CWD, path, flags, Mode::empty())?;
    let now = fs::fstat(&fd)?;
    if (now.st_dev, now.st_ino) != (stat.st_dev, stat.st_ino) {
        return Err(io::Error::other("something else took its place"));
    }
    Ok(fd)
}

/// Waits until `file` is ready. A signal ends the wait, because its sender does not want to wait.
fn wait(file: &File, flags: PollFlags, silence: &str) -> io::Result<()> {
    let patience = Timespec { tv_sec: IDLE_S, tv_nsec: 0 };
    match poll(&mut [PollFd::from_borrowed_fd(file.as_fd(), flags)], Some(&patience)) {
        Ok(0) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("{silence} for {IDLE_S} s"))),
        Ok(_) => Ok(()),
        Err(Errno::INTR) => Err(io::Error::other("a signal ended the wait for it")),
        Err(error) => Err(error.into()),
    }
}

/// Waits before the next look.
fn pause() -> io::Result<()> {
    match poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: LOOK_NS })) {
        Err(Errno::INTR) => Err(io::Error::other("a signal ended the wait for it")),
        other => Ok(other.map(drop)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_ends_as_a_folders_does_makes_no_file() {
        let home = tempfile::tempdir().unwrap();
        for end in ["x/", "x/."] {
            let refused = Target::find(&home.path().join(end)).map(|_| ()).unwrap_err();
            assert!(refused.to_string().contains("there is no such folder"), "{end}: {refused}");
        }
        assert!(matches!(Target::find(&home.path().join("x")), Ok(Target::File { .. })));
        let there = Target::find(&home.path().join(".")).map(|_| ()).unwrap_err();
        assert_eq!(there.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn what_took_the_place_of_a_file_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("file"), home.path().join("other"));
        std::fs::write(&path, "first").unwrap();
        std::fs::write(&other, "second").unwrap();
        let stat = fs::stat(&path).unwrap();
        let mut text = String::new();
        File::from(open_again(&path, OFlags::RDONLY, &stat).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "first");
        std::fs::rename(&other, &path).unwrap();
        let error = open_again(&path, OFlags::RDONLY, &stat).unwrap_err();
        assert_eq!(error.to_string(), "something else took its place");
    }

    /// The first bytes are read without waiting for them: their writer was there, and its end is the end.
    #[test]
    fn a_pipe_that_was_written_to_and_closed_ends() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"all").unwrap();
        drop(writer);
        let mut reader = Reader { pipe: File::from(OwnedFd::from(reader)), met: false };
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "all");
    }
}
