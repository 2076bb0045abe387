//! Counting system calls by number, from outside the timed launches: the tool of the evidence audit.
//!
//! Two ways, one result. By seccomp user notification (Linux 5.5; seccomp_unotify(2)): a filter reports every call of the
//! audited thread and of whatever it starts afterwards (threads, children, exec) to a listener thread, which counts it
//! and lets it go on; works unprivileged and under a tracer. Where that is refused, by ptrace(2) of a child.
//!
//! The body brackets what is to be counted by [`crate::system_call::marker`]: `marker(n)` starts phase n (1 to
//! [`PHASES`]), `marker(0)` ends it. A marker is answered only when nobody else has made a call for [`QUIET_NS`], so a
//! partner's last call before it blocks belongs to the phase.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use crate::{CallError, error::check, process, system_call::MARKER};

/// Phases that can be told apart.
pub const PHASES: usize = 2;
/// How long all participants must have been silent before a marker is answered.
pub const QUIET_NS: u64 = 2_000_000;
/// How long silence is waited for: participants that never rest are counted as they go.
const UNREST_NS: u64 = 50_000_000;

/// Call numbers below this have a counter of their own.
const NUMBERS: usize = 512;

/// System calls counted in each phase, by number. A number that this program has no counter for is counted as -1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(Vec<BTreeMap<i64, u64>>);

impl Counts {
    /// Calls of phase `phase` (from 1).
    #[must_use]
    pub fn phase(&self, phase: usize) -> BTreeMap<i64, u64> {
        phase.checked_sub(1).and_then(|index| self.0.get(index)).cloned().unwrap_or_default()
    }
}

/// The counters: fixed memory, because a listener that allocated could wait for a lock that the audited thread holds.
struct Table {
    counters: [[AtomicU64; NUMBERS + 1]; PHASES],
    phase: AtomicUsize,
}

impl Table {
    const fn new() -> Self {
        Self {
            counters: [const { [const { AtomicU64::new(0) }; NUMBERS + 1] }; PHASES],
            phase: AtomicUsize::new(0),
        }
    }

    fn count(&self, number: i64) {
        let Some(phase) = self.phase.load(Ordering::Relaxed).checked_sub(1) else { return };
        let slot = usize::try_from(number).unwrap_or(NUMBERS).min(NUMBERS);
        if let Some(counter) = self.counters.get(phase).and_then(|counters| counters.get(slot)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn mark(&self, phase: u64) {
        self.phase.store(usize::try_from(phase).unwrap_or(0).min(PHASES), Ordering::Relaxed);
    }

    fn counts(&self) -> Counts {
        let phase = |counters: &[AtomicU64; NUMBERS + 1]| {
            let number = |slot: usize| if slot == NUMBERS { -1 } else { i64::try_from(slot).unwrap_or(-1) };
            counters
                .iter()
                .enumerate()
                .map(|(slot, counter)| (number(slot), counter.load(Ordering::Relaxed)))
                .filter(|&(_, count)| count > 0)
                .collect()
        };
        Counts(self.counters.iter().map(phase).collect())
    }
}

/// One audit a process: the filter cannot be taken off again.
static TABLE: Table = Table::new();
static LISTENER: AtomicI32 = AtomicI32::new(-1);
/// The listener has a file table of its own, so that the audited thread can close its end.
static APART: AtomicBool = AtomicBool::new(false);

/// Runs `body` under a seccomp filter that reports every system call, and counts them. The filter stays: the caller sends
/// its result and exits. Call it before anything is set up, so that partners inherit the filter.
///
/// # Errors
/// The error of prctl or seccomp: EBUSY under a sandbox that listens itself, EINVAL before Linux 5.0.
pub fn by_notification<T>(body: impl FnOnce() -> T) -> Result<(T, Counts), CallError> {
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

/// The listener thread: counts every call, and lets it go on. It takes no lock and allocates nothing.
fn listen() {
    let fd = loop {
        match LISTENER.load(Ordering::Acquire) {
            -1 => std::thread::sleep(std::time::Duration::from_micros(50)),
            -2 => return,
            fd => break fd,
        }
    };
    APART.store(in_own_file_table(fd), Ordering::Release);
    // SAFETY: the audited thread handed over the descriptor by the store above; it closes it in its own file table only.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    while let Some(call) = next_call(&fd) {
        if call.number == MARKER {
            let (start, mut last) = (crate::clock::now_ns(), crate::clock::now_ns());
            while readable(&fd, QUIET_NS) && last - start < UNREST_NS {
                let Some(other) = next_call(&fd) else { return };
                TABLE.count(other.number);
                let_go_on(&fd, other.id);
                last = crate::clock::now_ns();
            }
            TABLE.mark(call.argument);
        } else {
            TABLE.count(call.number);
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

/// Runs `body` in a child that is traced, counts its system calls and those of all its descendants, and returns what the
/// body returned (at most what a pipe holds at once is written before anybody reads: the reader is the tracer's caller).
///
/// # Errors
/// The error of fork, ptrace (EPERM under Yama 3 or a sandbox) or pipe; EIO where the child died before its result.
pub fn by_ptrace(body: impl FnOnce() -> Vec<u8>) -> Result<(Vec<u8>, Counts), CallError> {
    let pipe = crate::pipe::Pipe::new()?;
    let crate::pipe::Pipe { reader, writer } = pipe;
    let child = process::Child::fork(|| {
        // SAFETY: PTRACE_TRACEME takes no argument.
        if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } == -1 {
            return 3;
        }
        // SAFETY: raise touches no memory; the tracer lets the child go on.
        unsafe { libc::raise(libc::SIGSTOP) };
        let bytes = body();
        use std::io::Write;
        let mut file = std::fs::File::from(writer);
        i32::from(file.write_all(&bytes).is_err())
    })?;
    let collector = std::thread::Builder::new()
        .spawn(move || {
            let mut bytes = Vec::new();
            use std::io::Read;
            std::fs::File::from(reader).read_to_end(&mut bytes).map(|_| bytes)
        })
        .map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))?;
    trace(child.pid())?;
    // The tracer has reaped the child already.
    std::mem::forget(child);
    match collector.join() {
        Ok(Ok(bytes)) if !bytes.is_empty() => Ok((bytes, TABLE.counts())),
        _ => Err(CallError::new("ptrace", libc::EIO)),
    }
}

/// A marker that waits for silence.
struct Waiting {
    pid: i32,
    phase: u64,
    since: u64,
    last_call: u64,
}

/// Follows `root` and its descendants until `root` has ended.
fn trace(root: i32) -> Result<(), CallError> {
    let mut status = 0;
    // SAFETY: writes a status to a local variable.
    check("waitpid", unsafe { libc::waitpid(root, &raw mut status, libc::__WALL) })?;
    if !libc::WIFSTOPPED(status) {
        return Err(CallError::new("ptrace", libc::EPERM));
    }
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    // SAFETY: options are passed by value.
    if unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, root, 0, options) } == -1 {
        return Err(CallError::last("ptrace"));
    }
    go_on(root, 0);
    let mut marker: Option<Waiting> = None;
    loop {
        let flags = if marker.is_some() { libc::__WALL | libc::WNOHANG } else { libc::__WALL };
        // SAFETY: writes a status to a local variable.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, flags) };
        if pid == -1 {
            return Err(CallError::last("waitpid"));
        }
        if let Some(waiting) = &marker {
            let now = crate::clock::now_ns();
            if now - waiting.last_call >= QUIET_NS || now - waiting.since >= UNREST_NS {
                TABLE.mark(waiting.phase);
                go_on(waiting.pid, 0);
                marker = None;
            } else if pid == 0 {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            if pid == 0 {
                continue;
            }
        }
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            if pid == root {
                return Ok(());
            }
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP | 0x80 {
            match entered(pid) {
                Some((MARKER, phase)) => {
                    let since = crate::clock::now_ns();
                    marker = Some(Waiting { pid, phase, since, last_call: since });
                    continue;
                }
                Some((number, _)) => {
                    TABLE.count(number);
                    if let Some(waiting) = &mut marker {
                        waiting.last_call = crate::clock::now_ns();
                    }
                }
                None => {}
            }
            go_on(pid, 0);
        } else if signal == libc::SIGTRAP || signal == libc::SIGSTOP {
            // An event of the tracer's own (fork, exec), or the stop that every new tracee starts with.
            go_on(pid, 0);
        } else {
            go_on(pid, signal);
        }
    }
}

/// Lets a tracee go on to its next system call, with `signal` delivered.
fn go_on(pid: i32, signal: i32) {
    // SAFETY: the signal is passed by value; a tracee that died meanwhile is no error.
    unsafe { libc::ptrace(libc::PTRACE_SYSCALL, pid, 0, signal) };
}

/// The call that a stopped tracee is entering, with its first argument; `None` if it is leaving one.
fn entered(pid: i32) -> Option<(i64, u64)> {
    // SAFETY: an all-zero structure is valid.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the given size to a local variable.
    let written = unsafe {
        libc::ptrace(
            libc::PTRACE_GET_SYSCALL_INFO,
            pid,
            size_of::<libc::ptrace_syscall_info>(),
            &raw mut info,
        )
    };
    if written <= 0 || info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return None;
    }
    // SAFETY: `op` says that the entry member is the valid one.
    let entry = unsafe { info.u.entry };
    Some((i64::try_from(entry.nr).unwrap_or(-1), entry.args[0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_call;

    /// Both ways must count the same: each in a child of its own, because a filter stays.
    fn counted(way: fn() -> Option<(u64, u64)>) -> Option<(u64, u64)> {
        let words = crate::memory::SharedWords::new(2).expect("mmap");
        let child = process::Child::fork(|| match way() {
            Some((a, b)) => {
                words.word(0).store(a, Ordering::Release);
                words.word(1).store(b, Ordering::Release);
                0
            }
            None => 9,
        })
        .expect("fork");
        let ended = child.wait().expect("wait");
        if ended.code == Some(9) {
            return None;
        }
        assert_eq!(ended.code, Some(0));
        Some((words.word(0).load(Ordering::Acquire), words.word(1).load(Ordering::Acquire)))
    }

    fn body() -> Vec<u8> {
        for (phase, calls) in [(1, 100), (2, 200)] {
            system_call::marker(phase);
            for _ in 0..calls {
                system_call::getppid();
            }
            let partner = process::Child::fork(|| {
                for _ in 0..50 {
                    system_call::getppid();
                }
                0
            });
            if partner.and_then(process::Child::wait).is_err() {
                return Vec::new();
            }
            system_call::marker(0);
        }
        vec![1]
    }

    fn getppids(counts: &Counts) -> (u64, u64) {
        let of = |phase| counts.phase(phase).get(&libc::SYS_getppid).copied().unwrap_or(0);
        (of(1), of(2))
    }

    // 51: the partner's own getppid of PR_SET_PDEATHSIG is a call like any other.
    #[test]
    fn notification_counts_children_too() {
        match counted(|| by_notification(body).ok().map(|(_, counts)| getppids(&counts))) {
            Some(counts) => assert_eq!(counts, (151, 251)),
            None => {
                println!("SKIP notification_counts_children_too: seccomp user notification is refused here")
            }
        }
    }

    /// Whoever held it would wait for ever for an answer of its own, should the audited process be killed.
    #[test]
    fn no_partner_inherits_the_listening_end() {
        fn listens() -> bool {
            let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
            let mut links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            links.any(|link| link.to_string_lossy().contains("seccomp"))
        }
        let way = || {
            let (ended, _) =
                by_notification(|| process::Child::fork(|| i32::from(listens()))?.wait()).ok()?;
            Some((u64::from(ended.is_ok_and(|it| it.code == Some(0))), 0))
        };
        match counted(way) {
            Some((alone, _)) => assert_eq!(alone, 1, "a partner has the listening end"),
            None => println!(
                "SKIP no_partner_inherits_the_listening_end: seccomp user notification is refused here"
            ),
        }
    }

    #[test]
    fn ptrace_counts_children_too() {
        match counted(|| by_ptrace(body).ok().map(|(_, counts)| getppids(&counts))) {
            Some(counts) => assert_eq!(counts, (151, 251)),
            None => println!("SKIP ptrace_counts_children_too: ptrace is refused here"),
        }
    }
}
