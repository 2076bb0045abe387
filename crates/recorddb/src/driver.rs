//! Children that run a workload together: each opens the database for itself, all start at once, each is timed.

use std::sync::atomic::Ordering;

use oscost_sys::CallError;
use oscost_sys::affinity;
use oscost_sys::clock::now_ns;
use oscost_sys::memory::SharedWords;
use oscost_sys::process::Child;
use oscost_sys::usage::{self, Usage, Whose};

use crate::between;
use crate::database::Database;
use crate::options::Counters;
use crate::workload::{self, Counts, Observer, OperationKind, Sequence, Target, WorkFailure, WorkPlan};

/// What became of one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Operations of each kind that it made.
    pub counts: Counts,
    /// System calls of I/O, calls of locking, records visited, time waited for locks, ns. Of another store: 0.
    pub work: Work,
    /// Time from its start to its end, ns.
    pub clock_ns: u64,
    /// When it started and ended, CLOCK_MONOTONIC, ns: the run lasts from the first start to the last end.
    pub from_to_ns: (u64, u64),
    /// CPU time, switches and faults between start and end. User time is what lay between the calls of one operation of 16, unless
    /// an observer had the clock, or the kernel worked in faults: then both are the timer's samples. Where several run, a mutex is
    /// locked and unlocked by a call.
    pub usage: Usage,
    /// Whether it was on another CPU at the end than at the start; `None` where it was not reported.
    pub moved: Option<bool>,
}

/// What a database counts, in four numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// System calls of I/O.
    pub io_calls: u64,
    /// Calls of the locking primitive.
    pub lock_calls: u64,
    /// Records visited.
    pub visits: u64,
    /// Time in calls that take a lock, ns, where it was asked for.
    pub lock_wait_ns: u64,
}

impl Work {
    /// What was added between two states of a database.
    #[must_use]
    pub fn between(before: &Counters, after: &Counters) -> Self {
        Self {
            io_calls: after.io.total() - before.io.total(),
            lock_calls: after.locks.total() - before.locks.total(),
            visits: after.visits - before.visits,
            lock_wait_ns: after.locks.wait_ns - before.locks.wait_ns,
        }
    }
}

/// A target that may count what it does.
pub trait CountsCalls: Target {
    /// What it has done since it was opened.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

impl CountsCalls for Database {
    fn counters(&self) -> Counters {
        Database::counters(self)
    }
}

/// Words of one child: state, times, usage, work, counts, and the text of its failure.
const STATE: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;
const USAGE: usize = 3;
const MOVED: usize = 9;
const WORK: usize = 10;
const COUNTS: usize = 14;
const TEXT: usize = COUNTS + OperationKind::ALL.len();
const TEXT_WORDS: usize = 24;
const WORDS: usize = TEXT + TEXT_WORDS;

const READY: u64 = 1;
const DONE: u64 = 2;
const FAILED: u64 = 3;

/// Runs one plan a child, all at the same time, and waits for all, at most `timeout_ns`. `open` is called in each child.
/// The caller has one thread.
///
/// What a child says of its failure stands in the place of its result: an error of the store, a wrong answer, the signal
/// that ended it, or that it went on for too long.
///
/// # Errors
/// The error of mmap or fork. The children are gone then.
pub fn run<T: CountsCalls, E: std::fmt::Display>(
    plans: &[WorkPlan],
    open: impl Fn(&WorkPlan) -> Result<T, E>,
    timeout_ns: u64,
) -> Result<Vec<Result<Done, String>>, CallError> {
    run_observed(plans, open, |_| between::Stamped::default(), timeout_ns)
}

/// The same with an observer in each child. What it has seen it tells where it is dropped, in memory that is shared.
///
/// # Errors
/// As those of [`run`].
pub fn run_observed<T: CountsCalls, E: std::fmt::Display, O: Observer>(
    plans: &[WorkPlan],
    open: impl Fn(&WorkPlan) -> Result<T, E>,
    observe: impl Fn(&WorkPlan) -> O,
    timeout_ns: u64,
) -> Result<Vec<Result<Done, String>>, CallError> {
    let words = SharedWords::new(1 + plans.len() * WORDS)?;
    let mut children = Vec::with_capacity(plans.len());
    for (number, plan) in plans.iter().enumerate() {
        let own = Own { words: &words, first: 1 + number * WORDS };
        children.push(Child::fork(|| {
            between::beside_others(plans.len() > 1);
            own.told(own.run(plan, &open, observe(plan)))
        })?);
    }
    Ok(ended(&words, children, timeout_ns))
}

/// Operations of a long run, from a place in its middle on.
#[derive(Debug, Clone)]
pub struct Window {
    /// The run, as it stands there.
    pub sequence: Sequence,
    /// How many operations.
    pub operations: u64,
}

/// One window, run by one of several ways: both are numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which window.
    pub window: usize,
    /// Which way.
    pub way: usize,
}

/// Runs turns in one child, one after the other, each on what `open` makes for it there, and adds up what they took, way by way.
/// `check` looks at what a turn left. Nothing between turns is counted.
///
/// # Errors
/// As those of [`run`].
pub fn run_turns<T: CountsCalls, E: std::fmt::Display>(
    windows: &[Window],
    (ways, turns): (usize, &[Turn]),
    open: impl Fn(Turn) -> Result<T, E>,
    check: impl Fn(Turn) -> Result<(), E>,
    timeout_ns: u64,
) -> Result<Result<Vec<Done>, String>, CallError> {
    let words = SharedWords::new(1 + ways.max(1) * WORDS)?;
    let own = |way: usize| Own { words: &words, first: 1 + way * WORDS };
    let child = Child::fork(|| {
        own(0).wait_for_all();
        let all = parts(windows, (ways, turns), &open, &check);
        // The first way's says that all are there.
        own(0).told(
            all.map(|parts| parts.iter().enumerate().rev().for_each(|(way, part)| own(way).store(part))),
        )
    })?;
    let first = ended(&words, vec![child], timeout_ns).pop();
    let first = first.unwrap_or_else(|| Err("it was not started".to_owned()));
    Ok(first.map(|_| (0..ways).map(|way| own(way).done()).collect()))
}

/// What the turns of each way took, in the child.
fn parts<T: CountsCalls, E: std::fmt::Display>(
    windows: &[Window],
    (ways, turns): (usize, &[Turn]),
    open: &impl Fn(Turn) -> Result<T, E>,
    check: &impl Fn(Turn) -> Result<(), E>,
) -> Result<Vec<Part>, String> {
    let mut sums: Vec<Option<Part>> = (0..ways).map(|_| None).collect();
    for &turn in turns {
        let Window { mut sequence, operations } = windows[turn.window].clone();
        let mut target = open(turn).map_err(|error| error.to_string())?;
        let part = Part::of(&mut target, |target| {
            workload::run_some(&mut sequence, operations, target, &mut between::Stamped::default())
        })?;
        drop(target);
        check(turn).map_err(|error| error.to_string())?;
        let sum = &mut sums[turn.way];
        *sum = Some(match sum.take() {
            None => part,
            Some(sum) => sum.then(&part),
        });
    }
    sums.into_iter().collect::<Option<_>>().ok_or_else(|| "a way had no turn".to_owned())
}

/// Lets the children begin as soon as all are ready, and waits for them.
fn ended(words: &SharedWords, children: Vec<Child>, timeout_ns: u64) -> Vec<Result<Done, String>> {
    let deadline = now_ns().saturating_add(timeout_ns);
    let count = children.len();
    let own = |number: usize| Own { words, first: 1 + number * WORDS };
    let all_ready = || (0..count).all(|number| own(number).word(STATE).load(Ordering::Acquire) != 0);
    while !all_ready() && now_ns() < deadline && !children.iter().all(Child::has_ended) {
        oscost_sys::clock::pause(std::time::Duration::from_micros(200));
    }
    words.word(0).store(1, Ordering::Release);
    let ended = |(number, child): (usize, Child)| {
        let left = deadline.saturating_sub(now_ns());
        let ended = child.wait_at_most(left).map_err(|_| "it went on for too long".to_owned())?;
        match (own(number).word(STATE).load(Ordering::Acquire), ended.signal) {
            (DONE, _) => Ok(own(number).done()),
            (FAILED, _) => Err(own(number).text()),
            (_, Some(signal)) => Err(format!("signal {signal} ended it")),
            (_, None) => Err(format!("it ended with code {}", ended.code.unwrap_or_default())),
        }
    };
    children.into_iter().enumerate().map(ended).collect()
}

/// What operations of one child took, and did.
struct Part {
    from_ns: u64,
    clock_ns: u64,
    used: Usage,
    moved: Option<bool>,
    work: Work,
    counts: Counts,
}

impl Part {
    fn of<T: CountsCalls, E: std::fmt::Display>(
        target: &mut T,
        operate: impl FnOnce(&mut T) -> Result<Counts, WorkFailure<E>>,
    ) -> Result<Self, String> {
        let before = target.counters();
        between::begin();
        let used = usage::own(Whose::Process).map_err(|error| error.to_string())?;
        let cpu = affinity::current();
        let from_ns = now_ns();
        let result = operate(target);
        let clock_ns = now_ns().saturating_sub(from_ns);
        let used = usage::own(Whose::Process).map_err(|error| error.to_string())?.since(&used);
        let moved = cpu.zip(affinity::current()).map(|(from, to)| from != to);
        let work = Work::between(&before, &target.counters());
        let used = between::divided(used, work.io_calls);
        let counts = result.map_err(|failure| failure.to_string())?;
        Ok(Self { from_ns, clock_ns, used, moved, work, counts })
    }

    /// Both, as if the second had followed at once.
    fn then(self, next: &Self) -> Self {
        let (work, more) = (self.work, next.work);
        let mut used = self.used;
        used.add(&next.used);
        Self {
            from_ns: self.from_ns,
            clock_ns: self.clock_ns + next.clock_ns,
            used,
            moved: self.moved.zip(next.moved).map(|(one, other)| one || other),
            work: Work {
                io_calls: work.io_calls + more.io_calls,
                lock_calls: work.lock_calls + more.lock_calls,
                visits: work.visits + more.visits,
                lock_wait_ns: work.lock_wait_ns + more.lock_wait_ns,
            },
            counts: self.counts.plus(&next.counts),
        }
    }
}

/// The words of one child.
#[derive(Clone, Copy)]
struct Own<'a> {
    words: &'a SharedWords,
    first: usize,
}

impl<'a> Own<'a> {
    fn word(&self, number: usize) -> &'a std::sync::atomic::AtomicU64 {
        self.words.word(self.first + number)
    }

    /// In the child.
    fn run<T: CountsCalls, E: std::fmt::Display>(
        &self,
        plan: &WorkPlan,
        open: &impl Fn(&WorkPlan) -> Result<T, E>,
        mut observer: impl Observer,
    ) -> Result<(), String> {
        let mut target = open(plan).map_err(|error| error.to_string())?;
        self.wait_for_all();
        let part = Part::of(&mut target, |target| workload::run(plan, target, &mut observer))?;
        drop(target);
        drop(observer);
        self.store(&part);
        Ok(())
    }

    fn wait_for_all(&self) {
        self.word(STATE).store(READY, Ordering::Release);
        // Yielding rather than sleeping: all start within a time slice, and a child alone does not wait for a timer.
        while self.words.word(0).load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
    }

    fn store(&self, part: &Part) {
        let Part { from_ns, clock_ns, used, moved, work, counts } = part;
        let numbers = [
            (FROM, *from_ns),
            (TO, from_ns + clock_ns),
            (USAGE, used.user_ns),
            (USAGE + 1, used.system_ns),
            (USAGE + 2, used.voluntary_switches),
            (USAGE + 3, used.involuntary_switches),
            (USAGE + 4, used.minor_faults),
            (USAGE + 5, used.major_faults),
            (MOVED, moved.map_or(0, |moved| 1 + u64::from(moved))),
            (WORK, work.io_calls),
            (WORK + 1, work.lock_calls),
            (WORK + 2, work.visits),
            (WORK + 3, work.lock_wait_ns),
        ];
        let counts = counts.0.iter().enumerate().map(|(kind, count)| (COUNTS + kind, *count));
        for (number, value) in numbers.into_iter().chain(counts) {
            self.word(number).store(value, Ordering::Relaxed);
        }
        self.word(STATE).store(DONE, Ordering::Release);
    }

    fn done(&self) -> Done {
        let word = |number| self.word(number).load(Ordering::Relaxed);
        Done {
            counts: Counts(std::array::from_fn(|kind| word(COUNTS + kind))),
            work: Work {
                io_calls: word(WORK),
                lock_calls: word(WORK + 1),
                visits: word(WORK + 2),
                lock_wait_ns: word(WORK + 3),
            },
            clock_ns: word(TO).saturating_sub(word(FROM)),
            from_to_ns: (word(FROM), word(TO)),
            usage: Usage {
                user_ns: word(USAGE),
                system_ns: word(USAGE + 1),
                voluntary_switches: word(USAGE + 2),
                involuntary_switches: word(USAGE + 3),
                minor_faults: word(USAGE + 4),
                major_faults: word(USAGE + 5),
            },
            moved: word(MOVED).checked_sub(1).map(|moved| moved == 1),
        }
    }

    /// Writes down why the child failed, if it did; its exit code.
    fn told(&self, ended: Result<(), String>) -> i32 {
        if let Err(text) = &ended {
            self.fail(text);
        }
        i32::from(ended.is_err())
    }

    fn fail(&self, text: &str) {
        for (number, chunk) in text.as_bytes().chunks(8).take(TEXT_WORDS).enumerate() {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.word(TEXT + number).store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        self.word(STATE).store(FAILED, Ordering::Release);
    }

    fn text(&self) -> String {
        let bytes =
            (0..TEXT_WORDS).flat_map(|number| self.word(TEXT + number).load(Ordering::Relaxed).to_ne_bytes());
        String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<u8>>()).into_owned()
    }
}

#[cfg(test)]
mod tests;
