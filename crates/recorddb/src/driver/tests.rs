//! Children whose counts are known, and what becomes of those that fail or hang.

use std::sync::atomic::AtomicU64;

use super::*;
use crate::between::tests::{gaps, has_others, seen};
use crate::open::tests::alone;
use crate::options::{StoreMode, Stored};
use crate::workload::Workload;

/// A map in memory that counts one call of I/O, two locks, five visits and 3 ns an operation; one that fails, at once.
#[derive(Default)]
struct Memory {
    right: crate::workload::tests::Memory,
    operations: u64,
    fails: bool,
}

impl Target for Memory {
    type Error = &'static str;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, &'static str> {
        self.operations += 1;
        self.right.fetch(key, value)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, &'static str> {
        self.operations += 1;
        if self.fails {
            return Err("the store of this child broke at its first record");
        }
        self.right.store(key, value, how)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, &'static str> {
        self.operations += 1;
        self.right.delete(key)
    }
}

impl CountsCalls for Memory {
    fn counters(&self) -> Counters {
        let mut counters = Counters { visits: 5 * self.operations, ..Counters::default() };
        counters.io.read = self.operations;
        (counters.locks.lock, counters.locks.unlock) = (self.operations, self.operations);
        counters.locks.wait_ns = 3 * self.operations;
        counters
    }
}

#[test]
fn each_child_tells_what_it_did_or_why_it_failed() {
    let _alone = alone();
    let plan = |child| WorkPlan { workload: Workload::Text, records: 20, seed: 1, child };
    let open = |plan: &WorkPlan| match plan.child {
        2 => Err("there is no such store"),
        child => Ok(Memory { fails: child == 1, ..Memory::default() }),
    };
    let before = now_ns();
    let done = run(&[plan(0), plan(1), plan(2)], open, 60_000_000_000).expect("fork");
    let after = now_ns();
    let [Ok(right), Err(broken), Err(missing)] = &done[..] else { panic!("{done:?}") };
    let made = right.counts.total();
    assert!(made > 100, "{made}");
    let work = Work { io_calls: made, lock_calls: 2 * made, visits: 5 * made, lock_wait_ns: 3 * made };
    assert_eq!(right.work, work);
    assert!(right.from_to_ns.0 > 0 && right.clock_ns == right.from_to_ns.1 - right.from_to_ns.0);
    assert!(before <= right.from_to_ns.0 && right.from_to_ns.1 <= after);
    assert!(right.moved.is_some());
    assert_eq!(broken, "the store of this child broke at its first record");
    assert_eq!(missing, "there is no such store");
}

#[test]
fn what_a_child_writes_down_is_what_is_read() {
    let words = SharedWords::new(1 + WORDS).expect("mmap");
    let own = Own { words: &words, first: 1 };
    let used = Usage {
        user_ns: 1,
        system_ns: 2,
        voluntary_switches: 3,
        involuntary_switches: 4,
        minor_faults: 5,
        major_faults: 6,
    };
    let work = Work { io_calls: 7, lock_calls: 8, visits: 9, lock_wait_ns: 10 };
    let counts = Counts(std::array::from_fn(|kind| 20 + kind as u64));
    let part = |from_ns, moved| Part { from_ns, clock_ns: 11, used, moved, work, counts };
    for moved in [None, Some(false), Some(true)] {
        own.store(&part(100, moved));
        let expected = Done { counts, work, clock_ns: 11, from_to_ns: (100, 111), usage: used, moved };
        assert_eq!(own.done(), expected);
    }
    let whole = words.word(0).load(Ordering::Relaxed);
    assert_eq!(whole, 0, "the first word is everybody's");
    // A turn that followed is added, and either may have moved.
    own.store(&part(100, Some(true)).then(&part(500, Some(false))));
    let work = Work { io_calls: 14, lock_calls: 16, visits: 18, lock_wait_ns: 20 };
    let mut usage = used;
    usage.add(&used);
    let both = Done {
        counts: counts.plus(&counts),
        work,
        clock_ns: 22,
        from_to_ns: (100, 122),
        usage,
        moved: Some(true),
    };
    assert_eq!(own.done(), both);
}

#[test]
fn who_does_not_end_is_ended_in_time() {
    let _alone = alone();
    let words = SharedWords::new(1 + WORDS).expect("mmap");
    let child = Child::fork(|| {
        loop {
            std::thread::yield_now();
        }
    });
    let ended = ended(&words, vec![child.expect("fork")], 1_000_000);
    assert_eq!(ended, [Err("it went on for too long".to_owned())]);
}

/// What is between two states is what was added, whatever there was before.
#[test]
fn work_is_what_was_added() {
    let counters = |by: u64| {
        let mut counters = Counters { visits: 3 * by, ..Counters::default() };
        (counters.io.read, counters.io.write, counters.locks.lock) = (by, 4 * by, 7 * by);
        (counters.locks.unlock, counters.locks.wait_ns) = (6 * by, 11 * by);
        counters
    };
    let added = Work { io_calls: 10, lock_calls: 26, visits: 6, lock_wait_ns: 22 };
    assert_eq!(Work::between(&counters(5), &counters(7)), added);
}

fn plan(child: u32) -> WorkPlan {
    WorkPlan { workload: Workload::Text, records: 3, seed: 1, child }
}

/// A child knows whether others run beside it.
#[test]
fn a_child_has_others_where_there_are_several() {
    let _alone = alone();
    let open = |_: &WorkPlan| Err::<Memory, _>(if has_others() { "beside others" } else { "alone" });
    let told = |plans: &[WorkPlan]| run(plans, open, 60_000_000_000).expect("fork");
    assert_eq!(told(&[plan(0)]), [Err("alone".to_owned())]);
    assert_eq!(told(&[plan(0), plan(1)]), ["beside others"; 2].map(|text| Err(text.to_owned())));
}

/// A store that says in shared memory when its first operation begins, and when it is closed.
struct Watched<'a> {
    right: Memory,
    begun: &'a AtomicU64,
    closed: &'a AtomicU64,
    dies: bool,
}

impl Target for Watched<'_> {
    type Error = &'static str;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, &'static str> {
        self.right.fetch(key, value)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, &'static str> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        if self.dies {
            std::process::abort();
        }
        self.right.store(key, value, how)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, &'static str> {
        self.right.delete(key)
    }
}

impl CountsCalls for Watched<'_> {}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

/// The first child opens its store for so long as an early start of the others would take; they wait for it, though one has failed.
#[test]
fn nobody_starts_before_all_are_ready() {
    let _alone = alone();
    let words = SharedWords::new(2).expect("mmap");
    let (begun, closed) = (words.word(0), words.word(1));
    let open = |plan: &WorkPlan| {
        if plan.child == 2 {
            return Err("there is no such store");
        }
        let until = now_ns() + 100_000_000;
        while plan.child == 0 && now_ns() < until {
            if begun.load(Ordering::SeqCst) > 0 {
                return Err("another child has begun");
            }
            std::thread::yield_now();
        }
        Ok(Watched { right: Memory::default(), begun, closed, dies: false })
    };
    let done = run(&[plan(0), plan(1), plan(2)], open, 60_000_000_000).expect("fork");
    let failed: Vec<_> = done.iter().map(|done| done.as_ref().err().map(String::as_str)).collect();
    assert_eq!(failed, [None, None, Some("there is no such store")]);
    assert_eq!(closed.load(Ordering::SeqCst), 2);
}

#[test]
fn a_child_that_dies_at_work_has_not_done_it() {
    let _alone = alone();
    let words = SharedWords::new(2).expect("mmap");
    let (begun, closed) = (words.word(0), words.word(1));
    let open = |_: &WorkPlan| Ok::<_, &str>(Watched { right: Memory::default(), begun, closed, dies: true });
    let done = run(&[plan(0)], open, 60_000_000_000).expect("fork");
    assert_eq!(done, [Err("signal 6 ended it".to_owned())]);
}

/// What a turn left is looked at when its store is closed.
#[test]
fn a_turn_is_checked_when_its_store_is_closed() {
    let _alone = alone();
    let words = SharedWords::new(2).expect("mmap");
    let (begun, closed) = (words.word(0), words.word(1));
    let windows = [Window { sequence: Sequence::new(&plan(0)), operations: 2 }];
    // Each way has words of its own, however many there are.
    let turns: Vec<Turn> = (0..60).map(|turn| Turn { window: 0, way: turn % 30 }).collect();
    let opened = AtomicU64::new(0);
    let open = |_| {
        opened.fetch_add(1, Ordering::SeqCst);
        Ok(Watched { right: Memory::default(), begun, closed, dies: false })
    };
    let check = |_| match opened.load(Ordering::SeqCst) == closed.load(Ordering::SeqCst) {
        true => Ok(()),
        false => Err("it is open"),
    };
    let done = run_turns(&windows, (30, &turns), open, check, 60_000_000_000).expect("fork");
    let counts = done.map(|done| done.iter().map(|way| way.counts.total()).collect());
    assert_eq!(counts, Ok(vec![4; 30]));
    assert_eq!((begun.load(Ordering::SeqCst), closed.load(Ordering::SeqCst)), (120, 60));
}

/// A child that may run on one CPU has not moved.
#[test]
fn who_stays_on_a_cpu_has_not_moved() {
    let _alone = alone();
    let open = |_: &WorkPlan| {
        let cpu = affinity::allowed().ok().and_then(|all| all.first().copied()).ok_or("no CPU")?;
        affinity::pin_to(cpu).map(|()| Memory::default()).map_err(|_| "it may not be pinned")
    };
    let done = run(&[plan(0)], open, 60_000_000_000).expect("fork");
    assert_eq!(done[0].as_ref().map(|done| done.moved), Ok(Some(false)));
}

/// The text of a failure is cut where the words of its child end, and those of the next begin.
#[test]
fn a_long_text_is_cut_at_the_words_of_its_child() {
    let words = SharedWords::new(1 + 2 * WORDS).expect("mmap");
    let [own, next] = [0, 1].map(|number| Own { words: &words, first: 1 + number * WORDS });
    assert_eq!((own.told(Ok(())), own.word(STATE).load(Ordering::Relaxed)), (0, 0));
    assert_eq!((own.told(Err("x".repeat(300))), own.word(STATE).load(Ordering::Relaxed)), (1, FAILED));
    assert_eq!(next.word(STATE).load(Ordering::Relaxed), 0);
    next.word(STATE).store(u64::from(b'y'), Ordering::Relaxed);
    assert_eq!(own.text(), "x".repeat(192));
}

/// What lay between the calls of a turn before is no part of the next one.
#[test]
fn a_part_forgets_what_was_seen_before_it() {
    seen([10, 0, 5], 1000, 20.0, 2.0);
    let part = Part::of(&mut Memory::default(), |_| Ok::<_, WorkFailure<&str>>(Counts::default()));
    let part = part.expect("nothing fails");
    assert_eq!((gaps(), part.work, part.counts.total()), (0, Work::default(), 0));
}
