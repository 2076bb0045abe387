//! What single things cost, as sums of figures: a sleep, a fault, a byte, a fork.

/// A figure's price, times a factor.
pub type Term = (&'static str, f64);

/// A call that does next to nothing, as a program makes it: by a function of libc.
pub const ENTRY: &[Term] = &[("syscall/getpid_libc", 1.0)];
/// Behind the name of a figure whose calls are inline: its price with that of libc's function around the call.
pub const BY_LIBC: &str = " (by libc)";
/// What that function adds, to a call that looks up a descriptor. After the kernel the processor does not foresee where it returns
/// to, and the more the kernel did, the less.
pub const AROUND: &[Term] = &[("syscall/read0_devzero_libc", 1.0), ("syscall/read0_devzero", -1.0)];
/// A call that fails because there is no such name.
pub const LOOKUP: &[Term] = &[("syscall/stat", 1.0)];
/// A thread that sleeps, with who wakes it and the switch to another.
pub const SLEEP: &[Term] =
    &[("context_switch/pipe/same_cpu", 1.0), ("context_switch/pipe_alone/same_cpu", -1.0)];
/// A switch to another thread that was to run.
pub const PREEMPTION: &[Term] = &[("context_switch/yield/same_cpu", 1.0), ("syscall/getpid", -1.0)];
/// The first touch of a page, which is given back later.
pub const FAULT: &[Term] = &[("memory/fault_anonymous", 1.0), GIVEN_BACK];
/// A read of a file's pages, which are in the page cache.
pub const FAULT_READ: &[Term] = &[("memory/fault_file", 1.0)];
/// A write to a page that is copied for it, and given back later.
pub const FAULT_COPY: &[Term] = &[("memory/fault_copy", 1.0), GIVEN_BACK];
/// A page of a file that was mapped, at the end.
pub const FILE_PAGE: &[Term] = &[("memory/give_back_file", 1.0)];
/// A mapping that a fork copies and the end of the copy removes.
pub const FORK_MAPPING: &[Term] =
    &[("process/fork/mappings_1000", 1.0 / MAPPINGS), ("process/fork", -1.0 / MAPPINGS)];
/// A mapping that an end removes.
pub const END_MAPPING: &[Term] =
    &[("process/fork/mappings_1000", 0.5 / MAPPINGS), ("process/fork", -0.5 / MAPPINGS)];
const MAPPINGS: f64 = 1000.0;
pub(crate) const GIVEN_BACK: Term = ("memory/give_back", 1.0);
/// A signal that arrives, without the call that sends it and the one that returns.
pub const SIGNAL: &[Term] = &[("signal/deliver", 1.0), ("syscall/getpid", -2.0)];
/// Behind the name of a figure that makes a process: its price without the faults of that process, and without what it costs that
/// its parent has pages of its own and mappings. These have rows of their own; how many the figure had, its evidence says.
pub const BARE: &str = " (bare)";
/// The end of the program itself: its start is its execve.
pub const END: &[Term] = &[("process/fork (bare)", 0.5)];
/// A fork.
pub(crate) const FORK: &[Term] = &[("process/fork (bare)", 1.0)];
/// A page of its own that a process has when it forks: its entry is copied, and cleared when the copy ends.
pub const FORK_PAGE: &[Term] = &[
    ("process/fork/resident_16m/small_pages", 1.0 / PAGES_BETWEEN),
    ("process/fork/resident_1m/small_pages", -1.0 / PAGES_BETWEEN),
];
/// By so many pages of 4 KiB they differ.
pub(crate) const PAGES_BETWEEN: f64 = 15.0 * 256.0;
/// What waking a thread on a CPU that is idle costs whoever wakes it, beyond a wake.
pub const WAKE: &[Term] = &[("cpu_pair/wake_up/cross_cpu", 1.0), ("lock/futex_wake", -1.0)];
/// A byte that the kernel copies, which the program uses besides.
pub(crate) const COPY: &[Term] = &[("memory/bandwidth/copy/block_16k", 1.0 / 1024.0)];
/// A byte that it copies from or to a file, of which nobody used the page just before.
pub(crate) const COPY_COLD: &[Term] = &[("memory/bandwidth/copy/block_64m", 1.0 / 1024.0)];
/// The same, to the end of a file, which grows by it.
pub(crate) const GROWN: &[Term] = &[
    ("memory/bandwidth/copy/block_64m", 1.0 / 1024.0),
    ("file/append_4k", 1.0 / PAGE),
    ("file/write_4k", -1.0 / PAGE),
];
pub(crate) const PAGE: f64 = 4096.0;
pub(crate) const FSTAT: &[Term] = &[("file/fstat", 1.0)];
/// Entries of 32 bytes: what 990 more cost, by their bytes; and the call without the bytes of ten, "." and "..".
pub(crate) const MORE_BYTES: f64 = 990.0 * 32.0;
pub(crate) const TEN_BYTES: f64 = 10.0 * 32.0 + 48.0;
pub(crate) const LISTED_BYTE: &[Term] =
    &[("file/list/entries_1000", 1.0 / MORE_BYTES), ("file/list/entries_10", -1.0 / MORE_BYTES)];
pub(crate) const LISTING: &[Term] = &[
    ("file/list/entries_10", 1.0 + TEN_BYTES / MORE_BYTES),
    ("file/list/entries_1000", -TEN_BYTES / MORE_BYTES),
    // The figure goes back to the beginning each time.
    ("syscall/getpid_libc", -1.0),
];
/// Making a name, or removing it: half of what making and removing a file costs beyond its close.
pub(crate) const CREATE: &[Term] = &[("file/create_unlink", 0.5), ("file/open_close", -0.25)];
/// A fork that shares the memory until the exec, with the child's end.
pub const VFORK: &[Term] = &[
    ("process/posix_spawn (bare)", 1.0),
    ("process/exec_static (bare)", -1.0),
    ("process/fork (bare)", 1.0),
];

/// What starting a thread and joining it holds that has rows of its own, as glibc does it: six calls that do little, the advice on
/// its stack, and the join's wait with its sleep.
pub(crate) const IN_THREAD: &[Term] = &[
    ("syscall/getpid_libc", -7.0),
    ("memory/mmap_munmap", -0.5),
    ("context_switch/pipe/same_cpu", -1.0),
    ("context_switch/pipe_alone/same_cpu", 1.0),
];
/// The same of posix_spawn: five calls that do little, the child's stack, and the sleep until the child is another program.
pub(crate) const IN_SPAWN: &[Term] = &[
    ("syscall/getpid_libc", -5.0),
    ("memory/mmap_munmap", -1.0),
    ("context_switch/pipe/same_cpu", -1.0),
    ("context_switch/pipe_alone/same_cpu", 1.0),
];

/// glibc before 2.38 makes two calls for the action of each signal besides.
pub(crate) const IN_OLD_SPAWN: &[Term] = &[("syscall/getpid_libc", -120.0)];

/// The figure of a term.
pub(crate) fn figure(id: &str) -> &str {
    [BARE, BY_LIBC].iter().find_map(|suffix| id.strip_suffix(suffix)).unwrap_or(id)
}

/// The figures that terms name.
pub fn figures(terms: &[Term]) -> impl Iterator<Item = &'static str> {
    terms.iter().flat_map(|(id, _)| match (id.strip_suffix(BARE), id.strip_suffix(BY_LIBC)) {
        (Some(figure), _) => [vec![figure], bare()].concat(),
        (_, Some(figure)) => [vec![figure], AROUND.iter().map(|(id, _)| *id).collect()].concat(),
        _ => vec![*id],
    })
}

/// The figures that make a price bare.
fn bare() -> Vec<&'static str> {
    FAULT_COPY.iter().chain(FORK_PAGE).chain(FORK_MAPPING).map(|(id, _)| *id).collect()
}
