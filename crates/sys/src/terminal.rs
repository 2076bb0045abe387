//! The terminal on standard output: how wide it is. ioctl_tty(2).

/// Columns of the terminal, `None` where standard output is none.
#[must_use]
pub fn columns() -> Option<usize> {
    // SAFETY: an all-zero winsize is valid.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one winsize to a local variable.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}
