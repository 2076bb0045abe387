//! Turns a failed set-up into a message: what this machine lacks and what to do, or a failure.
//!
//! Each function takes the error of one kind of call and says which of the two it is.

use oscost_sys::{CallError, watched::Watched};

use super::{SetUp, Unable};

fn unsupported(why: impl Into<String>, remedy: impl Into<String>) -> Unable {
    Unable::Unsupported { why: why.into(), remedy: remedy.into() }
}

/// What the error of a call means: by its symbols, what is lacking and what to do about it.
macro_rules! lack {
    ($error:ident, else $otherwise:expr; $($symbols:pat $(if $also:ident)? => $why:literal, $remedy:expr;)*) => {
        match $error.symbol() {
            $($symbols $(if $also)? => unsupported(format!($why), $remedy),)*
            _ => $otherwise,
        }
    };
}

/// Of any call: what a kernel without it answers, or a sandbox around this process, is no failure of ours.
#[must_use]
pub fn of_call(error: CallError) -> Unable {
    lack! { error, else Unable::Failed(error);
        Some("ENOSYS" | "EPERM" | "EACCES") => "{error}: this kernel, or a sandbox around this process, refuses the call",
            "run outside the sandbox, or under a kernel that has the call";
    }
}

/// Of a call that makes descriptors.
#[must_use]
pub fn of_descriptors(error: CallError) -> Unable {
    lack! { error, else of_call(error);
        Some("EMFILE") => "{error}: no descriptor is left under the limit of open files of this process",
            "raise the limit: ulimit -n 1024";
        Some("ENFILE") => "{error}: the system's table of open files is full",
            "raise the limit: sysctl -w fs.file-max=1000000";
    }
}

/// Of making a namespace.
pub fn of_namespaces(error: CallError) -> Unable {
    of_namespaces_where(error, is_filtered(Watched::at_first().seccomp_mode))
}

/// Whether this mode is that of a filter of system calls.
fn is_filtered(seccomp_mode: Option<u32>) -> bool {
    seccomp_mode.is_some_and(|mode| mode > 0)
}

/// The same, where a filter of system calls is in force or not: it refuses root, too.
fn of_namespaces_where(error: CallError, is_filtered: bool) -> Unable {
    lack! { error, else of_processes(error);
        Some("EPERM" | "EACCES") if is_filtered => "{error}: no such namespace may be made here, and a filter of system calls is in force",
            "Docker, podman: --security-opt seccomp=unconfined, and where that is not enough --privileged; elsewhere: run \
             outside the sandbox";
        Some("EPERM" | "EACCES") => "{error}: this user may make no such namespace",
            "run as root, or with a user namespace of your own: unshare -r oscost run container";
        Some("EINVAL" | "ENOSYS") => "{error}: this kernel has no such namespaces",
            "run under a kernel that is built with them (CONFIG_NAMESPACES and those below it)";
        Some("ENOSPC") | None => "{error}: no more of them are allowed to this user",
            "raise the limit: sysctl user.max_user_namespaces, user.max_net_namespaces and their like";
    }
}

/// Of installing a filter of system calls.
pub fn of_filters(error: CallError) -> Unable {
    lack! { error, else of_processes(error);
        Some("EBUSY") => "{error}: whoever watches this process listens to its system calls already",
            "run outside the sandbox that listens";
        Some("EINVAL" | "ENOSYS" | "EPERM" | "EACCES") => "{error}: filters of system calls cannot be had here",
            "run under Linux 5.5 or later with CONFIG_SECCOMP_FILTER, outside a sandbox that refuses them";
    }
}

/// What a filter of system calls forbids before anything is tried: it may answer an unknown call itself, also with the kernel's
/// own words, and that has another price.
///
/// # Errors
/// [`Unable::Unsupported`] where there is a filter.
pub fn of_unknown_calls() -> Result<(), Unable> {
    if is_filtered(Watched::at_first().seccomp_mode) {
        return Err(unsupported(
            "a filter of system calls may answer an unknown call before the kernel does",
            "run without that filter: --security-opt seccomp=unconfined in Docker and podman",
        ));
    }
    Ok(())
}

/// Of loading a BPF program and attaching it.
pub fn of_bpf(error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("EPERM" | "EACCES") => "{error}: this user may attach no BPF program",
            "run as root, or with CAP_BPF and CAP_PERFMON";
        Some("ENOENT") => "{error}: the kernel has no such probe, or tracefs is not mounted",
            "mount -t tracefs tracefs /sys/kernel/tracing, under a kernel with CONFIG_BPF_EVENTS";
        Some("ENOSYS" | "EINVAL") => "{error}: this kernel has no BPF, or not what the program needs",
            "run under Linux 5.12 or later with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS";
    }
}

/// Of making a ring of io_uring.
pub fn of_io_uring(error: CallError) -> Unable {
    let disabled = oscost_sys::file::text("/proc/sys/kernel/io_uring_disabled");
    let disabled = disabled.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
    lack! { error, else of_descriptors(error);
        Some("ENOSYS") => "{error}: this kernel, or a sandbox around this process, has no io_uring",
            "run under Linux 5.4 or later with CONFIG_IO_URING, outside the sandbox";
        Some("EPERM" | "EACCES") => "{error}: io_uring is forbidden here (kernel.io_uring_disabled is {disabled})",
            "sysctl -w kernel.io_uring_disabled=0, or run outside the sandbox that refuses it";
        Some("ENOMEM") => "{error}: the ring does not fit the limit of locked memory",
            "raise the limit: ulimit -l 1024";
    }
}

/// Of making so many descriptors.
pub fn of_many_descriptors(error: CallError, count: usize) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("EMFILE") => "{error}: {count} descriptors do not fit the limit of open files of this process",
            format!("raise the limit: ulimit -n {}", (count + 100).next_power_of_two());
    }
}

/// Of making, reading or writing a file in the folder that is measured.
pub fn of_files(error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("ENOSPC" | "EDQUOT") => "{error}: there is no room for a file of 4 KiB",
            "make room, or name another folder with --set directory=";
        Some("EROFS" | "EACCES" | "EPERM") => "{error}: no file can be made there",
            "name a folder of your own with --set directory=";
    }
}

/// Of opening the device `path`.
#[must_use]
pub fn of_device(path: &str, error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("ENOENT" | "EACCES" | "EPERM") => "{path} cannot be used here: {error}",
            format!("run where /dev has a {path} that anyone may use");
    }
}

/// Of creating a named POSIX semaphore.
#[must_use]
pub fn of_named_semaphores(error: CallError) -> Unable {
    const MOUNT: &str = "mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
    lack! { error, else of_descriptors(error);
        Some("ENOENT" | "ENOSYS") => "named semaphores need /dev/shm, and there is none here: {error}",
            MOUNT;
        Some("EROFS") => "/dev/shm is read-only here: {error}",
            "mount -o remount,rw /dev/shm, or run where it can be written";
        Some("EACCES" | "EPERM") => "/dev/shm may not be written by this user: {error}",
            "chmod 1777 /dev/shm, or run as a user who may write to it";
        Some("ENOSPC") => "/dev/shm is full: {error}",
            "remove what nobody uses from /dev/shm";
    }
}

/// What the limits of the host forbid before anything is tried: a worker's private namespace has limits of its own, and
/// would measure what a user of this host cannot have. `operations`: how many one semop is to hold.
///
/// # Errors
/// [`Unable::Unsupported`] where the limits forbid it.
pub fn of_system_v_limits(cx: &SetUp<'_>, operations: u64) -> Result<(), Unable> {
    system_v_limits_allow(cx.host_system_v_limits, operations)
}

fn system_v_limits_allow(limits: Option<[u64; 4]>, operations: u64) -> Result<(), Unable> {
    let Some([per_set, all, per_call, sets]) = limits else { return Ok(()) };
    if per_set == 0 || all == 0 || sets == 0 || per_call < operations {
        return Err(unsupported(
            format!(
                "System V semaphores are forbidden here: kernel.sem is \"{per_set} {all} {per_call} {sets}\""
            ),
            "sysctl -w kernel.sem=\"32000 1024000000 500 32000\"",
        ));
    }
    Ok(())
}

/// Of creating a System V semaphore set.
#[must_use]
pub fn of_system_v_semaphores(error: CallError) -> Unable {
    match error.symbol() {
        Some("ENOSPC") => {
            let limits = oscost_sys::semaphore::system_v_limits().map_or_else(
                || "unknown".to_owned(),
                |limits| format!("\"{}\"", limits.map(|limit| limit.to_string()).join(" ")),
            );
            unsupported(
                format!("{error}: as many System V semaphores exist as kernel.sem allows, which is {limits}"),
                "sysctl -w kernel.sem=\"32000 1024000000 500 32000\", or remove sets that nobody uses (ipcs -s, ipcrm)",
            )
        }
        Some("ENOSYS") => unsupported(
            format!("{error}: this kernel has no System V semaphores"),
            "run under a kernel with CONFIG_SYSVIPC",
        ),
        Some("EPERM" | "EACCES") => unsupported(
            format!("{error}: System V semaphores are refused here, as some sandboxes do"),
            "run outside the sandbox",
        ),
        _ => of_call(error),
    }
}

/// Of a vDSO without getrandom.
pub fn of_vdso_random() -> Unable {
    unsupported(
        "the vDSO of this kernel has no getrandom",
        "run under Linux 6.11 or later (aarch64: 6.12); syscall/getrandom has the price of the call",
    )
}

/// Of asking for membarrier.
pub fn of_membarrier(error: CallError) -> Unable {
    lack! { error, else of_call(error);
        Some("ENOSYS" | "EINVAL" | "EPERM") => "{error}: this kernel or sandbox has no expedited membarrier",
            "run under a kernel with CONFIG_MEMBARRIER, outside the sandbox";
    }
}

/// Of a program that lives in memory alone.
pub fn of_programs_in_memory(error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("EACCES" | "EPERM" | "ENOSYS" | "ENOENT") => "{error}: no program can be run from memory here",
            "sysctl -w vm.memfd_noexec=0, and run where /proc is mounted";
    }
}

/// Of a C library that keeps no stacks.
pub fn of_kept_stacks() -> Unable {
    unsupported(
        "this C library keeps no stack of a thread for the next one",
        "run a build for glibc; thread/create_join has the price with a new stack",
    )
}

/// Of mapping memory.
pub fn of_memory(error: CallError) -> Unable {
    use oscost_sys::usage::{Limit, limit_of};
    let limit = || match limit_of(Limit::AddressSpace) {
        Ok((u64::MAX, _)) => "unlimited".to_owned(),
        Ok((soft, _)) => format!("{soft} bytes"),
        Err(_) => "unknown".to_owned(),
    };
    match error.symbol() {
        Some("ENOMEM") => unsupported(
            format!("{error}: no room under RLIMIT_AS ({}), RLIMIT_DATA or vm.overcommit_memory", limit()),
            "ulimit -v unlimited, ulimit -d unlimited, sysctl -w vm.overcommit_memory=0",
        ),
        _ => of_call(error),
    }
}

/// Of memory that is not there.
pub fn of_room(needed: u64, available: u64) -> Unable {
    unsupported(
        format!("{} MiB of memory are needed, and {} MiB are available", needed >> 20, available >> 20),
        "end what uses memory, raise memory.max of the cgroup, or choose a smaller size",
    )
}

/// Of huge pages: what the kernel did.
pub fn of_huge_pages(what: &str) -> Unable {
    unsupported(
        format!("transparent huge pages are needed, and {what}"),
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, echo 1 > /proc/sys/vm/compact_memory",
    )
}

/// Of too few CPUs where the benchmark chooses them itself.
pub fn of_cpus(needed: usize, there: usize) -> Unable {
    unsupported(
        format!("needs {needed} CPUs, and {there} may be used"),
        "give the process more CPUs (taskset, cpuset, --cpu)",
    )
}

/// Of starting a process.
#[must_use]
pub fn of_processes(error: CallError) -> Unable {
    match error.symbol() {
        Some("EAGAIN") => unsupported(
            format!("{error}: no more processes are allowed to this user or in this container"),
            "raise the limit: ulimit -u, or pids.max of the cgroup",
        ),
        // Where no more may be promised than there is, a fork needs room for a copy of all that is written to.
        Some("ENOMEM") => of_memory(error),
        _ => of_call(error),
    }
}

/// Of making a socket or a FIFO with a name in /dev/shm.
#[must_use]
pub fn of_shared_memory(error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("ENOENT" | "EACCES" | "EPERM" | "EROFS" | "ENOSPC") => "no socket or FIFO can be made in /dev/shm: {error}",
            "mount -t tmpfs -o mode=1777 tmpfs /dev/shm, or run as a user who may write to it";
    }
}

/// Of creating a POSIX message queue, one of `queues` for ten messages of `bytes` bytes each.
#[must_use]
pub fn of_posix_queues(error: CallError, queues: usize, bytes: usize) -> Unable {
    use oscost_sys::usage::{Limit, limit_of};
    let setting = |name: &str| {
        let path = format!("/proc/sys/fs/mqueue/{name}");
        oscost_sys::file::text(path).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
    };
    match error.symbol() {
        // The kernel has one error for both.
        Some("EMFILE") => {
            let limit = limit_of(Limit::MessageQueues).map_or(0, |(soft, _)| soft);
            let files = limit_of(Limit::OpenFiles).map_or(0, |(soft, _)| soft);
            unsupported(
                format!(
                    "{error}: {queues} queues do not fit the limit on POSIX queues (RLIMIT_MSGQUEUE is {limit} bytes) or the \
                     one on open files (RLIMIT_NOFILE is {files})"
                ),
                "ulimit -q unlimited, ulimit -n 1024, or fewer clients",
            )
        }
        Some("ENOSPC") => unsupported(
            format!("{error}: fs.mqueue.queues_max is {}", setting("queues_max")),
            "sysctl -w fs.mqueue.queues_max=1024, or fewer clients",
        ),
        Some("EINVAL") => unsupported(
            format!(
                "{error}: ten messages of {bytes} bytes, and fs.mqueue.msg_max is {}, fs.mqueue.msgsize_max {}",
                setting("msg_max"),
                setting("msgsize_max")
            ),
            "sysctl -w fs.mqueue.msgsize_max=65536, or a smaller --set size=",
        ),
        Some("ENOSYS" | "EACCES" | "EPERM") => unsupported(
            format!("{error}: POSIX message queues cannot be had here"),
            "run under a kernel with CONFIG_POSIX_MQUEUE, outside a sandbox that refuses them",
        ),
        _ => of_descriptors(error),
    }
}

/// Of creating a System V message queue.
#[must_use]
pub fn of_system_v_queues(error: CallError) -> Unable {
    lack! { error, else of_call(error);
        Some("ENOSPC") => "{error}: as many System V queues exist as kernel.msgmni allows",
            "sysctl -w kernel.msgmni=32000, or remove queues that nobody uses (ipcs -q, ipcrm)";
        Some("ENOSYS" | "EPERM" | "EACCES") => "{error}: System V queues cannot be had here",
            "run under a kernel with CONFIG_SYSVIPC, outside a sandbox that refuses them";
    }
}

/// Of a socket on the loopback device.
#[must_use]
pub fn of_loopback(error: CallError) -> Unable {
    lack! { error, else of_descriptors(error);
        Some("EADDRNOTAVAIL" | "ENETUNREACH" | "EAFNOSUPPORT") => "{error}: there is no loopback device that is up",
            "ip link set lo up, or run where the network namespace has one";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_filter_is_in_force_root_is_no_remedy_for_a_refused_namespace() {
        let (eperm, enosys) = (1, 38);
        let remedy =
            |errno, is_filtered| match of_namespaces_where(CallError::new("unshare", errno), is_filtered) {
                Unable::Unsupported { remedy, .. } => remedy,
                Unable::Failed(error) => panic!("{error}"),
            };
        assert!(remedy(eperm, false).starts_with("run as root"));
        let filtered = remedy(eperm, true);
        assert!(filtered.contains("seccomp=unconfined") && !filtered.contains("run as root"), "{filtered}");
        assert_eq!(remedy(enosys, true), remedy(enosys, false));
    }

    #[test]
    fn a_mode_other_than_none_is_a_filter() {
        assert_eq!([None, Some(0), Some(1), Some(2)].map(is_filtered), [false, false, true, true]);
        // What is in force here: the tests run where the tool does.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let filtered = status.lines().any(|line| line.starts_with("Seccomp:") && !line.ends_with("\t0"));
        assert_eq!(of_unknown_calls().is_err(), filtered);
    }

    #[test]
    fn limits_that_hold_no_set_or_too_few_operations_forbid_system_v_semaphores() {
        let allows = |limits| system_v_limits_allow(limits, 2).is_ok();
        assert!(
            allows(None) && allows(Some([32_000, 1_024_000_000, 500, 32_000])) && allows(Some([1, 1, 2, 1]))
        );
        for forbidding in [[0, 1, 2, 1], [1, 0, 2, 1], [1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 2, 0]] {
            assert!(!allows(Some(forbidding)), "{forbidding:?}");
        }
    }

    #[test]
    fn a_refused_call_is_a_lack_and_a_wrong_one_is_a_failure() {
        // ENOSYS, EPERM, EACCES; EBADF, EFAULT.
        for (errno, refused) in [(38, true), (1, true), (13, true), (9, false), (14, false)] {
            let unable = Unable::from(CallError::new("epoll_create1", errno));
            match unable {
                Unable::Unsupported { why, .. } => {
                    assert!(refused && why.starts_with("epoll_create1"), "{why}")
                }
                Unable::Failed(error) => assert!(!refused, "{error}"),
            }
        }
    }

    #[test]
    fn what_is_lacking_is_told_in_its_numbers() {
        let told = |unable: Unable| match unable {
            Unable::Unsupported { why, remedy } => format!("{why}; {remedy}"),
            Unable::Failed(error) => panic!("{error}"),
        };
        let room = told(of_room(3 << 30, (5 << 20) - 1));
        assert!(room.starts_with("3072 MiB of memory are needed, and 4 MiB are available; "), "{room}");
        assert!(told(of_cpus(4, 2)).starts_with("needs 4 CPUs, and 2 may be used; "));
        let (emfile, enospc) = (CallError::new("mq_open", 24), CallError::new("mq_open", 28));
        assert!(told(of_posix_queues(emfile, 11, 64)).contains(": 11 queues do not fit"));
        assert!(told(of_posix_queues(enospc, 11, 64)).contains("fs.mqueue.queues_max is "));
        assert!(told(of_many_descriptors(emfile, 1000)).ends_with("; raise the limit: ulimit -n 2048"));
        assert!(
            told(of_device("/dev/zero", CallError::new("openat", 2))).starts_with("/dev/zero cannot be used")
        );
    }
}
