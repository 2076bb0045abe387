//! How large a terminal is, and whether standard output was open for writing at all. ioctl_tty(2), fcntl(2).

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::atomic::{AtomicU8, Ordering};

const CLOSED: u8 = 1;
const READ_ONLY: u8 = 2;
static STDOUT: AtomicU8 = AtomicU8::new(0);

/// Before `main`: the runtime of Rust opens /dev/null in the place of a closed standard output, and takes EBADF of a write
/// for success. What is written there would be lost without a word.
extern "C" fn look() {
    // SAFETY: F_GETFL touches no memory.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    // A kernel that has no such call does not say that it is closed.
    let found = match flags {
        -1 if crate::CallError::last("fcntl").errno == libc::EBADF => CLOSED,
        -1 => 0,
        flags if flags & libc::O_PATH != 0 || flags & libc::O_ACCMODE == libc::O_RDONLY => READ_ONLY,
        _ => 0,
    };
    STDOUT.store(found, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions that the C library calls before `main`; `look` needs nothing that is
// not there by then.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Why nothing can be written to the standard output that the caller left us, `None` if that is not known from the start.
#[must_use]
pub fn stdout_unwritable() -> Option<&'static str> {
    match STDOUT.load(Ordering::Relaxed) {
        CLOSED => Some("it is closed"),
        READ_ONLY => Some("it is open for reading only"),
        _ => None,
    }
}

/// Columns of the terminal, `None` where standard output is none.
#[must_use]
pub fn columns() -> Option<usize> {
    columns_of(&std::io::stdout())
}

/// Columns of the terminal of standard error while standard output is a pipe: its reader, such as a pager, shows them there.
#[must_use]
pub fn columns_behind_a_pipe() -> Option<usize> {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    let is_pipe = File::from(stdout).metadata().is_ok_and(|it| it.file_type().is_fifo());
    if is_pipe { columns_of(&std::io::stderr()) } else { None }
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
