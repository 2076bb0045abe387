//! How large a terminal is, and whether standard output was open at all. ioctl_tty(2).

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Before `main`: the runtime of Rust opens /dev/null in the place of a closed standard output, and what is written
/// there would be lost without a word.
extern "C" fn look() {
    // SAFETY: F_GETFD touches no memory.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    // A kernel that has no such call does not say that it is closed.
    let closed = flags == -1 && crate::CallError::last("fcntl").errno == libc::EBADF;
    CLOSED.store(closed, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions that the C library calls before `main`; `look` needs nothing that is
// not there by then.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether the caller had closed standard output.
#[must_use]
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Columns of the terminal, `None` where standard output is none.
#[must_use]
pub fn columns() -> Option<usize> {
    columns_of(&std::io::stdout())
}

/// Columns of a terminal, `None` for what is none.
#[must_use]
pub fn columns_of(stream: &impl AsRawFd) -> Option<usize> {
    size(stream).map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// Lines of the terminal, `None` where standard output is none.
#[must_use]
pub fn lines() -> Option<usize> {
    size(&std::io::stdout()).map(|size| usize::from(size.ws_row)).filter(|&lines| lines > 0)
}

fn size(stream: &impl AsRawFd) -> Option<libc::winsize> {
    // SAFETY: an all-zero winsize is valid.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one winsize to a local variable.
    let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0).then_some(size)
}
