//! Memory: words shared between processes, locking, touching before use.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use crate::{CallError, error::check};

/// Words that this process and its later children share, zero at first, each on a cache line (128 bytes) of its own.
/// mmap(2), MAP_SHARED.
#[derive(Debug)]
pub struct SharedWords {
    start: NonNull<AtomicU64>,
    words: usize,
    bytes: usize,
}

/// Distance of two words, so that no two share a cache line or a pair of prefetched lines.
const STRIDE: usize = 128 / size_of::<AtomicU64>();

// SAFETY: the words are atomics; the mapping lives as long as the value.
unsafe impl Send for SharedWords {}
// SAFETY: as above: all access is by atomics.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Words shared with children that are forked from now on.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new(words: usize) -> Result<Self, CallError> {
        Self::map(words, None)
    }

    /// Words in an anonymous file, to be handed over exec by its descriptor. memfd_create(2).
    ///
    /// # Errors
    /// The error of memfd_create, ftruncate or mmap.
    pub fn in_file(words: usize) -> Result<(Self, OwnedFd), CallError> {
        // SAFETY: the name is a C string.
        let fd = check("memfd_create", unsafe { libc::memfd_create(c"oscost".as_ptr(), libc::MFD_CLOEXEC) })?;
        // SAFETY: the kernel has just handed out this descriptor to us alone.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // a few pages
        // SAFETY: ftruncate touches no memory.
        check("ftruncate", unsafe { libc::ftruncate(fd.as_raw_fd(), Self::bytes(words) as libc::off_t) })?;
        Ok((Self::map(words, Some(&fd))?, fd))
    }

    /// Words of a file that [`SharedWords::in_file`] made in another process.
    ///
    /// # Errors
    /// The error of fstat or mmap; EINVAL where the file is too short for the words.
    pub fn of_file(words: usize, fd: &OwnedFd) -> Result<Self, CallError> {
        // SAFETY: an all-zero stat is valid.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one stat to a local variable.
        check("fstat", unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
        if usize::try_from(stat.st_size).unwrap_or(0) < Self::bytes(words) {
            return Err(CallError::new("mmap", libc::EINVAL));
        }
        Self::map(words, Some(fd))
    }

    fn bytes(words: usize) -> usize {
        (words.max(1) * STRIDE * size_of::<AtomicU64>()).next_multiple_of(4096)
    }

    fn map(words: usize, fd: Option<&OwnedFd>) -> Result<Self, CallError> {
        let bytes = Self::bytes(words);
        let flags = if fd.is_some() { libc::MAP_SHARED } else { libc::MAP_SHARED | libc::MAP_ANONYMOUS };
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_POPULATE,
                fd.map_or(-1, AsRawFd::as_raw_fd),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(CallError::last("mmap"));
        }
        let start = NonNull::new(start.cast()).ok_or(CallError::new("mmap", libc::EFAULT))?;
        Ok(Self { start, words, bytes })
    }

    /// Word `index`.
    ///
    /// # Panics
    /// If there is no such word.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.words, "a word of the mapping");
        // SAFETY: the index is inside the mapping, which is aligned to pages and lives as long as self.
        unsafe { self.start.add(index * STRIDE).as_ref() }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: unmaps what `map` mapped; no reference outlives self.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Locks the pages that the process has now; memory that it maps later, or has not touched yet, is left alone (a cold
/// buffer must stay cold). mlockall(2).
///
/// # Errors
/// EPERM or ENOMEM where RLIMIT_MEMLOCK forbids it.
pub fn lock_current() -> Result<(), CallError> {
    // SAFETY: mlockall touches no memory of ours.
    check("mlockall", unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_ONFAULT) }).map(|_| ())
}

/// Maps `pages` fresh pages, reads or writes none of them, and unmaps them on drop: for a buffer that must be cold.
/// A `Vec` of the same size may come from memory that was touched before.
#[derive(Debug)]
pub struct ColdPages {
    start: NonNull<u64>,
    words: usize,
}

impl ColdPages {
    /// Fresh memory for `words` words.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new(words: usize) -> Result<Self, CallError> {
        let words = words.max(1);
        // SAFETY: a new private mapping at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                words * size_of::<u64>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(CallError::last("mmap"));
        }
        let start: NonNull<u64> = NonNull::new(start.cast()).ok_or(CallError::new("mmap", libc::EFAULT))?;
        // Huge pages would make one fault of 512: the documents' machines had small ones, and the kernel may refuse.
        // SAFETY: advice on our own mapping.
        unsafe { libc::madvise(start.as_ptr().cast(), words * size_of::<u64>(), libc::MADV_NOHUGEPAGE) };
        Ok(Self { start, words })
    }

    /// The words; each page faults when it is first touched.
    #[must_use]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is zero-filled, holds `words` words, and is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

impl Drop for ColdPages {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` mapped; no reference outlives self.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * size_of::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn children_share_the_words() {
        let words = SharedWords::new(2).expect("mmap");
        let child = crate::process::Child::fork(|| {
            words.word(1).store(42, Ordering::Release);
            0
        })
        .expect("fork");
        assert_eq!(child.wait().expect("wait").code, Some(0));
        assert_eq!(words.word(1).load(Ordering::Acquire), 42);
        assert_eq!(words.word(0).load(Ordering::Acquire), 0);
    }

    #[test]
    fn a_file_of_words_is_seen_by_another_mapping() {
        let (words, fd) = SharedWords::in_file(1).expect("memfd");
        let other = SharedWords::of_file(1, &fd).expect("mmap");
        words.word(0).store(9, Ordering::Release);
        assert_eq!(other.word(0).load(Ordering::Acquire), 9);
        assert!(SharedWords::of_file(10_000, &fd).is_err());
    }

    #[test]
    fn cold_pages_fault_once_each() {
        let mut pages = ColdPages::new(512 * 100).expect("mmap");
        let used = || crate::usage::own(crate::usage::Whose::Thread).expect("getrusage");
        let before = used();
        for word in pages.words().iter_mut().step_by(512) {
            *word = 1;
        }
        let faults = used().since(&before).faults();
        assert!((100..140).contains(&faults), "{faults} faults for 100 pages");
    }
}
