//! Real-time scheduling: whether it can be had. sched(7), sched_setscheduler(2).

use crate::{CallError, error::check, process::Child};

/// Priority that is asked for: in the middle, never 99, where threads of the kernel live.
const PRIORITY: i32 = 50;

/// Whether a process of this user may be scheduled SCHED_RR: tried in a child, which changes nothing for the caller.
///
/// # Errors
/// EPERM where it is refused; the error of fork or wait.
pub fn probe_real_time() -> Result<(), CallError> {
    let child = Child::fork(|| {
        let parameter = libc::sched_param { sched_priority: PRIORITY };
        let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        // SAFETY: the kernel reads one sched_param. The raw call, because another libc's wrapper (musl's) refuses it.
        let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) };
        match check("sched_setscheduler", i32::try_from(result).unwrap_or(-1)) {
            Ok(_) => 0,
            Err(error) => error.errno,
        }
    })?;
    match child.wait()?.code {
        Some(0) => Ok(()),
        Some(errno) => Err(CallError::new("sched_setscheduler", errno)),
        None => Err(CallError::new("sched_setscheduler", libc::EPERM)),
    }
}
