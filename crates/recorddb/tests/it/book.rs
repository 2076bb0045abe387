//! Layout `book` keeps the rules of the book: answers, locking calls, I/O calls.

use crate::support;

use oscost_recorddb::driver::Work;
use oscost_recorddb::workload::{self, Counts, Observer, OperationKind, Unobserved};
use oscost_recorddb::{Access, Database, DatabaseOptions, Error, LockWay, StoreMode, Stored, check};
use oscost_recorddb::{Granularity, Layout, Primitive};
use support::{Directory, plan};

const ACCESSES: [Access; 3] = [Access::SeekRead, Access::Positioned, Access::Mapped];

fn create() -> DatabaseOptions {
    DatabaseOptions { create: true, ..DatabaseOptions::default() }
}

#[test]
fn every_way_to_lock_and_to_reach_the_bytes_answers_alike() {
    let mut first: Option<Counts> = None;
    for access in ACCESSES {
        for lock in LockWay::ALL {
            let directory = Directory::new();
            let path = directory.file("db");
            let options = DatabaseOptions { access, lock, ..create() };
            let mut database = Database::open(&path, &options).expect("open");
            let counts =
                workload::run(&plan(150), &mut database, &mut Unobserved).expect("all answers are right");
            drop(database);
            let expected = first.get_or_insert(counts);
            assert_eq!(counts, *expected, "{access:?} {}", lock.name());
            let report = check(&path, Layout::Book).expect("read");
            // Every record was deleted in the end, and stands on the free list.
            assert!(report.is_clean(), "{access:?} {}: {report:?}", lock.name());
            let written = counts.of(OperationKind::InsertAppended) + counts.of(OperationKind::ReplaceOther);
            assert_eq!((report.records, report.free), (0, written));
        }
    }
}

#[test]
fn the_same_plan_gives_the_same_sequence_and_another_seed_another() {
    let run = |seed| {
        let directory = Directory::new();
        let mut database = Database::open(&directory.file("db"), &create()).expect("open");
        let plan = workload::WorkPlan { seed, ..plan(200) };
        workload::run(&plan, &mut database, &mut Unobserved).expect("right")
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// The counters of the book at 2000 records, and how far ours may be from them: what the reading of the test program
/// explains, in percent. It does not explain look-ups of what is not there.
#[test]
fn the_workload_fits_the_published_counters() {
    let published = [2920, 468, 405, 416, 71, 32_873, 2966, 3388, 422];
    let within = [5, 15, 15, 15, 45, 6, 30, 5, 12];
    let mut sum = [0; 9];
    let seeds = 4;
    for seed in 0..seeds {
        let directory = Directory::new();
        let options = DatabaseOptions { access: Access::Mapped, lock: LockWay::None, ..create() };
        let mut database = Database::open(&directory.file("db"), &options).expect("open");
        let plan = workload::WorkPlan { seed, ..plan(2000) };
        let counts = workload::run(&plan, &mut database, &mut Unobserved).expect("right");
        for (sum, count) in sum.iter_mut().zip(counts.0) {
            *sum += count;
        }
    }
    for (kind, ((sum, published), within)) in
        OperationKind::ALL.iter().zip(sum.iter().zip(published).zip(within))
    {
        let mean = sum / seeds;
        let off = mean.abs_diff(published) * 100;
        assert!(off <= within * published, "{}: {mean}, published {published}", kind.name());
    }
}

/// Operations one by one: what each cost in calls.
struct Costs<'a> {
    database: &'a mut Database,
}

impl Costs<'_> {
    fn of(&mut self, operation: impl FnOnce(&mut Database)) -> Work {
        let before = self.database.counters();
        operation(self.database);
        Work::between(&before, &self.database.counters())
    }
}

#[test]
fn fcntl_calls_of_every_kind_are_those_of_the_book() {
    use StoreMode::{Insert, Replace};
    use Stored::{Inserted, NotFound, Replaced};
    for (granularity, expected) in [
        (Granularity::Coarse, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
        (Granularity::Fine, [8, 4, 8, 2, 2, 2, 2, 4, 2, 2]),
    ] {
        for primitive in [Primitive::Fcntl, Primitive::Ofd, Primitive::Flock, Primitive::RobustMutex] {
            let directory = Directory::new();
            let options = DatabaseOptions { lock: LockWay::By(primitive, granularity), ..create() };
            let mut database = Database::open(&directory.file("db"), &options).expect("open");
            let stored = |database: &mut Database, key: &[u8], value: &[u8], how, expected| {
                assert_eq!(database.store(key, value, how), Ok(expected));
            };
            stored(&mut database, b"gone", b"1234", Insert, Inserted { reused: false });
            assert_eq!(database.delete(b"gone"), Ok(true));
            let mut costs = Costs { database: &mut database };
            let found = [
                costs.of(|db| stored(db, b"key", b"12345", Insert, Inserted { reused: false })),
                costs.of(|db| stored(db, b"back", b"5678", Insert, Inserted { reused: true })),
                costs.of(|db| stored(db, b"key", b"123456", Replace, Replaced { in_place: false })),
                costs.of(|db| stored(db, b"key", b"654321", Replace, Replaced { in_place: true })),
                costs.of(|db| stored(db, b"none", b"1", Replace, NotFound)),
                costs.of(|db| assert_eq!(db.fetch(b"key"), Ok(Some(b"654321".to_vec())))),
                costs.of(|db| assert_eq!(db.fetch(b"none"), Ok(None))),
                costs.of(|db| assert_eq!(db.delete(b"key"), Ok(true))),
                costs.of(|db| assert_eq!(db.delete(b"key"), Ok(false))),
                costs.of(|db| assert_eq!(db.next_record(&mut Vec::new(), &mut Vec::new()), Ok(true))),
            ];
            assert_eq!(found.map(|work| work.lock_calls), expected, "{primitive:?} {granularity:?}");
        }
    }
}

/// Every record visited is lseek, readv, read; a pointer or a value is lseek and one call; so is what is written.
#[test]
fn io_calls_of_every_kind_follow_from_the_records_visited() {
    for (access, visit, other) in [(Access::SeekRead, 3, 2), (Access::Positioned, 2, 1)] {
        let directory = Directory::new();
        let options = DatabaseOptions { access, ..create() };
        let mut database = Database::open(&directory.file("db"), &options).expect("open");
        let mut costs = Costs { database: &mut database };
        // Where an append ends a file: lseek to its end, then one write, for either way.
        let end = 2;
        let mut cost = |accesses: u64, ends: u64, operation: &mut dyn FnMut(&mut Database)| {
            let work = costs.of(operation);
            assert_eq!(work.io_calls, work.visits * visit + accesses * other + ends * end, "{access:?}");
        };
        // Pointers to chain (twice) and free list, head of the chain; data and index appended.
        cost(4, 2, &mut |db| assert!(db.store(b"key", b"12345", StoreMode::Insert).is_ok()));
        // Pointer, value.
        cost(2, 0, &mut |db| assert!(db.fetch(b"key").is_ok()));
        cost(1, 0, &mut |db| assert!(db.fetch(b"none").is_ok()));
        // Pointer; value over value.
        cost(2, 0, &mut |db| assert!(db.store(b"key", b"54321", StoreMode::Replace).is_ok()));
        // Pointer; blank value, free list, blank record, free list again, chain.
        cost(6, 0, &mut |db| assert!(db.delete(b"key").is_ok()));
        // Chain twice, free list, free list again; value, record, chain.
        cost(7, 0, &mut |db| assert!(db.store(b"new", b"12345", StoreMode::Insert).is_ok()));
        // Pointer, deletion, chain; data and index appended; chain.
        cost(8, 2, &mut |db| assert!(db.store(b"new", b"123456", StoreMode::Either).is_ok()));
        assert_eq!(database.fetch(b"new"), Ok(Some(b"123456".to_vec())));
    }
}

/// The kinds that a run reports, and the lock calls that they explain.
#[test]
fn the_lock_calls_of_a_run_are_the_sum_of_its_kinds() {
    #[derive(Default)]
    struct Reported(Counts, u64);
    impl Observer for Reported {
        fn begin(&mut self) {
            self.1 += 1;
        }
        fn end(&mut self, kind: OperationKind) {
            self.0.add(kind);
        }
    }
    for granularity in [Granularity::Coarse, Granularity::Fine] {
        let directory = Directory::new();
        let options = DatabaseOptions { lock: LockWay::By(Primitive::Fcntl, granularity), ..create() };
        let mut database = Database::open(&directory.file("db"), &options).expect("open");
        let before = database.counters();
        let mut reported = Reported::default();
        let counts = workload::run(&plan(300), &mut database, &mut reported).expect("right");
        let calls = database.counters().locks.total() - before.locks.total();
        let of = |kind: OperationKind| match granularity {
            Granularity::Coarse => kind.coarse_lock_calls(),
            Granularity::Fine => kind.fine_lock_calls(),
        };
        assert_eq!(calls, OperationKind::ALL.iter().map(|kind| counts.of(*kind) * of(*kind)).sum::<u64>());
        assert_eq!((reported.0, reported.1), (counts, counts.total()));
    }
}

#[test]
fn next_record_meets_every_record_once() {
    for access in ACCESSES {
        let directory = Directory::new();
        let mut database =
            Database::open(&directory.file("db"), &DatabaseOptions { access, ..create() }).expect("open");
        let mut expected = std::collections::BTreeMap::new();
        for number in 0..300u32 {
            let (key, value) = (format!("key{number}").into_bytes(), vec![b'v'; number as usize % 50 + 1]);
            database.store(&key, &value, StoreMode::Insert).expect("stored");
            if number % 3 == 0 {
                assert_eq!(database.delete(&key), Ok(true));
            } else {
                expected.insert(key, value);
            }
        }
        for _ in 0..2 {
            database.rewind();
            let (mut key, mut value) = (Vec::new(), Vec::new());
            let mut met = std::collections::BTreeMap::new();
            while database.next_record(&mut key, &mut value).expect("next") {
                assert!(met.insert(key.clone(), value.clone()).is_none(), "{key:?} was met twice");
            }
            assert_eq!(met, expected);
        }
    }
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let directory = Directory::new();
    let mut database = Database::open(&directory.file("db"), &create()).expect("open");
    for key in [b"".as_slice(), b"   ", b"a:b", b"a\n", b"a\0", &[b'k'; 1011]] {
        assert!(matches!(database.store(key, b"value", StoreMode::Either), Err(Error::Input(_))), "{key:?}");
        assert!(matches!(database.fetch(key), Err(Error::Input(_))), "{key:?}");
    }
    for value in [b"".as_slice(), &[b'v'; 1024]] {
        assert!(matches!(database.store(b"key", value, StoreMode::Either), Err(Error::Input(_))));
    }
    let (key, value) = ([b'k'; 1010], [b'v'; 1023]);
    assert!(database.store(&key, &value, StoreMode::Insert).is_ok());
    assert_eq!(database.fetch(&key), Ok(Some(value.to_vec())));
}

/// Offsets have 7 digits: the record that would begin behind the last one is refused, and nothing is damaged.
#[test]
fn a_full_file_is_an_error_and_no_damage() {
    for access in [Access::Positioned, Access::Mapped] {
        fill_up(access);
    }
}

fn fill_up(access: Access) {
    let directory = Directory::new();
    let path = directory.file("db");
    let options = DatabaseOptions { access, lock: LockWay::None, ..create() };
    let mut database = Database::open(&path, &options).expect("open");
    let value = [b'v'; 1023];
    let mut stored = 0;
    let error = loop {
        match database.store(format!("key{stored}").as_bytes(), &value, StoreMode::Insert) {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 20_000, "it ends");
    };
    assert!(matches!(error, Error::Full(_)), "{error}");
    // 10 000 000 offsets for values of 1024 bytes.
    assert_eq!(stored, 9766);
    assert_eq!(database.fetch(b"key9765"), Ok(Some(value.to_vec())));
    drop(database);
    let report = check(&path, Layout::Book).expect("read");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.records, 9766);
}

/// The umask takes from the permissions of a database what it takes from those of any file.
#[test]
fn a_database_has_the_permissions_of_any_file_that_is_made_so() {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let directory = Directory::new();
    let mode = |name: &str| std::fs::metadata(directory.file(name)).expect("made").permissions().mode();
    drop(Database::open(&directory.file("db"), &DatabaseOptions { mode: 0o666, ..create() }).expect("open"));
    let mut any = std::fs::OpenOptions::new();
    any.write(true).create_new(true).mode(0o666).open(directory.file("any")).expect("open");
    assert_eq!([mode("db.idx"), mode("db.dat")], [mode("any"); 2]);
}

/// An index is numbers between blanks up to the end of its line; one that is none makes it another file.
#[test]
fn an_index_with_one_wrong_pointer_is_another_file() {
    let directory = Directory::new();
    let path = directory.file("db");
    drop(Database::open(&path, &create()).expect("open"));
    let mut index = std::fs::read(directory.file("db.idx")).expect("read");
    index[10] = b'x';
    std::fs::write(directory.file("db.idx"), index).expect("written");
    let again = Database::open(&path, &DatabaseOptions::default()).map(drop);
    assert_eq!(again, Err(Error::Refused(oscost_recorddb::Refusal::OtherFile)));
}
