//! A file in memory, shared with all who map it: words by atomics, and robust mutexes that live in it.
//! mmap(2), pthread_mutexattr_setrobust(3).
//!
//! Other processes write the same bytes at any moment, so nothing here hands out a reference to plain memory. Touching a
//! page behind the end of the file is a SIGBUS: shortening a file kills the processes that use the lost pages.
//!
//! A mutex trusts whoever may write the file. libc keeps the list of those that a thread holds within them, and writes where
//! their words point. While one is held, nobody else may write its words, and its mapping may not go: only the caller can see to it.

use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64};

use crate::mapping::Mapping;
use crate::mutex::{self, MutexKind};
use crate::{CallError, error::returned};

/// A shared mapping of a file's first bytes. It may be larger than the file is now: when the file grows, so does what can
/// be touched.
#[derive(Debug)]
pub struct MappedFile {
    mapping: Mapping,
    words: usize,
    writable: bool,
}

impl MappedFile {
    /// Maps `bytes` bytes (rounded up to pages), whether or not the file has them.
    ///
    /// # Errors
    /// EACCES where the descriptor is not open for it, ENOMEM without address space, ENODEV where the file cannot be mapped.
    pub fn new(fd: BorrowedFd<'_>, bytes: usize, writable: bool) -> Result<Self, CallError> {
        let bytes = bytes.max(1).next_multiple_of(4096);
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let mapping = Mapping::new(bytes, protection, flags, Some((fd, 0)))?;
        Ok(Self { mapping, words: bytes / size_of::<AtomicU64>(), writable })
    }

    #[inline(always)]
    fn start(&self) -> NonNull<AtomicU64> {
        self.mapping.start()
    }

    /// Size of the mapping in words of 8 bytes.
    #[inline(always)]
    #[must_use]
    pub fn len_words(&self) -> usize {
        self.words
    }

    /// Words from `first` on. `None` outside the mapping. A store to a mapping that is not writable, or any access behind
    /// the end of the file, ends the process by a signal.
    #[inline(always)]
    #[must_use]
    pub fn words(&self, first: usize, count: usize) -> Option<&[AtomicU64]> {
        if first > self.words || count > self.words - first {
            return None;
        }
        // SAFETY: inside the mapping, which is aligned to pages and lives as long as self; atomics may be shared with
        // other processes.
        Some(unsafe { std::slice::from_raw_parts(self.start().as_ptr().add(first), count) })
    }

    /// Word `index`. `None` outside the mapping.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, index: usize) -> Option<&AtomicU64> {
        // SAFETY: as in `words`.
        if index < self.words { Some(unsafe { self.start().add(index).as_ref() }) } else { None }
    }

    /// Bytes from `first` on, for files whose parts are no words. `None` outside the mapping; the ends are as for
    /// [`MappedFile::words`]. A file is used by words or by bytes, not by both at once.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self, first: usize, count: usize) -> Option<&[AtomicU8]> {
        let all = self.words * size_of::<AtomicU64>();
        if first > all || count > all - first {
            return None;
        }
        // SAFETY: as in `words`; bytes need no alignment.
        Some(unsafe {
            std::slice::from_raw_parts(self.start().as_ptr().cast::<AtomicU8>().add(first), count)
        })
    }

    /// Makes a robust mutex of [`MUTEX_WORDS`] words at word `first`. Nobody may be using that place, and from now on its words
    /// are for the three calls alone.
    ///
    /// # Errors
    /// EINVAL outside the mapping, EACCES where it is not writable, the error of pthread_mutex_init.
    pub fn make_mutex(&self, first: usize) -> Result<(), CallError> {
        let mutex = self.mutex(first)?;
        // SAFETY: the mutex lies inside the mapping, aligned, and the caller says that nobody uses it.
        unsafe { mutex::make(mutex, MutexKind::Robust) }
    }

    /// Waits for the mutex at word `first`, which [`MappedFile::make_mutex`] made. It is given back before the mapping goes.
    ///
    /// # Errors
    /// EINVAL outside the mapping, EACCES where it is not writable; ENOTRECOVERABLE where an owner that found its
    /// predecessor dead unlocked it without care.
    #[inline(always)]
    pub fn lock_mutex(&self, first: usize) -> Result<Locked, CallError> {
        let mutex = self.mutex(first)?;
        // SAFETY: inside the mapping and aligned. That it was made there, that nobody else writes its words, and that no mutex
        // went with its mapping while this thread held it, is the promise of the caller and of whoever may write the file.
        match unsafe { libc::pthread_mutex_lock(mutex) } {
            0 => Ok(Locked::Clean),
            libc::EOWNERDEAD => {
                // SAFETY: we own the mutex.
                returned("pthread_mutex_consistent", unsafe { libc::pthread_mutex_consistent(mutex) })?;
                Ok(Locked::OwnerDied)
            }
            errno => Err(CallError::new("pthread_mutex_lock", errno)),
        }
    }

    /// Gives the mutex at word `first` back.
    ///
    /// # Errors
    /// EINVAL outside the mapping; EPERM where the caller does not own it.
    #[inline(always)]
    pub fn unlock_mutex(&self, first: usize) -> Result<(), CallError> {
        let mutex = self.mutex(first)?;
        // SAFETY: as in `lock_mutex`: libc writes where the links in its words point. One of somebody else is refused.
        returned("pthread_mutex_unlock", unsafe { libc::pthread_mutex_unlock(mutex) })
    }

    #[inline(always)]
    fn mutex(&self, first: usize) -> Result<*mut libc::pthread_mutex_t, CallError> {
        if !self.writable {
            return Err(CallError::new("pthread_mutex_lock", libc::EACCES));
        }
        if first > self.words || MUTEX_WORDS > self.words - first {
            return Err(CallError::new("pthread_mutex_lock", libc::EINVAL));
        }
        // SAFETY: inside the mapping.
        Ok(unsafe { self.start().as_ptr().add(first).cast() })
    }
}

/// What became of the last owner of a robust mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locked {
    /// It gave the mutex back, or there was none.
    Clean,
    /// It died while it held the mutex. The mutex itself is in order again; what it guards may not be.
    OwnerDied,
}

/// Words that one mutex takes.
pub const MUTEX_WORDS: usize = size_of::<libc::pthread_mutex_t>().div_ceil(size_of::<AtomicU64>());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Child, code_of};
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_mapping_larger_than_the_file_grows_with_it() {
        let file = crate::file::in_memory(4096).expect("memfd");
        let map = MappedFile::new(file.as_fd(), 1 << 20, true).expect("mmap");
        map.word(511).expect("inside").store(5, Ordering::Relaxed);
        crate::positioned::make_room(file.as_fd(), 4096, 4096).expect("fallocate");
        map.word(1023).expect("inside").store(6, Ordering::Relaxed);
        let mut bytes = [0u8; 8];
        let parts = &mut [std::io::IoSliceMut::new(&mut bytes)];
        crate::positioned::read(file.as_fd(), 8184, parts).expect("preadv");
        assert_eq!(u64::from_ne_bytes(bytes), 6);
        assert!(map.word(1 << 17).is_none());
        assert!(map.words((1 << 17) - 1, 2).is_none());
    }

    #[test]
    fn who_touches_what_was_cut_off_dies_of_it() {
        let file = crate::file::in_memory(8192).expect("memfd");
        let map = MappedFile::new(file.as_fd(), 8192, true).expect("mmap");
        std::fs::File::from(file).set_len(4096).expect("ftruncate");
        let child =
            Child::fork(|| i32::from(map.word(600).is_some_and(|word| word.load(Ordering::Relaxed) == 0)));
        assert_eq!(child.expect("fork").wait().expect("wait").signal, Some(libc::SIGBUS));
    }

    #[test]
    fn a_mutex_whose_owner_died_is_taken_over_once() {
        let file = crate::file::in_memory(4096).expect("memfd");
        let map = MappedFile::new(file.as_fd(), 4096, true).expect("mmap");
        map.make_mutex(8).expect("made");
        assert_eq!(code_of(|| i32::from(map.lock_mutex(8) != Ok(Locked::Clean))), Some(0));
        assert_eq!(map.lock_mutex(8), Ok(Locked::OwnerDied));
        map.unlock_mutex(8).expect("ours");
        assert_eq!(map.lock_mutex(8), Ok(Locked::Clean));
        map.unlock_mutex(8).expect("ours");
        assert_eq!(map.unlock_mutex(8).map_err(|error| error.errno), Err(libc::EPERM));
    }
}
