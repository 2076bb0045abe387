//! Filters of system calls: one rule, the rules of containers, and a listener that is asked. seccomp(2), seccomp_unotify(2).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use crate::audit::answers_can_be_given;
use crate::{CallError, error::check, process};

/// A call that no kernel has, which filters of this module refuse by [`ANSWER`]: whoever makes it learns that one is active.
const ASKED: i64 = 0x7ffd;
/// Its answer: an error that no kernel gives for a call that it has not.
const ANSWER: i32 = libc::EXFULL;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
/// Offsets in struct seccomp_data.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// A filter that is yet to be installed. Installed, it stays as long as its thread lives.
#[derive(Debug, Clone)]
pub struct Filter(Vec<libc::sock_filter>);

const fn load(at: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: at }
}

/// Goes on behind the next instruction unless the value is `k`.
const fn unless(k: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt: 0, jf: 1, k }
}

const fn answer(k: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k }
}

const fn refuse(error: i32) -> libc::sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | error.cast_unsigned())
}

impl Filter {
    /// One rule: a number that no kernel has is refused, and everything else is allowed.
    #[must_use]
    pub fn one_rule() -> Self {
        Self(vec![load(NUMBER_AT), unless(ASKED as u32), refuse(ANSWER), answer(libc::SECCOMP_RET_ALLOW)])
    }

    /// The rules of Docker's default profile, as its list of allowed calls: one comparison for each, from the highest number
    /// to the lowest, as libseccomp lays them out. What only an argument decides (clone, personality) is refused here.
    #[must_use]
    pub fn containers() -> Self {
        let mut filter = vec![load(ARCHITECTURE_AT), unless(ARCHITECTURE), load(NUMBER_AT)];
        // Another architecture is no case here: its calls fall through the list.
        filter.extend([unless(ASKED as u32), refuse(ANSWER)]);
        for number in (0..=MOST).rev().filter(|number| !DENIED.contains(number)) {
            filter.extend([unless(number as u32), answer(libc::SECCOMP_RET_ALLOW)]);
        }
        filter.push(refuse(libc::EPERM));
        Self(filter)
    }

    /// One rule: a listener is asked about this call.
    #[must_use]
    pub fn asking(call: i64) -> Self {
        let allowed = answer(libc::SECCOMP_RET_ALLOW);
        Self(vec![load(NUMBER_AT), unless(call as u32), answer(libc::SECCOMP_RET_USER_NOTIF), allowed])
    }

    /// Installs it for the calling thread and what it starts.
    ///
    /// # Errors
    /// The error of prctl or seccomp.
    pub fn install(&self) -> Result<(), CallError> {
        self.set(0).map(|_| ())
    }

    fn set(&self, flags: libc::c_ulong) -> Result<i32, CallError> {
        process::forgo_privileges()?;
        let mut rules = self.0.clone();
        let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
        // SAFETY: the program points to so many instructions, which live through the call.
        let set = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        check("seccomp", i32::try_from(set).unwrap_or(-1))
    }

    /// Installs a filter that asks for the calling thread, and starts a thread that hears of each call and lets it go on.
    ///
    /// # Errors
    /// The error of prctl, clone, seccomp (EBUSY: somebody listens already), or of an ioctl that is refused.
    pub fn install_with_listener(&self) -> Result<&'static AtomicU64, CallError> {
        static LISTENED: AtomicI32 = AtomicI32::new(-1);
        static HEARD: AtomicU64 = AtomicU64::new(0);
        answers_can_be_given()?;
        // It starts before the filter: afterwards its calls would be asked about, too.
        std::thread::Builder::new()
            .spawn(|| listen(&LISTENED, &HEARD))
            .map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))?;
        let fd = self.set(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
        LISTENED.store(fd.unwrap_or(-2), Ordering::Release);
        fd.map(|_| &HEARD)
    }
}

fn listen(fd: &AtomicI32, heard: &AtomicU64) {
    let fd = loop {
        match fd.load(Ordering::Acquire) {
            -1 => crate::clock::pause(std::time::Duration::from_micros(100)),
            -2 => return,
            // SAFETY: the descriptor was handed over by the store, and nobody else closes it.
            fd => break unsafe { OwnedFd::from_raw_fd(fd) },
        }
    };
    loop {
        // SAFETY: the kernel wants an all-zero structure.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one notification to a local variable.
        let got = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        if got != 0 {
            match CallError::last("ioctl").errno {
                libc::EINTR | libc::ENOENT => continue,
                _ => return,
            }
        }
        heard.fetch_add(1, Ordering::Release);
        let mut response = libc::seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error: 0,
            flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        };
        // SAFETY: the kernel reads one response, a local variable.
        unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
    }
}

/// Whether a filter of this module answers the calling thread.
#[must_use]
pub fn answers() -> bool {
    // SAFETY: no kernel has this call: whoever refuses it does not read arguments.
    unsafe { libc::syscall(ASKED) == -1 && CallError::last("seccomp").errno == ANSWER }
}

/// The highest number of a call that the profile knows (mseal).
const MOST: i64 = 462;

/// Calls by their numbers, where libc has no name for them, and by their names.
macro_rules! denied {
    ($($($number:literal)+;)? $($call:ident)*) => {
        &[$($($number,)+)? $(libc::$call),*]
    };
}

/// What Docker's default profile refuses to a container without privileges.
#[cfg(target_arch = "x86_64")]
const DENIED: &[i64] = denied! {
    134 136 139 156 174 177 178 180 181 182 183 184 185 212 214 215 236;
    SYS_acct SYS_add_key SYS_bpf SYS_clock_adjtime SYS_clock_settime SYS_clone SYS_delete_module
    SYS_finit_module SYS_fsconfig SYS_fsmount SYS_fsopen SYS_fspick SYS_get_mempolicy SYS_init_module
    SYS_io_uring_enter SYS_io_uring_register SYS_io_uring_setup SYS_ioperm SYS_iopl SYS_kcmp
    SYS_kexec_file_load SYS_kexec_load SYS_keyctl SYS_mbind SYS_mount SYS_mount_setattr SYS_move_mount
    SYS_move_pages SYS_open_by_handle_at SYS_open_tree SYS_perf_event_open SYS_personality SYS_pivot_root
    SYS_quotactl SYS_quotactl_fd SYS_reboot SYS_request_key SYS_set_mempolicy SYS_sethostname
    SYS_setdomainname SYS_setns SYS_settimeofday SYS_swapoff SYS_swapon SYS_syslog SYS_umount2 SYS_unshare
    SYS_userfaultfd SYS_vhangup
};
#[cfg(target_arch = "aarch64")]
const DENIED: &[i64] = denied! {
    SYS_acct SYS_add_key SYS_bpf SYS_clone SYS_mount SYS_perf_event_open SYS_personality SYS_pivot_root
    SYS_reboot SYS_setns SYS_umount2 SYS_unshare
};

#[cfg(test)]
mod tests {
    use super::*;

    /// In a child: a filter stays.
    fn in_child(body: impl FnOnce() -> bool) -> Option<i32> {
        process::code_of(|| i32::from(!body()))
    }

    #[test]
    fn filters_answer_and_let_through() {
        assert!(!answers(), "none is installed");
        for filter in [Filter::one_rule(), Filter::containers()] {
            let works =
                in_child(|| filter.install().is_ok() && answers() && crate::system_call::getppid() > 0);
            assert_eq!(works, Some(0));
        }
        // SAFETY: unshare of nothing.
        let refused =
            in_child(|| Filter::containers().install().is_ok() && unsafe { libc::unshare(0) } == -1);
        assert_eq!(refused, Some(0));
    }

    #[test]
    fn who_may_not_receive_learns_it_before_a_program_is_started() {
        let refused = in_child(|| {
            let allowed = answer(libc::SECCOMP_RET_ALLOW);
            let number = libc::SYS_recvfrom as u32;
            let filter = Filter(vec![load(NUMBER_AT), unless(number), refuse(libc::EPERM), allowed]);
            let before = process::may_hear();
            let after = filter.install().and_then(|()| process::may_hear());
            before.is_ok() && after == Err(CallError::new("recvfrom", libc::EPERM))
        });
        assert_eq!(refused, Some(0));
    }

    #[test]
    fn a_listener_hears_of_each_call() {
        let code = process::code_of(|| match Filter::asking(libc::SYS_getppid).install_with_listener() {
            Ok(heard) => {
                (0..10).for_each(|_| _ = crate::system_call::getppid());
                i32::from(heard.load(Ordering::Acquire) != 10)
            }
            Err(_) => 9,
        });
        // Told here: what a child prints goes with its copy of what the tests said.
        match code {
            Some(9) => println!("SKIP a_listener_hears: seccomp user notification is refused here"),
            code => assert_eq!(code, Some(0)),
        }
    }
}
