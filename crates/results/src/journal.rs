//! What was measured so far, kept for the case that the run is killed.
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
use crate::{JournalError, MAX_BYTES, PathError, RunName, Store, finite};

const ENDING: &str = ".journal";

/// The journal of the run that is going on.
pub struct Journal {
    name: RunName,
    path: PathBuf,
    directory: Directory,
    file: File,
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
            new.publish(&name.file(ENDING))
        };
        let file = begin().map_err(PathError::of("write", &path))?;
        Ok(Self { name, path, directory, file })
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
        Ok(append(&self.file).map_err(PathError::of("write", &self.path))?)
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
    directory: Directory,
    /// Keeps others from recovering it at the same time.
    _lock: File,
}

impl Recovered {
    /// Removes the journal: what it held is saved, or is of no use.
    ///
    /// # Errors
    /// It stays, and will be found again unless its result is saved.
    pub fn finish(self) -> Result<(), JournalError> {
        let file_name = self.name.file(ENDING);
        Ok(self.directory.remove(&file_name).map_err(PathError::of("remove", &self.path))?)
    }
}

/// The journals of runs that were killed, oldest first. Those whose result was saved after all, and those that hold
/// nothing, are removed on the way.
///
/// # Errors
/// The state directory cannot be used.
pub fn recover(store: &Store) -> Result<Vec<Recovered>, JournalError> {
    let mut names: Vec<RunName> = {
        let names = store.open()?.names().map_err(PathError::of("read", store.directory()))?;
        names.iter().filter_map(|name| RunName::of_file(name, ENDING)).collect()
    };
    names.sort();
    let mut recovered = Vec::new();
    for name in names {
        let file_name = name.file(ENDING);
        let path = store.directory().join(&file_name);
        let directory = store.open()?;
        // What cannot be opened or locked has gone, or has a living writer.
        let Ok(file) = directory.open(&file_name) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let mut records = records(&file).map_err(PathError::of("read", &path))?;
        if records.is_empty() || store.has(&name) {
            directory.remove(&file_name).map_err(PathError::of("remove", &path))?;
            continue;
        }
        let header = records.remove(0);
        recovered.push(Recovered { name, path, header, records, directory, _lock: file });
    }
    Ok(recovered)
}

/// `length crc32 payload`, and the end of the line.
fn line(record: &impl Serialize) -> Result<Vec<u8>, JournalError> {
    if let Some(path) = finite::not_finite(record) {
        return Err(JournalError::Unwritable(format!("{path} is not a finite number")));
    }
    let payload = serde_json::to_vec(record).map_err(|error| JournalError::Unwritable(error.to_string()))?;
    let mut line = format!("{:08x} {:08x} ", payload.len(), crc32fast::hash(&payload)).into_bytes();
    line.extend_from_slice(&payload);
    line.push(b'\n');
    Ok(line)
}

/// The whole records at the start of a journal. What is larger than a result could not be saved anyway.
fn records(file: &File) -> std::io::Result<Vec<Value>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
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
    let number = |bytes: &[u8]| u32::from_str_radix(std::str::from_utf8(bytes).ok()?, 16).ok();
    let (head, rest) = bytes.split_at_checked(18)?;
    let (payload, rest) = rest.split_at_checked(number(&head[..8])? as usize)?;
    let rest = rest.strip_prefix(b"\n")?;
    if head[8] != b' ' || head[17] != b' ' || number(&head[9..17])? != crc32fast::hash(payload) {
        return None;
    }
    Some((serde_json::from_slice(payload).ok()?, rest))
}
