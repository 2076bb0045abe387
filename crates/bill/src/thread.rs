//! A traced thread: the call it is in, calls that signals interrupted, and whether it slept.

use std::fs::File;
use std::os::unix::fs::FileExt;

use oscost_sys::tracer::Entered;

use crate::rules::Numbers;

/// The kernel's own results of calls that a signal has interrupted: it restarts them, or turns them into EINTR.
const RESTARTED: std::ops::RangeInclusive<i64> = -516..=-512;
/// The one of them that is continued by a call of its own, restart_syscall.
const CONTINUED: i64 = -516;
/// The result EINTR: a handler's return shows it to whoever was interrupted.
pub const INTERRUPTED: i64 = -4;

/// A call that a thread is in.
#[derive(Debug, Clone, Copy)]
pub struct Current {
    /// How it was entered.
    pub entered: Entered,
    /// What it is made on: a part of its key.
    pub on: u8,
    /// Whether the thread has slept in it already.
    pub slept: bool,
    /// Whether it has started somebody already.
    pub has_started: bool,
    /// Its own switches when it was entered.
    switches: Option<u64>,
}

/// A traced thread.
#[derive(Debug)]
pub struct Thread {
    /// Its process.
    pub pid: i32,
    /// The parent of that; 0 where it is not traced.
    pub parent: i32,
    /// Its table of descriptors, by the number of who made it.
    pub table: i32,
    /// How often it has stopped for its tracer.
    pub stops: u64,
    /// The call that it is in.
    pub call: Option<Current>,
    /// Calls that a signal interrupted, the last one at the end, and the results they left with.
    interrupted: Vec<(Current, i64)>,
    status: Option<File>,
}

impl Thread {
    /// A new one, of a process and its parent. Its status stays open where `keep` says so.
    #[must_use]
    pub fn new(tid: i32, (pid, parent): (i32, i32), table: i32, keep: bool) -> Self {
        let status = if keep { File::open(format!("/proc/{tid}/status")).ok() } else { None };
        Self { pid, parent, table, stops: 0, call: None, interrupted: Vec::new(), status }
    }

    /// It has the number of its process from now on, because it has become another program.
    pub fn renumber(&mut self, tid: i32) {
        self.status = self.status.take().and_then(|_| File::open(format!("/proc/{tid}/status")).ok());
    }

    /// It enters a call: a new one, or an interrupted one again. What it is made on is asked for a new one only.
    pub fn enter(
        &mut self,
        tid: i32,
        entered: Entered,
        may_sleep: bool,
        numbers: &Numbers,
        on: impl FnOnce() -> u8,
    ) {
        let restarts = |(current, left): &(Current, i64)| {
            current.entered.at == entered.at
                && if *left == CONTINUED {
                    entered.number == numbers.restart_syscall
                } else {
                    entered.number == current.entered.number
                }
        };
        let mut current = match self.interrupted.pop_if(|it| restarts(it)) {
            Some((current, _)) => current,
            None => Current { entered, on: on(), slept: false, has_started: false, switches: None },
        };
        current.switches = if may_sleep { self.own_switches(tid) } else { None };
        self.call = Some(current);
    }

    /// It leaves the call: the call, if it has ended by that.
    pub fn leave(&mut self, tid: i32, result: i64, numbers: &Numbers) -> LeftCall {
        let Some(mut current) = self.call.take() else { return LeftCall::default() };
        if let Some(before) = current.switches {
            current.slept |= self.own_switches(tid).is_some_and(|after| after > before);
        }
        if RESTARTED.contains(&result) {
            self.interrupted.push((current, result));
            return LeftCall::default();
        }
        let is_return = current.entered.number == numbers.rt_sigreturn;
        let failed = if is_return && result == INTERRUPTED { self.interrupted.pop() } else { None };
        LeftCall { ended: Some(current), interrupted: failed.map(|(call, _)| call) }
    }

    /// Its tracer leaves it, or it has ended: the calls that it was in, the first of which may have had no result because it has none.
    pub fn end(&mut self) -> (Option<Current>, impl Iterator<Item = Current>) {
        (self.call.take(), self.interrupted.drain(..).map(|(call, _)| call))
    }

    /// Switches because it waited, without those for its tracer: one at each stop.
    fn own_switches(&self, tid: i32) -> Option<u64> {
        let mut text = [0; 4096];
        let read = |file: &File, text: &mut [u8]| file.read_at(text, 0).ok();
        let length = match &self.status {
            Some(file) => read(file, &mut text)?,
            None => read(&File::open(format!("/proc/{tid}/status")).ok()?, &mut text)?,
        };
        voluntary(&text[..length])?.checked_sub(self.stops)
    }
}

/// What ended by a stop.
#[derive(Debug, Default)]
pub struct LeftCall {
    /// The call that was left.
    pub ended: Option<Current>,
    /// One that a signal had interrupted and whose caller is told so.
    pub interrupted: Option<Current>,
}

/// The number behind "voluntary_ctxt_switches:" of /proc/PID/status, whose last lines hold it.
fn voluntary(status: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\nvoluntary_ctxt_switches:";
    let at = status.windows(KEY.len()).rposition(|window| window == KEY)? + KEY.len();
    let digits = status[at..].iter().skip_while(|letter| letter.is_ascii_whitespace());
    let digits: Vec<u8> = digits.take_while(|letter| letter.is_ascii_digit()).copied().collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}
