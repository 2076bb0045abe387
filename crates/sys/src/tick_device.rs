//! /dev/oscost_tick: a server of ticks inside the kernel, where the module of contrib/kernel_module is loaded. Its header
//! oscost_tick.h says what it understands.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
};

/// Where it is.
pub const PATH: &str = "/dev/oscost_tick";

const PLAN: libc::Ioctl = libc::_IOW::<[u64; 1]>(b'o' as u32, 0x71);
const START: libc::Ioctl = libc::_IOW::<[u64; 2]>(b'o' as u32, 0x72);

/// One session of ticks, shared with children that are forked from now on; it ends with the last of them.
#[derive(Debug)]
pub struct TickDevice {
    fd: OwnedFd,
}

impl TickDevice {
    /// A session of so many ticks, whose page can be mapped.
    ///
    /// # Errors
    /// ENOENT without the module, EACCES where the device is for others, EBUSY where too many sessions are open; EINVAL
    /// for a number that is out of its bounds (1 to 100 000), ENOTTY where the module speaks another language.
    pub fn open(ticks: u64) -> Result<Self, CallError> {
        // SAFETY: the path is a C string; the descriptor is new.
        let fd = unsafe {
            own("open", libc::open(c"/dev/oscost_tick".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC))
        }?;
        let plan = [ticks];
        // SAFETY: the module reads one word, which lives through the call.
        check("ioctl", unsafe { libc::ioctl(fd.as_raw_fd(), PLAN, &raw const plan) })?;
        Ok(Self { fd })
    }

    /// Ticks from `start_ns` of CLOCK_MONOTONIC on, `period_ns` apart, on the CPU of the caller.
    ///
    /// # Errors
    /// EBUSY the second time, ERANGE for a period that is out of its bounds (50 us to 1 s).
    pub fn start(&self, start_ns: u64, period_ns: u64) -> Result<(), CallError> {
        let start = [start_ns, period_ns];
        // SAFETY: the module reads two words, which live through the call.
        check("ioctl", unsafe { libc::ioctl(self.fd.as_raw_fd(), START, &raw const start) }).map(drop)
    }

    /// Waits until there were more than `seen` ticks, or there will be no more; how many there were.
    ///
    /// # Errors
    /// The error of pread; after a signal there may be no more ticks than `seen`.
    #[inline(always)]
    pub fn wait_beyond(&self, seen: u64) -> Result<u64, CallError> {
        let mut sent = seen;
        let offset = libc::off_t::try_from(seen).unwrap_or(libc::off_t::MAX);
        // SAFETY: the module writes 8 bytes to a local variable.
        match unsafe { libc::pread(self.fd.as_raw_fd(), (&raw mut sent).cast(), 8, offset) } {
            8 => Ok(sent),
            -1 => match CallError::last("pread") {
                error if error.errno == libc::EINTR => Ok(seen),
                error => Err(error),
            },
            _ => Err(CallError::short("pread")),
        }
    }
}

impl AsFd for TickDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
