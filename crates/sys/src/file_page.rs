//! A file of one page in a folder: made and removed, opened and closed, read, written, and written through to the disk.
//! openat(2), unlinkat(2), pread(2), fsync(2), mincore(2).

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
    mapping::Mapping,
};

/// Bytes of the page.
pub const PAGE: usize = 4096;

/// Makes a new file of nothing, for its user alone. openat(2), O_CREAT and O_EXCL.
///
/// # Errors
/// The error of openat (EEXIST: it is there).
#[inline(always)]
pub fn create(folder: &impl AsRawFd, name: &CStr) -> Result<OwnedFd, CallError> {
    open_with(folder, name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
}

/// Opens a file that is there, for reading. openat(2).
///
/// # Errors
/// The error of openat.
#[inline(always)]
pub fn open(folder: &impl AsRawFd, name: &CStr) -> Result<OwnedFd, CallError> {
    open_with(folder, name, libc::O_RDONLY)
}

#[inline(always)]
fn open_with(folder: &impl AsRawFd, name: &CStr, flags: libc::c_int) -> Result<OwnedFd, CallError> {
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the name is a C string; a mode follows, which is read where a file may be made; the descriptor is new.
    unsafe { own("open", libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o600)) }
}

/// Asks for the attributes of an open file and throws them away. fstat(2).
///
/// # Errors
/// The error of fstat.
#[inline(always)]
pub fn stat(fd: &OwnedFd) -> Result<(), CallError> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel writes one stat to a local variable, which is never read.
    check("fstat", unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) }).map(|_| ())
}

/// Lists a folder from its beginning: how many bytes its entries take, as many as the buffer holds. lseek(2), getdents64(2).
///
/// # Errors
/// The error of lseek or getdents64.
#[inline(always)]
pub fn list(folder: &impl AsRawFd, entries: &mut [u64]) -> Result<usize, CallError> {
    // SAFETY: lseek touches no memory.
    if unsafe { libc::lseek(folder.as_raw_fd(), 0, libc::SEEK_SET) } != 0 {
        return Err(CallError::last("lseek"));
    }
    let (at, bytes) = (entries.as_mut_ptr(), size_of_val(entries));
    // SAFETY: the kernel writes at most the length of a buffer that is borrowed mutably.
    let got = unsafe { libc::syscall(libc::SYS_getdents64, folder.as_raw_fd(), at, bytes) };
    usize::try_from(got).map_err(|_| CallError::last("getdents64"))
}

/// Closes a descriptor, and says so where that fails. close(2).
///
/// # Errors
/// The error of close.
#[inline(always)]
pub fn close(fd: OwnedFd) -> Result<(), CallError> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor was ours alone, and is given up here.
    check("close", unsafe { libc::close(fd.into_raw_fd()) }).map(|_| ())
}

/// Removes a file. unlinkat(2).
///
/// # Errors
/// The error of unlinkat.
#[inline(always)]
pub fn remove(folder: &impl AsRawFd, name: &CStr) -> Result<(), CallError> {
    // SAFETY: the name is a C string.
    check("unlink", unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) }).map(|_| ())
}

/// Reads the page from the beginning of the file. pread(2).
///
/// # Errors
/// The error of pread; EIO where the file is shorter.
#[inline(always)]
pub fn read(fd: &OwnedFd, page: &mut [u8; PAGE]) -> Result<(), CallError> {
    // SAFETY: the kernel writes at most the length of a buffer that is borrowed mutably.
    match unsafe { libc::pread(fd.as_raw_fd(), page.as_mut_ptr().cast(), PAGE, 0) } {
        -1 => Err(CallError::last("pread")),
        got if got.cast_unsigned() == PAGE => Ok(()),
        _ => Err(CallError::short("pread")),
    }
}

/// Writes the page to the beginning of the file. pwrite(2).
///
/// # Errors
/// The error of pwrite; EIO where not all was written.
#[inline(always)]
pub fn write(fd: &OwnedFd, page: &[u8; PAGE]) -> Result<(), CallError> {
    // SAFETY: the kernel reads the borrowed buffer.
    match unsafe { libc::pwrite(fd.as_raw_fd(), page.as_ptr().cast(), PAGE, 0) } {
        -1 => Err(CallError::last("pwrite")),
        put if put.cast_unsigned() == PAGE => Ok(()),
        _ => Err(CallError::short("pwrite")),
    }
}

/// Writes the page behind the end of a file of so many pages. pwrite(2).
///
/// # Errors
/// The error of pwrite; EIO where not all was written.
#[inline(always)]
pub fn append(fd: &OwnedFd, page: &[u8; PAGE], pages: u64) -> Result<(), CallError> {
    let at = pages.cast_signed() * PAGE as i64;
    // SAFETY: the kernel reads the borrowed buffer.
    match unsafe { libc::pwrite(fd.as_raw_fd(), page.as_ptr().cast(), PAGE, at) } {
        -1 => Err(CallError::last("pwrite")),
        put if put.cast_unsigned() == PAGE => Ok(()),
        _ => Err(CallError::short("pwrite")),
    }
}

/// Makes the file empty. ftruncate(2).
///
/// # Errors
/// The error of ftruncate.
pub fn empty(fd: &OwnedFd) -> Result<(), CallError> {
    // SAFETY: ftruncate touches no memory.
    check("ftruncate", unsafe { libc::ftruncate(fd.as_raw_fd(), 0) }).map(|_| ())
}

/// Bytes of the file. fstat(2).
///
/// # Errors
/// The error of fstat.
pub fn bytes(fd: &OwnedFd) -> Result<u64, CallError> {
    // SAFETY: an all-zero stat is valid, and the kernel writes one.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one stat to a local variable.
    check("fstat", unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
    Ok(stat.st_size.cast_unsigned())
}

/// Has the file written to where it lies. fsync(2).
///
/// # Errors
/// The error of fsync.
#[inline(always)]
pub fn write_through(fd: &OwnedFd) -> Result<(), CallError> {
    // SAFETY: fsync touches no memory.
    check("fsync", unsafe { libc::fsync(fd.as_raw_fd()) }).map(|_| ())
}

/// Whether the page of a file lies in the page cache. mincore(2).
///
/// # Errors
/// The error of mmap or mincore.
pub fn is_cached(fd: impl AsFd) -> Result<bool, CallError> {
    let mapping = Mapping::new(PAGE, libc::PROT_READ, libc::MAP_SHARED, Some((fd.as_fd(), 0)))?;
    // A page of the system may be larger: what is asked for is one of them at most.
    let mut state = [0u8; 1];
    // SAFETY: the range was mapped just now, and one page has one byte of state.
    check("mincore", unsafe { libc::mincore(mapping.start().as_ptr(), PAGE, state.as_mut_ptr()) })?;
    Ok(state[0] & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn a_page_is_made_written_read_and_removed() {
        let path = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(path.path()).expect("opened");
        let file = create(&folder, c"it").expect("made");
        assert_eq!(create(&folder, c"it").expect_err("it is there").errno, libc::EEXIST);
        let mut page = [7; PAGE];
        assert_eq!(read(&file, &mut page), Err(CallError::short("pread")));
        write(&file, &page).and_then(|()| write_through(&file)).expect("written");
        page.fill(0);
        read(&file, &mut page).expect("read");
        assert_eq!((page[0], page[PAGE - 1]), (7, 7));
        assert_eq!(is_cached(&file), Ok(true));
        append(&file, &page, 1).expect("written");
        assert_eq!(bytes(&file), Ok(2 * PAGE as u64));
        empty(&file).expect("emptied");
        assert_eq!(bytes(&file), Ok(0));
        let mut entries = [0; 64];
        // Three entries, whose names are short: nothing else of the folder fits their bytes.
        assert_eq!(list(&folder, &mut entries), Ok(3 * 24));
        assert_eq!((list(&folder, &mut entries), stat(&file)), (Ok(3 * 24), Ok(())));
        close(open(&folder, c"it").expect("opened")).expect("closed");
        remove(&folder, c"it").expect("removed");
        assert!(folder.names().is_ok_and(|names| names.is_empty()));
    }
}
