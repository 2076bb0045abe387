//! Counts by a tracer, which stops each thread twice at each call. ptrace(2).

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use oscost_sys::reaper;
use oscost_sys::tracer::{self, Entered, Stop};

use crate::descriptor::Descriptors;
use crate::error::BillError;
use crate::key::{CallKey, NOBODY, NONE, class};
use crate::rules::{Numbers, On, Size, Table, clone_bits, socket_kind, value};
use crate::seen::SeenCalls;
use crate::tally::Sums;
use crate::thread::{Current, INTERRUPTED, Thread};

/// How many threads may have a file of theirs open in the tracer: a process may have some thousand files.
const KEPT: usize = 200;
/// Requests of ptrace(2) by which a process comes to be traced.
const BECOME_TRACED: [u64; 3] = [0, 16, 0x4206];
const SHARES_MEMORY: u64 = 0x100;
const SHARES_FILES: u64 = 0x400;
const IS_THREAD: u64 = 0x1_0000;

/// A tracer and whom it traces.
#[derive(Debug)]
pub struct Tracer<'a> {
    table: &'a Table,
    numbers: Numbers,
    is_root: bool,
    threads: BTreeMap<i32, Thread>,
    /// Stops of threads that nobody has announced yet.
    early: BTreeMap<i32, Stop>,
    descriptors: Descriptors,
    seen: SeenCalls,
    refused: Option<BillError>,
}

impl<'a> Tracer<'a> {
    /// Of nobody yet.
    #[must_use]
    pub fn new(table: &'a Table) -> Self {
        Self {
            table,
            numbers: Numbers::new(),
            is_root: oscost_sys::identity::effective_uid() == 0,
            threads: BTreeMap::new(),
            early: BTreeMap::new(),
            seen: SeenCalls::default(),
            refused: None,
            descriptors: Descriptors::default(),
        }
    }

    /// Counts a process that is held and seized, from its first program on, with all its descendants, until none is left. `ended`
    /// hears how the first one ended.
    ///
    /// # Errors
    /// Why what runs cannot be counted; the error of the system.
    pub fn follow(mut self, root: i32, mut ended: impl FnMut(Stop)) -> Result<SeenCalls, BillError> {
        self.threads.insert(root, Thread::new(root, root, root, true));
        loop {
            match tracer::next(false) {
                Ok(Some((tid, stop))) => {
                    if tid == root && matches!(stop, Stop::Exited(_) | Stop::Killed(_)) {
                        ended(stop);
                    }
                    self.hear(tid, stop);
                    if self.refused.is_some() {
                        // Whose parent has ended is a child by now.
                        reaper::kill_all();
                    }
                }
                Ok(None) => {}
                Err(error) if error.symbol() == Some("ECHILD") => break,
                Err(error) => {
                    let _ = reaper::end_all();
                    return Err(error.into());
                }
            }
        }
        self.refused.map_or(Ok(self.seen), Err)
    }

    /// Counts what a stop tells, and lets the thread go on.
    fn hear(&mut self, tid: i32, stop: Stop) {
        let is_end = matches!(stop, Stop::Exited(_) | Stop::Killed(_));
        let Some(thread) = self.threads.get_mut(&tid) else {
            // Its starter's stop, which says what it is, comes later.
            if !is_end {
                self.early.insert(tid, stop);
            }
            return;
        };
        if !is_end {
            thread.stops += 1;
            self.seen.voluntary += 1;
        }
        match stop {
            Stop::Entered(call) => {
                self.entered(tid, call);
                tracer::go_on(tid, 0);
            }
            Stop::Left(result) => {
                self.left(tid, result);
                tracer::go_on(tid, 0);
            }
            Stop::Started(child) => {
                self.started(tid, child);
                tracer::go_on(tid, 0);
            }
            Stop::Executed(former) => {
                self.executed(tid, former);
                tracer::go_on(tid, 0);
            }
            Stop::Signal(signal) => {
                if does_something(tid, signal) {
                    self.seen.signals += 1;
                }
                tracer::go_on(tid, signal);
            }
            Stop::Group(_) => tracer::stay(tid),
            Stop::Exited(_) | Stop::Killed(_) => self.ended(tid),
            _ => tracer::go_on(tid, 0),
        }
    }

    fn entered(&mut self, tid: i32, call: Entered) {
        let known = self.table.of(number(&call));
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let (pid, table) = (thread.pid, thread.table);
        let descriptors = &mut self.descriptors;
        let on = || match known.rule.on {
            On::Nothing => 0,
            // A descriptor is an int, whatever stands in the upper half of the register.
            On::Descriptor(at) => descriptors.kind(table, (pid, tid), argument(&call, at) as i32),
            On::Value(at, mask, _) => value(argument(&call, at), mask),
            On::Flag(at, mask, _) => u8::from(argument(&call, at) & mask != 0),
            On::Clone { .. } => clone_bits(clone_flags(tid, &call, known.rule.on)),
            On::Socket => socket_kind(argument(&call, 0) as i32, argument(&call, 1) as i32),
        };
        thread.enter(tid, call, known.may_sleep, &self.numbers, on);
        if call.number == self.numbers.close {
            self.descriptors.forget(table, call.arguments[0] as i32);
        }
    }

    fn left(&mut self, tid: i32, result: i64) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let table = thread.table;
        let left = thread.leave(tid, result, &self.numbers);
        let Some(call) = left.ended else { return };
        let (number, arguments) = (call.entered.number, call.entered.arguments);
        let n = &self.numbers;
        if number == n.close {
            self.descriptors.forget(table, arguments[0] as i32);
        } else if number == n.dup2 || number == n.dup3 {
            self.descriptors.forget(table, arguments[1] as i32);
        } else if number == n.close_range {
            self.descriptors.forget_all(table);
        } else if number == n.unshare && result == 0 && arguments[0] & SHARES_FILES != 0 {
            thread.table = tid;
            self.descriptors.forget_all(tid);
        } else if number == n.ptrace && result == -1 && BECOME_TRACED.contains(&arguments[0]) {
            self.refuse(BillError::Traces);
        }
        if let Some(interrupted) = left.interrupted {
            self.count(&interrupted, Some(INTERRUPTED));
        }
        self.count(&call, Some(result));
    }

    /// A call that had a result, or none because its thread ended in it.
    fn count(&mut self, call: &Current, result: Option<i64>) {
        let number = number(&call.entered);
        let rule = self.table.of(number).rule;
        // The result of a handler's return is that of whatever it returns to.
        let has_result = i64::from(number) != self.numbers.rt_sigreturn;
        let failed = has_result && result.is_some_and(|result| (-4095..0).contains(&result));
        let bytes = match (rule.size, result) {
            (Size::Result, Some(result)) => u64::try_from(result).ok(),
            (Size::Argument(at), Some(_)) if !failed => Some(argument(&call.entered, at)),
            _ => None,
        };
        let woke_nobody =
            i64::from(number) == self.numbers.futex && matches!(call.on, 1 | 10) && result == Some(0);
        let key = CallKey {
            number,
            on: if woke_nobody { call.on + NOBODY } else { call.on },
            size: bytes.map_or(NONE, class),
            count: rule.count.map_or(NONE, |at| class(argument(&call.entered, at))),
            slept: call.slept.into(),
        };
        let sums = Sums { times: 1, failed: failed.into(), bytes: bytes.unwrap_or(0), inside_ns: 0 };
        self.seen.tally.entry(key).or_default().add(sums);
    }

    fn started(&mut self, tid: i32, child: i32) {
        let keep = self.threads.len() < KEPT;
        let Some(parent) = self.threads.get(&tid) else { return };
        let flags = parent
            .call
            .map_or(0, |call| clone_flags(tid, &call.entered, self.table.of(number(&call.entered)).rule.on));
        let is_thread = flags & IS_THREAD != 0;
        let pid = if is_thread { parent.pid } else { child };
        let table = if flags & SHARES_FILES != 0 { parent.table } else { child };
        *if is_thread { &mut self.seen.threads } else { &mut self.seen.children } += 1;
        let is_vfork = parent.call.is_some_and(|call| call.entered.number == self.numbers.vfork);
        if flags & SHARES_MEMORY == 0
            && !is_vfork
            && let Some(pages) = own_pages(tid)
        {
            let forks = self.seen.forks.get_or_insert_default();
            (forks.times, forks.pages) = (forks.times + 1, forks.pages + pages);
            forks.mappings += mappings(tid);
        }
        self.descriptors.forget_all(child);
        self.threads.insert(child, Thread::new(child, pid, table, keep));
        if let Some(stop) = self.early.remove(&child) {
            self.hear(child, stop);
        }
    }

    /// A thread has become another program, under the number of its process; `former` was its own.
    fn executed(&mut self, tid: i32, former: i32) {
        if former != tid
            && let Some(mut thread) = self.threads.remove(&former)
        {
            self.ended(tid);
            // Its stop was counted as one of the thread that had the number before.
            thread.stops += 1;
            thread.renumber(tid);
            self.threads.insert(tid, thread);
        }
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if thread.call.is_none() {
            // The call that made the held process the program was entered before it was looked at.
            let entered = Entered { number: self.numbers.execve, arguments: [0; 6], at: (0, 0) };
            thread.enter(tid, entered, false, &self.numbers, || 0);
        }
        // Whoever shared his descriptors has his own from here on.
        thread.table = tid;
        self.descriptors.forget_all(tid);
        if !self.is_root
            && let Some(program) = other_rights(&format!("/proc/{tid}/exe"))
        {
            self.refuse(BillError::OtherRights(program));
        }
    }

    fn ended(&mut self, tid: i32) {
        let Some(mut thread) = self.threads.remove(&tid) else { return };
        let (call, interrupted) = thread.end();
        let interrupted: Vec<Current> = interrupted.collect();
        for call in &interrupted {
            self.count(call, Some(INTERRUPTED));
        }
        if let Some(call) = call {
            self.count(&call, None);
        }
    }

    /// What runs cannot be counted: it is ended.
    fn refuse(&mut self, why: BillError) {
        self.refused.get_or_insert(why);
    }
}

/// The number of a call as a key has it: one that no kernel has is the largest.
fn number(call: &Entered) -> u16 {
    u16::try_from(call.number).unwrap_or(u16::MAX).min(Table::NUMBERS)
}

fn argument(call: &Entered, at: u8) -> u64 {
    call.arguments.get(usize::from(at)).copied().unwrap_or(0)
}

/// Pages of a process's own: those that are resident, less those of files.
fn own_pages(tid: i32) -> Option<u64> {
    let text = oscost_sys::file::text(format!("/proc/{tid}/statm")).ok()?;
    let mut numbers = text.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    Some(numbers.next()?.saturating_sub(numbers.next()?))
}

/// Mappings of a process; none where /proc does not say.
fn mappings(tid: i32) -> u64 {
    let text = oscost_sys::file::text(format!("/proc/{tid}/maps"));
    text.map_or(0, |text| text.lines().count() as u64)
}

/// The flags of a call that starts somebody; 0 of fork and vfork, which have none.
fn clone_flags(tid: i32, call: &Entered, on: On) -> u64 {
    match on {
        On::Clone { in_memory: true } => tracer::word(tid, call.arguments[0]).unwrap_or(0),
        On::Clone { in_memory: false } => call.arguments[0],
        _ => 0,
    }
}

/// The program at this path, if it runs with the rights of its owner or group.
#[must_use]
pub fn other_rights(path: &str) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let sets = metadata.mode() & 0o4000 != 0 && metadata.uid() != oscost_sys::identity::uid()
        || metadata.mode() & 0o2000 != 0 && metadata.gid() != oscost_sys::identity::gid();
    let named = || std::fs::read_link(path).map_or_else(|_| path.to_owned(), |it| it.display().to_string());
    sets.then(named)
}

/// Whether a signal does something to a process: it has a handler, or is not ignored. A tracer sees ignored ones, too.
fn does_something(tid: i32, signal: i32) -> bool {
    /// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: nobody who did not ask hears them.
    const UNASKED: [i32; 4] = [17, 18, 23, 28];
    let status = oscost_sys::file::text(format!("/proc/{tid}/status")).unwrap_or_default();
    let is_in = |key: &str| {
        let set = status.lines().find_map(|line| line.strip_prefix(key));
        let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
        (1..=64).contains(&signal) && set >> (signal - 1) & 1 != 0
    };
    is_in("SigCgt:") || !is_in("SigIgn:") && !UNASKED.contains(&signal)
}
