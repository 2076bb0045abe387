//! Threads: the id by which /proc knows them, and threads that are made, end at once and are joined.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::CallError;

/// Thread id of the caller. gettid(2); it cannot fail.
#[must_use]
pub fn id() -> i32 {
    // SAFETY: gettid takes no argument.
    unsafe { libc::gettid() }
}

/// More stack than glibc keeps for later threads (40 MiB): each thread maps one and each end unmaps it.
const UNCACHED: usize = 64 << 20;

/// Makes threads that count themselves and end. pthread_create(3).
pub struct Threads {
    attributes: Box<libc::pthread_attr_t>,
    ran: Box<AtomicU64>,
}

extern "C" fn run(ran: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: the maker passes its counter and joins the thread before the counter goes.
    unsafe { &*ran.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
    std::ptr::null_mut()
}

impl Threads {
    /// Threads with stacks as the C library chooses them, which glibc keeps for the next one, or with stacks too large to be kept.
    ///
    /// # Errors
    /// The error of pthread_attr_init or pthread_attr_setstacksize.
    pub fn new(stack_is_kept: bool) -> Result<Self, CallError> {
        let mut attributes = Box::new(MaybeUninit::<libc::pthread_attr_t>::uninit());
        // SAFETY: initialises the attributes, which are in a box of their own.
        answer("pthread_attr_init", unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: just initialised.
        let mut attributes = unsafe { attributes.assume_init() };
        if !stack_is_kept {
            // SAFETY: the attributes are initialised.
            let set = unsafe { libc::pthread_attr_setstacksize(&raw mut *attributes, UNCACHED) };
            answer("pthread_attr_setstacksize", set)?;
        }
        Ok(Self { attributes, ran: Box::new(AtomicU64::new(0)) })
    }

    /// Makes a thread, lets it end, and joins it.
    ///
    /// # Errors
    /// The error of pthread_create (EAGAIN: no more threads, or no room for a stack) or pthread_join.
    #[inline(always)]
    pub fn create_and_join(&self) -> Result<(), CallError> {
        let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
        let ran = std::ptr::from_ref(&*self.ran).cast_mut().cast();
        // SAFETY: the attributes are initialised, and the counter outlives the thread, which is joined below.
        let made =
            unsafe { libc::pthread_create(thread.as_mut_ptr(), &raw const *self.attributes, run, ran) };
        answer("pthread_create", made)?;
        // SAFETY: pthread_create succeeded and filled in the thread, which nobody else joins.
        answer("pthread_join", unsafe { libc::pthread_join(thread.assume_init(), std::ptr::null_mut()) })
    }

    /// How many threads ran.
    #[must_use]
    pub fn ran(&self) -> u64 {
        self.ran.load(Ordering::Relaxed)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`.
        unsafe { libc::pthread_attr_destroy(&raw mut *self.attributes) };
    }
}

#[inline(always)]
fn answer(call: &'static str, result: i32) -> Result<(), CallError> {
    if result == 0 { Ok(()) } else { Err(CallError::new(call, result)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_ran_before_it_is_joined() {
        for stack_is_kept in [true, false] {
            let threads = Threads::new(stack_is_kept).expect("attributes");
            for made in 1..=3 {
                threads.create_and_join().expect("a thread");
                assert_eq!(threads.ran(), made);
            }
        }
    }
}
