//! Layout `fast`: damaged or forged files give a clean error, never wrong data.

use crate::support;

use std::os::unix::fs::FileExt;
use std::path::Path;

use oscost_recorddb::{Access, Database, DatabaseOptions, Error, Layout, LockWay, StoreMode, check};
use oscost_sys::process::Child;
use support::{fast as options, place};

/// If a mapped file is shortened, a process that touches the missing part dies; none is told that a record does not exist.
#[test]
fn a_file_that_is_shortened_under_a_process_ends_it() {
    let (_alone, directory, path) = place();
    for pages in [1, 30, 60, 70, 80] {
        let full = DatabaseOptions { truncate: true, ..options() };
        let mut database = Database::open(&path, &full).expect("open");
        for number in 0..2000 {
            database.store(number.to_string().as_bytes(), &[b'v'; 40], StoreMode::Insert).expect("stored");
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
                    // Reported as damage, or as it was.
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

/// A database that nobody else uses, filled and closed.
fn fill(path: &Path, with: impl FnOnce(&mut Database)) {
    let mut database =
        Database::open(path, &DatabaseOptions { lock: LockWay::None, ..options() }).expect("open");
    with(&mut database);
}

/// A file that was cut off anywhere: opening or a fetch says so, or everything is answered as it was.
#[test]
fn a_cut_file_ends_in_a_clean_error() {
    let (_alone, directory, path) = place();
    let lock = LockWay::None;
    fill(&path, |database| {
        for number in 0..300 {
            database.store(number.to_string().as_bytes(), &[b'v'; 30], StoreMode::Insert).expect("stored");
        }
    });
    let name = directory.file("db.fast");
    let whole = std::fs::read(&name).expect("read");
    let used = whole.iter().rposition(|byte| *byte != 0).expect("records");
    let mut seen = 0;
    let lengths: Vec<usize> = (0..=used).step_by(used / 150).collect();
    for &length in &lengths {
        std::fs::write(&name, &whole[..length]).expect("written");
        let mut wrong = !check(&path, Layout::Fast).expect("read").is_sound();
        let reading = DatabaseOptions { lock, access: Access::Positioned, create: false, ..options() };
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
    let (_alone, directory, path) = place();
    let lock = LockWay::None;
    fill(&path, |database| {
        for number in 0..100 {
            database
                .store(format!("key{number}").as_bytes(), &[b'v'; 100], StoreMode::Insert)
                .expect("stored");
        }
    });
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
            let options = DatabaseOptions { lock, access, create: false, ..options() };
            let opened = Database::open(&path, &options);
            if at == END {
                assert!(matches!(opened, Err(Error::Damaged(_))), "{what}");
            }
            let Ok(mut database) = opened else { continue };
            for number in 0..20 {
                match database.store(format!("new{number}").as_bytes(), &[b'n'; 900], StoreMode::Insert) {
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
    let (_alone, directory, path) = place();
    let lock = LockWay::None;
    fill(&path, |database| {
        for number in 0..300 {
            database
                .store(number.to_string().as_bytes(), &vec![b'v'; number % 60], StoreMode::Insert)
                .expect("stored");
            if number % 4 == 0 {
                database.delete(number.to_string().as_bytes()).expect("deleted");
            }
        }
    });
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
        let opened = Database::open(&path, &DatabaseOptions { lock, create: false, ..options() });
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
    let (_alone, directory, path) = place();
    for layout in [Layout::Fast, Layout::Book] {
        let options = DatabaseOptions { layout, lock: LockWay::None, ..options() };
        let mut database = Database::open(&path, &options).expect("open");
        for number in 0..200 {
            database
                .store(number.to_string().as_bytes(), &vec![b'v'; number % 60 + 1], StoreMode::Insert)
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
