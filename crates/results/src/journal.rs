//! The measurements so far, kept in case the run is killed.
//!
//! One record a line: length and CRC-32 of the payload in hexadecimal, then the payload, compact JSON. Reading stops at
//! the first record that is not whole: what stands before it was on the disk before it was begun. A journal is locked by
//! its writer (flock), so that a lock that is free means that the writer is dead, whoever has its pid by now.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::place::{Directory, NewFile, PRIVATE};
use crate::{JournalError, MAX_BYTES, PathError, RunName, Store, finite, store, write_on_one_line};

const ENDING: &str = ".journal";
/// How the name of a journal ends that can become no result.
const ASIDE: &str = ".unusable";

/// The journal of the run that is going on.
pub struct Journal {
    name: RunName,
    path: PathBuf,
    directory: Directory,
    file: Locked,
}

impl Journal {
    /// Begins the journal of a run that starts now. It appears with its header in it, and locked.
    ///
    /// # Errors
    /// The state directory cannot be written: the run goes on without, and says so.
    pub fn create(store: &Store, header: &impl Serialize) -> Result<Self, JournalError> {
        let name = RunName::now().map_err(PathError::of("name a run in", store.directory()))?;
        let line = line(header)?;
        let path = store.directory().join(name.file(ENDING));
        let directory = store.open()?;
        let begin = || {
            let mut new = NewFile::begin(&directory, PRIVATE)?;
            new.file().write_all(&line)?;
            // Before it has its name, so that nobody finds it unlocked while this process lives.
            new.lock()?;
            new.publish(&name.file(ENDING))
        };
        let file = begin().map_err(PathError::of("write", &path))?;
        Ok(Self { name, path, directory, file: Locked(file) })
    }

    /// Name of the run: its result is to be saved under the same.
    #[must_use]
    pub fn name(&self) -> &RunName {
        &self.name
    }

    /// Adds a record, which is on the disk when this returns (fdatasync): for between launches, never within one.
    ///
    /// # Errors
    /// The record is not in the journal; those before it are, and later ones can be.
    pub fn append(&self, record: &impl Serialize) -> Result<(), JournalError> {
        let line = line(record)?;
        let append = |mut file: &File| {
            let before = file.stream_position()?;
            file.write_all(&line).and_then(|()| file.sync_data()).inspect_err(|_| {
                // Half a record would hide those after it. Where even that fails, they are lost with it.
                let _ = file.set_len(before);
                let _ = file.seek(SeekFrom::Start(before));
            })
        };
        Ok(append(&self.file.0).map_err(PathError::of("write", &self.path))?)
    }

    /// Removes the journal: the result is saved.
    ///
    /// # Errors
    /// It stays, and is removed when the next run recovers.
    pub fn finish(self) -> Result<(), JournalError> {
        let file_name = self.name.file(ENDING);
        Ok(self.directory.remove(&file_name).map_err(PathError::of("remove", &self.path))?)
    }
}

/// A file under flock, until this is dropped. Closing it is not enough: a child that was forked meanwhile has it open too.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // What cannot be unlocked is as if this process lived on: it is recovered later.
        let _ = self.0.unlock();
    }
}

/// What a run that was killed had measured.
pub struct Recovered {
    /// Its name: the partial result is to be saved under it.
    pub name: RunName,
    /// Path of the journal.
    pub path: PathBuf,
    /// As given to [`Journal::create`].
    pub header: Value,
    /// Records in the order of their writing, up to the first that is not whole.
    pub records: Vec<Value>,
    left: Left,
}

impl Recovered {
    /// Removes the journal: what it held is saved, or is of no use.
    ///
    /// # Errors
    /// It stays, and will be found again unless its result is saved.
    pub fn finish(self) -> Result<(), JournalError> {
        self.left.remove()
    }

    /// Keeps the journal under another name, where nobody looks for journals: it can become no result, and whoever starts
    /// the program need not be told more than once. Yields what to tell.
    #[must_use]
    pub fn set_aside(self, why: &str) -> JournalError {
        self.left.set_aside(why)
    }
}

/// A journal whose writer is dead.
struct Left {
    name: RunName,
    path: PathBuf,
    directory: Directory,
    /// Keeps others from recovering it at the same time.
    file: Locked,
}

impl Left {
    fn remove(self) -> Result<(), JournalError> {
        let file_name = self.name.file(ENDING);
        Ok(self.directory.remove(&file_name).map_err(PathError::of("remove", &self.path))?)
    }

    fn set_aside(self, why: &str) -> JournalError {
        let aside = self.name.file(ASIDE);
        match self.directory.name_once(&self.name.file(ENDING), &aside) {
            Ok(()) => JournalError::Unusable { path: self.path.with_file_name(aside), why: why.to_owned() },
            Err(error) => PathError::of("rename", &self.path)(error).into(),
        }
    }

    /// What it holds. `None` where that is nothing, or a result was saved after all: then it is removed.
    fn read(self) -> Result<Option<Recovered>, JournalError> {
        let has_result = self.directory.has(&self.name.file(store::ENDING));
        if has_result || self.file.0.metadata().is_ok_and(|file| file.len() == 0) {
            return self.remove().map(|()| None);
        }
        let mut records = match records(&self.file.0) {
            Ok(records) if records.is_empty() => return Err(self.set_aside("its first record is damaged")),
            Ok(records) => records,
            // Whether it is of use is not known: what cannot be read today may be read at the next start.
            Err(error) => return Err(PathError::of("read", &self.path)(error).into()),
        };
        let header = records.remove(0);
        Ok(Some(Recovered { name: self.name.clone(), path: self.path.clone(), header, records, left: self }))
    }
}

/// The journals of runs that were killed, oldest first, each read when its turn comes. Those whose result was saved after all,
/// and those that hold nothing, are removed on the way; a damaged one is an error once, and kept under another name. One that cannot
/// be read is an error, and stays for the next start.
///
/// # Errors
/// The state directory cannot be used.
pub fn recover(store: &Store) -> Result<impl Iterator<Item = Result<Recovered, JournalError>>, JournalError> {
    let directory = store.open()?;
    let names = directory.names().map_err(PathError::of("read", store.directory()))?;
    let mut names: Vec<RunName> = names.iter().filter_map(|name| RunName::of_file(name, ENDING)).collect();
    names.sort();
    let folder = store.directory().to_owned();
    Ok(names.into_iter().filter_map(move |name| {
        let file_name = name.file(ENDING);
        // What cannot be opened or locked has gone, or has a living writer.
        let file = directory.open(&file_name).ok().filter(|file| file.try_lock().is_ok()).map(Locked)?;
        let path = folder.join(&file_name);
        let left = match directory.again() {
            Ok(directory) => Left { name, path, directory, file },
            Err(error) => return Some(Err(PathError::of("use", &folder)(error).into())),
        };
        left.read().transpose()
    }))
}

/// `length crc32 payload`, and the end of the line.
fn line(record: &impl Serialize) -> Result<Vec<u8>, JournalError> {
    if let Some(path) = finite::not_finite(record) {
        return Err(JournalError::Unwritable(format!("{path} is not a finite number")));
    }
    let mut payload = Vec::new();
    write_on_one_line(record, &mut payload).map_err(|error| JournalError::Unwritable(error.to_string()))?;
    let mut line = head(&payload).into_bytes();
    line.extend_from_slice(&payload);
    line.push(b'\n');
    Ok(line)
}

const HEAD_BYTES: usize = "00000000 00000000 ".len();

fn head(payload: &[u8]) -> String {
    format!("{:08x} {:08x} ", payload.len(), crc32fast::hash(payload))
}

/// A launch has more words in a journal than in a result, which puts its rounds together: several times as much is read.
const MOST_BYTES: u64 = 8 * MAX_BYTES;

/// The whole records at the start of a journal.
fn records(file: &File) -> std::io::Result<Vec<Value>> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while let Some((record, behind)) = first_record(rest) {
        records.push(record);
        rest = behind;
    }
    Ok(records)
}

/// The record at the start of `bytes`, and what is behind it.
fn first_record(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let length = usize::from_str_radix(std::str::from_utf8(&head[..8]).ok()?, 16).ok()?;
    let (payload, rest) = rest.split_at_checked(length)?;
    let rest = rest.strip_prefix(b"\n")?;
    // As text: a digit of another case is a damaged one.
    if head != self::head(payload).as_bytes() {
        return None;
    }
    Some((serde_json::from_slice(payload).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use serde_json::json;

    use super::*;
    use crate::{LaunchRecord, from_bytes};

    /// All of them.
    fn recover(store: &Store) -> Vec<Recovered> {
        super::recover(store).unwrap().map(Result::unwrap).collect()
    }

    /// A journal as a killed writer leaves it: its bytes, and where its records end.
    fn left_behind(store: &Store) -> (PathBuf, Vec<u8>, Vec<usize>) {
        let journal = Journal::create(store, &json!({"seed": 7})).unwrap();
        let path = journal.path.clone();
        let length = || fs::metadata(&path).unwrap().len() as usize;
        let mut ends = vec![length()];
        for record in [json!(["clock/monotonic", 21.37]), json!({"text": "line\nbreak"}), json!(null)] {
            journal.append(&record).unwrap();
            ends.push(length());
        }
        drop(journal);
        (path.clone(), fs::read(&path).unwrap(), ends)
    }

    #[test]
    fn a_killed_run_is_recovered_once() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let (path, ..) = left_behind(&store);
        let mut found = recover(&store);
        assert!(recover(&store).is_empty(), "not by two at the same time");
        let found = found.remove(0);
        assert_eq!(found.path, path);
        assert_eq!(found.header, json!({"seed": 7}));
        let expected = [json!(["clock/monotonic", 21.37]), json!({"text": "line\nbreak"}), json!(null)];
        assert_eq!(found.records, expected);
        drop(found);
        assert_eq!(recover(&store).len(), 1, "kept until it is finished");
        recover(&store).remove(0).finish().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    /// Journals hold the rounds of each launch, and results do not.
    #[test]
    fn a_journal_may_be_longer_than_a_result() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let journal = Journal::create(&store, &json!({"seed": 7})).unwrap();
        let half = "x".repeat(MAX_BYTES as usize / 2);
        (0..3).for_each(|_| journal.append(&half).unwrap());
        drop(journal);
        assert_eq!(recover(&store).remove(0).records.len(), 3);
    }

    #[test]
    fn a_child_that_was_forked_meanwhile_keeps_no_journal() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let journal = Journal::create(&store, &json!({"seed": 7})).unwrap();
        // As fork does: another descriptor of the same open file.
        let of_a_child = journal.file.0.try_clone().unwrap();
        assert!(recover(&store).is_empty(), "its writer lives");
        drop(journal);
        let found = recover(&store).remove(0);
        let of_another_child = found.left.file.0.try_clone().unwrap();
        drop(found);
        assert_eq!(recover(&store).len(), 1);
        drop((of_a_child, of_another_child));
    }

    #[test]
    fn a_journal_whose_result_is_saved_goes() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        left_behind(&store);
        let result = from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
        let name = recover(&store).remove(0).name.clone();
        store.save(&name, &result).unwrap();
        assert!(recover(&store).is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_journal_that_cannot_be_read_today_stays() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let (path, ..) = left_behind(&store);
        let error = {
            let found = recover(&store).remove(0);
            let unreadable = fs::OpenOptions::new().append(true).open(&path).unwrap();
            let left = Left { file: Locked(unreadable), ..found.left };
            left.read().err().unwrap().to_string()
        };
        assert!(error.contains("read") && error.contains(&path.display().to_string()), "{error}");
        assert_eq!(recover(&store).len(), 1, "it is there, under its name");
    }

    #[test]
    fn a_cut_at_every_byte_leaves_the_records_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let (path, bytes, ends) = left_behind(&Store::at(directory.path()));
        for length in 0..=bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let whole = ends.iter().filter(|&&end| end <= length).count();
            assert_eq!(records(&File::open(&path).unwrap()).unwrap().len(), whole, "{length} bytes");
        }
    }

    #[test]
    fn a_flip_of_every_bit_leaves_the_records_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let (path, mut bytes, ends) = left_behind(&Store::at(directory.path()));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                fs::write(&path, &bytes).unwrap();
                bytes[at] ^= 1 << bit;
                let whole = ends.iter().filter(|&&end| end <= at).count();
                let read = records(&File::open(&path).unwrap()).unwrap();
                assert_eq!(read.len(), whole, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn a_damaged_journal_is_told_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let name = |second: u32, ending: &str| format!("2026-11-20T23-14-{second:02}Z-9f2c41d0{ending}");
        let at = |second, ending| directory.path().join(name(second, ending));
        fs::write(at(5, ENDING), "rubbish").unwrap();
        fs::create_dir(at(6, ENDING)).unwrap();
        fs::write(at(7, ENDING), "").unwrap();
        fs::write(at(8, ENDING), line(&json!({"seed": 7})).unwrap()).unwrap();
        let mut found = super::recover(&store).unwrap();
        let told = found.next().unwrap().map(|found| found.path).unwrap_err().to_string();
        assert!(told.contains("first record is damaged") && told.contains(&name(5, ASIDE)), "{told}");
        assert_eq!(found.next().unwrap().unwrap().path, at(8, ENDING), "it hides no other");
        assert!(found.next().is_none());
        drop(found);
        assert_eq!(fs::read(at(5, ASIDE)).unwrap(), b"rubbish", "kept");
        assert!(at(6, ENDING).is_dir(), "what is no file is left alone");
        assert!(!at(7, ENDING).exists(), "what holds nothing goes");
        let told = recover(&store).remove(0).set_aside("of no use").to_string();
        assert!(told.contains("of no use") && told.contains(&name(8, ASIDE)), "{told}");
        assert!(recover(&store).is_empty(), "told once");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_no_record() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let journal = Journal::create(&store, &()).unwrap();
        let mut launch = LaunchRecord::default();
        launch.quantities.insert("floor".to_owned(), f64::NAN);
        let error = journal.append(&("clock/monotonic", &launch)).unwrap_err();
        assert!(error.to_string().contains("[1].quantities.floor"), "{error}");
        launch.quantities.insert("floor".to_owned(), 0.1 + 0.2);
        journal.append(&("clock/monotonic", &launch)).unwrap();
        drop(journal);
        let read: (String, LaunchRecord) =
            serde_json::from_value(recover(&store)[0].records[0].clone()).unwrap();
        assert_eq!(read.1, launch);
    }

    /// Says what a record costs between two launches; asserts no time.
    #[test]
    fn what_a_record_costs() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::create(&Store::at(directory.path()), &()).unwrap();
        let result = from_bytes(include_bytes!("../tests/samples/v1.json")).unwrap();
        let mut costs: Vec<_> = (0..50)
            .map(|_| {
                let start = Instant::now();
                journal.append(&result.figures[0].launches[0]).unwrap();
                start.elapsed()
            })
            .collect();
        costs.sort();
        println!("a journal record: median {:?}, worst {:?} of 50", costs[25], costs[49]);
    }
}
