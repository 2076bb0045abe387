//! Data of files at a position of the caller's choice, without moving the offset of the descriptor, and room for it.
//! preadv(2), pwritev(2), fallocate(2).

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::{CallError, error::check};

/// Reads into `parts`, in order, what stands at `at`; how many bytes there were. One preadv.
///
/// # Errors
/// The error of preadv, EINTR among them.
#[inline(always)]
// parts are few; -1 is handled
pub fn read(fd: BorrowedFd<'_>, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError> {
    // SAFETY: IoSliceMut has the layout of iovec (std guarantees it on Unix), and its memory is borrowed mutably.
    let read = unsafe {
        libc::preadv(fd.as_raw_fd(), parts.as_mut_ptr().cast(), parts.len() as libc::c_int, at as libc::off_t)
    };
    if read < 0 { Err(CallError::last("preadv")) } else { Ok(read as usize) }
}

/// Writes `parts`, in order, at `at`; how many bytes were written. One pwritev.
///
/// # Errors
/// The error of pwritev, EINTR and ENOSPC among them.
#[inline(always)]
// parts are few; -1 is handled
pub fn write(fd: BorrowedFd<'_>, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
    // SAFETY: IoSlice has the layout of iovec (std guarantees it on Unix), and its memory is borrowed.
    let written = unsafe {
        libc::pwritev(fd.as_raw_fd(), parts.as_ptr().cast(), parts.len() as libc::c_int, at as libc::off_t)
    };
    if written < 0 { Err(CallError::last("pwritev")) } else { Ok(written as usize) }
}

/// Makes room for `length` bytes at `at`: the file grows to hold them, they read as zeros where nothing was, and writing
/// them cannot fail for want of space. Never shortens a file. fallocate(2).
///
/// # Errors
/// ENOSPC, EFBIG, EINTR; EOPNOTSUPP where the file system cannot.
// offsets of files are below 2^63; others come back as EINVAL
pub fn make_room(fd: BorrowedFd<'_>, at: u64, length: u64) -> Result<(), CallError> {
    // SAFETY: fallocate touches no memory.
    check("fallocate", unsafe {
        libc::fallocate(fd.as_raw_fd(), 0, at as libc::off_t, length as libc::off_t)
    })
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn what_was_written_is_read_and_the_end_is_short() {
        let file = crate::file::in_memory(0).expect("memfd");
        let written = write(file.as_fd(), 5, &[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).expect("pwritev");
        assert_eq!(written, 5);
        let (mut first, mut second) = ([9u8; 6], [9u8; 8]);
        let parts = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(read(file.as_fd(), 0, parts).expect("preadv"), 10);
        assert_eq!((&first, &second[..4]), (b"\0\0\0\0\0a", b"bcde".as_slice()));
    }

    #[test]
    fn room_is_zeros_and_shortens_nothing() {
        let file = crate::file::in_memory(10_000).expect("memfd");
        make_room(file.as_fd(), 100, 10).expect("fallocate");
        make_room(file.as_fd(), 20_000, 1).expect("fallocate");
        let mut byte = [9u8; 1];
        assert_eq!(read(file.as_fd(), 20_000, &mut [IoSliceMut::new(&mut byte)]).expect("preadv"), 1);
        assert_eq!(byte, [0]);
    }
}
