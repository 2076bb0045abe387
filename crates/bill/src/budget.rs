//! Budgets: exact bounds on what was counted. No clock is involved.

use oscost_results::bill::{Bill, Budget, Call, CountedRun as Counted, RunEnd as Ended};

use crate::replacements::FORKS;
use crate::rules::{RULES, Size};
use crate::tally::A_32_BIT_CALL;

/// A bound on a count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetBound {
    asked: String,
    of: String,
    holds: Holds,
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    AtMost,
    Below,
    Equal,
    AtLeast,
    Above,
}

/// Signs, the longer ones first.
const SIGNS: &[(&str, Holds)] = &[
    ("<=", Holds::AtMost),
    (">=", Holds::AtLeast),
    ("==", Holds::Equal),
    ("=", Holds::Equal),
    ("<", Holds::Below),
    (">", Holds::Above),
];

/// A name, and the count that it stands for.
type Total = (&'static str, fn(&Counted) -> u64);

/// What can be bounded beside calls by their names.
const TOTALS: &[Total] = &[
    ("calls", |counted| counted.calls.iter().map(|call| call.times).sum()),
    ("failed", |counted| counted.calls.iter().map(|call| call.failed).sum()),
    // Calls that slept: how often each did, is not counted.
    ("sleeps", |counted| counted.calls.iter().filter(|call| call.slept).map(|call| call.times).sum()),
    ("bytes", |counted| counted.calls.iter().filter(|call| transfers(call)).map(|call| call.bytes).sum()),
    ("faults", |counted| counted.faults.minor + counted.faults.major),
    ("major_faults", |counted| counted.faults.major),
    ("switches", |counted| counted.switches.voluntary + counted.switches.involuntary),
    ("signals", |counted| counted.signals),
    ("threads", |counted| counted.threads),
    ("children", |counted| counted.children),
];

/// Calls by which libc answers a function of this name. A bound on the older call is one on all of them.
const LATER: &[(&str, &[&str])] = &[
    ("semop", &["semtimedop"]),
    ("open", &["openat"]),
    ("creat", &["openat"]),
    ("stat", &["newfstatat"]),
    ("lstat", &["newfstatat"]),
    ("fstat", &["newfstatat"]),
    ("access", &["faccessat", "faccessat2"]),
    ("mkdir", &["mkdirat"]),
    ("unlink", &["unlinkat"]),
    ("rename", &["renameat", "renameat2"]),
    ("readlink", &["readlinkat"]),
    ("pipe", &["pipe2"]),
    ("dup2", &["dup3"]),
    ("poll", &["ppoll"]),
    ("select", &["pselect6"]),
    ("epoll_wait", &["epoll_pwait"]),
    ("accept", &["accept4"]),
    ("nanosleep", &["clock_nanosleep"]),
];
/// What makes a process, by its kinds: a bound on fork is one on these.
const FORK: &str = "fork";

/// Whether a bound on calls of this name is one on this call.
fn is_meant(of: &str, call: &Call) -> bool {
    let is_later =
        LATER.iter().find(|(name, _)| *name == of).is_some_and(|(_, later)| later.contains(&&*call.name));
    // The one call answers three functions, of which fstat alone is given a descriptor.
    let is_fitting = call.name != "newfstatat" || (of == "fstat") == (call.on == "descriptor");
    // A process that its parent waits for is a spawn.
    let is_fork = || {
        of == FORK && FORKS.contains(&&*call.name) && !["thread", "process, waited for"].contains(&&*call.on)
    };
    call.name == of || is_later && is_fitting || is_fork()
}

/// Calls that transfer bytes which nobody counts.
const UNCOUNTED: &[&str] = &[
    "sendmmsg",
    "recvmmsg",
    "io_uring_setup",
    "io_uring_enter",
    "io_submit",
    "process_vm_readv",
    "process_vm_writev",
];
/// Calls that transfer what an argument says. Of others that have a size there it is a length of memory, or of a file.
const GIVEN: &[&str] = &["msgsnd", "mq_timedsend"];

/// Whether the bytes of a call were transferred.
fn transfers(call: &Call) -> bool {
    let by_result = |name: &str| RULES.iter().any(|it| it.name == name && matches!(it.size, Size::Result));
    GIVEN.contains(&&*call.name) || by_result(&call.name)
}

impl BudgetBound {
    /// Reads "calls<=1200"; `is_call` says what a call is named.
    ///
    /// # Errors
    /// What is wrong with it, and what could be typed.
    pub fn parse(text: &str, is_call: impl Fn(&str) -> bool) -> Result<Self, String> {
        let form = "type NAME<=NUMBER, with <=, <, =, > or >=";
        let found = SIGNS.iter().filter_map(|(sign, holds)| Some((text.find(sign)?, *sign, *holds)));
        // Where two signs begin at one place the longer one was meant.
        let (at, sign, holds) =
            found.min_by_key(|(at, sign, _)| (*at, 2 - sign.len())).ok_or_else(|| form.to_owned())?;
        let (of, number) = (text[..at].trim(), text[at + sign.len()..].trim());
        let number =
            number.replace('_', "").parse().map_err(|_| format!("'{number}' is no number: {form}"))?;
        // Some processors have the later calls alone.
        let is_older = || of == FORK || LATER.iter().any(|(name, _)| *name == of);
        if !TOTALS.iter().any(|(name, _)| *name == of) && !is_call(of) && !is_older() {
            let known: Vec<&str> = TOTALS.iter().map(|(name, _)| *name).collect();
            return Err(format!("'{of}' is neither a system call nor one of {}", known.join(", ")));
        }
        Ok(Self { asked: text.to_owned(), of: of.to_owned(), holds, number })
    }

    /// What the free run had of it: counting adds faults and switches of its own.
    fn of_free(&self, bill: &Bill) -> Option<u64> {
        let free = bill.free.filter(|_| ["faults", "major_faults", "switches"].contains(&&*self.of))?;
        let seen = Counted { faults: free.faults, switches: free.switches, ..Counted::default() };
        Some(self.counted(&seen))
    }

    fn counted(&self, one: &Counted) -> u64 {
        match TOTALS.iter().find(|(name, _)| *name == self.of) {
            Some((_, count)) => count(one),
            None => one.calls.iter().filter(|call| is_meant(&self.of, call)).map(|call| call.times).sum(),
        }
    }

    fn holds(&self, counted: u64) -> bool {
        match self.holds {
            Holds::AtMost => counted <= self.number,
            Holds::Below => counted < self.number,
            Holds::Equal => counted == self.number,
            Holds::AtLeast => counted >= self.number,
            Holds::Above => counted > self.number,
        }
    }

    /// Whether more, which nobody counted, could only break it.
    fn is_upper(&self) -> bool {
        matches!(self.holds, Holds::AtMost | Holds::Below | Holds::Equal)
    }

    /// Whether the run was counted without some of it: what the usage of children would have that nobody waited for, what calls of
    /// the 32-bit ABI were, or what calls transferred that tell it nowhere.
    fn is_lacked_by(&self, one: &Counted) -> bool {
        let of = &*self.of;
        let is_by_name = of == "bytes" || !TOTALS.iter().any(|(name, _)| *name == of);
        match ["faults", "major_faults", "switches"].contains(&of) {
            true => one.unwaited.is_some(),
            false => one.calls.iter().any(|call| {
                let is_untold = of == "bytes" && UNCOUNTED.contains(&&*call.name);
                is_untold || is_by_name && call.name == A_32_BIT_CALL
            }),
        }
    }

    /// Holds it against every run of a bill.
    #[must_use]
    pub fn judge(&self, bill: &Bill) -> Budget {
        let is_whole = |one: &Counted| match one.ended {
            Ended::CutShort => false,
            // One that ran anyway is counted for the time that was asked for, from its middle on, and may go on.
            _ if bill.pid.is_some() => true,
            Ended::Running => false,
            _ => one.complete,
        };
        let is_alike = |one: &Counted| one.free_ended.is_none_or(|free| free == one.ended);
        let whole = |one: &Counted| is_whole(one) && is_alike(one) && !self.is_lacked_by(one);
        // Of a run that was not counted whole, what was counted may break an upper bound, or keep a lower one.
        let kept = |count: u64, is_whole: bool| match (self.holds(count), is_whole) {
            (held, true) => Some(held),
            (false, false) if self.is_upper() && count > self.number => Some(false),
            (true, false) if !self.is_upper() => Some(true),
            _ => None,
        };
        let of_free = self.of_free(bill);
        let count = |one: &Counted| {
            let count = of_free.unwrap_or_else(|| self.counted(one));
            (count, kept(count, whole(one)))
        };
        let runs: Vec<(u64, Option<bool>)> = bill.counted.iter().map(count).collect();
        let any = |kept: Option<bool>| runs.iter().any(|(_, one)| *one == kept);
        let kept = if any(Some(false)) {
            Some(false)
        } else if runs.is_empty() || any(None) {
            None
        } else {
            Some(true)
        };
        // The count that decided, and of several the one that is furthest off.
        let decided = runs.iter().filter(|(_, one)| *one == kept).map(|(count, _)| *count);
        let counted = match self.holds {
            Holds::AtMost | Holds::Below => decided.max(),
            Holds::Equal => decided.max_by_key(|count| count.abs_diff(self.number)),
            Holds::AtLeast | Holds::Above => decided.min(),
        };
        let counted = counted.unwrap_or(0);
        Budget { asked: self.asked.clone(), counted, kept }
    }
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::{FaultCount as Faults, RunUsage};

    use super::*;

    fn bound(text: &str) -> Result<BudgetBound, String> {
        BudgetBound::parse(text, |name| ["semop", "read"].contains(&name))
    }

    fn run(semops: u64, complete: bool) -> Counted {
        let call = |name: &str, times, slept| Call { name: name.to_owned(), times, slept, ..Call::default() };
        Counted {
            calls: vec![call("semop", semops, false), call("read", 5, true)],
            faults: Faults { minor: 7, major: 1 },
            complete,
            ended: Ended::Exited(0),
            ..Counted::default()
        }
    }

    fn kept(text: &str, runs: &[Counted]) -> (u64, Option<bool>) {
        let judged = bound(text).expect("a bound").judge(&Bill { counted: runs.to_vec(), ..Bill::default() });
        (judged.counted, judged.kept)
    }

    #[test]
    fn bounds_are_exact() {
        let one = [run(3, true)];
        for (text, expected) in [
            ("calls<=8", (8, Some(true))),
            ("calls<8", (8, Some(false))),
            ("semop=0", (3, Some(false))),
            ("semop = 3", (3, Some(true))),
            ("semop==3", (3, Some(true))),
            ("sleeps<=4", (5, Some(false))),
            ("faults<=1_000", (8, Some(true))),
            ("major_faults>0", (1, Some(true))),
            ("read>=6", (5, Some(false))),
        ] {
            assert_eq!(kept(text, &one), expected, "{text}");
        }
    }

    /// A program that mapped 1 GiB and read 100 bytes broke a budget of 1 MB.
    #[test]
    fn bytes_are_those_that_were_transferred() {
        let of = |name: &str, bytes| Call { name: name.to_owned(), times: 1, bytes, ..Call::default() };
        let mut one = run(0, true);
        let lengths = ["mmap", "munmap", "mprotect", "mremap", "madvise", "mlock", "msync", "ftruncate"];
        one.calls.extend(lengths.map(|name| of(name, 1 << 30)));
        one.calls.extend([of("read", 100), of("msgsnd", 8), of("msgrcv", 8), of("mq_timedsend", 4)]);
        assert_eq!(kept("bytes<=120", &[one]), (120, Some(true)));
    }

    /// The libc makes another call of a function than its name says: `semop=0` never failed.
    #[test]
    fn a_bound_on_an_older_call_is_one_on_what_libc_makes_of_it() {
        let mut one = run(3, true);
        let of = |name: &str, on: &str, times| Call {
            name: name.to_owned(),
            on: on.to_owned(),
            times,
            ..Call::default()
        };
        one.calls.extend([of("semtimedop", "", 4), of("openat", "", 2)]);
        one.calls.extend([of("clone", "process", 5), of("clone3", "thread", 9), of("vfork", "", 1)]);
        one.calls.extend([of("clone3", "process, waited for", 7)]);
        one.calls.extend([of("newfstatat", "", 8), of("newfstatat", "descriptor", 6)]);
        let one = [one];
        for (text, count) in [
            ("semop=0", 7),
            ("semtimedop=0", 4),
            ("open=0", 2),
            ("fork=0", 5),
            ("read=0", 5),
            ("stat=0", 8),
            ("fstat=0", 6),
        ] {
            let known = BudgetBound::parse(text, |name| ["semop", "semtimedop", "read"].contains(&name));
            let judged = known.expect("a bound").judge(&Bill { counted: one.to_vec(), ..Bill::default() });
            assert_eq!((judged.counted, judged.kept), (count, Some(false)), "{text}");
        }
        assert!(bound("opens=0").is_err());
    }

    #[test]
    fn bytes_beside_calls_that_do_not_tell_theirs_may_be_more() {
        let mut one = run(0, true);
        one.calls.push(Call { name: "sendmmsg".to_owned(), times: 1, ..Call::default() });
        assert_eq!(kept("bytes<=120", &[one.clone()]), (0, None));
        assert_eq!(kept("calls<=6", &[one]), (6, Some(true)));
    }

    /// Counting adds faults and switches, and a program that runs anyway is counted for as long as was asked.
    #[test]
    fn faults_are_those_of_the_free_run_and_a_program_that_goes_on_is_judged() {
        let judged = |text: &str, bill: Bill| bound(text).expect("a bound").judge(&bill).kept;
        let free = RunUsage { faults: Faults { minor: 5, major: 0 }, ..RunUsage::default() };
        let bill = Bill { free: Some(free), counted: vec![run(3, true)], ..Bill::default() };
        assert_eq!(judged("faults<=5", bill.clone()), Some(true));
        assert_eq!(judged("faults<=4", bill.clone()), Some(false));
        assert_eq!(judged("faults<=5", Bill { free: None, ..bill }), Some(false));
        let of = |ended, pid| {
            let one = Counted { ended, ..run(3, false) };
            judged("semop<=3", Bill { pid, counted: vec![one], ..Bill::default() })
        };
        assert_eq!((of(Ended::Running, Some(7)), of(Ended::CutShort, Some(7))), (Some(true), None));
        assert_eq!(of(Ended::Running, None), None, "it is traced no more");
    }

    #[test]
    fn the_worst_of_several_runs_decides() {
        let two = [run(3, true), run(9, true)];
        assert_eq!(kept("semop<=5", &two), (9, Some(false)));
        assert_eq!(kept("semop>=5", &two), (3, Some(false)));
        assert_eq!(kept("semop<=9", &two), (9, Some(true)));
        // The count that breaks it, on whichever side.
        let three = [run(3, true), run(2, true), run(3, true)];
        assert_eq!(kept("semop=3", &three), (2, Some(false)));
        assert_eq!(kept("semop=2", &three), (3, Some(false)));
        // One that was cut short decides nothing.
        assert_eq!(kept("semop=3", &[run(2, true), run(0, false)]), (2, Some(false)));
        assert_eq!(kept("semop>=5", &[run(3, true), run(0, false)]), (3, Some(false)));
    }

    #[test]
    fn what_was_not_counted_whole_breaks_a_bound_or_says_nothing() {
        let part = [run(3, false)];
        assert_eq!(kept("semop<=2", &part), (3, Some(false)));
        assert_eq!(kept("semop<=3", &part), (3, None));
        assert_eq!(kept("semop=3", &part), (3, None));
        assert_eq!(kept("semop>=3", &part), (3, Some(true)));
        assert_eq!(kept("semop>=4", &part), (3, None));
        assert_eq!(kept("semop<=3", &[]), (0, None));
    }

    #[test]
    fn what_a_run_lacks_breaks_a_bound_or_says_nothing() {
        let unwaited = Counted { unwaited: Some(1), ..run(3, true) };
        let of = |one: &Counted, text: &str| kept(text, std::slice::from_ref(one)).1;
        assert_eq!(
            ["faults<=8", "faults<=7", "semop<=3"].map(|it| of(&unwaited, it)),
            [None, Some(false), Some(true)]
        );
        let mut foreign = run(3, true);
        foreign.calls.push(Call { name: A_32_BIT_CALL.to_owned(), times: 1, ..Call::default() });
        assert_eq!(
            ["semop<=3", "bytes<=9", "calls<=9", "faults<=8"].map(|it| of(&foreign, it)),
            [None, None, Some(true), Some(true)]
        );
    }

    /// A budget was kept by a run that failed at once, after a free one that did all.
    #[test]
    fn a_run_that_ends_otherwise_than_the_free_one_breaks_a_bound_or_says_nothing() {
        let of = |free, text: &str| kept(text, &[Counted { free_ended: Some(free), ..run(3, true) }]).1;
        let other =
            ["semop<=3", "semop<=2", "semop>=3", "semop>=4", "faults<=8"].map(|it| of(Ended::Exited(1), it));
        assert_eq!(other, [None, Some(false), Some(true), None, None]);
        assert_eq!(of(Ended::Exited(0), "semop<=3"), Some(true));
    }

    #[test]
    fn what_is_no_bound_says_what_is() {
        for (text, words) in [
            ("calls", "type NAME<=NUMBER"),
            ("calls<=many", "'many' is no number"),
            ("calls<=-1", "'-1' is no number"),
            ("cals<=1", "'cals' is neither"),
            ("<=1", "'' is neither"),
        ] {
            let wrong = bound(text).expect_err(text);
            assert!(wrong.contains(words), "{wrong}");
        }
    }
}
