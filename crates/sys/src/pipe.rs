//! Pipes and the reads and writes of their loops, through libc. pipe(2), read(2), write(2), eventfd(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::{CallError, error::own};

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

impl Pipe {
    /// A pipe whose writer never waits for room.
    ///
    /// # Errors
    /// The error of pipe2 or fcntl.
    pub fn without_waiting_writer() -> Result<Self, CallError> {
        let this = Self::new()?;
        // SAFETY: F_SETFL takes an integer. The two ends have flags of their own.
        crate::error::check("fcntl", unsafe {
            libc::fcntl(this.writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK)
        })?;
        Ok(this)
    }

    /// A FIFO whose writer never waits for room. It has the name `path`, which must not exist, only until both ends are
    /// open. mkfifo(3).
    ///
    /// # Errors
    /// The error of mkfifo or open; EINVAL for a path with a zero byte.
    pub fn fifo(path: &str) -> Result<Self, CallError> {
        let path = std::ffi::CString::new(path).map_err(|_| CallError::new("mknodat", libc::EINVAL))?;
        // SAFETY: the path is a C string.
        crate::error::check("mknodat", unsafe { libc::mkfifo(path.as_ptr(), 0o600) })?;
        let open = |flags: libc::c_int| -> Result<OwnedFd, CallError> {
            // SAFETY: the path is a C string; the descriptor is new.
            unsafe { own("open", libc::open(path.as_ptr(), flags | libc::O_CLOEXEC)) }
        };
        // A reader that does not wait for a writer, which then has one: Linux opens a FIFO for both at once.
        let opened = open(libc::O_RDWR).and_then(|both| {
            let writer = open(libc::O_WRONLY | libc::O_NONBLOCK)?;
            let reader = open(libc::O_RDONLY)?;
            drop(both);
            Ok(Self { reader, writer })
        });
        // SAFETY: the path is a C string.
        unsafe { libc::unlink(path.as_ptr()) };
        opened
    }
}

/// Bytes that were written and not yet read. ioctl(2), FIONREAD.
///
/// # Errors
/// The error of ioctl.
pub fn unread(fd: &OwnedFd) -> Result<u32, CallError> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one integer to a local variable.
    crate::error::check("ioctl", unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(bytes.unsigned_abs())
}

/// Writes bytes through libc: how many.
///
/// # Errors
/// The error of write (EAGAIN where there is no room and the writer does not wait).
#[inline(always)]
pub fn write(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel reads the bytes.
    let written = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(written).map_err(|_| CallError::last("write"))
}

/// Reads what is there through libc, waiting for it: how many bytes, 0 at the end of the stream.
///
/// # Errors
/// The error of read.
#[inline(always)]
pub fn read(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most the length of the buffer.
    let got = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(got).map_err(|_| CallError::last("read"))
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
