//! A number behind a POSIX condition variable: a change wakes all processes that wait for a newer one.
//! pthread_cond_wait(3), pthread_cond_broadcast(3).

use std::sync::atomic::Ordering;

use crate::CallError;
use crate::condition::Variable;
use crate::memory::SharedWords;

/// The number, shared with children that are forked later.
#[derive(Debug)]
pub struct Broadcast {
    variable: Variable,
    number: SharedWords,
}

impl Broadcast {
    /// The number 0.
    ///
    /// # Errors
    /// The error of mmap, pthread_mutex_init or pthread_cond_init.
    pub fn new() -> Result<Self, CallError> {
        Ok(Self { variable: Variable::new()?, number: SharedWords::new(1)? })
    }

    /// Adds one and wakes everybody.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_broadcast or pthread_mutex_unlock.
    #[inline(always)]
    pub fn advance(&self) -> Result<(), CallError> {
        self.variable.lock()?;
        self.number.word(0).fetch_add(1, Ordering::Relaxed);
        self.variable.wake_all()?;
        self.variable.unlock()
    }

    /// Waits until the number is another than `seen`, and yields it.
    ///
    /// # Errors
    /// The error of pthread_mutex_lock, pthread_cond_wait or pthread_mutex_unlock.
    #[inline(always)]
    pub fn wait_beyond(&self, seen: u64) -> Result<u64, CallError> {
        self.variable.lock()?;
        loop {
            let number = self.number.word(0).load(Ordering::Relaxed);
            if number != seen {
                return self.variable.unlock().map(|()| number);
            }
            self.variable.wait()?;
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
            assert_eq!(sleeper.wait_at_most(60_000_000_000).expect("it ends").code, Some(0));
        }
    }
}
