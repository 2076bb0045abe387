//! The system's allocator. Without memory the program ends with a message, not by a signal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI32, Ordering};

const WORDS: &[u8] =
    b"oscost: there is not enough memory: look at ulimit -d, ulimit -v and the limit of the control group\n";

/// The system's allocator. The program ends where it has no memory.
#[derive(Debug)]
pub struct OrEnd {
    code: AtomicI32,
}

impl OrEnd {
    /// With the exit code for want of memory.
    #[must_use]
    pub const fn new(code: u8) -> Self {
        Self { code: AtomicI32::new(code as i32) }
    }

    /// From now on the program ends with another code.
    pub fn set_code(&self, code: u8) {
        self.code.store(code.into(), Ordering::Relaxed);
    }

    /// The memory, if there is some.
    fn or_end(&self, memory: *mut u8) -> *mut u8 {
        if memory.is_null() {
            // SAFETY: the bytes live through the call. If standard error is gone there is nowhere to report it.
            unsafe { libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len()) };
            // SAFETY: ends the process at once: nothing that could want memory runs any more.
            unsafe { libc::_exit(self.code.load(Ordering::Relaxed)) }
        }
        memory
    }
}

// SAFETY: every call is the system allocator's, which keeps the contract; none returns null.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this call, which is the same.
        self.or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.or_end(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
    }
}
