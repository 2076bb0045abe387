//! A number behind a POSIX condition variable: whoever waits for a newer one is woken with all others.
//! pthread_cond_wait(3), pthread_cond_broadcast(3).

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use crate::memory::SharedWords;
use crate::mutex::{Kind, Mutex};
use crate::{CallError, error::returned};

/// The number, shared with children that are forked later.
#[derive(Debug)]
pub struct Broadcast {
    mutex: Mutex,
    memory: SharedWords,
    number: SharedWords,
}

impl Broadcast {
    /// The number 0.
    ///
    /// # Errors
    /// The error of mmap, pthread_mutex_init or pthread_cond_init.
    pub fn new() -> Result<Self, CallError> {
        const { assert!(size_of::<libc::pthread_cond_t>() <= 128, "a condition fits one word's stride") };
        let this = Self {
            mutex: Mutex::new(Kind::Shared)?,
            memory: SharedWords::new(1)?,
            number: SharedWords::new(1)?,
        };
        let mut attributes = MaybeUninit::<libc::pthread_condattr_t>::uninit();
        // SAFETY: pthread_condattr_init writes the local attributes that the call after it changes; the word's stride holds
        // a condition variable, is aligned for it, zeroed and used for nothing else.
        let results = unsafe {
            [
                libc::pthread_condattr_init(attributes.as_mut_ptr()),
                libc::pthread_condattr_setpshared(attributes.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED),
                libc::pthread_cond_init(this.pointer(), attributes.as_ptr()),
            ]
        };
        match results.into_iter().find(|&result| result != 0) {
            None => Ok(this),
            Some(error) => Err(CallError::new("pthread_cond_init", error)),
        }
    }

    #[inline(always)]
    fn pointer(&self) -> *mut libc::pthread_cond_t {
        self.memory.word(0).as_ptr().cast()
    }

    /// Adds one and wakes everybody.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_broadcast or pthread_mutex_unlock.
    #[inline(always)]
    pub fn advance(&self) -> Result<(), CallError> {
        self.mutex.lock()?;
        self.number.word(0).fetch_add(1, Ordering::Relaxed);
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_cond_broadcast", unsafe { libc::pthread_cond_broadcast(self.pointer()) })?;
        self.mutex.unlock()
    }

    /// Waits until the number is another than `seen`, and yields it.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_wait or pthread_mutex_unlock.
    #[inline(always)]
    pub fn wait_beyond(&self, seen: u64) -> Result<u64, CallError> {
        self.mutex.lock()?;
        loop {
            let number = self.number.word(0).load(Ordering::Relaxed);
            if number != seen {
                return self.mutex.unlock().map(|()| number);
            }
            // SAFETY: both were initialised in `new`, are mapped as long as self, and the mutex is held.
            returned("pthread_cond_wait", unsafe {
                libc::pthread_cond_wait(self.pointer(), self.mutex.pointer())
            })?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Child;

    #[test]
    fn everybody_is_woken() {
        let broadcast = Broadcast::new().expect("a condition");
        let sleepers: Vec<Child> = (0..3)
            .map(|_| Child::fork(|| i32::from(broadcast.wait_beyond(0) != Ok(1))).expect("fork"))
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(5));
        broadcast.advance().expect("advanced");
        for sleeper in sleepers {
            assert_eq!(sleeper.wait_at_most(5_000_000_000).expect("it ends").code, Some(0));
        }
    }
}
