//! Children whose counts are known, and what becomes of those that fail or hang.

use super::*;
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
    let plan = |child| WorkPlan { workload: Workload::Text, records: 20, seed: 1, child };
    let open = |plan: &WorkPlan| match plan.child {
        2 => Err("there is no such store"),
        child => Ok(Memory { fails: child == 1, ..Memory::default() }),
    };
    let done = run(&[plan(0), plan(1), plan(2)], open, 60_000_000_000).expect("fork");
    let [Ok(right), Err(broken), Err(missing)] = &done[..] else { panic!("{done:?}") };
    let made = right.counts.total();
    assert!(made > 100, "{made}");
    let work = Work { io_calls: made, lock_calls: 2 * made, visits: 5 * made, lock_wait_ns: 3 * made };
    assert_eq!(right.work, work);
    assert!(right.from_to_ns.0 > 0 && right.clock_ns == right.from_to_ns.1 - right.from_to_ns.0);
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
    let words = SharedWords::new(1 + WORDS).expect("mmap");
    let child = Child::fork(|| {
        loop {
            std::thread::yield_now();
        }
    });
    let ended = ended(&words, vec![child.expect("fork")], 1_000_000);
    assert_eq!(ended, [Err("it went on for too long".to_owned())]);
}
