//! The rules of savings: what is replaced by what, when the counts permit it, what is lost, and who says so. Data.

use crate::tariff::{ENTRY, Term, VFORK};

/// A rule.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SavingRule {
    /// Its name.
    pub name: &'static str,
    /// What is replaced, in words.
    pub replaced: &'static str,
    /// By what, in words.
    pub instead: &'static str,
    /// What is replaced.
    pub what: What,
    /// Fewer are not worth a word.
    pub least: u64,
    /// What the counts must say.
    pub asks: &'static [Asks],
    /// What the other costs.
    pub then: Then,
    /// How much of it is saved, the counts cannot say.
    pub at_most: bool,
    /// The figure to read on.
    pub id: &'static str,
    /// What is lost.
    pub catch: &'static str,
    /// Where it is said.
    pub source: &'static str,
}

/// What a rule replaces.
#[derive(Debug, Clone, Copy)]
pub enum What {
    /// Calls that did not sleep, of these names, on one of these kinds (empty: any).
    Calls(&'static [&'static str], &'static [&'static str]),
    /// The same, which carry at most so many bytes each. Where somebody waits for answers, none.
    Small(&'static [&'static str], &'static [&'static str], u64),
    /// The same, which are given more descriptors than so many, whether they slept or not.
    Wide(&'static [&'static str], u64),
    /// The same, whether they slept or not.
    All(&'static [&'static str], &'static [&'static str]),
    /// Page faults.
    Faults,
    /// Sleeps in calls that a wake of an idle CPU ended.
    Sleeps,
}

/// What the counts must say before a rule is told.
#[derive(Debug, Clone, Copy)]
pub enum Asks {
    /// None of these calls on these kinds slept, or failed, as one does that does not wait: nobody waited.
    NeverWaited(&'static [&'static str], &'static [&'static str]),
    /// At least so many threads ran.
    Threads(u64),
    /// These calls on these kinds were made half as often as what is replaced; a quarter as often where that is often enough.
    AsOften(&'static [&'static str], &'static [&'static str]),
    /// What is replaced was made at least so many times as often as these calls, each of which begins something else.
    Longer(&'static [&'static str], u64),
    /// One anonymous mapping was of a class of size above this one.
    Mapping(u64),
}

/// What the other way costs.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// This for each call that is replaced.
    Each(&'static [Term]),
    /// This once, whatever was replaced.
    Once(&'static [Term]),
    /// Nothing.
    Nothing,
    /// The same calls, for the same bytes, in blocks of so many.
    Blocks(u64),
    /// The same call once for every client, that is for every thread but one.
    Broadcast,
    /// This for every so many of what is replaced.
    Every(f64, &'static [Term]),
    /// As now, less this for each.
    Less(&'static [Term]),
    /// This for each fork that an exec may have followed, without the pages and the faults of copied memory.
    WithoutCopy(&'static [Term]),
}

/// What makes a descriptor: each has a first call and a last one, which no buffer joins with those of another.
const OPENS: &[&str] = &["open", "openat", "openat2", "creat", "connect", "accept", "accept4"];
/// Calls that send something to somebody.
pub(crate) const GIVES: &[&str] = &["write", "pwrite64", "writev", "sendto", "sendmsg"];
/// Calls that take what somebody has sent.
pub(crate) const TAKES: &[&str] = &["read", "pread64", "readv", "recvfrom", "recvmsg"];
const SEMOP: &[&str] = &["semop", "semtimedop"];
pub(crate) const FORKS: &[&str] = &["fork", "clone", "clone3"];

/// The rules, in the order in which they are looked at.
pub static RULES: &[SavingRule] = &[
    SavingRule {
        name: "posix_semaphore",
        replaced: "System V semaphore",
        instead: "a POSIX semaphore",
        what: What::Calls(SEMOP, &[]),
        least: 100,
        asks: &[],
        then: Then::Each(&[("semaphore/posix_named", 0.5)]),
        at_most: false,
        id: "semaphore/posix_named",
        catch: "no SEM_UNDO, no operation on several semaphores at once, no hand-off in the order of arrival",
        source: "document 000: TLPI 53.5",
    },
    SavingRule {
        name: "one_lock",
        replaced: "a lock for each record",
        instead: "one lock around all records, taken and given back once",
        what: What::Calls(&["fcntl"], &["record lock"]),
        least: 100,
        asks: &[Asks::NeverWaited(&["fcntl"], &["record lock"])],
        then: Then::Once(&[("record_lock/fcntl", 1.0)]),
        at_most: true,
        id: "record_lock/fcntl",
        catch: "others wait until all records are done; nobody waited in this run",
        source: "document 001: APUE 20.9",
    },
    SavingRule {
        name: "broadcast",
        replaced: "one message for each client",
        instead: "one broadcast to all of them",
        what: What::Calls(
            &["sendto", "sendmsg", "write", "recvfrom", "recvmsg", "read"],
            &["unix datagram", "udp", "unix packet"],
        ),
        least: 100,
        asks: &[Asks::Threads(3)],
        then: Then::Broadcast,
        at_most: true,
        id: "realtime_ipc/futex_broadcast/same_cpu/clients_10",
        catch: "no queue: a client that is late sees the newest message alone; every thread but one is taken for a client",
        source: "document 002: GRAME 2001",
    },
    SavingRule {
        name: "vdso_clock",
        replaced: "a clock that enters the kernel",
        instead: "the same clock by the vDSO",
        what: What::Calls(
            &["clock_gettime"],
            &[
                "realtime",
                "monotonic",
                "monotonic_raw",
                "realtime_coarse",
                "monotonic_coarse",
                "boottime",
                "tai",
            ],
        ),
        least: 100,
        asks: &[],
        then: Then::Each(&[("clock/monotonic", 1.0)]),
        at_most: false,
        id: "clock/monotonic_syscall",
        catch: "the clock source must be tsc (oscost doctor), and libc's function must be called, not syscall()",
        source: "document 003: OSTEP chapter 6; vdso(7)",
    },
    SavingRule {
        name: "vdso_gettimeofday",
        replaced: "gettimeofday that enters the kernel",
        instead: "the same by the vDSO",
        what: What::Calls(&["gettimeofday", "time"], &[]),
        least: 100,
        asks: &[],
        then: Then::Each(&[("clock/gettimeofday", 1.0)]),
        at_most: false,
        id: "clock/gettimeofday_syscall",
        catch: "the clock source must be tsc (oscost doctor), and libc's function must be called, not syscall()",
        source: "document 003: OSTEP chapter 6; vdso(7)",
    },
    SavingRule {
        name: "block_reads",
        replaced: "small reads",
        instead: "reads of 4 KiB",
        what: What::Small(&["read", "pread64"], &["file", "pipe", "device", "unix stream", "tcp"], 256),
        least: 100,
        asks: &[Asks::Longer(OPENS, 4)],
        then: Then::Blocks(4096),
        at_most: true,
        id: "file/read_4k",
        catch: "a reader that shares the descriptor finds less; of a pipe or socket, no more than has been sent is read at once; reads at places far apart stay",
        source: "setvbuf(3); APUE 3.9",
    },
    SavingRule {
        name: "block_writes",
        replaced: "small writes",
        instead: "writes of 4 KiB",
        what: What::Small(&["write", "pwrite64"], &["file", "pipe", "device", "unix stream", "tcp"], 256),
        least: 100,
        asks: &[Asks::Longer(OPENS, 4)],
        then: Then::Blocks(4096),
        at_most: true,
        id: "file/write_4k",
        catch: "others see it later, and what is in the buffer is lost with the process; writes at places far apart, or each under a lock, stay",
        source: "setvbuf(3); APUE 3.9",
    },
    SavingRule {
        name: "needless_wakes",
        replaced: "wakes for which nobody waited",
        instead: "no call where the word says that nobody waits",
        what: What::Calls(&["futex"], &["wake: nobody waited"]),
        least: 100,
        asks: &[],
        then: Then::Nothing,
        at_most: false,
        id: "lock/futex_wake",
        catch: "the word must count who waits, or know that somebody does",
        source: "futex(7); Drepper, Futexes Are Tricky",
    },
    SavingRule {
        name: "yield_spin",
        replaced: "a loop of sched_yield",
        instead: "a lock that sleeps until it is woken",
        what: What::All(&["sched_yield"], &[]),
        least: 1000,
        asks: &[],
        then: Then::Nothing,
        at_most: true,
        id: "syscall/sched_yield_libc",
        catch: "each wait costs a sleep and a wake then: how often it waits, the counts cannot say",
        source: "sched_yield(2)",
    },
    SavingRule {
        name: "epoll",
        replaced: "a poll of many descriptors",
        instead: "an epoll_wait",
        what: What::Wide(&["poll", "ppoll"], 16),
        least: 100,
        asks: &[],
        then: Then::Each(&[("event/poll/descriptors_1", 1.0)]),
        at_most: false,
        id: "event/poll/descriptors_100",
        catch: "each descriptor is registered once, and deregistered by its close; regular files cannot be",
        source: "epoll(7)",
    },
    SavingRule {
        name: "posix_spawn",
        replaced: "fork and exec",
        instead: "posix_spawn",
        what: What::All(FORKS, &["", "process"]),
        least: 10,
        asks: &[],
        then: Then::WithoutCopy(VFORK),
        at_most: true,
        id: "process/posix_spawn",
        catch: "between fork and exec only what file actions and attributes can say",
        source: "posix_spawn(3)",
    },
    SavingRule {
        name: "keep_mapping",
        replaced: "mmap and munmap in a loop",
        instead: "one mapping that is kept",
        what: What::All(&["mmap", "munmap"], &["anonymous", "reserved", ""]),
        least: 1000,
        asks: &[Asks::AsOften(&["mmap"], &["anonymous", "reserved"]), Asks::AsOften(&["munmap"], &[])],
        then: Then::Nothing,
        at_most: true,
        id: "memory/mmap_munmap",
        catch: "the memory stays taken, and is not zeroed again; mappings that must differ cannot be one",
        source: "mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD",
    },
    SavingRule {
        name: "huge_pages",
        replaced: "faults of small pages",
        instead: "huge pages",
        what: What::Faults,
        least: 10_000,
        // A stack of 8 MiB is of this class.
        asks: &[Asks::Mapping(16 << 20)],
        // The kernel zeroes 2 MiB.
        then: Then::Every(
            512.0,
            &[("memory/fault_anonymous", 1.0), ("memory/bandwidth/write/block_64m", 2048.0)],
        ),
        at_most: true,
        id: "memory/fault_anonymous",
        catch: "memory that is touched here and there takes 2 MiB each time; only anonymous memory has them",
        source: "madvise(2): MADV_HUGEPAGE",
    },
    SavingRule {
        name: "group_commit",
        replaced: "a sync for each record",
        instead: "one sync for a group of records",
        what: What::All(&["fsync", "fdatasync"], &[]),
        least: 10,
        asks: &[],
        then: Then::Once(ENTRY),
        at_most: true,
        id: "file/fsync",
        catch: "a crash loses the whole group; most of a sync is waiting, which is no CPU time",
        source: "fsync(2)",
    },
    SavingRule {
        name: "same_cpu",
        replaced: "sleeps that another CPU ends",
        instead: "both sides on one CPU",
        what: What::Sleeps,
        least: 1000,
        asks: &[Asks::Threads(2)],
        then: Then::Less(&[("context_switch/pipe/cross_cpu", 1.0), ("context_switch/pipe/same_cpu", -1.0)]),
        at_most: true,
        id: "context_switch/pipe/same_cpu",
        catch: "the two sides no longer run at once; most of what is saved is waiting for a CPU that slept, which is no CPU time",
        source: "document 004; taskset(1)",
    },
];
