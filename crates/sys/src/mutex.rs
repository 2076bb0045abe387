//! POSIX mutexes in memory that processes share: plain, robust, with priority inheritance. pthread_mutex_lock(3),
//! pthread_mutexattr_setrobust(3), pthread_mutexattr_setprotocol(3).

use std::mem::MaybeUninit;

use crate::{CallError, error::returned, memory::SharedWords};

/// What a mutex is to do beyond excluding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutexKind {
    /// For threads of one process (PTHREAD_PROCESS_PRIVATE).
    Private,
    /// For processes.
    Shared,
    /// For processes; after its holder died, the next process is told (EOWNERDEAD).
    Robust,
    /// For processes; a holder runs at the priority of its highest waiter.
    PriorityInheritance,
}

/// A mutex in memory of its own, shared with children that are forked later. A robust one is given back before it is dropped: else
/// libc's list of those that the thread holds points into memory that is gone.
#[derive(Debug)]
pub struct Mutex {
    memory: SharedWords,
}

impl Mutex {
    /// An unlocked mutex.
    ///
    /// # Errors
    /// The error of mmap or pthread_mutex_init (ENOTSUP where the system has no such mutex).
    pub fn new(kind: MutexKind) -> Result<Self, CallError> {
        const { assert!(size_of::<libc::pthread_mutex_t>() <= 128, "a mutex fits one word's stride") };
        let this = Self { memory: SharedWords::new(1)? };
        // SAFETY: the word's stride holds a mutex, is aligned for it, zeroed and used for nothing else.
        unsafe { make(this.pointer(), kind) }?;
        Ok(this)
    }

    #[inline(always)]
    pub(crate) fn pointer(&self) -> *mut libc::pthread_mutex_t {
        self.memory.word(0).as_ptr().cast()
    }

    /// Takes the mutex, waiting for it.
    ///
    /// # Errors
    /// EOWNERDEAD of a robust mutex whose holder died: it is held, and [`Mutex::recover`] makes it usable again; any other
    /// error of pthread_mutex_lock, and it is not held.
    #[inline(always)]
    pub fn lock(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_mutex_lock", unsafe { libc::pthread_mutex_lock(self.pointer()) })
    }

    /// Gives the mutex back.
    ///
    /// # Errors
    /// The error of pthread_mutex_unlock (EPERM: not held by the caller, where the kind tells).
    #[inline(always)]
    pub fn unlock(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_mutex_unlock", unsafe { libc::pthread_mutex_unlock(self.pointer()) })
    }

    /// Whether nobody holds it, the caller included. pthread_mutex_trylock(3).
    ///
    /// # Errors
    /// The error of pthread_mutex_trylock or pthread_mutex_unlock.
    pub fn is_free(&self) -> Result<bool, CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        match unsafe { libc::pthread_mutex_trylock(self.pointer()) } {
            libc::EBUSY => Ok(false),
            result => returned("pthread_mutex_trylock", result).and_then(|()| self.unlock()).map(|()| true),
        }
    }

    /// Declares what the mutex protects consistent again, after [`Mutex::lock`] said EOWNERDEAD.
    ///
    /// # Errors
    /// EINVAL where nobody died.
    pub fn recover(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        returned("pthread_mutex_consistent", unsafe { libc::pthread_mutex_consistent(self.pointer()) })
    }
}

/// Makes an unlocked mutex at a place.
///
/// # Safety
/// The place holds a mutex, is aligned for it, and nobody uses it.
pub(crate) unsafe fn make(at: *mut libc::pthread_mutex_t, kind: MutexKind) -> Result<(), CallError> {
    let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let attributes = attributes.as_mut_ptr();
    // SAFETY: pthread_mutexattr_init writes the local attributes that the calls after it change.
    unsafe {
        returned("pthread_mutexattr_init", libc::pthread_mutexattr_init(attributes))?;
        if kind != MutexKind::Private {
            let shared = libc::pthread_mutexattr_setpshared(attributes, libc::PTHREAD_PROCESS_SHARED);
            returned("pthread_mutexattr_setpshared", shared)?;
        }
        if kind == MutexKind::Robust {
            let robust = libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST);
            returned("pthread_mutexattr_setrobust", robust)?;
        }
        if kind == MutexKind::PriorityInheritance {
            let protocol = libc::pthread_mutexattr_setprotocol(attributes, libc::PTHREAD_PRIO_INHERIT);
            returned("pthread_mutexattr_setprotocol", protocol)?;
        }
    }
    // SAFETY: the caller promises the place; the attributes were initialised above.
    returned("pthread_mutex_init", unsafe { libc::pthread_mutex_init(at, attributes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    /// Runs `body` in a child that then dies without giving anything back.
    fn dies_after(body: impl FnOnce() -> bool) {
        assert_eq!(code_of(|| i32::from(!body())), Some(0));
    }

    #[test]
    fn every_kind_excludes_and_lets_go() {
        for kind in [MutexKind::Private, MutexKind::Shared, MutexKind::Robust, MutexKind::PriorityInheritance]
        {
            let mutex = Mutex::new(kind).expect("a mutex");
            for _ in 0..3 {
                mutex.lock().expect("locked");
                mutex.unlock().expect("unlocked");
            }
        }
    }

    #[test]
    fn a_robust_mutex_survives_its_holder() {
        let mutex = Mutex::new(MutexKind::Robust).expect("a mutex");
        dies_after(|| mutex.lock().is_ok());
        assert_eq!(mutex.lock().map_err(|error| error.errno), Err(libc::EOWNERDEAD));
        mutex.recover().expect("consistent again");
        mutex.unlock().expect("unlocked");
        mutex.lock().expect("usable");
        assert_eq!(mutex.recover().map_err(|error| error.errno), Err(libc::EINVAL));
        mutex.unlock().expect("unlocked");
    }
}
