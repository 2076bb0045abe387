//! Pipes and the reads and writes of their loops, through libc. pipe(2), read(2), write(2), eventfd(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::CallError;

/// A pipe: what is written to `writer` is read from `reader`. Both are closed on exec.
#[derive(Debug)]
pub struct Pipe {
    /// End to read from.
    pub reader: OwnedFd,
    /// End to write to.
    pub writer: OwnedFd,
}

impl Pipe {
    /// A new pipe.
    ///
    /// # Errors
    /// The error of pipe2 (EMFILE, ENFILE).
    pub fn new() -> Result<Self, CallError> {
        let mut ends = [0; 2];
        // SAFETY: the kernel writes two descriptors to a local array.
        crate::error::check("pipe2", unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
        // SAFETY: the kernel has just handed out these descriptors to us alone.
        let [reader, writer] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(Self { reader, writer })
    }
}

/// Writes one byte through libc.
///
/// # Errors
/// The error of write; EPIPE where nothing was written.
#[inline(always)]
pub fn write_byte(fd: &OwnedFd) -> Result<(), CallError> {
    let byte = 1u8;
    // SAFETY: the kernel reads one byte of a local variable.
    match unsafe { libc::write(fd.as_raw_fd(), (&raw const byte).cast(), 1) } {
        1 => Ok(()),
        0 => Err(CallError::new("write", libc::EPIPE)),
        _ => Err(CallError::last("write")),
    }
}

/// Reads one byte through libc, waiting for it.
///
/// # Errors
/// The error of read; EPIPE at the end of the stream: the other side is gone.
#[inline(always)]
pub fn read_byte(fd: &OwnedFd) -> Result<(), CallError> {
    let mut byte = 0u8;
    // SAFETY: the kernel writes one byte to a local variable.
    match unsafe { libc::read(fd.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(()),
        0 => Err(CallError::new("read", libc::EPIPE)),
        _ => Err(CallError::last("read")),
    }
}
