//! Layout `fast`: answers, space, refusals, what a killed process leaves.
#![allow(clippy::print_stdout)] // what was killed and what came back is told

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;

use oscost_recorddb::workload::{self, Counts, Kind, Unobserved};
use oscost_recorddb::{Access, Database, Error, Layout, LockWay, Options, Refusal, Store, check, driver};
use oscost_recorddb::{Granularity, Primitive};
use oscost_sys::process::{Child, Signal, signal};
use support::{Directory, alone, plan};

const ACCESSES: [Access; 3] = [Access::SeekRead, Access::Positioned, Access::Mapped];
const MUTEX: LockWay = LockWay::By(Primitive::RobustMutex, Granularity::Fine);

fn options() -> Options {
    Options { layout: Layout::Fast, access: Access::Mapped, lock: MUTEX, create: true, ..Options::default() }
}

#[test]
fn every_way_to_lock_and_to_reach_the_bytes_answers_as_the_book_does() {
    let _alone = alone();
    let book = Directory::new();
    let mut database =
        Database::open(&book.file("db"), &Options { layout: Layout::Book, ..options() }).expect("open");
    let expected = workload::run(&plan(300), &mut database, &mut Unobserved).expect("right").answers();
    for access in ACCESSES {
        for lock in LockWay::ALL {
            let directory = Directory::new();
            let path = directory.file("db");
            let mut database = Database::open(&path, &Options { access, lock, ..options() }).expect("open");
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
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
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
                database.store(&key, &value, Store::Either).expect("store");
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
        database.store(format!("old{number}").as_bytes(), b"", Store::Insert).expect("stored");
    }
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut met = BTreeMap::new();
    let mut number = 0;
    while database.next_record(&mut key, &mut value).expect("next") {
        *met.entry(key.clone()).or_insert(0) += 1;
        // Every record that was met is deleted, and others come.
        assert_eq!(database.delete(&key), Ok(true));
        if number < 500 {
            database.store(format!("new{number}").as_bytes(), b"", Store::Insert).expect("stored");
            number += 1;
        }
    }
    assert!(met.values().all(|times| *times == 1));
    assert_eq!(met.keys().filter(|key| key.starts_with(b"old")).count(), 2000);
}

#[test]
fn space_is_used_again_where_one_inserts_and_another_deletes() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
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
            writer.store(format!("{number}").as_bytes(), &[b'v'; 40], Store::Insert).expect("stored");
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
                let options = Options { layout, access, lock, ..options() };
                let plans: Vec<_> = (0..3).map(|child| workload::Plan { child, ..plan(60) }).collect();
                let done =
                    driver::run(&plans, |_| Database::open(&path, &options), 60_000_000_000).expect("fork");
                let counts = done.into_iter().map(|done| done.expect("every child is right").counts);
                let counts = counts.fold(Counts::default(), |sum, counts| sum.plus(&counts));
                assert!(counts.of(Kind::FetchFound) > 0);
                let report = check(&path, layout).expect("read");
                assert!(report.is_clean(), "{layout:?} {access:?} {}: {report:?}", lock.name());
                assert_eq!(report.records, 0);
            }
        }
    }
}

/// Kills a process at a random moment of its work, again and again. After each, whoever opens the database finds it in
/// order: what was answered is there, and of the operation in flight either all or nothing.
fn kills(count: u32, lock: LockWay) -> String {
    let directory = Directory::new();
    let path = directory.file("db");
    let options = Options { lock, ..options() };
    let words = oscost_sys::memory::SharedWords::new(1).expect("mmap");
    let order = std::sync::atomic::Ordering::SeqCst;
    drop(Database::open(&path, &options).expect("open"));
    let mut state = 12_345u64;
    let (mut recovered, mut lost) = (0, 0);
    // 64 keys. In step s key s % 64 gets the value of step s (a step in three deletes it instead).
    let value_of = |step: u64| format!("{step}:{}", "x".repeat((step * 7 % 60) as usize)).into_bytes();
    let deletes = |step: u64| step % 3 == 2;
    for kill in 0..count {
        let start = words.word(0).load(order);
        let child = Child::fork(|| {
            let Ok(mut database) = Database::open(&path, &options) else { return 1 };
            for step in start.. {
                let key = (step % 64).to_string().into_bytes();
                let done = if deletes(step) {
                    database.delete(&key).is_ok()
                } else {
                    database.store(&key, &value_of(step), Store::Either).is_ok()
                };
                if !done {
                    return 2;
                }
                words.word(0).store(step + 1, order);
            }
            0
        })
        .expect("fork");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        while words.word(0).load(order) < start + 2 && !child.has_ended() {
            std::thread::yield_now();
        }
        let wait = std::time::Instant::now();
        while wait.elapsed().as_nanos() < u128::from((state >> 40) % 1_000_000) {
            std::hint::spin_loop();
        }
        signal(child.pid(), Signal::Kill).expect("kill");
        let ended = child.wait().expect("wait");
        assert_eq!((ended.signal, ended.code), (Some(9), None), "it worked until it was killed");
        let before = check(&path, Layout::Fast).expect("read");
        assert!(before.is_sound(), "kill {kill}: {before:?}");
        lost += before.lost;
        recovered += u32::from(!before.is_clean());
        // Opening recovers.
        let mut database = Database::open(&path, &options).expect("open");
        let step = words.word(0).load(order);
        for key in 0..64 {
            let found = database.fetch(key.to_string().as_bytes()).expect("fetch");
            // The last step that was answered for this key, and the one in flight.
            let answered = (0..step).rev().take(64).find(|step| step % 64 == key);
            let of = |step: Option<u64>| step.filter(|step| !deletes(*step)).map(value_of);
            let in_flight = (step % 64 == key).then_some(step);
            let either = found == of(answered) || in_flight.is_some() && found == of(in_flight);
            assert!(either, "kill {kill}, step {step}, key {key}: {found:?}");
        }
        drop(database);
        let after = check(&path, Layout::Fast).expect("read");
        assert!(after.is_clean(), "kill {kill}: {after:?}");
        // The step in flight is done again.
    }
    format!(
        "{count} kills with {}: all sound and recovered; {recovered} had lost blocks, {lost} in all",
        lock.name()
    )
}

#[test]
fn a_killed_process_costs_at_most_the_operation_in_flight() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::RobustMutex] {
        println!("{}", kills(25, LockWay::By(primitive, Granularity::Fine)));
    }
}

#[test]
#[ignore = "a minute: 1000 kills, with their count"]
fn a_thousand_kills() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::Ofd, Primitive::Flock, Primitive::RobustMutex] {
        println!("{}", kills(250, LockWay::By(primitive, Granularity::Fine)));
    }
}

#[test]
fn survivors_of_a_killed_process_go_on() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::RobustMutex] {
        for granularity in [Granularity::Coarse, Granularity::Fine] {
            let directory = Directory::new();
            let path = directory.file("db");
            let options = Options { lock: LockWay::By(primitive, granularity), ..options() };
            let mut survivor = Database::open(&path, &options).expect("open");
            survivor.store(b"mine", b"1", Store::Insert).expect("stored");
            for _ in 0..10 {
                let child = Child::fork(|| {
                    let Ok(mut database) = Database::open(&path, &options) else { return 1 };
                    for number in 0u32.. {
                        let key = (number % 50).to_string().into_bytes();
                        let stored = database.store(&key, &[b'v'; 30], Store::Either);
                        if stored.is_err() || number % 3 == 0 && database.delete(&key).is_err() {
                            return 2;
                        }
                    }
                    0
                })
                .expect("fork");
                std::thread::sleep(std::time::Duration::from_millis(5));
                signal(child.pid(), Signal::Kill).expect("kill");
                assert_eq!(child.wait().expect("wait").signal, Some(9));
                for number in 0..50 {
                    let key = number.to_string().into_bytes();
                    assert!(survivor.fetch(&key).is_ok());
                    survivor.store(&key, b"survivor", Store::Either).expect("stored");
                }
            }
            assert_eq!(survivor.fetch(b"mine"), Ok(Some(b"1".to_vec())));
            drop(survivor);
            assert!(check(&path, Layout::Fast).expect("read").is_sound());
            // Whoever comes first afterwards takes back what the killed ones had in their hands.
            drop(Database::open(&path, &options).expect("open"));
            let report = check(&path, Layout::Fast).expect("read");
            assert!(report.is_clean(), "{report:?}");
            assert_eq!(report.records, 51);
        }
    }
}

#[test]
fn two_ways_to_lock_do_not_meet() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    let first = Database::open(&path, &options()).expect("open");
    for lock in LockWay::ALL.into_iter().filter(|lock| *lock != MUTEX) {
        let child = Child::fork(|| {
            let expected = Refusal::OtherLockWay { found: "fine_mutex" };
            match Database::open(&path, &Options { lock, ..options() }) {
                Err(Error::Refused(found)) if found == expected => 0,
                _ => 1,
            }
        });
        assert_eq!(child.expect("fork").wait().expect("wait").code, Some(0), "{}", lock.name());
    }
    drop(first);
    // Where nobody has it open, any way will do.
    let fcntl = LockWay::By(Primitive::Fcntl, Granularity::Fine);
    assert!(Database::open(&path, &Options { lock: fcntl, ..options() }).is_ok());
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    drop(Database::open(&path, &options()).expect("open"));
    let file = std::fs::OpenOptions::new().write(true).open(directory.file("db.fast")).expect("open");
    let magic = u64::from_le_bytes(*b"recorddb");
    let open = || Database::open(&path, &Options { create: false, ..options() }).map(drop);
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
}

#[test]
fn a_reader_changes_nothing_and_may_not_store() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    let fcntl = LockWay::By(Primitive::Fcntl, Granularity::Fine);
    let mut writer = Database::open(&path, &Options { lock: fcntl, ..options() }).expect("open");
    writer.store(b"key", b"value", Store::Insert).expect("stored");
    drop(writer);
    let before = std::fs::read(directory.file("db.fast")).expect("read");
    let reading = Options { write: false, create: false, lock: fcntl, ..options() };
    let mut reader = Database::open(&path, &reading).expect("open");
    assert_eq!(reader.fetch(b"key"), Ok(Some(b"value".to_vec())));
    assert_eq!(reader.store(b"key", b"", Store::Either), Err(Error::Refused(Refusal::ReadOnly)));
    assert_eq!(reader.delete(b"key"), Err(Error::Refused(Refusal::ReadOnly)));
    drop(reader);
    assert_eq!(std::fs::read(directory.file("db.fast")).expect("read"), before);
}

/// Whoever shortens a file that is mapped ends those who touch what is gone; nobody is told that a record is not there.
#[test]
fn a_file_that_is_shortened_under_a_process_ends_it() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    for pages in [1, 30, 60, 70, 80] {
        let full = Options { truncate: true, ..options() };
        let mut database = Database::open(&path, &full).expect("open");
        for number in 0..2000 {
            database.store(number.to_string().as_bytes(), &[b'v'; 40], Store::Insert).expect("stored");
        }
        // It is never dropped: that would touch the file, and end the test instead of the child.
        let mut database = std::mem::ManuallyDrop::new(database);
        // In the middle of a page: the rest of it reads as zeros.
        let file = std::fs::OpenOptions::new().write(true).open(directory.file("db.fast")).expect("open");
        file.set_len(pages * 4096 + 2100).expect("cut");
        let child = Child::fork(|| {
            let reader = &mut database;
            let mut value = Vec::new();
            for number in 0..2000 {
                match reader.fetch_into(number.to_string().as_bytes(), &mut value) {
                    // Told as damage, or as it was.
                    Err(Error::Damaged(_) | Error::Call(_)) => {}
                    Ok(true) if value == [b'v'; 40] => {}
                    Ok(true) => return 1,
                    Ok(false) => return 2,
                    Err(_) => return 3,
                }
            }
            0
        })
        .expect("fork");
        let ended = child.wait().expect("wait");
        assert_eq!(ended.signal, Some(7), "SIGBUS, {pages} pages: {:?}", ended.code);
        drop(file);
        std::fs::remove_file(directory.file("db.fast")).expect("removed");
    }
}

/// A file that was cut off anywhere: opening or a fetch says so, or everything is answered as it was.
#[test]
fn a_cut_file_ends_in_a_clean_error() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    let lock = LockWay::None;
    let mut database = Database::open(&path, &Options { lock, ..options() }).expect("open");
    for number in 0..300 {
        database.store(number.to_string().as_bytes(), &[b'v'; 30], Store::Insert).expect("stored");
    }
    drop(database);
    let name = directory.file("db.fast");
    let whole = std::fs::read(&name).expect("read");
    let used = whole.iter().rposition(|byte| *byte != 0).expect("records");
    let mut seen = 0;
    let lengths: Vec<usize> = (0..=used).step_by(used / 150).collect();
    for &length in &lengths {
        std::fs::write(&name, &whole[..length]).expect("written");
        let mut wrong = !check(&path, Layout::Fast).expect("read").is_sound();
        let reading = Options { lock, access: Access::Positioned, create: false, ..options() };
        match Database::open(&path, &reading) {
            Err(Error::Refused(_) | Error::Damaged(_)) => wrong = true,
            Err(error) => panic!("{length} bytes: {error}"),
            Ok(mut database) => {
                for number in 0..300 {
                    match database.fetch(number.to_string().as_bytes()) {
                        Ok(Some(value)) => assert_eq!(value, [b'v'; 30], "{length} bytes"),
                        Ok(None) => panic!("{length} bytes: {number} is said not to be there"),
                        Err(Error::Damaged(_)) => wrong = true,
                        Err(error) => panic!("{length} bytes: {error}"),
                    }
                }
            }
        }
        seen += usize::from(wrong);
    }
    assert_eq!(seen, lengths.len(), "every cut costs a record, and is seen");
}

/// Words that say where something may be allocated, changed from outside: the checker sees it, and who uses the database all
/// the same gets an error.
#[test]
fn an_allocation_over_what_is_there_is_refused() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    let lock = LockWay::None;
    let mut database = Database::open(&path, &Options { lock, ..options() }).expect("open");
    for number in 0..100 {
        database.store(format!("key{number}").as_bytes(), &[b'v'; 100], Store::Insert).expect("stored");
    }
    drop(database);
    let whole = std::fs::read(directory.file("db.fast")).expect("read");
    // By their places: the end of the chunks, where arenas 0 and 1 allocate, and what is behind that.
    const END: usize = 5;
    const ARENA: usize = 128;
    let word = |at: usize| u64::from_ne_bytes(*whole[at * 8..].first_chunk().expect("a word"));
    let (end, bump) = (word(END), word(ARENA));
    let nobodys = usize::try_from(bump).expect("small") + 9;
    let behind = usize::try_from(end).expect("small") + 5;
    let cases = [
        ("no end", END, 0),
        ("an end between chunks", END, end - 1),
        ("an end within what is no chunk", END, 128),
        ("the largest place", ARENA, u64::MAX),
        ("a place before all chunks", ARENA, 130),
        ("a place in use", ARENA, bump - 30),
        ("one place for two", ARENA + 64, bump),
        ("a word of nobody", nobodys, 7),
        ("a word behind the end", behind, 7),
    ];
    for (what, at, value) in cases {
        let mut bytes = whole.clone();
        bytes.resize(bytes.len().max(behind * 8 + 8), 0);
        bytes[at * 8..at * 8 + 8].copy_from_slice(&u64::to_ne_bytes(value));
        std::fs::write(directory.file("db.fast"), &bytes).expect("written");
        assert!(!check(&path, Layout::Fast).expect("read").is_sound(), "{what}");
        for access in [Access::Mapped, Access::Positioned] {
            let options = Options { lock, access, create: false, ..options() };
            let opened = Database::open(&path, &options);
            if at == END {
                assert!(matches!(opened, Err(Error::Damaged(_))), "{what}");
            }
            let Ok(mut database) = opened else { continue };
            for number in 0..20 {
                match database.store(format!("new{number}").as_bytes(), &[b'n'; 900], Store::Insert) {
                    Ok(_) | Err(Error::Damaged(_)) => {}
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
}

/// A flipped bit is damage, or does not change what is read; no walk hangs, nothing panics.
#[test]
fn flipped_bits_are_found() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    let lock = LockWay::None;
    let mut database = Database::open(&path, &Options { lock, ..options() }).expect("open");
    for number in 0..300 {
        database
            .store(number.to_string().as_bytes(), &vec![b'v'; number % 60], Store::Insert)
            .expect("stored");
        if number % 4 == 0 {
            database.delete(number.to_string().as_bytes()).expect("deleted");
        }
    }
    drop(database);
    let name = directory.file("db.fast");
    let whole = std::fs::read(&name).expect("read");
    let sound = oscost_recorddb::check(&path, Layout::Fast).expect("read");
    assert!(sound.is_clean());
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let (mut damaged, mut untouched) = (0, 0);
    for (flip, at) in used.iter().copied().step_by(7).enumerate() {
        let file = std::fs::OpenOptions::new().write(true).open(&name).expect("open");
        file.write_all_at(&[whole[at] ^ 1 << (flip % 8)], at as u64).expect("written");
        let report = check(&path, Layout::Fast).expect("read");
        let opened = Database::open(&path, &Options { lock, create: false, ..options() });
        let mut wrong = opened.is_err();
        if let Ok(mut database) = opened {
            for number in 0..300 {
                let expected = (number % 4 != 0).then(|| vec![b'v'; number % 60]);
                match database.fetch(number.to_string().as_bytes()) {
                    Ok(found) if found == expected => {}
                    Ok(found) => panic!("byte {at}: {number} is {found:?}"),
                    Err(Error::Damaged(_)) => wrong = true,
                    Err(error) => panic!("byte {at}: {error}"),
                }
            }
        }
        if !report.is_sound() || wrong {
            damaged += 1;
        } else {
            untouched += 1;
        }
        file.write_all_at(&whole, 0).expect("written");
    }
    // Free blocks and the words of nobody are not looked at.
    assert!(damaged > 4 * untouched, "{damaged} damaged, {untouched} not");
}

/// Bytes that nobody wrote: the checkers end, and do not panic.
#[test]
fn checkers_end_whatever_they_are_given() {
    let _alone = alone();
    let directory = Directory::new();
    let path = directory.file("db");
    for layout in [Layout::Fast, Layout::Book] {
        let options = Options { layout, lock: LockWay::None, ..options() };
        let mut database = Database::open(&path, &options).expect("open");
        for number in 0..200 {
            database
                .store(number.to_string().as_bytes(), &vec![b'v'; number % 60 + 1], Store::Insert)
                .expect("stored");
        }
    }
    let read = |name| std::fs::read(directory.file(name)).expect("read");
    let (fast, index, data) = (read("db.fast"), read("db.idx"), read("db.dat"));
    let mut state = 3u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
        usize::try_from(state >> 33).expect("31 bits") % bound
    };
    // Bytes of one place copied over another: pointers to whole records and nodes, in wrong places.
    let mut mutate = |bytes: &[u8], step: usize| {
        let mut bytes = bytes.to_vec();
        for _ in 0..=below(6) {
            let (from, to) = (below(bytes.len() / step) * step, below(bytes.len() / step) * step);
            let length = (step * (1 + below(20))).min(bytes.len() - from.max(to));
            bytes.copy_within(from..from + length, to);
        }
        if below(4) == 0 {
            bytes.truncate(below(bytes.len()));
        }
        bytes
    };
    for _ in 0..300 {
        let _ = oscost_recorddb::check_fast(&mutate(&fast, 8));
    }
    for _ in 0..3000 {
        let _ = oscost_recorddb::check_book(&mutate(&index, 1), &data);
    }
}
