//! A ring of submissions and completions shared with the kernel, by its own calls. io_uring(7), io_uring_setup(2).

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{CallError, error::own, mapping::Mapping};

/// Where the parts of the ring of submissions lie.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct SubmissionOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    reserved: u32,
    user_address: u64,
}

/// Where the parts of the ring of completions lie.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct CompletionOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    overflow: u32,
    entries: u32,
    flags: u32,
    reserved: u32,
    user_address: u64,
}

/// struct io_uring_params.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RingParameters {
    submissions: u32,
    completions: u32,
    flags: u32,
    thread_cpu: u32,
    thread_idle: u32,
    features: u32,
    workers: u32,
    reserved: [u32; 3],
    submission: SubmissionOffsets,
    completion: CompletionOffsets,
}

/// struct io_uring_cqe.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// struct io_uring_sqe: 64 bytes, of which the operation (0: nothing) and the mark are written here.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Submission {
    operation: u64,
    unused: [u64; 3],
    user_data: u64,
    rest: [u64; 3],
}

const SINGLE_MMAP: u32 = 1;
const GET_EVENTS: u32 = 1;
const RINGS_AT: libc::off_t = 0;
const SUBMISSIONS_AT: libc::off_t = 0x1000_0000;

/// What the kernel made for a ring, from a position on.
fn mapped(fd: &OwnedFd, bytes: usize, at: libc::off_t) -> Result<Mapping, CallError> {
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    Mapping::new(bytes, libc::PROT_READ | libc::PROT_WRITE, flags, Some((fd.as_fd(), at)))
}

/// The word of a ring at an offset that the kernel told.
#[inline(always)]
fn word(ring: &Mapping, offset: u32) -> &AtomicU32 {
    // SAFETY: the kernel's offsets lie within its rings, and are those of aligned 32-bit words.
    unsafe { &*ring.start::<u8>().as_ptr().add(offset as usize).cast::<AtomicU32>() }
}

/// A ring whose operations do nothing.
#[derive(Debug)]
pub struct Ring {
    fd: OwnedFd,
    told: RingParameters,
    rings: Mapping,
    entries: Mapping,
    /// Submissions so far, which is also the next one's mark.
    submitted: u64,
    /// Completions so far with the mark that was due, and without an error.
    completed: u64,
}

impl Ring {
    /// A ring for so many submissions at once, a power of two.
    ///
    /// # Errors
    /// The error of io_uring_setup (ENOSYS, EPERM where it is forbidden, ENOMEM under a limit of locked memory) or mmap.
    pub fn new(entries: u32) -> Result<Self, CallError> {
        let mut told = RingParameters::default();
        // SAFETY: the kernel reads and writes one io_uring_params, a local variable.
        let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, entries, &raw mut told) };
        // SAFETY: the descriptor is new.
        let fd = unsafe { own("io_uring_setup", i32::try_from(fd).unwrap_or(-1)) }?;
        if told.features & SINGLE_MMAP == 0 {
            return Err(CallError::new("io_uring_setup", libc::ENOSYS));
        }
        let submissions = told.submission.array as usize + told.submissions as usize * size_of::<u32>();
        let completions =
            told.completion.entries as usize + told.completions as usize * size_of::<Completion>();
        let rings = mapped(&fd, submissions.max(completions), RINGS_AT)?;
        let bytes = told.submissions as usize * size_of::<Submission>();
        let entries = mapped(&fd, bytes, SUBMISSIONS_AT)?;
        for index in 0..told.submissions {
            word(&rings, told.submission.array + index * 4).store(index, Ordering::Relaxed);
        }
        Ok(Self { fd, told, rings, entries, submitted: 0, completed: 0 })
    }

    /// Submits so many operations that do nothing, at most as many as the ring has room for, and takes their completions:
    /// one io_uring_enter.
    ///
    /// # Errors
    /// The error of io_uring_enter; EIO where it took fewer.
    #[inline(always)]
    pub fn nothing(&mut self, count: u32) -> Result<(), CallError> {
        let (at, mask) = (self.told.submission, self.told.submissions - 1);
        let tail = word(&self.rings, at.tail).load(Ordering::Relaxed);
        for index in 0..count {
            let entry = Submission {
                operation: 0,
                unused: [0; 3],
                user_data: self.submitted + u64::from(index),
                rest: [0; 3],
            };
            let slot = tail.wrapping_add(index) & mask;
            // SAFETY: the slot lies within the mapping of so many entries, and the kernel does not read it before the tail
            // has moved.
            unsafe {
                self.entries.start::<u8>().as_ptr().cast::<Submission>().add(slot as usize).write(entry)
            };
        }
        word(&self.rings, at.tail).store(tail.wrapping_add(count), Ordering::Release);
        self.enter(count)?;
        self.take();
        self.submitted += u64::from(count);
        Ok(())
    }

    #[inline(always)]
    fn enter(&self, count: u32) -> Result<(), CallError> {
        let (fd, none) = (self.fd.as_raw_fd(), std::ptr::null::<libc::c_void>());
        // SAFETY: no signal mask is given; the kernel reads and writes its own rings.
        let taken = unsafe { libc::syscall(libc::SYS_io_uring_enter, fd, count, count, GET_EVENTS, none, 0) };
        match taken {
            -1 => Err(CallError::last("io_uring_enter")),
            taken if taken == i64::from(count) => Ok(()),
            _ => Err(CallError::short("io_uring_enter")),
        }
    }

    /// Takes the completions that are there.
    #[inline(always)]
    fn take(&mut self) {
        let at = self.told.completion;
        let mask = self.told.completions - 1;
        let tail = word(&self.rings, at.tail).load(Ordering::Acquire);
        let mut head = word(&self.rings, at.head).load(Ordering::Relaxed);
        while head != tail {
            let offset = at.entries as usize + (head & mask) as usize * size_of::<Completion>();
            // SAFETY: the entry lies within the mapping, and the kernel wrote it before it moved the tail.
            let entry = unsafe { self.rings.start::<u8>().as_ptr().add(offset).cast::<Completion>().read() };
            self.completed += u64::from(entry.user_data == self.completed && entry.result == 0);
            head = head.wrapping_add(1);
        }
        word(&self.rings, at.head).store(head, Ordering::Release);
    }

    /// Submissions, and completions of them in their order.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.submitted, self.completed)
    }

    /// How many submissions the kernel took, by its own count, which turns over at 2^32.
    #[must_use]
    pub fn taken_by_kernel(&self) -> u32 {
        word(&self.rings, self.told.submission.head).load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(
            (size_of::<RingParameters>(), size_of::<Submission>(), size_of::<Completion>()),
            (120, 64, 16)
        );
    }

    #[test]
    fn what_is_submitted_is_completed() {
        let Ok(mut ring) = Ring::new(4) else { return println!("SKIP what_is_submitted: no io_uring here") };
        for count in [1, 4, 3, 4] {
            ring.nothing(count).expect("entered");
        }
        assert_eq!((ring.counts(), ring.taken_by_kernel()), ((12, 12), 12));
    }
}
