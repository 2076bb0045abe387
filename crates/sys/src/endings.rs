//! The signals by which a user ends a program, heard: the first is told, a second ends the program at once. sigaction(2).

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::{CallError, error::check};

const ENDINGS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Whether the next signal ends the program.
static HEARD: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// The first that came, or 0.
static NUMBER: AtomicI32 = AtomicI32::new(0);

extern "C" fn hear(signal: libc::c_int) {
    // It is there before the handler is; a look at it takes no lock.
    let Some(heard) = HEARD.get() else { return };
    let _ = NUMBER.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if heard.swap(true, Ordering::SeqCst) {
        end_now(128 + signal);
    }
}

/// From now on the first of SIGINT, SIGTERM and SIGHUP sets the flag that is returned; whichever comes while it is set ends the
/// program at once, with code 128 + its number. One that the caller had ignored (nohup, the job of a script in the background)
/// stays ignored. Listening again forgets what came.
///
/// # Errors
/// The error of sigaction.
pub fn listen() -> Result<Arc<AtomicBool>, CallError> {
    let heard = HEARD.get_or_init(Arc::default);
    NUMBER.store(0, Ordering::SeqCst);
    heard.store(false, Ordering::SeqCst);
    for signal in ENDINGS.into_iter().filter(|&signal| !is_ignored(signal)) {
        // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = hear as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the handler touches atomics and calls _exit, which are async-signal-safe, and leaves errno alone.
        let result = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
        check("sigaction", result)?;
    }
    Ok(Arc::clone(heard))
}

/// Of a process with a copy of the handlers: none is heard from now on. What was ignored stays ignored.
pub(crate) fn not_heard() {
    for signal in ENDINGS.into_iter().filter(|&signal| !is_ignored(signal)) {
        // SAFETY: SIG_DFL is a valid disposition.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The first signal that came since somebody listens.
#[must_use]
pub fn number() -> Option<u8> {
    u8::try_from(NUMBER.load(Ordering::SeqCst)).ok().filter(|&number| number > 0)
}

/// Ends the program at once, whatever its other threads do: no destructor or exit handler runs. _exit(2).
pub fn end_now(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Whether the caller of this program had it ignore `signal`. sigaction(2).
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action nothing changes; the kernel writes one sigaction to a local variable.
    let result = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    /// How a child ends that listens, and then does `what`.
    fn ends(what: fn(&AtomicBool) -> i32) -> Option<i32> {
        // Whoever started the tests may ignore what ends their children (nohup).
        crate::process::default_endings();
        code_of(|| listen().map_or(1, |heard| what(&heard)))
    }

    fn raise(signal: libc::c_int) {
        // SAFETY: raise touches no memory; the handler has run when it returns.
        unsafe { libc::raise(signal) };
    }

    #[test]
    fn the_first_signal_is_told_and_the_second_ends() {
        let first = ends(|heard| {
            let before = heard.load(Ordering::SeqCst) || number().is_some();
            raise(libc::SIGHUP);
            i32::from(before || !heard.load(Ordering::SeqCst) || number() != Some(1))
        });
        assert_eq!(first, Some(0));
        let second = ends(|_| {
            raise(libc::SIGINT);
            raise(libc::SIGTERM);
            0
        });
        assert_eq!(second, Some(143));
    }

    #[test]
    fn who_waits_for_none_is_ended_by_the_first() {
        let ended = ends(|heard| {
            heard.store(true, Ordering::SeqCst);
            raise(libc::SIGINT);
            0
        });
        assert_eq!(ended, Some(130));
        let again = ends(|heard| {
            raise(libc::SIGINT);
            let forgotten = listen().is_ok() && !heard.load(Ordering::SeqCst) && number().is_none();
            raise(libc::SIGTERM);
            i32::from(!forgotten || number() != Some(15))
        });
        assert_eq!(again, Some(0));
    }

    #[test]
    fn what_was_ignored_stays_ignored() {
        let code = code_of(|| {
            // SAFETY: SIG_IGN is a valid disposition for this signal.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
            let Ok(heard) = listen() else { return 1 };
            raise(libc::SIGHUP);
            i32::from(heard.load(Ordering::SeqCst))
        });
        assert_eq!(code, Some(0));
    }
}
