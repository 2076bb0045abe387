//! Threads: the id by which /proc knows them.

/// Thread id of the caller. gettid(2); it cannot fail.
#[must_use]
pub fn id() -> i32 {
    // SAFETY: gettid takes no argument.
    unsafe { libc::gettid() }
}
