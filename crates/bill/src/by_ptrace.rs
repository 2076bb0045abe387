//! Counts by a tracer, which stops each thread twice at each call. ptrace(2).

use std::collections::BTreeMap;

use oscost_sys::reaper;
use oscost_sys::tracer::{self, Entered, Stop};

use crate::descriptor::Descriptors;
use crate::error::BillError;
use crate::key::{CallKey, NOBODY, NONE, class};
use crate::rules::{Numbers, On, Rule, Size, Table, clone_bits, socket_kind, value};
use crate::seen::SeenCalls;
use crate::tally::{OF_32_BITS, Sums};
use crate::thread::{Current, INTERRUPTED, Thread};
use crate::traced::{CHILD_ENDED, WaitForNone, does_something, mappings, other_rights, own_pages, status_of};

/// How many threads may have a file of theirs open in the tracer: a process may have some thousand files.
const KEPT: usize = 200;
/// Requests of ptrace(2) by which a process comes to be traced.
const BECOME_TRACED: [u64; 3] = [0, 16, 0x4206];
const SHARES_MEMORY: u64 = 0x100;
const SHARES_FILES: u64 = 0x400;
const IS_THREAD: u64 = 0x1_0000;
/// Calls that start somebody.
const STARTS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];
/// EINPROGRESS: a connection that is being made has not failed.
const IN_PROGRESS: i64 = -115;

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
    wait_for_none: WaitForNone,
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
            wait_for_none: WaitForNone::default(),
        }
    }

    /// Counts a process that is held and seized, from its first program on, with all its descendants, until none is left. `ended`
    /// hears how the first one ended.
    ///
    /// # Errors
    /// Why what runs cannot be counted; the error of the system.
    pub fn follow(mut self, root: i32, mut ended: impl FnMut(Stop)) -> Result<SeenCalls, BillError> {
        self.threads.insert(root, Thread::new(root, (root, 0), root, true));
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
        if self.threads.contains_key(&tid) {
            self.hear_known(tid, stop, is_end);
        } else if is_end {
            self.early.remove(&tid);
        } else {
            // Its starter's stop, which says what it is, comes later.
            self.early.insert(tid, stop);
        }
        self.adopt();
    }

    fn hear_known(&mut self, tid: i32, stop: Stop, is_end: bool) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
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
            Stop::Exited(_) | Stop::Killed(_) => {
                let parent = thread.parent;
                if tid == thread.pid && self.wait_for_none.has(parent) {
                    self.seen.unwaited += 1;
                }
                self.ended(tid);
            }
            _ => tracer::go_on(tid, 0),
        }
    }

    /// Whoever has stopped, and will not be announced because its starter was killed while it started it, belongs to them all the
    /// same: it would stay stopped for ever.
    fn adopt(&mut self) {
        if self.early.is_empty() || self.threads.values().any(|thread| self.is_starting(thread)) {
            return;
        }
        for (tid, stop) in std::mem::take(&mut self.early) {
            let status = status_of(tid);
            let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
            let pid = pid.unwrap_or(tid);
            let relative = self.threads.values().find(|thread| thread.pid == pid);
            let (parent, table) = relative.map_or((0, tid), |thread| (thread.parent, thread.table));
            self.add(tid, (pid, parent), table);
            self.hear(tid, stop);
        }
    }

    /// Whether it may still announce somebody.
    fn is_starting(&self, thread: &Thread) -> bool {
        let starts = |call: Current| STARTS.contains(&self.meaning(&call.entered).name);
        thread.call.is_some_and(|call| !call.has_started && starts(call))
    }

    /// The rule of a call by what it means, whichever ABI it is made in.
    fn meaning(&self, call: &Entered) -> Rule {
        self.table.of(here(call)).rule
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
        } else if number == n.rt_sigaction
            && (arguments[0] as i32, result) == (CHILD_ENDED, 0)
            && arguments[1] != 0
        {
            // Behind the handler.
            let flags = tracer::word(tid, arguments[1].wrapping_add(8)).unwrap_or(0);
            self.wait_for_none.set(thread.pid, flags);
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
        let has_result = call.entered.number != self.numbers.rt_sigreturn;
        let is_under_way = rule.name == "connect" && result == Some(IN_PROGRESS);
        let failed = has_result && !is_under_way && result.is_some_and(|result| (-4095..0).contains(&result));
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
        // Whoever was killed meanwhile announces nobody.
        if child == 0 || self.threads.contains_key(&child) {
            return;
        }
        if let Some(call) = self.threads.get_mut(&tid).and_then(|thread| thread.call.as_mut()) {
            call.has_started = true;
        }
        let Some(parent) = self.threads.get(&tid) else { return };
        let flags =
            parent.call.map_or(0, |call| clone_flags(tid, &call.entered, self.meaning(&call.entered).on));
        let is_thread = flags & IS_THREAD != 0;
        let process = if is_thread { (parent.pid, parent.parent) } else { (child, parent.pid) };
        let table = if flags & SHARES_FILES != 0 { parent.table } else { child };
        let is_vfork = parent.call.is_some_and(|call| call.entered.number == self.numbers.vfork);
        if flags & SHARES_MEMORY == 0
            && !is_vfork
            && let Some(pages) = own_pages(tid)
        {
            let forks = self.seen.forks.get_or_insert_default();
            (forks.times, forks.pages) = (forks.times + 1, forks.pages + pages);
            forks.mappings += mappings(tid);
        }
        self.add(child, process, table);
        if let Some(stop) = self.early.remove(&child) {
            self.hear(child, stop);
        }
    }

    /// A new thread of a process and its parent.
    fn add(&mut self, tid: i32, process: (i32, i32), table: i32) {
        let keep = self.threads.len() < KEPT;
        *if process.0 == tid { &mut self.seen.children } else { &mut self.seen.threads } += 1;
        self.descriptors.forget_all(tid);
        if process.0 == tid {
            self.wait_for_none.started(process);
        }
        self.threads.insert(tid, Thread::new(tid, process, table, keep));
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
            let entered =
                Entered { number: self.numbers.execve, is_32_bit: false, arguments: [0; 6], at: (0, 0) };
            thread.enter(tid, entered, false, &self.numbers, || 0);
        }
        self.wait_for_none.set(thread.pid, 0);
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

/// The number of a call as a key has it: one of the 32-bit ABI is one of them.
fn number(call: &Entered) -> u16 {
    if call.is_32_bit { OF_32_BITS } else { here(call) }
}

/// The number of a call: one that no kernel has is the largest.
fn here(call: &Entered) -> u16 {
    u16::try_from(call.number).unwrap_or(u16::MAX).min(Table::NUMBERS)
}

fn argument(call: &Entered, at: u8) -> u64 {
    call.arguments.get(usize::from(at)).copied().unwrap_or(0)
}

/// The flags of a call that starts somebody; 0 of fork and vfork, which have none.
fn clone_flags(tid: i32, call: &Entered, on: On) -> u64 {
    match on {
        On::Clone { in_memory: true } => tracer::word(tid, call.arguments[0]).unwrap_or(0),
        On::Clone { in_memory: false } => call.arguments[0],
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally;

    /// Numbers that no process has.
    const STARTER: i32 = i32::MAX - 1;
    const CHILD: i32 = i32::MAX;

    fn entered(name: &str) -> Entered {
        let number = oscost_sys::system_call_names::number(name).expect("a call");
        Entered { number, is_32_bit: false, arguments: [0; 6], at: (0, 0) }
    }

    fn starting(table: &Table) -> Tracer<'_> {
        let mut tracer = Tracer::new(table);
        tracer.threads.insert(STARTER, Thread::new(STARTER, (STARTER, 0), STARTER, false));
        tracer.hear(STARTER, Stop::Entered(entered("clone")));
        tracer
    }

    /// It stayed stopped, and its counter waited for it for ever.
    #[test]
    fn a_child_whose_starter_is_killed_before_it_says_so_is_one_of_them() {
        let table = Table::new();
        let mut tracer = starting(&table);
        tracer.hear(CHILD, Stop::Tracer);
        assert!(!tracer.threads.contains_key(&CHILD), "its starter will say what it is");
        tracer.hear(STARTER, Stop::Killed(9));
        assert!(tracer.threads.contains_key(&CHILD) && tracer.early.is_empty());
        // The starter was killed before its stop was asked what it means; the child stops later.
        let mut tracer = starting(&table);
        tracer.hear(STARTER, Stop::Started(0));
        tracer.hear(STARTER, Stop::Killed(9));
        tracer.hear(CHILD, Stop::Tracer);
        assert_eq!(tracer.threads.keys().copied().collect::<Vec<_>>(), [CHILD]);
        assert_eq!((tracer.seen.children, tracer.seen.threads), (1, 0));
    }

    #[test]
    fn a_child_is_counted_once_whether_it_stops_before_it_is_announced_or_after() {
        let table = Table::new();
        let (announced, stopped) = ((STARTER, Stop::Started(CHILD)), (CHILD, Stop::Tracer));
        for stops in [[announced, stopped], [stopped, announced]] {
            let mut tracer = starting(&table);
            stops.into_iter().for_each(|(tid, stop)| tracer.hear(tid, stop));
            assert!(tracer.threads.len() == 2 && tracer.early.is_empty());
            assert_eq!(tracer.seen.children, 1);
        }
    }

    /// Each call that was made, and its result: by name, how often, and how many failed.
    fn counted(calls: &[(Entered, i64)]) -> Vec<(String, u64, u64)> {
        let table = Table::new();
        let mut tracer = Tracer::new(&table);
        tracer.threads.insert(STARTER, Thread::new(STARTER, (STARTER, 0), STARTER, false));
        for &(call, result) in calls {
            tracer.hear(STARTER, Stop::Entered(call));
            tracer.hear(STARTER, Stop::Left(result));
        }
        let calls = tally::calls(&tracer.seen.tally, &table, false);
        calls.into_iter().map(|call| (call.name, call.times, call.failed)).collect()
    }

    #[test]
    fn a_connection_that_is_being_made_has_not_failed() {
        let calls = [(entered("connect"), IN_PROGRESS), (entered("connect"), -111)];
        assert_eq!(counted(&calls), [("connect".to_owned(), 2, 1)]);
        assert_eq!(counted(&[(entered("close"), IN_PROGRESS)]), [("close".to_owned(), 1, 1)]);
    }

    /// Its getpid was a writev, and its read a close.
    #[test]
    fn calls_of_the_32_bit_abi_are_one_row_and_no_other_call() {
        let call = |number| Entered { number, is_32_bit: true, ..entered("close") };
        let returns = entered("rt_sigreturn").number;
        let calls = [(call(1 << 16 | 20), 77), (call(1 << 16 | 3), -9), (call(returns), -4)];
        assert_eq!(counted(&calls), [("call of a 32-bit program".to_owned(), 3, 1)]);
    }
}
