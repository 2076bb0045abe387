//! The tariff: which figures price which calls. Data, and nothing else but how to look it up.
//!
//! Of a pair that a figure measures together (open and close, wait and post) each call is half. A price that is a sum or a
//! difference says so by its terms.

use oscost_results::bill::Call;

pub use crate::terms::*;

/// The price of some calls.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Rate {
    /// The calls, by their names in the kernel's table.
    pub calls: &'static [&'static str],
    /// What they are made on; empty: whatever it is.
    pub on: &'static [&'static str],
    /// What each call costs.
    pub each: &'static [Term],
    /// What each byte costs.
    pub byte: &'static [Term],
    /// What each descriptor or part beyond the first costs.
    pub more: &'static [Term],
    /// What a call costs that carries no byte, where that is another price.
    pub nothing: &'static [Term],
    /// What `each` holds that has rows of its own, below nothing: what every libc does, and what some do besides. The price is without
    /// the first, its low end without both, and its high end with both.
    pub inside: [&'static [Term]; 2],
    /// In what the figures' circumstances differ; of a rate without terms, in whose price it is.
    pub circumstance: &'static str,
}

const LIKE_ENTRY: &str = "priced as getpid, which does as little";
const PAIR: &str = "half of the pair that is measured together";
const MAPPED: &str = "half of the pair; beside memory in use, which the kernel joins it to, it costs more";
const LIKE_STAT: &str = "priced as a stat of a short path";
const SPAWN: &str = "posix_spawn less the exec, with the child's end and the wait; libc's calls and its own sleep have rows of their own";
const OTHER_MEMORY: &str = "one page that nobody touched; more memory costs more";

const fn rate(calls: &'static [&'static str], each: &'static [Term], circumstance: &'static str) -> Rate {
    Rate { calls, on: &[], each, byte: &[], more: &[], nothing: &[], inside: [&[]; 2], circumstance }
}

const fn on(kinds: &'static [&'static str], rate: Rate) -> Rate {
    Rate { on: kinds, ..rate }
}

const fn carrying(byte: &'static [Term], nothing: &'static [Term], rate: Rate) -> Rate {
    Rate { byte, nothing, ..rate }
}

const fn holding(inside: [&'static [Term]; 2], rate: Rate) -> Rate {
    Rate { inside, ..rate }
}

const READS: &[&str] = &["read", "pread64", "readv", "preadv", "preadv2"];
const WRITES: &[&str] = &["write", "pwrite64", "writev", "pwritev", "pwritev2"];
/// Where one slept, it waited for a disk: what that takes, no price says.
const SYNCS: &[&str] = &["fsync", "fdatasync"];
const SENDS: &[&str] = &["write", "writev", "sendto", "sendmsg"];
const RECEIVES: &[&str] = &["read", "readv", "recvfrom", "recvmsg"];
const SOCKETS: &[&str] = &["unix stream", "unix datagram", "unix packet"];
/// Calls that wait for a child. One that its end ended is in the price of the child's fork.
pub(crate) const WAITS: &[&str] = &["wait4", "waitid"];
/// Calls whose number of descriptors is the highest one and one more: they may watch fewer.
pub(crate) const BY_HIGHEST: &[&str] = &["select", "pselect6"];

/// The rates; the first that fits a call prices it.
pub static RATES: &[Rate] = &[
    // Own figures.
    rate(&["getpid"], ENTRY, ""),
    rate(&["getcpu"], &[("syscall/getcpu", 1.0)], ""),
    rate(&["sched_yield"], &[("syscall/sched_yield_libc", 1.0)], ""),
    rate(&["getrandom"], &[("syscall/getrandom (by libc)", 1.0)], ""),
    rate(&["membarrier"], &[("syscall/membarrier (by libc)", 1.0)], "no other thread runs"),
    on(&["process_cpu"], rate(&["clock_gettime"], &[("clock/process_cputime", 1.0)], "")),
    on(&["thread_cpu"], rate(&["clock_gettime"], &[("clock/thread_cputime", 1.0)], "")),
    rate(&["clock_gettime", "clock_getres"], &[("clock/monotonic_syscall (by libc)", 1.0)], ""),
    rate(&["gettimeofday", "time"], &[("clock/gettimeofday_syscall (by libc)", 1.0)], ""),
    // Files.
    on(&["descriptor"], rate(&["newfstatat", "statx"], FSTAT, "")),
    rate(&["fstat"], FSTAT, ""),
    carrying(LISTED_BYTE, &[], rate(&["getdents64"], LISTING, "of a folder in memory, in the cache")),
    on(
        &["file"],
        carrying(
            COPY_COLD,
            &[("syscall/read0_file (by libc)", 1.0)],
            rate(
                READS,
                &[("file/read_4k", 1.0), ("memory/bandwidth/copy/block_16k", -PAGE / 1024.0)],
                "in the page cache",
            ),
        ),
    ),
    on(
        &["file"],
        carrying(
            GROWN,
            &[("syscall/write1 (by libc)", 1.0)],
            rate(
                WRITES,
                &[("file/write_4k", 1.0), ("memory/bandwidth/copy/block_16k", -PAGE / 1024.0)],
                "to the end of a file where the bill was asked for; what is there already costs less",
            ),
        ),
    ),
    on(&["create"], rate(&["open", "openat"], CREATE, PAIR)),
    rate(&["open", "openat", "openat2"], &[("file/open_close", 0.5)], PAIR),
    rate(
        &["creat", "mkdir", "mkdirat", "symlink", "symlinkat", "mknod", "mknodat"],
        CREATE,
        "priced as making a file",
    ),
    rate(&["unlink", "unlinkat", "rmdir"], CREATE, PAIR),
    rate(
        &["rename", "renameat", "renameat2", "link", "linkat"],
        &[("file/create_unlink", 1.0), ("file/open_close", -0.5)],
        "priced as making one name and removing one",
    ),
    on(&["file", "directory", "device", "terminal", ""], rate(&["close"], &[("file/open_close", 0.5)], PAIR)),
    on(&["tcp"], rate(&["close"], &[], "in the price of its connect and accept")),
    rate(
        &[
            "stat",
            "lstat",
            "newfstatat",
            "statx",
            "access",
            "faccessat",
            "faccessat2",
            "readlink",
            "readlinkat",
            "chdir",
            "statfs",
            "utimensat",
        ],
        LOOKUP,
        LIKE_STAT,
    ),
    rate(SYNCS, ENTRY, "priced as getpid: it did not wait for a disk"),
    on(&["record lock"], rate(&["fcntl"], &[("record_lock/fcntl", 0.5)], PAIR)),
    rate(&["flock"], &[("record_lock/flock", 0.5)], PAIR),
    // Pipes, devices, eventfds.
    on(
        &["pipe"],
        carrying(
            COPY,
            &[("syscall/read0_pipe (by libc)", 1.0)],
            rate(READS, &[("context_switch/pipe_alone/same_cpu", 0.5)], PAIR),
        ),
    ),
    on(&["pipe"], carrying(COPY, &[], rate(WRITES, &[("context_switch/pipe_alone/same_cpu", 0.5)], PAIR))),
    on(&["eventfd"], rate(&["read", "write"], &[("semaphore/eventfd", 0.5)], PAIR)),
    on(
        &["device"],
        carrying(
            COPY,
            &[("syscall/read0_devzero_libc", 1.0)],
            rate(READS, &[("syscall/read1 (by libc)", 1.0)], "priced as /dev/zero"),
        ),
    ),
    on(&["device"], rate(WRITES, &[("syscall/write1 (by libc)", 1.0)], "priced as /dev/null")),
    // Sockets.
    on(SOCKETS, carrying(COPY, &[], rate(SENDS, &[("socket/unix_alone", 0.5)], PAIR))),
    on(SOCKETS, carrying(COPY, &[], rate(RECEIVES, &[("socket/unix_alone", 0.5)], PAIR))),
    on(&["tcp"], carrying(COPY, &[], rate(SENDS, &[("socket/tcp_alone", 0.5)], PAIR))),
    on(&["tcp"], carrying(COPY, &[], rate(RECEIVES, &[("socket/tcp_alone", 0.5)], PAIR))),
    on(&["udp"], carrying(COPY, &[], rate(SENDS, &[("socket/udp_alone", 0.5)], PAIR))),
    on(&["udp"], carrying(COPY, &[], rate(RECEIVES, &[("socket/udp_alone", 0.5)], PAIR))),
    on(
        &["tcp"],
        rate(
            &["connect", "accept", "accept4"],
            &[("socket/tcp_connect", 0.5)],
            "half of a connection with its end, within this machine",
        ),
    ),
    // Waiting for several.
    Rate {
        more: &[("event/poll/descriptors_100", 1.0 / 99.0), ("event/poll/descriptors_1", -1.0 / 99.0)],
        ..rate(&["poll", "ppoll", "select", "pselect6"], &[("event/poll/descriptors_1", 1.0)], "of eventfds")
    },
    rate(
        &["epoll_wait", "epoll_pwait", "epoll_pwait2"],
        &[("event/poll/descriptors_1", 1.0)],
        "priced as a poll of one descriptor",
    ),
    rate(&["io_uring_enter"], &[("io_uring/nop", 1.0)], "one operation that does nothing"),
    // Locks and semaphores.
    on(&["wake: nobody waited"], rate(&["futex"], &[("lock/futex_wake", 1.0)], "")),
    on(&["wait"], rate(&["futex"], &[("lock/futex_mismatch", 1.0)], "")),
    // Who is woken pays for the switch; a wake of another CPU has a row.
    on(
        &["wake", "requeue"],
        rate(&["futex"], &[("lock/futex_wake", 1.0)], "the waking itself is in the price of the sleep"),
    ),
    rate(&["semop", "semtimedop"], &[("semaphore/system_v", 0.5)], PAIR),
    carrying(COPY, &[], rate(&["msgsnd", "msgrcv"], &[("lock/system_v_message", 0.5)], PAIR)),
    carrying(
        COPY,
        &[],
        rate(
            &["mq_timedsend", "mq_timedreceive"],
            &[
                ("context_switch/posix_queue/same_cpu", 0.5),
                ("context_switch/pipe/same_cpu", -0.5),
                ("context_switch/pipe_alone/same_cpu", 0.5),
            ],
            "from a hop of one message, less its switch",
        ),
    ),
    // Memory.
    on(&["anonymous", "reserved"], rate(&["mmap"], &[("memory/mmap_munmap", 0.5)], MAPPED)),
    rate(&["mmap"], &[("memory/mmap_munmap", 0.5)], "priced as anonymous memory"),
    rate(&["munmap"], &[("memory/mmap_munmap", 0.5)], OTHER_MEMORY),
    rate(&["mremap"], &[("memory/mmap_munmap", 1.0)], "priced as one mmap and one munmap"),
    rate(&["brk"], &[("memory/mmap_munmap", 0.5)], "priced as half of a mmap and munmap"),
    rate(&["madvise"], &[("memory/mmap_munmap", 0.5)], OTHER_MEMORY),
    rate(&["mprotect"], &[("memory/mprotect (by libc)", 1.0)], "one resident page"),
    // Processes and threads.
    on(
        &["thread"],
        holding(
            [IN_THREAD, &[]],
            rate(
                &["clone", "clone3"],
                &[("thread/create_join/stack_cached", 1.0)],
                "with its end and the join; libc's calls and the join's sleep have rows of their own",
            ),
        ),
    ),
    on(&["process, waited for"], holding([IN_SPAWN, IN_OLD_SPAWN], rate(&["clone", "clone3"], VFORK, SPAWN))),
    holding([IN_SPAWN, IN_OLD_SPAWN], rate(&["vfork"], VFORK, SPAWN)),
    rate(&["fork", "clone", "clone3"], FORK, "of a small process, with the child's end and the wait"),
    rate(
        &["execve", "execveat"],
        &[("process/exec_static (bare)", 1.0), ("process/fork (bare)", -1.0)],
        "of a static program of one page",
    ),
    rate(&["exit_group", "exit"], &[], "in the price of the fork or the thread"),
    rate(WAITS, ENTRY, LIKE_ENTRY),
    // Signals.
    rate(
        &["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"],
        ENTRY,
        "the delivery has a row of its own",
    ),
    // What does next to nothing.
    rate(
        &[
            "getppid",
            "gettid",
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "getpgrp",
            "getpgid",
            "getsid",
            "getresuid",
            "getresgid",
            "getpriority",
            "umask",
            "alarm",
            "set_tid_address",
            "set_robust_list",
            "rseq",
            "arch_prctl",
            "sigaltstack",
            "rt_sigaction",
            "rt_sigprocmask",
            "rt_sigpending",
            "rt_sigreturn",
            "rt_sigsuspend",
            "pause",
            "prlimit64",
            "getrlimit",
            "uname",
            "getrusage",
            "times",
            "sched_getaffinity",
            "sched_getparam",
            "sched_getscheduler",
            "prctl",
            "personality",
            "getgroups",
            "setitimer",
            "getitimer",
        ],
        ENTRY,
        LIKE_ENTRY,
    ),
    rate(
        &["lseek", "dup", "dup2", "dup3", "fadvise64", "getcwd", "fchdir", "fcntl"],
        &[("syscall/read0_devzero_libc", 1.0)],
        "priced as a read of nothing, which looks up a descriptor as well",
    ),
    rate(
        &["nanosleep", "clock_nanosleep"],
        ENTRY,
        "a call that does little, and the sleep; the timer's interrupt comes on top",
    ),
];

/// Calls that fail mostly because there is no such name.
const BY_NAME: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "execve",
    "execveat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "chdir",
];

/// The rate of a call, if it has one: not if it is a sync that waited for a disk.
#[must_use]
pub fn rate_of(call: &Call) -> Option<&'static Rate> {
    rate_for(&call.name, &call.on).filter(|_| !(call.slept && SYNCS.contains(&&*call.name)))
}

/// The rate of a call of this name on this kind.
#[must_use]
pub fn rate_for(name: &str, kind: &str) -> Option<&'static Rate> {
    RATES.iter().find(|rate| rate.calls.contains(&name) && (rate.on.is_empty() || rate.on.contains(&kind)))
}

/// What a failed call costs.
#[must_use]
pub fn failed(name: &str) -> &'static [Term] {
    if BY_NAME.contains(&name) { LOOKUP } else { ENTRY }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn at_least_sixty_calls_have_a_price_and_each_rate_can_be_reached() {
        let calls: BTreeSet<&str> = RATES.iter().flat_map(|rate| rate.calls).copied().collect();
        assert!(calls.len() >= 60, "{}", calls.len());
        for (at, rate) in RATES.iter().enumerate() {
            for call in rate.calls {
                let kinds: &[&str] = if rate.on.is_empty() { &["anything"] } else { rate.on };
                for kind in kinds {
                    let found = rate_for(call, kind).expect("a rate");
                    assert!(
                        std::ptr::eq(found, &raw const RATES[at]),
                        "{call} on {kind} is hidden by another rate"
                    );
                }
            }
        }
    }

    /// A price that comes out below nothing prices nothing.
    #[test]
    fn every_price_adds_up_to_something_where_figures_are_alike() {
        for rate in RATES.iter().filter(|rate| !rate.each.is_empty()) {
            let sum: f64 = rate.each.iter().map(|(_, factor)| factor).sum();
            // The price of a byte, or of a fault, is of another size than a call's.
            let others = ["bandwidth", "memory/fault", "give_back"];
            let is_other = |id: &str| others.iter().any(|other| id.contains(other));
            let without: f64 =
                rate.each.iter().filter(|(id, _)| !is_other(id)).map(|(_, factor)| factor).sum();
            assert!(without > -1e-9, "{:?}: {sum}", rate.calls);
        }
        assert_eq!(rate_for("read", "terminal").map(|rate| rate.calls), None, "nobody measured a terminal");
    }
}
