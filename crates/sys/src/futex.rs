//! The futex system call, and a lock and a token made of nothing but one word and it. futex(2).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::SharedWords;
use crate::system_call::raw4;
use crate::{CallError, error::check};

/// The low half of a word, on which the kernel waits.
#[inline(always)]
fn half(word: &AtomicU64) -> *mut u32 {
    let pointer: *mut u32 = word.as_ptr().cast();
    // SAFETY: a word has two halves; on a big-endian machine the low one is the second.
    if cfg!(target_endian = "big") { unsafe { pointer.add(1) } } else { pointer }
}

/// Sleeps while the low half of `word` is `value`. Whether it slept; `false` where the value was another.
///
/// # Errors
/// The error of futex; a signal or a spurious wake-up is none.
#[inline(always)]
pub fn wait(word: &AtomicU64, value: u32) -> Result<bool, CallError> {
    // SAFETY: the word lives as long as the reference; without a time-out nothing else is read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            half(word),
            libc::FUTEX_WAIT,
            value,
            std::ptr::null::<libc::timespec>(),
        )
    };
    if result == 0 {
        return Ok(true);
    }
    let error = CallError::last("futex");
    match error.errno {
        libc::EAGAIN => Ok(false),
        libc::EINTR => Ok(true),
        _ => Err(error),
    }
}

/// Asks to sleep while the low half of `word` is `value`, where it is another: the kernel looks the word up and comes back.
/// `private`: as a word that no other process has (FUTEX_PRIVATE_FLAG). Made without libc: a return from a function after an entry
/// into the kernel is predicted wrong, which was a quarter of the price.
///
/// # Errors
/// The error of futex; where it slept after all, EIO.
#[inline(always)]
pub fn wait_mismatch(word: &AtomicU64, value: u32, private: bool) -> Result<(), CallError> {
    let operation = libc::FUTEX_WAIT | if private { libc::FUTEX_PRIVATE_FLAG } else { 0 };
    let (word, value) = (half(word) as usize, value as usize);
    // SAFETY: the word lives as long as the reference; without a time-out nothing else is read.
    let result = unsafe { raw4(libc::SYS_futex, word, operation as usize, value, 0) };
    match result {
        0 => Err(CallError::short("futex")),
        _ if result == -i64::from(libc::EAGAIN) => Ok(()),
        _ => Err(CallError::new("futex", i32::try_from(-result).unwrap_or(0))),
    }
}

/// Wakes at most `most` that wait on `word`; how many were woken.
///
/// # Errors
/// The error of futex.
#[inline(always)]
pub fn wake(word: &AtomicU64, most: i32) -> Result<u32, CallError> {
    // SAFETY: the word lives as long as the reference; FUTEX_WAKE reads no other memory.
    let woken = unsafe { libc::syscall(libc::SYS_futex, half(word), libc::FUTEX_WAKE, most) };
    check("futex", i32::try_from(woken).unwrap_or(-1)).map(i32::unsigned_abs)
}

/// A lock of one word: 0 free, 1 held, 2 held and waited for. It lets the running one in before the woken one.
#[derive(Debug)]
pub struct Lock {
    memory: SharedWords,
}

impl Lock {
    /// A free lock, shared with children that are forked later.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new() -> Result<Self, CallError> {
        Ok(Self { memory: SharedWords::new(1)? })
    }

    /// Whether nobody holds it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.memory.word(0).load(Ordering::Acquire) == 0
    }

    /// Takes it, waiting for it.
    ///
    /// # Errors
    /// The error of futex.
    #[inline(always)]
    pub fn lock(&self) -> Result<(), CallError> {
        let word = self.memory.word(0);
        if word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return Ok(());
        }
        // A process that slept marks the word as waited for, because others may still sleep.
        while word.swap(2, Ordering::Acquire) != 0 {
            wait(word, 2)?;
        }
        Ok(())
    }

    /// Gives it back, and wakes one who waits.
    ///
    /// # Errors
    /// The error of futex.
    #[inline(always)]
    pub fn unlock(&self) -> Result<(), CallError> {
        let word = self.memory.word(0);
        if word.swap(0, Ordering::Release) == 2 {
            wake(word, 1)?;
        }
        Ok(())
    }
}

/// A token of one word: 1 there, 0 taken; every post makes a wake-up call, even without a waiter.
#[derive(Debug)]
pub struct Token {
    memory: SharedWords,
}

impl Token {
    /// The token, there or not.
    ///
    /// # Errors
    /// The error of mmap.
    pub fn new(there: bool) -> Result<Self, CallError> {
        let memory = SharedWords::new(1)?;
        memory.word(0).store(u64::from(there), Ordering::Relaxed);
        Ok(Self { memory })
    }

    /// Takes it, waiting for it.
    ///
    /// # Errors
    /// The error of futex.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        let word = self.memory.word(0);
        while word.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_err() {
            wait(word, 0)?;
        }
        Ok(())
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The error of futex.
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        let word = self.memory.word(0);
        word.store(1, Ordering::Release);
        wake(word, 1).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Child;

    #[test]
    fn a_word_of_another_value_is_not_waited_for() {
        let word = AtomicU64::new(5);
        assert_eq!(wait(&word, 4), Ok(false));
        assert_eq!([true, false].map(|private| wait_mismatch(&word, 4, private)), [Ok(()); 2]);
        assert_eq!(wake(&word, 1), Ok(0));
    }

    #[test]
    fn a_sleeper_in_another_process_is_woken() {
        let token = Token::new(false).expect("a word");
        let child = Child::fork(|| i32::from(token.wait().is_err())).expect("fork");
        std::thread::sleep(std::time::Duration::from_millis(5));
        token.post().expect("posted");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("it ends").code, Some(0));
    }

    #[test]
    fn nobody_is_let_in_twice() {
        let lock = Lock::new().expect("a word");
        let count = SharedWords::new(1).expect("a word");
        let add = || {
            for _ in 0..5_000 {
                if lock.lock().is_err() {
                    return 1;
                }
                // A plain update: two at once would lose one.
                let value = count.word(0).load(Ordering::Relaxed);
                count.word(0).store(value + 1, Ordering::Relaxed);
                if lock.unlock().is_err() {
                    return 1;
                }
            }
            0
        };
        let children: Vec<Child> = (0..3).map(|_| Child::fork(add).expect("fork")).collect();
        for child in children {
            assert_eq!(child.wait().expect("wait").code, Some(0));
        }
        assert_eq!(count.word(0).load(Ordering::Relaxed), 15_000);
    }
}
