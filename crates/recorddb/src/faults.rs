//! Injects faults through the traits of I/O and locking: the n-th call fails, or moves half of its bytes.

mod planned;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::book::{Book, check, format};
use crate::check::CheckReport;
use crate::error::Error;
use crate::fast;
use crate::lock::{Granularity, Guard};
use crate::options::{Records, StoreMode, Stored};
use planned::{EOPNOTSUPP, Fault, FaultPlan, FaultyLocks, Memory};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDEADLK: i32 = 35;
const ENOLCK: i32 = 37;
const EINTR: i32 = 4;

/// What every run of the workload begins with.
struct World {
    index: Rc<RefCell<Vec<u8>>>,
    data: Rc<RefCell<Vec<u8>>>,
    reads: Rc<RefCell<FaultPlan>>,
    writes: Rc<RefCell<FaultPlan>>,
    locks: FaultyLocks,
}

impl World {
    fn new() -> Self {
        Self {
            index: Rc::new(RefCell::new(format::empty_index())),
            data: Rc::default(),
            reads: Rc::default(),
            writes: Rc::default(),
            locks: FaultyLocks::default(),
        }
    }

    fn book(&self) -> Book<Memory, FaultyLocks> {
        let file = |bytes| Memory::new(bytes, &self.reads, &self.writes);
        let guard = Guard::new(Some(Granularity::Fine), self.locks.clone(), false);
        Book::new(file(&self.index), file(&self.data), guard, true)
    }

    fn fast(&self) -> Box<dyn Records> {
        let file = Memory::new(&self.data, &self.reads, &self.writes);
        fast::open::in_memory(file, Guard::new(Some(Granularity::Fine), self.locks.clone(), false))
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// A short workload with every kind of operation. Ends at the first error, with the key it was about.
fn work(database: &mut dyn Records, model: &mut Model) -> Result<(), (Vec<u8>, Error)> {
    let mut value = Vec::new();
    for step in 0..60u32 {
        // They differ in their first letter: what was read before is not taken for what was not read.
        let number = step * 7 % 13;
        let key = format!("{}key{number}", char::from(b'a' + number as u8)).into_bytes();
        let new = vec![b'a' + (step % 26) as u8; 5 + (step * 5 % 11) as usize];
        let result = match step % 4 {
            0 | 1 => database.store(&key, &new, StoreMode::Either).map(|_| {
                model.insert(key.clone(), new);
            }),
            2 => database.fetch(&key, &mut value).map(|found| {
                assert_eq!(found.then_some(&value), model.get(&key), "a wrong answer");
            }),
            _ => database.delete(&key).map(|deleted| {
                assert_eq!(deleted, model.remove(&key).is_some(), "a wrong answer");
            }),
        };
        result.map_err(|error| (key, error))?;
    }
    Ok(())
}

/// Runs the workload with a fault at its n-th call for every n, and hands each outcome to `judge`. How many there were.
fn sweep(
    open: impl Fn(&World) -> Box<dyn Records>,
    plan: impl Fn(&World) -> Rc<RefCell<FaultPlan>>,
    fault: Fault,
    for_good: bool,
    mut judge: impl FnMut(&World, &Model, Option<(Vec<u8>, Error)>),
) -> u64 {
    for at in 1.. {
        let world = World::new();
        let mut database = open(&world);
        *plan(&world).borrow_mut() = FaultPlan { at: Some((at, fault)), for_good, ..FaultPlan::default() };
        let mut model = Model::new();
        let failed = work(&mut *database, &mut model).err();
        let happened = plan(&world).borrow().happened;
        assert!(world.locks.held.borrow().is_empty(), "locks are left: {:?}", world.locks.held);
        *plan(&world).borrow_mut() = FaultPlan::default();
        drop(database);
        if !happened {
            assert_eq!(failed, None);
            return at - 1;
        }
        judge(&world, &model, failed);
        // Whatever happened: every other record is there, and the store goes on.
    }
    unreachable!("some workload has no n-th call")
}

fn book(world: &World) -> Box<dyn Records> {
    Box::new(world.book())
}

fn report(world: &World) -> CheckReport {
    check::check(&world.index.borrow(), &world.data.borrow())
}

/// Every record but that of the failed operation is there.
fn others_are_there(database: &mut dyn Records, model: &Model, failed: Option<&[u8]>) {
    let mut value = Vec::new();
    for (key, expected) in model.iter().filter(|(key, _)| Some(key.as_slice()) != failed) {
        assert_eq!(database.fetch(key, &mut value), Ok(true), "{}", String::from_utf8_lossy(key));
        assert_eq!(value, *expected);
    }
}

#[test]
fn book_goes_on_after_signals_and_short_calls() {
    let reads = |world: &World| Rc::clone(&world.reads);
    let writes = |world: &World| Rc::clone(&world.writes);
    let locks = |world: &World| Rc::clone(&world.locks.plan);
    let judge = |world: &World, model: &Model, failed: Option<(Vec<u8>, Error)>| {
        assert_eq!(failed, None);
        assert!(report(world).is_clean(), "{:?}", report(world));
        others_are_there(&mut world.book(), model, None);
    };
    assert!(sweep(book, reads, Fault::Error(EINTR), false, judge) > 100);
    assert!(sweep(book, reads, Fault::Short, false, judge) > 100);
    assert!(sweep(book, writes, Fault::Error(EINTR), false, judge) > 100);
    assert!(sweep(book, writes, Fault::Short, false, judge) > 100);
    assert!(sweep(book, locks, Fault::Error(EINTR), false, judge) > 60);
    let unlocks = |world: &World| Rc::clone(&world.locks.unlocks);
    assert!(sweep(book, unlocks, Fault::Error(EINTR), false, judge) > 60);
}

#[test]
fn book_tells_every_error_and_costs_no_other_record() {
    let reads = |world: &World| Rc::clone(&world.reads);
    let locks = |world: &World| Rc::clone(&world.locks.plan);
    let expect = |errno: i32| {
        move |world: &World, model: &Model, failed: Option<(Vec<u8>, Error)>| {
            let (key, error) = failed.expect("an error is reported");
            assert!(matches!(error, Error::Call(call) if call.errno == errno), "{error}");
            // What failed on its way may be half done: space may be lost, and nothing is damaged.
            assert!(report(world).is_sound(), "{:?}", report(world));
            others_are_there(&mut world.book(), model, Some(&key));
        }
    };
    assert!(sweep(book, locks, Fault::Error(ENOLCK), false, expect(ENOLCK)) > 60);
    assert!(sweep(book, locks, Fault::Error(EDEADLK), false, expect(EDEADLK)) > 60);
    // Where the free list cannot be given back, an insertion ends with a record in its hands.
    let unlocks = |world: &World| Rc::clone(&world.locks.unlocks);
    let in_hands = "a deleted record that is not on the free list";
    let reported = sweep(book, unlocks, Fault::Error(ENOLCK), false, |world, model, failed| {
        let (key, error) = failed.expect("an error is reported");
        assert!(matches!(error, Error::Call(call) if call.errno == ENOLCK), "{error}");
        assert!(report(world).damages.iter().all(|damage| damage.what == in_hands), "{:?}", report(world));
        others_are_there(&mut world.book(), model, Some(&key));
    });
    assert!(reported > 60);
    // A read that fails comes before what its operation writes, but in a deletion, which blanks the value first.
    sweep(book, reads, Fault::Error(EIO), false, |world, model, failed| {
        let (key, error) = failed.expect("an error is reported");
        assert!(matches!(error, Error::Call(call) if call.errno == EIO), "{error}");
        assert!(report(world).is_sound(), "{:?}", report(world));
        others_are_there(&mut world.book(), model, Some(&key));
    });
}

/// What the disk has no room for is cut off again. Writing over what is there needs none.
#[test]
fn book_on_a_full_disk_is_not_damaged() {
    let writes = |world: &World| Rc::clone(&world.writes);
    let full = sweep(book, writes, Fault::Error(ENOSPC), true, |world, model, failed| {
        if let Some((key, error)) = failed {
            assert!(matches!(error, Error::Call(call) if call.errno == ENOSPC), "{error}");
            others_are_there(&mut world.book(), model, Some(&key));
        }
        assert!(report(world).is_sound(), "{:?}", report(world));
    });
    assert!(full > 100);
}

/// An error in the middle of a deletion or a replacement may damage it: the layout has no recovery. Then the checker says
/// so; and where it says nothing every other record is there.
#[test]
fn book_after_a_failed_write_is_whole_or_seen_to_be_damaged() {
    let writes = |world: &World| Rc::clone(&world.writes);
    let mut damaged = 0;
    let writes = sweep(book, writes, Fault::Error(EIO), false, |world, model, failed| {
        let (key, error) = failed.expect("an error is reported");
        assert!(matches!(error, Error::Call(call) if call.errno == EIO), "{error}");
        if report(world).is_sound() {
            others_are_there(&mut world.book(), model, Some(&key));
        } else {
            damaged += 1;
        }
    });
    assert!(damaged < writes / 2, "{damaged} of {writes}");
}

/// As [`work`], over chunk after chunk: what is left of each is cut into several blocks.
fn work_on_chunks(database: &mut dyn Records, model: &mut Model) -> Result<(), (Vec<u8>, Error)> {
    for step in 0..24u32 {
        let key = format!("large{step}").into_bytes();
        let new = vec![b'a' + (step % 26) as u8; 3000 + 500 * (step % 5) as usize];
        database.store(&key, &new, StoreMode::Either).map_err(|error| (key.clone(), error))?;
        model.insert(key, new);
    }
    Ok(())
}

/// A process that ends between two chunks leaves blocks that are nobody's: they are given to one user, and not to two.
#[test]
fn fast_is_whole_after_an_error_between_two_chunks() {
    for at in 1.. {
        let world = World::new();
        let mut database = world.fast();
        let fault = Some((at, Fault::Error(EIO)));
        *world.writes.borrow_mut() = FaultPlan { at: fault, for_good: true, ..FaultPlan::default() };
        let mut model = Model::new();
        let failed = work_on_chunks(&mut *database, &mut model).err().map(|(key, _)| key);
        let happened = world.writes.borrow().happened;
        *world.writes.borrow_mut() = FaultPlan::default();
        drop(database);
        // Opened again it takes what is free, of all sizes.
        let mut database = world.fast();
        for step in 0..400u32 {
            let key = format!("small{step}").into_bytes();
            let new = vec![b'z'; (step * 37 % 500) as usize];
            assert_eq!(database.store(&key, &new, StoreMode::Insert), Ok(Stored::Inserted { reused: false }));
            model.insert(key, new);
        }
        others_are_there(&mut *database, &model, failed.as_deref());
        drop(database);
        let found = fast::check::check(&world.data.borrow());
        assert!(found.is_sound(), "call {at}: {found:?}");
        if !happened {
            assert!(at > 100, "{at} calls");
            return;
        }
    }
}

/// Layout `fast` costs nobody anything, whatever call fails: not even the failed operation's key changes in part.
#[test]
fn fast_is_whole_after_any_error() {
    let open = |world: &World| world.fast();
    let reads = |world: &World| Rc::clone(&world.reads);
    let writes = |world: &World| Rc::clone(&world.writes);
    let locks = |world: &World| Rc::clone(&world.locks.plan);
    let judge = |world: &World, model: &Model, failed: Option<(Vec<u8>, Error)>| {
        let found = fast::check::check(&world.data.borrow());
        assert!(found.is_sound(), "{found:?}");
        let key = failed.map(|(key, error)| {
            assert!(matches!(error, Error::Call(_)), "{error}");
            key
        });
        others_are_there(&mut *world.fast(), model, key.as_deref());
        // Opening recovered what was lost.
        let found = fast::check::check(&world.data.borrow());
        assert_eq!((found.lost, found.damages.len()), (0, 0), "{found:?}");
    };
    for errno in [EIO, ENOSPC, EINTR] {
        assert!(sweep(open, writes, Fault::Error(errno), errno == ENOSPC, judge) > 100);
    }
    assert!(sweep(open, reads, Fault::Error(EIO), false, judge) > 100);
    for fault in [Fault::Short, Fault::Error(EINTR)] {
        assert!(sweep(open, reads, fault, false, judge) > 100);
    }
    assert!(sweep(open, writes, Fault::Short, false, judge) > 100);
    for errno in [ENOLCK, EDEADLK, EINTR] {
        assert!(sweep(open, locks, Fault::Error(errno), false, judge) > 60);
    }
    let unlocks = |world: &World| Rc::clone(&world.locks.unlocks);
    for errno in [ENOLCK, EINTR] {
        assert!(sweep(open, unlocks, Fault::Error(errno), false, judge) > 60);
    }
}

/// Whoever ends without an error gives its arena back: nothing is recovered. After an error it is kept for the next to recover.
#[test]
fn an_arena_is_given_back_by_who_lost_nothing() {
    let in_use = |fault: Option<(u64, Fault)>| {
        let world = World::new();
        let mut database = world.fast();
        *world.writes.borrow_mut() = FaultPlan { at: fault, ..FaultPlan::default() };
        let failed = work(&mut *database, &mut Model::new()).is_err();
        *world.writes.borrow_mut() = FaultPlan::default();
        drop(database);
        let at = 8 * (fast::format::arena(0) + fast::format::ARENA_IN_USE) as usize;
        (failed, world.data.borrow()[at])
    };
    assert_eq!(in_use(None), (false, 0));
    assert_eq!(in_use(Some((9, Fault::Error(EIO)))), (true, 1));
}

/// Where a file system makes no room, zeros are written; where the disk has no room for more than is needed, that is made.
#[test]
fn fast_grows_by_what_is_needed_where_no_more_can_be_had() {
    let least = 8 * fast::format::FIRST_CHUNK as usize;
    for (errno, for_good) in [(EOPNOTSUPP, true), (ENOSPC, false)] {
        let world = World::new();
        let at = Some((1, Fault::Error(errno)));
        *world.writes.borrow_mut() = FaultPlan { at, for_good, ..FaultPlan::default() };
        let mut database = world.fast();
        assert_eq!(world.data.borrow().len(), least, "{errno}");
        let mut model = Model::new();
        assert_eq!(work(&mut *database, &mut model), Ok(()), "{errno}");
        drop(database);
        *world.writes.borrow_mut() = FaultPlan::default();
        others_are_there(&mut *world.fast(), &model, None);
    }
}
