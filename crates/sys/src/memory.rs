//! Memory: words shared between processes, locking, touching before use.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use crate::{CallError, error::check, mapping::Mapping};

/// Words that this process and its later children share, zero at first, each on a cache line (128 bytes) of its own.
/// mmap(2), MAP_SHARED.
#[derive(Debug)]
pub struct SharedWords {
    mapping: Mapping,
    words: usize,
}

/// Distance of two words, so that no two share a cache line or a pair of prefetched lines.
const STRIDE: usize = 128 / size_of::<AtomicU64>();

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
        let fd = crate::file::in_memory(Self::bytes(words) as u64)?;
        Ok((Self::map(words, Some(&fd))?, fd))
    }

    /// Words of a file that [`SharedWords::in_file`] made in another process.
    ///
    /// # Errors
    /// The error of fstat or mmap; EINVAL where the file is too short for the words.
    pub fn of_file(words: usize, fd: &OwnedFd) -> Result<Self, CallError> {
        let stat = crate::file::stat_of(fd)?;
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
        let (access, file) = (libc::PROT_READ | libc::PROT_WRITE, fd.map(|fd| (fd.as_fd(), 0)));
        let mapping = Mapping::new(bytes, access, flags | libc::MAP_POPULATE, file)?;
        Ok(Self { mapping, words })
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
        unsafe { self.mapping.start::<AtomicU64>().add(index * STRIDE).as_ref() }
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
    mapping: Mapping,
    words: usize,
}

impl ColdPages {
    /// Fresh memory for `words` words.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new(words: usize) -> Result<Self, CallError> {
        let words = words.max(1);
        let mapping = Mapping::private(words * size_of::<u64>())?;
        // Huge pages would make one fault of 512: the documents' machines had small ones, and the kernel may refuse.
        // SAFETY: advice on our own mapping.
        unsafe { libc::madvise(mapping.start().as_ptr(), mapping.bytes(), libc::MADV_NOHUGEPAGE) };
        Ok(Self { mapping, words })
    }

    /// The words; each page faults when it is first touched.
    #[must_use]
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is zero-filled, holds `words` words, and is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.start().as_ptr(), self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn children_share_the_words() {
        let words = SharedWords::new(2).expect("mmap");
        let code = crate::process::code_of(|| {
            words.word(1).store(42, Ordering::Release);
            0
        });
        assert_eq!(code, Some(0));
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
        let page = crate::region::page_bytes() / size_of::<u64>();
        let mut pages = ColdPages::new(page * 100).expect("mmap");
        let used = || crate::usage::own(crate::usage::Whose::Thread).expect("getrusage");
        let before = used();
        for word in pages.words().iter_mut().step_by(page) {
            *word = 1;
        }
        let faults = used().since(&before).faults();
        assert!((100..140).contains(&faults), "{faults} faults for 100 pages");
    }
}
