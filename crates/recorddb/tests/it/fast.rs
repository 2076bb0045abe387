//! Layout `fast`: answers, space, refusals.

use crate::support;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use oscost_recorddb::workload::{self, Counts, OperationKind, Unobserved};
use oscost_recorddb::{
    Access, Database, DatabaseOptions, Error, Layout, LockWay, Refusal, StoreMode, check, driver,
};
use oscost_recorddb::{Granularity, Primitive};
use oscost_sys::process::Child;
use oscost_sys::record_lock::{self, LockKind, Owner, Range};
use support::{Directory, MUTEX, alone, fast as options, place, plan};

const ACCESSES: [Access; 3] = [Access::SeekRead, Access::Positioned, Access::Mapped];
#[test]
fn every_way_to_lock_and_to_reach_the_bytes_answers_as_the_book_does() {
    let _alone = alone();
    let book = Directory::new();
    let mut database =
        Database::open(&book.file("db"), &DatabaseOptions { layout: Layout::Book, ..options() })
            .expect("open");
    let expected = workload::run(&plan(300), &mut database, &mut Unobserved).expect("right").answers();
    for access in ACCESSES {
        for lock in LockWay::ALL {
            let directory = Directory::new();
            let path = directory.file("db");
            let mut database =
                Database::open(&path, &DatabaseOptions { access, lock, ..options() }).expect("open");
            let counts = workload::run(&plan(300), &mut database, &mut Unobserved).expect("right");
            assert_eq!(counts.answers(), expected, "{access:?} {}", lock.name());
            let calls = database.counters().locks.total();
            let shared = calls - if lock == LockWay::None { 0 } else { 2 * counts.total() };
            // One lock an operation; a few more for the space that all share, where locking is fine.
            let most = if lock.granularity() == Some(Granularity::Fine) { 200 } else { 0 };
            assert!(shared <= most, "{shared} more calls: {access:?} {}", lock.name());
            drop(database);
            let report = check(&path, Layout::Fast).expect("read");
            assert!(report.is_clean(), "{access:?} {}: {report:?}", lock.name());
            assert_eq!(report.records, 0);
        }
    }
}

#[test]
fn a_map_in_memory_answers_the_same() {
    let (_alone, _directory, path) = place();
    let mut database = Database::open(&path, &options()).expect("open");
    let mut map = BTreeMap::new();
    // Lengths of all size classes, from a seed of its own.
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % bound
    };
    for _ in 0..60_000 {
        let key = format!("{}", below(3000)).into_bytes();
        let longest = if below(50) == 0 { 7001 } else { 90 };
        let value = vec![b'a' + below(26) as u8; below(longest) as usize];
        match below(4) {
            0 => assert_eq!(database.delete(&key).expect("delete"), map.remove(&key).is_some()),
            1 => assert_eq!(database.fetch(&key).expect("fetch").as_ref(), map.get(&key)),
            _ => {
                database.store(&key, &value, StoreMode::Either).expect("store");
                map.insert(key, value);
            }
        }
    }
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut met = BTreeMap::new();
    while database.next_record(&mut key, &mut value).expect("next") {
        assert!(met.insert(key.clone(), value.clone()).is_none(), "met twice");
    }
    assert_eq!(met, map);
    drop(database);
    let report = check(&path, Layout::Fast).expect("read");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.records, map.len() as u64);
}

#[test]
fn a_walk_goes_on_whatever_happens_meanwhile() {
    let _alone = alone();
    let directory = Directory::new();
    let mut database = Database::open(&directory.file("db"), &options()).expect("open");
    for number in 0..2000 {
        database.store(format!("old{number}").as_bytes(), b"", StoreMode::Insert).expect("stored");
    }
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut met = BTreeMap::new();
    let mut number = 0;
    while database.next_record(&mut key, &mut value).expect("next") {
        *met.entry(key.clone()).or_insert(0) += 1;
        // Every record that was met is deleted, and others come.
        assert_eq!(database.delete(&key), Ok(true));
        if number < 500 {
            database.store(format!("new{number}").as_bytes(), b"", StoreMode::Insert).expect("stored");
            number += 1;
        }
    }
    assert!(met.values().all(|times| *times == 1));
    assert_eq!(met.keys().filter(|key| key.starts_with(b"old")).count(), 2000);
}

#[test]
fn space_is_used_again_where_one_inserts_and_another_deletes() {
    let (_alone, directory, path) = place();
    let mut writer = Database::open(&path, &options()).expect("open");
    let run = |from: u32| {
        let child = Child::fork(|| {
            let Ok(mut other) = Database::open(&path, &options()) else { return 1 };
            for number in from..from + 1000 {
                if other.delete(format!("{number}").as_bytes()) != Ok(true) {
                    return 2;
                }
            }
            drop(other);
            0
        });
        assert_eq!(child.expect("fork").wait().expect("wait").code, Some(0));
    };
    let mut size = 0;
    for round in 0..40 {
        for number in round * 1000..(round + 1) * 1000 {
            writer.store(format!("{number}").as_bytes(), &[b'v'; 40], StoreMode::Insert).expect("stored");
        }
        run(round * 1000);
        if round == 19 {
            size = std::fs::metadata(directory.file("db.fast")).expect("there").len();
        }
    }
    let grown = std::fs::metadata(directory.file("db.fast")).expect("there").len();
    assert!(grown <= size, "{size} bytes grew to {grown}");
    drop(writer);
    let report = check(&path, Layout::Fast).expect("read");
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn several_processes_lose_nothing() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::Ofd, Primitive::Flock, Primitive::RobustMutex] {
        for granularity in [Granularity::Coarse, Granularity::Fine] {
            for (layout, access) in [
                (Layout::Fast, Access::Mapped),
                (Layout::Fast, Access::Positioned),
                (Layout::Book, Access::SeekRead),
            ] {
                let directory = Directory::new();
                let path = directory.file("db");
                let lock = LockWay::By(primitive, granularity);
                let options = DatabaseOptions { layout, access, lock, ..options() };
                let plans: Vec<_> = (0..3).map(|child| workload::WorkPlan { child, ..plan(60) }).collect();
                let done =
                    driver::run(&plans, |_| Database::open(&path, &options), 60_000_000_000).expect("fork");
                let counts = done.into_iter().map(|done| done.expect("every child is right").counts);
                let counts = counts.fold(Counts::default(), |sum, counts| sum.plus(&counts));
                assert!(counts.of(OperationKind::FetchFound) > 0);
                let report = check(&path, layout).expect("read");
                assert!(report.is_clean(), "{layout:?} {access:?} {}: {report:?}", lock.name());
                assert_eq!(report.records, 0);
            }
        }
    }
}

#[test]
fn two_ways_to_lock_do_not_meet() {
    let (_alone, _directory, path) = place();
    let first = Database::open(&path, &options()).expect("open");
    for lock in LockWay::ALL.into_iter().filter(|lock| *lock != MUTEX) {
        let child = Child::fork(|| {
            let expected = Refusal::OtherLockWay { found: "fine_mutex" };
            match Database::open(&path, &DatabaseOptions { lock, ..options() }) {
                Err(Error::Refused(found)) if found == expected => 0,
                _ => 1,
            }
        });
        assert_eq!(child.expect("fork").wait().expect("wait").code, Some(0), "{}", lock.name());
    }
    drop(first);
    // Where nobody has it open, any way will do.
    let fcntl = LockWay::By(Primitive::Fcntl, Granularity::Fine);
    assert!(Database::open(&path, &DatabaseOptions { lock: fcntl, ..options() }).is_ok());
}

/// A reader was let in with any way where it was alone, and a writer that came to it with the stored one: it read what was half
/// replaced, and called the database damaged.
#[test]
fn a_reader_uses_the_stored_way_even_where_it_is_alone() {
    let (_alone, _directory, path) = place();
    let fcntl = LockWay::By(Primitive::Fcntl, Granularity::Fine);
    drop(Database::open(&path, &DatabaseOptions { lock: fcntl, ..options() }).expect("open"));
    let reading = |lock| {
        let reader = DatabaseOptions { write: false, create: false, lock, ..options() };
        Database::open(&path, &reader)
    };
    for lock in LockWay::ALL.into_iter().filter(|lock| *lock != fcntl) {
        let refused = Error::Refused(Refusal::OtherLockWay { found: "fine_fcntl" });
        assert_eq!(reading(lock).map(drop), Err(refused), "{}", lock.name());
    }
    let _reader = reading(fcntl).expect("the stored way");
    let writing = |lock| Database::open(&path, &DatabaseOptions { lock, ..options() }).map(drop);
    let flock = LockWay::By(Primitive::Flock, Granularity::Fine);
    let refused = Error::Refused(Refusal::OtherLockWay { found: "fine_fcntl" });
    assert_eq!((writing(flock), writing(fcntl)), (Err(refused), Ok(())));
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let (_alone, directory, path) = place();
    drop(Database::open(&path, &options()).expect("open"));
    let file = std::fs::OpenOptions::new().write(true).open(directory.file("db.fast")).expect("open");
    let magic = u64::from_le_bytes(*b"recorddb");
    let open = || Database::open(&path, &DatabaseOptions { create: false, ..options() }).map(drop);
    file.write_all_at(&magic.swap_bytes().to_ne_bytes(), 0).expect("written");
    assert_eq!(open(), Err(Error::Refused(Refusal::OtherByteOrder)));
    file.write_all_at(&magic.to_ne_bytes(), 0).expect("written");
    file.write_all_at(&2u64.to_ne_bytes(), 8).expect("written");
    assert_eq!(open(), Err(Error::Refused(Refusal::NewerVersion { found: 2, newest: 1 })));
    file.write_all_at(&1u64.to_ne_bytes(), 8).expect("written");
    assert_eq!(open(), Ok(()));
    file.write_all_at(b"something else", 0).expect("written");
    assert_eq!(open(), Err(Error::Refused(Refusal::OtherFile)));
    file.set_len(0).expect("cut");
    assert_eq!(open(), Err(Error::Refused(Refusal::OtherFile)));
    // A word of others is theirs, too, for one who would make a database where there is none.
    std::fs::write(directory.file("db.fast"), b"a letter").expect("written");
    assert_eq!(Database::open(&path, &options()).map(drop), Err(Error::Refused(Refusal::OtherFile)));
    assert_eq!(std::fs::read(directory.file("db.fast")).expect("read"), b"a letter");
}

#[test]
fn a_file_grows_by_as_many_calls_whatever_the_way_to_its_bytes() {
    let _alone = alone();
    let grown = ACCESSES.map(|access| {
        let directory = Directory::new();
        let mut database =
            Database::open(&directory.file("db"), &DatabaseOptions { access, ..options() }).expect("open");
        for number in 0..2000 {
            database.store(format!("{number}").as_bytes(), &[b'v'; 100], StoreMode::Insert).expect("stored");
        }
        database.counters().io.fallocate
    });
    assert!(grown[0] > 0 && grown == [grown[0]; 3], "{grown:?}");
}

#[test]
fn a_database_that_somebody_has_open_is_not_emptied() {
    let (_alone, _directory, path) = place();
    let mut first = Database::open(&path, &options()).expect("open");
    first.store(b"key", b"value", StoreMode::Insert).expect("stored");
    let second = Database::open(&path, &DatabaseOptions { truncate: true, ..options() }).map(drop);
    assert_eq!(second, Err(Error::Refused(Refusal::InUse)));
    assert_eq!(first.fetch(b"key").expect("fetched").as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_reader_changes_nothing_and_may_not_store() {
    let (_alone, directory, path) = place();
    let fcntl = LockWay::By(Primitive::Fcntl, Granularity::Fine);
    let mut writer = Database::open(&path, &DatabaseOptions { lock: fcntl, ..options() }).expect("open");
    writer.store(b"key", b"value", StoreMode::Insert).expect("stored");
    drop(writer);
    let before = std::fs::read(directory.file("db.fast")).expect("read");
    let reading = DatabaseOptions { write: false, create: false, lock: fcntl, ..options() };
    let mut reader = Database::open(&path, &reading).expect("open");
    assert_eq!(reader.fetch(b"key"), Ok(Some(b"value".to_vec())));
    assert_eq!(reader.store(b"key", b"", StoreMode::Either), Err(Error::Refused(Refusal::ReadOnly)));
    assert_eq!(reader.delete(b"key"), Err(Error::Refused(Refusal::ReadOnly)));
    drop(reader);
    assert_eq!(std::fs::read(directory.file("db.fast")).expect("read"), before);
}

/// An operation visits one record where its key's slot holds one. A key has 1 to 1024 bytes.
#[test]
fn a_record_is_one_visit_and_keys_have_their_lengths() {
    let _alone = alone();
    let directory = Directory::new();
    let mut database = Database::open(&directory.file("db"), &options()).expect("open");
    database.store(b"key", b"value", StoreMode::Insert).expect("stored");
    let before = database.counters().visits;
    assert_eq!(database.fetch(b"key"), Ok(Some(b"value".to_vec())));
    assert_eq!(database.counters().visits - before, 1);
    for key in [&b""[..], &[b'k'; 1025]] {
        assert!(matches!(database.store(key, b"", StoreMode::Either), Err(Error::Input(_))), "{key:?}");
        assert!(matches!(database.fetch(key), Err(Error::Input(_))), "{key:?}");
        assert!(matches!(database.delete(key), Err(Error::Input(_))), "{key:?}");
    }
    database.store(&[b'k'; 1024], b"", StoreMode::Insert).expect("stored");
    assert_eq!(database.fetch(&[b'k'; 1024]), Ok(Some(Vec::new())));
}

/// Programs of other builds look at the same bytes: behind every byte of the file one of all who are there, then one an opener.
#[test]
fn who_has_it_open_holds_the_bytes_of_the_format() {
    let (_alone, directory, path) = place();
    let _one = Database::open(&path, &options()).expect("open");
    let file = std::fs::File::open(directory.file("db.fast")).expect("open");
    let held = |count: u64| {
        let byte = |at: u64| Range { start: (1 << 60) + at, length: 1 };
        (0..count)
            .map(|at| {
                let found =
                    record_lock::in_the_way(file.as_fd(), Owner::Description, LockKind::Write, byte(at));
                found.expect("a lock").is_some()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(held(3), [true, true, false]);
    let _two = Database::open(&path, &options()).expect("open");
    assert_eq!(held(4), [true, true, true, false]);
}

/// A mutex lies before the roots of its stripe, in the file itself; flock has a file a lock beside it, or one for all.
#[test]
fn locks_lie_where_the_format_has_them() {
    let (_alone, directory, path) = place();
    let _open = Database::open(&path, &options()).expect("open");
    let bytes = std::fs::read(directory.file("db.fast")).expect("read");
    let words = bytes.as_chunks::<8>().0;
    let is_roots = |words: &[[u8; 8]]| words[0] != [0; 8] && words.iter().all(|word| *word == words[0]);
    let roots = words.windows(8).position(is_roots).expect("a stripe");
    for stripe in 0..1024 {
        let at = roots + 16 * stripe;
        assert!(
            is_roots(&words[at..at + 8]) && words[at - 8..at].iter().any(|word| *word != [0; 8]),
            "{stripe}"
        );
    }
    for (layout, fine) in [(Layout::Fast, 1024 / 16 + 3), (Layout::Book, 137 + 5)] {
        for (granularity, count) in [(Granularity::Coarse, 1), (Granularity::Fine, fine)] {
            let directory = Directory::new();
            let lock = LockWay::By(Primitive::Flock, granularity);
            let options = DatabaseOptions { layout, access: Access::Positioned, lock, ..options() };
            let _open = Database::open(&directory.file("db"), &options).expect("open");
            let files = std::fs::read_dir(directory.file("db.locks")).expect("a folder").count();
            assert_eq!(files, count, "{layout:?} {granularity:?}");
        }
    }
}
