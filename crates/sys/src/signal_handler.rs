//! A signal that a process sends to itself, and the handler that counts it. sigaction(2), kill(2).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{CallError, error::check, system_call};

/// How often the handler of this process ran.
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int) {
    // The signal is blocked while its handler runs, so a load and a store lose nothing.
    HANDLED.store(HANDLED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// SIGUSR1 with a handler that counts. Dropping it gives the signal its former action again.
pub struct Handler {
    before: libc::sigaction,
    own: i32,
}

impl Handler {
    /// Installs the handler.
    ///
    /// # Errors
    /// The error of sigaction.
    pub fn install() -> Result<Self, CallError> {
        // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = count as *const () as usize;
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the handler touches one atomic, which is async-signal-safe; the kernel writes the old action.
        let result = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, &raw mut before) };
        check("sigaction", result)?;
        Ok(Self { before, own: std::process::id().cast_signed() })
    }

    /// Sends the signal to the process itself: the handler has run when this returns.
    ///
    /// # Errors
    /// The error of kill.
    #[inline(always)]
    pub fn deliver(&self) -> Result<(), CallError> {
        system_call::kill(self.own, libc::SIGUSR1).map(|_| ())
    }

    /// How often the handler ran.
    #[must_use]
    pub fn handled(&self) -> u64 {
        HANDLED.load(Ordering::Relaxed)
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: gives back the action that sigaction reported.
        unsafe { libc::sigaction(libc::SIGUSR1, &raw const self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // In a child: other tests' threads would be asked to take the signal.
    #[test]
    fn each_signal_is_handled_once_before_the_call_returns() {
        let code = crate::process::code_of(|| {
            let Ok(handler) = Handler::install() else { return 2 };
            let right = (1..=3).all(|count| handler.deliver().is_ok() && handler.handled() == count);
            i32::from(!right)
        });
        assert_eq!(code, Some(0));
    }
}
