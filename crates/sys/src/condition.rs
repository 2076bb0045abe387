//! POSIX condition variables that processes share, and a token behind one. pthread_cond_wait(3), pthread_cond_signal(3),
//! pthread_cond_broadcast(3).

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use crate::memory::SharedWords;
use crate::mutex::{Mutex, MutexKind};
use crate::{CallError, error::returned};

/// A condition variable with its mutex, shared with children that are forked later.
#[derive(Debug)]
pub(crate) struct Variable {
    mutex: Mutex,
    memory: SharedWords,
}

impl Variable {
    /// # Errors
    /// The error of mmap, pthread_mutex_init or pthread_cond_init.
    pub(crate) fn new() -> Result<Self, CallError> {
        const { assert!(size_of::<libc::pthread_cond_t>() <= 128, "a condition fits one word's stride") };
        let this = Self { mutex: Mutex::new(MutexKind::Shared)?, memory: SharedWords::new(1)? };
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

    #[inline(always)]
    pub(crate) fn lock(&self) -> Result<(), CallError> {
        self.mutex.lock()
    }

    #[inline(always)]
    pub(crate) fn unlock(&self) -> Result<(), CallError> {
        self.mutex.unlock()
    }

    /// Sleeps until it is woken, and perhaps for less. The caller holds the lock, and holds it again afterwards.
    #[inline(always)]
    pub(crate) fn wait(&self) -> Result<(), CallError> {
        // SAFETY: both were initialised in `new` and are mapped as long as self. A mutex that the caller does not hold is an
        // error of the call or a wake-up too many, never an access outside the mapping.
        returned("pthread_cond_wait", unsafe {
            libc::pthread_cond_wait(self.pointer(), self.mutex.pointer())
        })
    }

    /// Wakes one who waits.
    #[inline(always)]
    pub(crate) fn wake_one(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_cond_signal", unsafe { libc::pthread_cond_signal(self.pointer()) })
    }

    /// Wakes all who wait.
    #[inline(always)]
    pub(crate) fn wake_all(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_cond_broadcast", unsafe { libc::pthread_cond_broadcast(self.pointer()) })
    }
}

/// One token: taken by who waits for the condition "it is there", given back with a signal.
#[derive(Debug)]
pub struct Condition {
    variable: Variable,
    token: SharedWords,
}

impl Condition {
    /// A condition variable with the token there or not.
    ///
    /// # Errors
    /// The error of mmap, pthread_mutex_init or pthread_cond_init.
    pub fn new(token: bool) -> Result<Self, CallError> {
        let this = Self { variable: Variable::new()?, token: SharedWords::new(1)? };
        this.token.word(0).store(u64::from(token), Ordering::Relaxed);
        Ok(this)
    }

    /// Whether the token is there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.token.word(0).load(Ordering::Relaxed) != 0
    }

    /// Takes the token, waiting for it.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_wait or pthread_mutex_unlock.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        self.variable.lock()?;
        while self.token.word(0).load(Ordering::Relaxed) == 0 {
            self.variable.wait()?;
        }
        self.token.word(0).store(0, Ordering::Relaxed);
        self.variable.unlock()
    }

    /// Gives the token back and wakes one who waits.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_signal or pthread_mutex_unlock.
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        self.variable.lock()?;
        self.token.word(0).store(1, Ordering::Relaxed);
        self.variable.wake_one()?;
        self.variable.unlock()
    }
}
