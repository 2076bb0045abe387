//! The bodies of the fuzz targets `database_book` and `database_fast`: files of the record database that anybody may have
//! written. What the checker calls sound can be used in full and stays sound; anything else ends in an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oscost_recorddb::{
    Access, CheckReport, Database, DatabaseOptions, Error, Layout, LockWay, StoreMode, check as check_files,
};

/// A folder of its own in memory, gone when it is dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self(made.expect("a temporary folder"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("db")
    }

    fn put(&self, files: &[(&str, &[u8])]) {
        for (name, bytes) in files {
            std::fs::write(self.0.path().join(name), bytes).expect("written");
        }
    }

    fn is(&self, files: &[(&str, &[u8])]) -> bool {
        files.iter().all(|(name, bytes)| std::fs::read(self.0.path().join(name)).expect("read") == *bytes)
    }
}

/// Index and data of layout `book`: two bytes that say how long the index is, the index, the data.
pub fn check_book(data: &[u8]) {
    let (length, rest) = data.split_at(data.len().min(2));
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let (index, data) = rest.split_at(length.min(rest.len()));
    check(Layout::Book, &[("db.idx", index), ("db.dat", data)], &[Access::SeekRead, Access::Mapped]);
}

/// The file of layout `fast`, as [`unpack`] reads it. It was last locked as the reader locks it: not at all.
pub fn check_fast(data: &[u8]) {
    const LOCK_WAY: usize = 4;
    let mut bytes = unpack(data);
    if let Some(way) = bytes.as_chunks_mut::<8>().0.get_mut(LOCK_WAY) {
        *way = 1u64.to_ne_bytes();
    }
    check(Layout::Fast, &[("db.fast", &bytes)], &[Access::Positioned, Access::Mapped]);
}

fn check(layout: Layout, files: &[(&str, &[u8])], accesses: &[Access]) {
    let folder = Folder::new();
    let path = folder.path();
    folder.put(files);
    let report = check_files(&path, layout).expect("the files are there");
    // No file holds more records than bytes, so no walk is longer.
    let most = files.iter().map(|(_, bytes)| bytes.len()).sum();
    for &access in accesses {
        let reading = DatabaseOptions {
            layout,
            access,
            lock: LockWay::None,
            write: false,
            ..DatabaseOptions::default()
        };
        let records = read(&path, &reading, &report, most);
        assert!(folder.is(files), "who reads writes nothing");
        write(&path, &DatabaseOptions { write: true, ..reading }, &report, records);
        folder.put(files);
    }
}

/// Opens for reading, walks, fetches. The records, if the checker calls the database sound.
fn read(
    path: &Path,
    options: &DatabaseOptions,
    report: &CheckReport,
    most: usize,
) -> Option<BTreeMap<Vec<u8>, Vec<u8>>> {
    let sound = report.is_sound();
    let mut database = match Database::open(path, options) {
        Ok(database) => database,
        Err(error) => {
            assert!(!sound, "{error}: {report:?}");
            return None;
        }
    };
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut met = Vec::new();
    let ended = loop {
        match database.next_record(&mut key, &mut value) {
            Ok(true) => met.push((key.clone(), value.clone())),
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
        assert!(met.len() <= most, "a walk without an end");
    };
    if sound {
        assert_eq!(ended, Ok(()), "{report:?}");
    }
    let mut records = BTreeMap::new();
    for (key, value) in met {
        match database.fetch(&key) {
            Ok(Some(found)) if found == value => drop(records.insert(key, value)),
            // A record that no list leads to is met in the file, and cannot be fetched.
            Ok(_) => assert!(!sound || report.lost > 0, "{key:?} {report:?}"),
            Err(Error::Input(_)) if options.layout == Layout::Book => return None,
            Err(error) => assert!(!sound, "{error}: {report:?}"),
        }
    }
    if sound {
        assert_eq!(records.len() as u64, report.records, "{report:?}");
    }
    for key in [&b"no such key"[..], b"k", &[b'k'; 200]] {
        if let Err(error) = database.fetch(key) {
            assert!(!sound, "{error}: {report:?}");
        }
    }
    sound.then_some(records)
}

/// Opens for writing, which recovers; inserts, replaces and deletes. What was sound is so afterwards, and holds what it should.
fn write(
    path: &Path,
    options: &DatabaseOptions,
    report: &CheckReport,
    records: Option<BTreeMap<Vec<u8>, Vec<u8>>>,
) {
    let sound = records.is_some();
    let mut expected = records.unwrap_or_default();
    let mut database = match Database::open(path, options) {
        Ok(database) => database,
        Err(error) => return assert!(!sound, "{error}: {report:?}"),
    };
    let changes: Vec<(Vec<u8>, Option<Vec<u8>>)> = expected
        .keys()
        .take(3)
        .zip([None, Some(&b"new"[..]), Some(&[b'v'; 90][..])])
        .map(|(key, value)| (key.clone(), value.map(<[u8]>::to_vec)))
        .chain([
            (b"fresh".to_vec(), Some(vec![b'f'; 40])),
            (b"fresh".to_vec(), Some(vec![b'g'; 300])),
            (b"gone".to_vec(), Some(vec![b'h'; 20])),
            (b"gone".to_vec(), None),
            (b"again".to_vec(), Some(vec![b'i'; 20])),
        ])
        .collect();
    for (key, value) in changes {
        let done = match &value {
            Some(value) => database.store(&key, value, StoreMode::Either).map(drop),
            None => database.delete(&key).map(drop),
        };
        match done {
            Ok(()) if value.is_some() => drop(expected.insert(key, value.unwrap_or_default())),
            Ok(()) => drop(expected.remove(&key)),
            Err(Error::Full(_)) if options.layout == Layout::Book => return,
            Err(error) => assert!(!sound, "{error}: {report:?}"),
        }
    }
    if sound {
        for (key, value) in &expected {
            assert_eq!(database.fetch(key).as_ref(), Ok(&Some(value.clone())), "{key:?}: {report:?}");
        }
    }
    drop(database);
    if sound {
        let after = check_files(path, options.layout).expect("the files are there");
        assert!(after.is_sound(), "{:?} after {report:?}", after.damages);
        assert_eq!(after.records, expected.len() as u64, "{after:?} after {report:?}");
    }
}

/// Longest file that is unpacked, words.
const MOST: usize = 1 << 16;
/// Words that one literal holds at most.
const LITERAL: usize = 0xf0;

/// A file of words from a short text of it: a byte below 240 is followed by so many words and one more; any other by a
/// distance and a length of 4 bytes each, little-endian, in words, of what is repeated from before (from zeros at first).
/// What is cut at the end is left out.
fn unpack(mut data: &[u8]) -> Vec<u8> {
    let mut words: Vec<[u8; 8]> = Vec::new();
    while let Some((&kind, rest)) = data.split_first() {
        let number = |at: usize| -> Option<usize> {
            Some(u32::from_le_bytes(*rest.get(at..)?.first_chunk()?) as usize)
        };
        if usize::from(kind) < LITERAL {
            let (whole, _) = rest.as_chunks::<8>();
            let count = whole.len().min(usize::from(kind) + 1);
            words.extend_from_slice(&whole[..count]);
            data = &rest[count * 8..];
            if count <= usize::from(kind) {
                break;
            }
        } else {
            let (Some(distance), Some(length)) = (number(0), number(4)) else { break };
            for _ in 0..length.min(MOST.saturating_sub(words.len())) {
                let from = words.len().checked_sub(distance.max(1));
                words.push(from.map_or([0; 8], |from| words[from]));
            }
            data = &rest[8..];
        }
    }
    words.truncate(MOST);
    // What is left over is no word, and stays at the end of the file.
    words.concat()
}

/// The text of a file from which [`unpack`] makes it.
#[cfg(test)]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let (words, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty() && words.len() <= MOST, "a file of layout fast");
    let mut packed = Vec::new();
    let mut literal: Vec<[u8; 8]> = Vec::new();
    let mut at = 0;
    let flush = |literal: &mut Vec<[u8; 8]>, packed: &mut Vec<u8>| {
        for part in literal.chunks(LITERAL) {
            packed.push(u8::try_from(part.len() - 1).expect("below 240"));
            packed.extend_from_slice(part.as_flattened());
        }
        literal.clear();
    };
    while at < words.len() {
        let before = |at: usize, distance: usize| at.checked_sub(distance).map_or([0; 8], |from| words[from]);
        let run =
            |distance: usize| (at..words.len()).take_while(|at| words[*at] == before(*at, distance)).count();
        // As far as the last word, the last stripe, and the start, which is zeros.
        let (distance, length) = [1, 16, 64]
            .map(|distance| (distance, run(distance)))
            .into_iter()
            .max_by_key(|it| it.1)
            .expect("three");
        if length > 2 {
            flush(&mut literal, &mut packed);
            packed.push(0xff);
            for number in [distance, length] {
                packed.extend_from_slice(&u32::try_from(number).expect("few").to_le_bytes());
            }
            at += length;
        } else {
            literal.push(words[at]);
            at += 1;
        }
    }
    flush(&mut literal, &mut packed);
    assert_eq!(unpack(&packed), bytes);
    packed
}
