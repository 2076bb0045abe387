//! What /proc says of a traced process or program. proc(5).

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;

/// SIGCHLD.
pub const CHILD_ENDED: i32 = 17;

/// Processes for whose children nobody waits: they ignore SIGCHLD, or have set SA_NOCLDWAIT, which /proc does not say.
#[derive(Debug, Default)]
pub struct WaitForNone(BTreeSet<i32>);

impl WaitForNone {
    /// A process has set these flags for SIGCHLD.
    pub fn set(&mut self, pid: i32, flags: u64) {
        const NO_CHILD_WAIT: u64 = 2;
        let _ = if flags & NO_CHILD_WAIT != 0 { self.0.insert(pid) } else { self.0.remove(&pid) };
    }

    /// A process has started, with the flags of its parent.
    pub fn started(&mut self, (pid, parent): (i32, i32)) {
        let _ = if self.0.contains(&parent) { self.0.insert(pid) } else { self.0.remove(&pid) };
    }

    /// Whether a process is one of them.
    pub fn has(&self, pid: i32) -> bool {
        self.0.contains(&pid) || is_in(&status_of(pid), "SigIgn:", CHILD_ENDED)
    }
}

/// Pages of a process's own: those that are resident, less those of files.
pub fn own_pages(tid: i32) -> Option<u64> {
    let text = oscost_sys::file::text(format!("/proc/{tid}/statm")).ok()?;
    let mut numbers = text.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    Some(numbers.next()?.saturating_sub(numbers.next()?))
}

/// Mappings of a process; none where /proc does not say.
pub fn mappings(tid: i32) -> u64 {
    let text = oscost_sys::file::text(format!("/proc/{tid}/maps"));
    text.map_or(0, |text| text.lines().count() as u64)
}

/// The program at this path, if it runs with the rights of its owner or group, or with capabilities of its own. Where no new
/// privileges are given (PR_SET_NO_NEW_PRIVS), it has none of them anyway.
#[must_use]
pub fn other_rights(path: &str) -> Option<String> {
    if status_of(std::process::id().cast_signed()).lines().any(|line| line == "NoNewPrivs:\t1") {
        return None;
    }
    let metadata = std::fs::metadata(path).ok()?;
    let sets = metadata.mode() & 0o4000 != 0 && metadata.uid() != oscost_sys::identity::uid()
        || metadata.mode() & 0o2000 != 0 && metadata.gid() != oscost_sys::identity::gid()
        || oscost_sys::file::has_capabilities(path);
    let named = || std::fs::read_link(path).map_or_else(|_| path.to_owned(), |it| it.display().to_string());
    sets.then(named)
}

/// Whether a signal does something to a process: it has a handler, or is not ignored. A tracer sees ignored ones, too.
pub fn does_something(tid: i32, signal: i32) -> bool {
    /// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: nobody who did not ask hears them.
    const UNASKED: [i32; 4] = [17, 18, 23, 28];
    let status = status_of(tid);
    is_in(&status, "SigCgt:", signal) || !is_in(&status, "SigIgn:", signal) && !UNASKED.contains(&signal)
}

/// Empty where there is nobody.
pub fn status_of(tid: i32) -> String {
    oscost_sys::file::text(format!("/proc/{tid}/status")).unwrap_or_default()
}

/// Whether a status has a signal in its set of that name.
pub fn is_in(status: &str, key: &str, signal: i32) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix(key));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    (1..=64).contains(&signal) && set >> (signal - 1) & 1 != 0
}
