//! Whether a filter of system calls answers a call before the kernel does: asked so that the kernel has one answer only.

use crate::{CallError, process::Child};

/// How long the kernel may take for a call that asks for nothing.
const PATIENCE_NS: u64 = 500_000_000;

/// A call that sandboxes refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// unshare of nothing: anybody may.
    Unshare,
    /// mount onto no path: EFAULT, before the kernel looks at who asks.
    Mount,
    /// perf_event_open with flags that do not exist: EINVAL, before the kernel looks at who asks.
    PerfEvents,
}

impl Asked {
    const fn name(self) -> &'static str {
        match self {
            Self::Unshare => "unshare",
            Self::Mount => "mount",
            Self::PerfEvents => "perf_event_open",
        }
    }

    /// The error number that the kernel has for it; 0: none.
    const fn of_the_kernel(self) -> i32 {
        match self {
            Self::Unshare => 0,
            Self::Mount => libc::EFAULT,
            Self::PerfEvents => libc::EINVAL,
        }
    }

    /// Makes the call, and returns its error number.
    fn make(self) -> i32 {
        let nowhere = std::ptr::null::<libc::c_char>();
        let result: libc::c_long = match self {
            // SAFETY: unshare touches no memory, and without flags it changes nothing.
            Self::Unshare => unsafe { libc::unshare(0) }.into(),
            // SAFETY: the kernel refuses a null target, and mounts nothing.
            Self::Mount => unsafe { libc::mount(nowhere, nowhere, nowhere, 0, std::ptr::null()) }.into(),
            // SAFETY: the kernel reads attributes from no null pointer, and refuses the flags before.
            Self::PerfEvents => unsafe {
                libc::syscall(libc::SYS_perf_event_open, nowhere, 0, -1, -1, libc::c_ulong::MAX)
            },
        };
        if result == -1 { CallError::last(self.name()).errno } else { 0 }
    }
}

/// What is answered in place of the kernel; `None` where the kernel answers itself. A kernel that lacks the call answers
/// ENOSYS, as some filters do. It is tried in a child, because a filter may also kill.
///
/// # Errors
/// The error of fork or wait.
pub fn answered(asked: Asked) -> Result<Option<CallError>, CallError> {
    let child = Child::fork(move || asked.make())?;
    Ok(match child.wait_at_most(PATIENCE_NS)?.code {
        Some(errno) if errno == asked.of_the_kernel() => None,
        Some(errno) => Some(CallError::new(asked.name(), errno)),
        None => Some(CallError::told("whoever makes the call is killed")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Asked; 3] = [Asked::Unshare, Asked::Mount, Asked::PerfEvents];

    /// Error numbers of all three in a process that prepared itself so; `None` where it could not.
    fn made(prepare: fn() -> bool) -> Option<[i32; 3]> {
        let words = crate::memory::SharedWords::new(ALL.len()).expect("shared memory");
        let code = crate::process::code_of(|| {
            let prepared = prepare();
            for (index, asked) in ALL.into_iter().enumerate() {
                let errno = asked.make().unsigned_abs().into();
                words.word(index).store(errno, std::sync::atomic::Ordering::Relaxed);
            }
            i32::from(!prepared)
        });
        let errno = |index| words.word(index).load(std::sync::atomic::Ordering::Relaxed) as i32;
        (code == Some(0)).then(|| [0, 1, 2].map(errno))
    }

    #[test]
    fn the_kernel_answers_every_user_and_a_filter_is_told_from_it() {
        // A sandbox around this test may refuse them already.
        let refused = ALL.map(|asked| crate::error::in_time(|| answered(asked)));
        if refused != [None; 3] {
            return println!("SKIP the_kernel_answers_every_user: {refused:?}");
        }
        // SAFETY: takes a number only.
        let nobody = || unsafe { libc::setuid(65_534) } == 0 || crate::identity::uid() != 0;
        assert_eq!(made(nobody), Some(ALL.map(Asked::of_the_kernel)));
        let contained = made(|| crate::seccomp::Filter::containers().install().is_ok());
        assert_eq!(contained, Some([libc::EPERM; 3]));
    }
}
