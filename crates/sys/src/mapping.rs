//! Memory that is mapped, and unmapped when it is dropped. mmap(2), munmap(2).

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use crate::CallError;

/// A mapping of its own. It hands out an address alone: whoever reads or writes there says why that is sound.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a range of addresses, whose memory belongs to the process.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Private memory of zeros, to be read and written.
    pub(crate) fn private(bytes: usize) -> Result<Self, CallError> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        Self::new(bytes, libc::PROT_READ | libc::PROT_WRITE, flags, None)
    }

    /// `bytes` bytes where the kernel chooses; of a file from a position on.
    pub(crate) fn new(
        bytes: usize,
        protection: libc::c_int,
        flags: libc::c_int,
        file: Option<(BorrowedFd<'_>, libc::off_t)>,
    ) -> Result<Self, CallError> {
        let (fd, at) = file.map_or((-1, 0), |(file, at)| (file.as_raw_fd(), at));
        let flags = flags & !libc::MAP_FIXED;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, fd, at) };
        if start == libc::MAP_FAILED {
            return Err(CallError::last("mmap"));
        }
        let start = NonNull::new(start.cast()).ok_or(CallError::new("mmap", libc::EFAULT))?;
        Ok(Self { start, bytes })
    }

    /// Where it begins, aligned to pages.
    #[inline(always)]
    pub(crate) const fn start<T>(&self) -> NonNull<T> {
        self.start.cast()
    }

    /// How long it is.
    #[inline(always)]
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` mapped; no reference outlives its owner.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
