//! Opening, closing and asking for files, through libc. open(2), close(2), stat(2).

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use crate::{
    CallError,
    error::{check, own},
};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenAccess {
    /// O_RDONLY.
    Read,
    /// O_WRONLY.
    Write,
}

/// Opens a file; it is closed on exec. open(2).
///
/// # Errors
/// The error of open.
#[inline(always)]
pub fn open(path: &CStr, access: OpenAccess) -> Result<OwnedFd, CallError> {
    let flags = match access {
        OpenAccess::Read => libc::O_RDONLY,
        OpenAccess::Write => libc::O_WRONLY,
    };
    // SAFETY: the path is a C string; the descriptor is new.
    unsafe { own("open", libc::open(path.as_ptr(), flags | libc::O_CLOEXEC)) }
}

/// What the capabilities of a file are kept under.
const CAPABILITIES: &CStr = c"security.capability";

/// Whether a program has capabilities of its own, which its user need not have. capabilities(7), getxattr(2).
#[must_use]
pub fn has_capabilities(path: impl AsRef<std::path::Path>) -> bool {
    let Ok(path) = CString::new(path.as_ref().as_os_str().as_bytes()) else { return false };
    // SAFETY: reads two C strings; with a size of 0 the kernel writes nothing.
    let bytes = unsafe { libc::getxattr(path.as_ptr(), CAPABILITIES.as_ptr(), std::ptr::null_mut(), 0) };
    bytes > 0
}

/// Longest text that [`text`] reads, bytes.
const MOST_TEXT: u64 = 16 << 20;

/// Opens a file to be read, of /proc and /sys in the first place: whatever is mounted over it, nobody waits for its other side. It
/// is a regular file, and what it has not got yet is an error (O_NONBLOCK).
///
/// # Errors
/// The error of open or fstat; [`std::io::ErrorKind::InvalidInput`] for anything but a regular file.
pub fn regular(path: impl AsRef<std::path::Path>) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a file"))
    }
}

/// The text of a file of /proc or /sys. Bytes that are no UTF-8 are replaced.
///
/// # Errors
/// Those of [`regular`] and read; [`std::io::ErrorKind::FileTooLarge`] for more than 16 MiB.
pub fn text(path: impl AsRef<std::path::Path>) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes(path, MOST_TEXT)?).into_owned())
}

/// The bytes of a file, at most `most`: a pipe is not waited for, and a device not read without end.
///
/// # Errors
/// Those of [`regular`] and read; [`std::io::ErrorKind::FileTooLarge`] for more.
pub fn bytes(path: impl AsRef<std::path::Path>, most: u64) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    regular(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Opens a file and closes it again: two system calls.
///
/// # Errors
/// The error of open or close.
#[inline(always)]
pub fn open_close(path: &CStr) -> Result<(), CallError> {
    // SAFETY: the path is a C string.
    let fd = check("open", unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })?;
    // SAFETY: the descriptor was opened just now, and nobody else knows it.
    check("close", unsafe { libc::close(fd) }).map(|_| ())
}

/// Asks for the attributes of a path and throws them away. stat(2).
///
/// # Errors
/// The error of stat.
#[inline(always)]
pub fn stat(path: &CStr) -> Result<(), CallError> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is a C string; the kernel writes one stat to a local variable, which is never read.
    check("stat", unsafe { libc::stat(path.as_ptr(), stat.as_mut_ptr()) }).map(|_| ())
}

/// Another open file description of an open file, for reading and writing: by its link in /proc.
///
/// # Errors
/// The error of open (ENOENT without /proc).
pub fn open_again(fd: &OwnedFd) -> Result<OwnedFd, CallError> {
    let path = std::ffi::CString::new(format!("/proc/self/fd/{}", fd.as_raw_fd()))
        .map_err(|_| CallError::new("open", libc::EINVAL))?;
    // SAFETY: the path is a C string; the descriptor is new.
    unsafe { own("open", libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC)) }
}

/// An unnamed file in memory with `bytes` bytes of zeros: a regular file that leaves nothing behind. memfd_create(2).
///
/// # Errors
/// The error of memfd_create or ftruncate.
pub fn in_memory(bytes: u64) -> Result<OwnedFd, CallError> {
    // SAFETY: the name is a C string; the descriptor is new.
    let fd = unsafe { own("memfd_create", libc::memfd_create(c"oscost".as_ptr(), libc::MFD_CLOEXEC)) }?;
    // sizes of test files
    // SAFETY: ftruncate touches no memory.
    check("ftruncate", unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) })?;
    Ok(fd)
}

/// A file without a name in `folder`, for reading and writing: it is gone when it is closed. open(2), O_TMPFILE. There is no
/// other way: a name that goes at once would stay after a kill in between.
///
/// # Errors
/// The error of open: EOPNOTSUPP where the file system has no such files, EISDIR before Linux 3.11.
pub fn unnamed(folder: &std::path::Path) -> Result<OwnedFd, CallError> {
    let path = c_path(folder)?;
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: the path is a C string; the descriptor is new.
    unsafe { own("open", libc::open(path.as_ptr(), flags, 0o600)) }
}

/// What the kernel says of an open file. fstat(2).
pub(crate) fn stat_of(fd: impl AsFd) -> Result<libc::stat, CallError> {
    // SAFETY: an all-zero stat is valid.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one stat to a local variable.
    check("fstat", unsafe { libc::fstat(fd.as_fd().as_raw_fd(), &raw mut stat) })?;
    Ok(stat)
}

/// A path as calls take it.
pub(crate) fn c_path(path: &std::path::Path) -> Result<std::ffi::CString, CallError> {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| CallError::new("open", libc::EINVAL))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_is_waited_for_and_none_is_endless() {
        let ground = tempfile::tempdir().expect("a folder");
        let folder = ground.path();
        let (pipe, long, odd) = (folder.join("pipe"), folder.join("long"), folder.join("odd"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        std::fs::File::create(&long)
            .and_then(|file| file.set_len(super::MOST_TEXT + 1))
            .expect("a long file");
        std::fs::write(&odd, b"x\xffy\n").expect("a file");
        let kind = |path: &std::path::Path| super::text(path).map_err(|error| error.kind());
        assert_eq!(kind(&pipe), Err(std::io::ErrorKind::InvalidInput));
        assert_eq!(kind("/dev/zero".as_ref()), Err(std::io::ErrorKind::InvalidInput));
        assert_eq!(kind(&long), Err(std::io::ErrorKind::FileTooLarge));
        assert_eq!(kind(&odd), Ok("x\u{fffd}y\n".to_owned()));
        assert_eq!(kind(&folder.join("none")), Err(std::io::ErrorKind::NotFound));
        assert!(super::text("/proc/self/status").is_ok_and(|text| text.contains("Name:")));
    }

    #[test]
    fn capabilities_of_a_file_are_seen() {
        use std::os::fd::AsRawFd;

        let ground = tempfile::tempdir().expect("a folder");
        let path = ground.path().join("capable");
        let file = std::fs::File::create(&path).expect("a file");
        assert!(!super::has_capabilities(&path) && !super::has_capabilities("/no/such/file"));
        // struct vfs_cap_data of version 2: CAP_NET_RAW is permitted, and in effect.
        let raw: [u32; 5] = [0x0200_0001, 1 << 13, 0, 0, 0].map(u32::to_le);
        let (fd, name) = (file.as_raw_fd(), super::CAPABILITIES.as_ptr());
        // SAFETY: reads a C string and as many bytes as the array has.
        if unsafe { libc::fsetxattr(fd, name, raw.as_ptr().cast(), size_of_val(&raw), 0) } == 0 {
            assert!(super::has_capabilities(&path));
        } else {
            println!("SKIP capabilities of a file: {}", std::io::Error::last_os_error());
        }
    }

    #[test]
    fn an_unnamed_file_leaves_its_folder_empty() {
        let ground = tempfile::tempdir().expect("a folder");
        let folder = ground.path().join("empty");
        std::fs::create_dir(&folder).expect("a folder");
        let file = super::unnamed(&folder).expect("a file");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
        drop(file);
        std::fs::remove_dir(&folder).expect("an empty folder");
        assert!(super::unnamed(&folder).is_err());
    }

    /// In the file system of the queues anybody may make files, all under names.
    #[test]
    fn where_a_file_cannot_be_without_a_name_none_is_made() {
        let ground = tempfile::tempdir().expect("a folder");
        let folder = ground.path();
        let code = crate::process::code_of(|| {
            let mounted =
                crate::namespace::isolate(false).and_then(|_| crate::namespace::mount_queues(folder));
            match mounted.map(|()| super::unnamed(folder).map_err(|error| error.errno)) {
                Err(_) => 2,
                Ok(Err(libc::EOPNOTSUPP)) => 0,
                Ok(_) => 1,
            }
        });
        match code {
            Some(2) => println!("SKIP where_a_file_cannot_be_without_a_name: no such mount here"),
            code => assert_eq!(code, Some(0)),
        }
    }
}
