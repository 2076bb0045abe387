//! What decides the price of each call: which descriptor, which operation, which size. Data for every way of counting.

use oscost_sys::system_call_names;

/// The rule of a call.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The call.
    pub name: &'static str,
    /// What it is made on.
    pub on: On,
    /// Where its size stands.
    pub size: Size,
    /// The argument that says how many descriptors, vectors or operations it is given.
    pub count: Option<u8>,
}

/// What a call is made on. Arguments are numbered from 0.
#[derive(Debug, Clone, Copy)]
pub enum On {
    /// Nothing that decides its price.
    Nothing,
    /// The kind of the descriptor in this argument: one of [`KINDS`].
    Descriptor(u8),
    /// The value of an argument, by name.
    Value(u8, u64, &'static [(u8, &'static str)]),
    /// Whether one of these bits of an argument is set, and the two names for that: not set, set.
    Flag(u8, u64, [&'static str; 2]),
    /// A thread or a process; the flags stand in argument 0, or in memory where it points to.
    Clone {
        /// In memory.
        in_memory: bool,
    },
    /// A socket of the family and type in arguments 0 and 1.
    Socket,
}

/// Where the size of a call stands.
#[derive(Debug, Clone, Copy)]
pub enum Size {
    /// It has none.
    Nowhere,
    /// In its result.
    Result,
    /// In this argument.
    Argument(u8),
}

/// Kinds of descriptors; their numbers here are those of the program in the kernel.
pub const KINDS: &[&str] = &[
    "",
    "file",
    "directory",
    "pipe",
    "unix stream",
    "unix datagram",
    "unix packet",
    "tcp",
    "udp",
    "netlink",
    "other socket",
    "terminal",
    "device",
    "eventfd",
    "epoll",
    "timerfd",
    "signalfd",
    "inotify",
    "io_uring",
    "perf event",
    "pidfd",
    "other",
    "closed",
];

/// The number of a kind.
#[must_use]
pub fn kind(name: &str) -> u8 {
    KINDS.iter().position(|kind| *kind == name).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
}

/// The kind of a socket of this family and type.
#[must_use]
pub fn socket_kind(family: i32, of_type: i32) -> u8 {
    kind(match (family, of_type & 0xf) {
        (1, 1) => "unix stream",
        (1, 2) => "unix datagram",
        (1, 5) => "unix packet",
        (2 | 10, 1) => "tcp",
        (2 | 10, 2) => "udp",
        (16, _) => "netlink",
        _ => "other socket",
    })
}

/// The value of an argument as a part of a key.
#[must_use]
pub fn value(argument: u64, mask: u64) -> u8 {
    match argument & mask {
        // Values that are counted from 1024, as of fcntl, have names of their own.
        small @ 0..128 => small as u8,
        large => 128 | (large & 127) as u8,
    }
}

/// The flags of clone(2) as a part of a key: bit 0 for a thread, bit 1 for one whose starter waits for it.
#[must_use]
pub fn clone_bits(flags: u64) -> u8 {
    (flags >> 16 & 1) as u8 | (flags >> 13 & 2) as u8
}

impl Rule {
    /// What a call was made on, in words.
    #[must_use]
    pub fn words(&self, on: u8) -> &'static str {
        let named = |names: &'static [(u8, &'static str)]| {
            names.iter().find(|(value, _)| *value == on).map_or("other", |(_, name)| *name)
        };
        match self.on {
            On::Nothing => "",
            On::Descriptor(_) | On::Socket => KINDS.get(usize::from(on)).copied().unwrap_or("other"),
            On::Value(_, _, names) => named(names),
            On::Flag(_, _, names) => names[usize::from(on.min(1))],
            On::Clone { .. } => match on {
                0 => "process",
                2 => "process, waited for",
                _ => "thread",
            },
        }
    }
}

const EVERYTHING: u64 = u64::MAX;

/// MAP_ANONYMOUS and MAP_NORESERVE. Who asks for both wants addresses, as malloc does for each thread; memory may never be there.
const MAPPING: u64 = 0x4020;
const MAPPINGS: &[(u8, &str)] = &[(0, "file"), (0x20, "anonymous"), (0x80, "file"), (0xa0, "reserved")];
const FUTEX: &[(u8, &str)] = &[
    (0, "wait"),
    (1, "wake"),
    (3, "requeue"),
    (4, "requeue"),
    (5, "wake"),
    (6, "lock with inheritance"),
    (7, "unlock with inheritance"),
    (8, "lock with inheritance"),
    (9, "wait"),
    (10, "wake"),
    (11, "wait"),
    (12, "requeue"),
    (13, "lock with inheritance"),
    (1 + crate::key::NOBODY, "wake: nobody waited"),
    (10 + crate::key::NOBODY, "wake: nobody waited"),
];
const CLOCKS: &[(u8, &str)] = &[
    (0, "realtime"),
    (1, "monotonic"),
    (2, "process_cpu"),
    (3, "thread_cpu"),
    (4, "monotonic_raw"),
    (5, "realtime_coarse"),
    (6, "monotonic_coarse"),
    (7, "boottime"),
    (11, "tai"),
];
const FCNTL: &[(u8, &str)] = &[
    (0, "duplicate"),
    (0x86, "duplicate"),
    (1, "flags"),
    (2, "flags"),
    (3, "flags"),
    (4, "flags"),
    (5, "record lock"),
    (6, "record lock"),
    (7, "record lock"),
    (36, "record lock"),
    (37, "record lock"),
    (38, "record lock"),
];
const FLOCK: &[(u8, &str)] =
    &[(1, "shared"), (2, "exclusive"), (8, "unlock"), (5, "shared"), (6, "exclusive"), (12, "unlock")];
const EPOLL: &[(u8, &str)] = &[(1, "add"), (2, "delete"), (3, "modify")];
const ADVICE: &[(u8, &str)] = &[
    (3, "will need"),
    (4, "do not need"),
    (8, "free"),
    (14, "huge pages"),
    (15, "no huge pages"),
    (22, "populate"),
    (23, "populate"),
];

const fn rule(name: &'static str, on: On, size: Size) -> Rule {
    Rule { name, on, size, count: None }
}

/// On a descriptor in argument 0.
const fn descriptor(name: &'static str, size: Size) -> Rule {
    rule(name, On::Descriptor(0), size)
}

const fn vectors(name: &'static str) -> Rule {
    Rule { count: Some(2), ..descriptor(name, Size::Result) }
}

const fn many(name: &'static str, count: u8) -> Rule {
    Rule { name, on: On::Nothing, size: Size::Nowhere, count: Some(count) }
}

const fn clock(name: &'static str) -> Rule {
    rule(name, On::Value(0, EVERYTHING, CLOCKS), Size::Nowhere)
}

use Size::{Argument, Nowhere, Result};

/// The rules. What is not here is counted by its number alone.
pub static RULES: &[Rule] = &[
    descriptor("read", Result),
    descriptor("write", Result),
    descriptor("pread64", Result),
    descriptor("pwrite64", Result),
    vectors("readv"),
    vectors("writev"),
    vectors("preadv"),
    vectors("pwritev"),
    vectors("preadv2"),
    vectors("pwritev2"),
    descriptor("sendto", Result),
    descriptor("recvfrom", Result),
    descriptor("sendmsg", Result),
    descriptor("recvmsg", Result),
    Rule { count: Some(2), ..descriptor("sendmmsg", Nowhere) },
    Rule { count: Some(2), ..descriptor("recvmmsg", Nowhere) },
    descriptor("sendfile", Result),
    descriptor("splice", Result),
    descriptor("tee", Result),
    descriptor("vmsplice", Result),
    descriptor("copy_file_range", Result),
    descriptor("getdents64", Result),
    rule("getrandom", On::Nothing, Result),
    descriptor("close", Nowhere),
    descriptor("fstat", Nowhere),
    descriptor("lseek", Nowhere),
    descriptor("fsync", Nowhere),
    descriptor("fdatasync", Nowhere),
    descriptor("ftruncate", Argument(1)),
    descriptor("fallocate", Argument(3)),
    descriptor("dup", Nowhere),
    descriptor("dup2", Nowhere),
    descriptor("dup3", Nowhere),
    descriptor("ioctl", Nowhere),
    descriptor("connect", Nowhere),
    descriptor("accept", Nowhere),
    descriptor("accept4", Nowhere),
    descriptor("bind", Nowhere),
    descriptor("listen", Nowhere),
    descriptor("shutdown", Nowhere),
    descriptor("getsockopt", Nowhere),
    descriptor("setsockopt", Nowhere),
    descriptor("getsockname", Nowhere),
    descriptor("getpeername", Nowhere),
    descriptor("fadvise64", Nowhere),
    descriptor("readahead", Argument(2)),
    rule("fcntl", On::Value(1, EVERYTHING, FCNTL), Nowhere),
    rule("flock", On::Value(1, EVERYTHING, FLOCK), Nowhere),
    rule("epoll_ctl", On::Value(1, EVERYTHING, EPOLL), Nowhere),
    rule("futex", On::Value(1, 0x7f, FUTEX), Nowhere),
    rule("madvise", On::Value(2, EVERYTHING, ADVICE), Argument(1)),
    clock("clock_gettime"),
    clock("clock_getres"),
    clock("clock_nanosleep"),
    rule("open", On::Flag(1, 0x40, ["", "create"]), Nowhere),
    rule("openat", On::Flag(2, 0x40, ["", "create"]), Nowhere),
    rule("newfstatat", On::Flag(3, 0x1000, ["", "descriptor"]), Nowhere),
    rule("statx", On::Flag(2, 0x1000, ["", "descriptor"]), Nowhere),
    rule("mmap", On::Value(3, MAPPING, MAPPINGS), Argument(1)),
    rule("munmap", On::Nothing, Argument(1)),
    rule("mremap", On::Nothing, Argument(2)),
    rule("mprotect", On::Nothing, Argument(1)),
    rule("msync", On::Nothing, Argument(1)),
    rule("mlock", On::Nothing, Argument(1)),
    rule("clone", On::Clone { in_memory: false }, Nowhere),
    rule("clone3", On::Clone { in_memory: true }, Nowhere),
    rule("socket", On::Socket, Nowhere),
    rule("socketpair", On::Socket, Nowhere),
    many("poll", 1),
    many("ppoll", 1),
    many("select", 0),
    many("pselect6", 0),
    many("semop", 2),
    many("semtimedop", 2),
    many("io_uring_enter", 1),
    rule("msgsnd", On::Nothing, Argument(2)),
    rule("msgrcv", On::Nothing, Result),
    rule("mq_timedsend", On::Nothing, Argument(2)),
    rule("mq_timedreceive", On::Nothing, Result),
];

/// Calls that never wait: whoever makes one need not be asked whether it slept.
static NEVER_SLEEP: &[&str] = &[
    "alarm",
    "arch_prctl",
    "clock_getres",
    "clock_gettime",
    "getcpu",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getitimer",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getresgid",
    "getresuid",
    "getrusage",
    "getsid",
    "gettid",
    "gettimeofday",
    "getuid",
    "kill",
    "prlimit64",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    "setitimer",
    "sigaltstack",
    "tgkill",
    "time",
    "times",
    "tkill",
    "umask",
    "uname",
];

/// A call by its number, ready for use.
#[derive(Debug, Clone, Copy)]
pub struct KnownCall {
    /// Its rule.
    pub rule: Rule,
    /// Whether it may wait.
    pub may_sleep: bool,
}

/// What is known of each number below [`Table::NUMBERS`].
#[derive(Debug)]
pub struct Table(Vec<KnownCall>);

impl Table {
    /// Numbers that are told apart; a larger one is a call that no kernel has.
    pub const NUMBERS: u16 = 512;

    /// The rules of this architecture.
    #[must_use]
    pub fn new() -> Self {
        let known = |number: u16| {
            let name = system_call_names::name(number.into()).unwrap_or("");
            let known = RULES.iter().find(|rule| rule.name == name).copied();
            let rule = known.unwrap_or(rule(name, On::Nothing, Nowhere));
            KnownCall { rule, may_sleep: !NEVER_SLEEP.contains(&name) }
        };
        Self((0..Self::NUMBERS).map(known).collect())
    }

    /// What is known of a number.
    #[must_use]
    pub fn of(&self, number: u16) -> KnownCall {
        let none = KnownCall { rule: rule("", On::Nothing, Nowhere), may_sleep: true };
        self.0.get(usize::from(number)).copied().unwrap_or(none)
    }
}

/// Numbers of the calls that change what a counter has to know.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    pub close: i64,
    pub close_range: i64,
    pub dup2: i64,
    pub dup3: i64,
    pub execve: i64,
    pub futex: i64,
    pub ptrace: i64,
    pub restart_syscall: i64,
    pub rt_sigaction: i64,
    pub rt_sigreturn: i64,
    pub unshare: i64,
    pub vfork: i64,
}

impl Numbers {
    /// Those of this architecture; a call that it lacks has the number of no call.
    #[must_use]
    pub fn new() -> Self {
        let of = |name| system_call_names::number(name).unwrap_or(-1);
        Self {
            close: of("close"),
            close_range: of("close_range"),
            dup2: of("dup2"),
            dup3: of("dup3"),
            execve: of("execve"),
            futex: of("futex"),
            ptrace: of("ptrace"),
            restart_syscall: of("restart_syscall"),
            rt_sigaction: of("rt_sigaction"),
            rt_sigreturn: of("rt_sigreturn"),
            unshare: of("unshare"),
            vfork: of("vfork"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_of_a_call_that_the_kernel_has_and_of_one_only() {
        for (at, rule) in RULES.iter().enumerate() {
            assert!(RULES[..at].iter().all(|other| other.name != rule.name), "{} stands twice", rule.name);
        }
        let names = RULES.iter().map(|rule| rule.name).chain(NEVER_SLEEP.iter().copied());
        for name in names.filter(|_| cfg!(target_arch = "x86_64")) {
            assert!(system_call_names::number(name).is_some(), "{name}");
        }
    }

    #[test]
    fn words_follow_the_rule() {
        let table = Table::new();
        let of = |name| table.of(system_call_names::number(name).expect("known") as u16).rule;
        assert_eq!(of("read").words(kind("pipe")), "pipe");
        assert_eq!(of("futex").words(value(1 | 128, 0x7f)), "wake");
        assert_eq!(of("futex").words(value(10, 0x7f) + crate::key::NOBODY), "wake: nobody waited");
        assert_eq!(of("fcntl").words(value(1030, EVERYTHING)), "duplicate");
        assert_eq!(of("clone").words(clone_bits(0x3d0f00)), "thread");
        assert_eq!(of("clone").words(clone_bits(0x4111)), "process, waited for");
        let mapped = |flags| of("mmap").words(value(flags, MAPPING));
        assert_eq!([2, 0x4002, 0x22, 0x4022].map(mapped), ["file", "file", "anonymous", "reserved"]);
        assert_eq!(KINDS[usize::from(socket_kind(1, 1 | 0o2000000))], "unix stream");
    }
}
