//! A POSIX reader-writer lock in memory that processes share. pthread_rwlock_rdlock(3p), pthread_rwlock_wrlock(3p).

use std::mem::MaybeUninit;

use crate::{CallError, error::returned, memory::SharedWords};

/// A reader-writer lock, shared with children that are forked later. A holder that dies keeps it: POSIX knows no robust
/// one.
#[derive(Debug)]
pub struct RwLock {
    memory: SharedWords,
}

impl RwLock {
    /// An unlocked one.
    ///
    /// # Errors
    /// The error of mmap or pthread_rwlock_init.
    pub fn new() -> Result<Self, CallError> {
        const { assert!(size_of::<libc::pthread_rwlock_t>() <= 128, "a lock fits one word's stride") };
        let this = Self { memory: SharedWords::new(1)? };
        let mut attributes = MaybeUninit::<libc::pthread_rwlockattr_t>::uninit();
        // SAFETY: pthread_rwlockattr_init writes the local attributes that the next call changes.
        unsafe {
            returned("pthread_rwlockattr_init", libc::pthread_rwlockattr_init(attributes.as_mut_ptr()))?;
            let shared =
                libc::pthread_rwlockattr_setpshared(attributes.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED);
            returned("pthread_rwlockattr_setpshared", shared)?;
        }
        // SAFETY: the word's stride holds the lock, is aligned for it, zeroed and used for nothing else.
        returned("pthread_rwlock_init", unsafe {
            libc::pthread_rwlock_init(this.pointer(), attributes.as_ptr())
        })?;
        Ok(this)
    }

    #[inline(always)]
    fn pointer(&self) -> *mut libc::pthread_rwlock_t {
        self.memory.word(0).as_ptr().cast()
    }

    /// Takes it together with other readers, waiting for a writer.
    ///
    /// # Errors
    /// The error of pthread_rwlock_rdlock.
    #[inline(always)]
    pub fn read(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_rwlock_rdlock", unsafe { libc::pthread_rwlock_rdlock(self.pointer()) })
    }

    /// Takes it alone, waiting for everybody else.
    ///
    /// # Errors
    /// The error of pthread_rwlock_wrlock.
    #[inline(always)]
    pub fn write(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_rwlock_wrlock", unsafe { libc::pthread_rwlock_wrlock(self.pointer()) })
    }

    /// Whether a reader could take it now. pthread_rwlock_tryrdlock(3p).
    ///
    /// # Errors
    /// The error of pthread_rwlock_tryrdlock or pthread_rwlock_unlock.
    pub fn is_free_for_readers(&self) -> Result<bool, CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        self.tried("pthread_rwlock_tryrdlock", unsafe { libc::pthread_rwlock_tryrdlock(self.pointer()) })
    }

    /// Whether a writer could take it now: nobody holds it. pthread_rwlock_trywrlock(3p).
    ///
    /// # Errors
    /// The error of pthread_rwlock_trywrlock or pthread_rwlock_unlock.
    pub fn is_free_for_writers(&self) -> Result<bool, CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        self.tried("pthread_rwlock_trywrlock", unsafe { libc::pthread_rwlock_trywrlock(self.pointer()) })
    }

    /// Whether a try took it; it is given back.
    fn tried(&self, call: &'static str, result: libc::c_int) -> Result<bool, CallError> {
        match result {
            libc::EBUSY | libc::EDEADLK => Ok(false),
            result => returned(call, result).and_then(|()| self.unlock()).map(|()| true),
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The error of pthread_rwlock_unlock.
    #[inline(always)]
    pub fn unlock(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_rwlock_unlock", unsafe { libc::pthread_rwlock_unlock(self.pointer()) })
    }
}
