//! Counts by seccomp user notification: a listener thread sees every call. seccomp_unotify(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::table::TABLE;
use super::{CallCounts, QUIET_NS, UNREST_NS};
use crate::{CallError, error::check, process, system_call::marked};

static LISTENER: AtomicI32 = AtomicI32::new(-1);
/// The listener has a file table of its own, so that the audited thread can close its end.
static APART: AtomicBool = AtomicBool::new(false);

/// Runs `body` under a seccomp filter that reports every system call, and counts them. The filter stays: the caller sends
/// its result and exits. Call it before anything is set up, so that partners inherit the filter.
///
/// # Errors
/// The error of prctl or seccomp: EBUSY under a sandbox that listens itself, EINVAL before Linux 5.0. The error of ioctl
/// where a sandbox refuses it.
pub fn by_notification<T>(body: impl FnOnce() -> T) -> Result<(T, CallCounts), CallError> {
    answers_can_be_given()?;
    process::forgo_privileges()?;
    // The listener starts before the filter: a thread started afterwards would be filtered, and wait for itself.
    std::thread::Builder::new()
        .spawn(listen)
        .map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))?;
    let mut filter = [libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_USER_NOTIF,
    }];
    let program = libc::sock_fprog { len: 1, filter: filter.as_mut_ptr() };
    // SAFETY: the program points to one instruction that lives through the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    let fd = check("seccomp", i32::try_from(fd).unwrap_or(-1));
    // The listener must be told in memory: a system call would wait for it.
    LISTENER.store(*fd.as_ref().unwrap_or(&-2), Ordering::Release);
    let fd = fd?;
    // It comes back when the listener listens.
    std::thread::yield_now();
    if APART.load(Ordering::Acquire) {
        // SAFETY: the listener uses the descriptor of this number in its own file table, nobody uses it in this one.
        unsafe { libc::close(fd) };
    }
    let result = body();
    Ok((result, TABLE.counts()))
}

/// Whether a listener can hear and answer. Without ioctl(2), whoever makes a call under the filter would wait for ever.
pub(crate) fn answers_can_be_given() -> Result<(), CallError> {
    // SAFETY: the kernel wants an all-zero structure.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: there is no such descriptor, so the kernel writes nothing.
    unsafe { libc::ioctl(-1, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) };
    match CallError::last("ioctl") {
        CallError { errno: libc::EBADF, .. } => Ok(()),
        refused => Err(refused),
    }
}

/// The listener thread: counts every call, and lets it go on. It takes no lock and allocates nothing.
fn listen() {
    let fd = loop {
        match LISTENER.load(Ordering::Acquire) {
            -1 => crate::clock::pause(std::time::Duration::from_micros(50)),
            -2 => return,
            fd => break fd,
        }
    };
    APART.store(in_own_file_table(fd), Ordering::Release);
    // SAFETY: the audited thread handed over the descriptor by the store above; it closes it in its own file table only.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    while let Some(call) = next_call(&fd) {
        if let Some(phase) = marked(call.number, call.argument) {
            let (start, mut last) = (crate::clock::now_ns(), crate::clock::now_ns());
            while readable(&fd, QUIET_NS) && last - start < UNREST_NS {
                let Some(other) = next_call(&fd) else { return };
                TABLE.count(other.participant, other.number);
                let_go_on(&fd, other.id);
                last = crate::clock::now_ns();
            }
            TABLE.mark(phase);
        } else {
            TABLE.count(call.participant, call.number);
        }
        let_go_on(&fd, call.id);
    }
}

/// Gives the calling thread a file table with nothing in it but `fd`; whether that was done. A partner that is forked would
/// inherit the listening end: killed between fork and its first call, the audited process would leave it behind, waiting
/// for ever for an answer that nobody but itself could give. unshare(2), close_range(2).
fn in_own_file_table(fd: i32) -> bool {
    let number = fd.unsigned_abs();
    // SAFETY: there is no such descriptor; asks whether the kernel has the call (Linux 5.9). What an own table held besides
    // would keep the ends of pipes open.
    let is_known = unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, 0) } == 0;
    // SAFETY: unshare touches no memory.
    if !is_known || unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return false;
    }
    if number > 0 {
        // SAFETY: closes what this thread alone sees from here on, and does not use.
        unsafe { libc::syscall(libc::SYS_close_range, 0, number - 1, 0) };
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_close_range, number + 1, u32::MAX, 0) };
    true
}

struct Call {
    id: u64,
    participant: i32,
    number: i64,
    argument: u64,
}

fn readable(fd: &OwnedFd, timeout_ns: u64) -> bool {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, a local variable.
    let ready = unsafe { libc::poll(&raw mut entry, 1, (timeout_ns / 1_000_000) as i32) };
    ready > 0 && entry.revents & libc::POLLIN != 0
}

/// The next reported call; `None` when nobody is left to report one.
fn next_call(fd: &OwnedFd) -> Option<Call> {
    loop {
        // SAFETY: the kernel wants an all-zero structure.
        let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one notification to a local variable.
        let result =
            unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) };
        if result == 0 {
            return Some(Call {
                id: notification.id,
                participant: notification.pid.cast_signed(),
                number: i64::from(notification.data.nr),
                argument: notification.data.args[0],
            });
        }
        // ENOENT: the caller was killed while it waited; EINTR: try again.
        match CallError::last("ioctl").errno {
            libc::ENOENT | libc::EINTR => {}
            _ => return None,
        }
        let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, a local variable.
        if unsafe { libc::poll(&raw mut entry, 1, -1) } > 0 && entry.revents & libc::POLLHUP != 0 {
            return None;
        }
    }
}

fn let_go_on(fd: &OwnedFd, id: u64) {
    let mut response = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    // SAFETY: the kernel reads one response of a local variable. A caller that died meanwhile is no error.
    unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
}
