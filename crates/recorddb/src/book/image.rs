//! A database of layout `book` in memory, byte for byte as a program would have left its files: a long run begins in its middle.

use std::ffi::OsStr;
use std::io::Write;

use oscost_sys::folder::Folder;

use super::format::{self, CHAINS, FREE_LIST, LENGTH, MAX_OFFSET, POINTER};
use crate::error::Error;
use crate::options::{DatabaseOptions, StoreMode, Stored};
use crate::workload::Target;
use crate::{names, open};

/// The image. It finds records by lists of its own, without reading its bytes, and counts those that a program would have read.
#[derive(Clone)]
pub struct BookImage {
    index: Vec<u8>,
    data: Vec<u8>,
    entries: Vec<Indexed>,
    /// First records: of the free list, then of each chain. 0 ends a list; else it is 1 more than the place of the entry.
    heads: Vec<u32>,
    visits: u64,
}

/// A record of the index, as its list has it.
#[derive(Clone, Copy)]
struct Indexed {
    at: usize,
    next: u32,
    /// Tells most keys apart without a look at them.
    mark: u32,
    key: usize,
    data_at: usize,
    data_length: usize,
}

/// The list of free records.
const FREE: usize = 0;

const FULL: Error = Error::Full("an offset of layout book has 7 digits");

/// A record that was found, and the one before it on its list.
#[derive(Clone, Copy)]
struct OnChain {
    before: u32,
    this: u32,
}

impl Default for BookImage {
    fn default() -> Self {
        let heads = vec![0; 1 + CHAINS as usize];
        Self { index: format::empty_index(), data: Vec::new(), entries: Vec::new(), heads, visits: 0 }
    }
}

impl BookImage {
    /// Records that were read so far, on chains and on the free list.
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Writes its two files, as `options` make them; over those that are there, so that each byte stays where it lay in memory.
    ///
    /// # Errors
    /// The error of the call.
    pub fn write_in(&self, folder: &Folder, name: &OsStr, options: &DatabaseOptions) -> Result<(), Error> {
        let (index, data) = names::book(name);
        for (name, bytes) in [(index, &self.index), (data, &self.data)] {
            let mut file = open::file(folder, &name, options)?;
            file.write_all(bytes).map_err(|error| open::call("write", &error))?;
            file.set_len(bytes.len() as u64).map_err(|error| open::call("ftruncate", &error))?;
        }
        Ok(())
    }

    fn entry(&self, this: u32) -> &Indexed {
        &self.entries[this as usize - 1]
    }

    /// Where a record stands in the index; 0 for none.
    fn offset(&self, this: u32) -> u64 {
        if this == 0 { 0 } else { self.entry(this).at as u64 }
    }

    fn key_of(&self, entry: &Indexed) -> &[u8] {
        &self.index[entry.at + POINTER + LENGTH..][..entry.key]
    }

    fn walk(&mut self, list: usize, wanted: impl Fn(&Self, &Indexed) -> bool) -> Option<OnChain> {
        let (mut before, mut this) = (0, self.heads[list]);
        while this != 0 {
            self.visits += 1;
            let entry = *self.entry(this);
            if wanted(self, &entry) {
                return Some(OnChain { before, this });
            }
            (before, this) = (this, entry.next);
        }
        None
    }

    fn find(&mut self, key: &[u8], list: usize) -> Option<OnChain> {
        let mark = mark_of(key);
        self.walk(list, |image, entry| entry.mark == mark && image.key_of(entry) == key)
    }

    /// Makes `to` what follows `before`, or the head of the list.
    fn point(&mut self, list: usize, before: u32, to: u32) {
        let at = match before {
            0 if list == FREE => FREE_LIST,
            // The chains follow the free list, in order.
            0 => format::chain_at(list as u32 - 1),
            before => self.offset(before),
        };
        let value = self.offset(to);
        format::put_number(&mut self.index[at as usize..][..POINTER], value);
        match before {
            0 => self.heads[list] = to,
            before => self.entries[before as usize - 1].next = to,
        }
    }

    /// Writes a record over what stands there.
    fn overwrite(&mut self, this: u32, next: u32, key: &[u8]) {
        let Indexed { at, data_at, data_length, .. } = *self.entry(this);
        let (head, body) = super::encode(self.offset(next), key, data_at as u64, data_length);
        self.index[at..][..head.len()].copy_from_slice(&head);
        self.index[at + head.len()..][..body.len()].copy_from_slice(&body);
        let entry = &mut self.entries[this as usize - 1];
        (entry.next, entry.mark) = (next, mark_of(key));
    }

    fn put_value(&mut self, this: u32, value: &[u8]) {
        let at = self.entry(this).data_at;
        self.data[at..][..value.len()].copy_from_slice(value);
    }

    fn unlink(&mut self, list: usize, found: OnChain) {
        let Indexed { next, key, data_length, .. } = *self.entry(found.this);
        self.put_value(found.this, &vec![b' '; data_length - 1]);
        let free = self.heads[FREE];
        self.overwrite(found.this, free, &vec![b' '; key]);
        self.point(FREE, 0, found.this);
        self.point(list, found.before, next);
    }

    fn append(&mut self, key: &[u8], value: &[u8], list: usize) -> Result<(), Error> {
        let (at, data_at) = (self.index.len(), self.data.len());
        if at.max(data_at) as u64 > MAX_OFFSET {
            return Err(FULL);
        }
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        let (next, data_length) = (self.heads[list], value.len() + 1);
        let (head, body) = super::encode(self.offset(next), key, data_at as u64, data_length);
        self.index.extend_from_slice(&head);
        self.index.extend_from_slice(&body);
        self.entries.push(Indexed { at, next, mark: mark_of(key), key: key.len(), data_at, data_length });
        let this = u32::try_from(self.entries.len()).map_err(|_| FULL)?;
        self.point(list, 0, this);
        Ok(())
    }

    fn insert(&mut self, key: &[u8], value: &[u8], list: usize) -> Result<Stored, Error> {
        let (keys, values) = (key.len(), value.len() + 1);
        let free = self.walk(FREE, |_, entry| entry.key == keys && entry.data_length == values);
        let Some(found) = free else {
            self.append(key, value, list)?;
            return Ok(Stored::Inserted { reused: false });
        };
        let next = self.entry(found.this).next;
        self.point(FREE, found.before, next);
        self.put_value(found.this, value);
        self.overwrite(found.this, self.heads[list], key);
        self.point(list, 0, found.this);
        Ok(Stored::Inserted { reused: true })
    }
}

/// The first digits of an FNV hash.
fn mark_of(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |mark, byte| (mark ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn list_of(key: &[u8]) -> usize {
    1 + format::chain_of(key) as usize
}

impl Target for BookImage {
    type Error = Error;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        super::refuse(format::refuse_key(key))?;
        let Some(found) = self.find(key, list_of(key)) else { return Ok(false) };
        let entry = self.entry(found.this);
        value.clear();
        value.extend_from_slice(&self.data[entry.data_at..][..entry.data_length - 1]);
        Ok(true)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        super::refuse(format::refuse_key(key))?;
        super::refuse(format::refuse_value(value))?;
        let list = list_of(key);
        match (self.find(key, list), how) {
            (Some(_), StoreMode::Insert) => Ok(Stored::Exists),
            (None, StoreMode::Replace) => Ok(Stored::NotFound),
            (None, _) => self.insert(key, value, list),
            (Some(found), _) if self.entry(found.this).data_length == value.len() + 1 => {
                self.put_value(found.this, value);
                Ok(Stored::Replaced { in_place: true })
            }
            (Some(found), _) => {
                self.unlink(list, found);
                self.append(key, value, list)?;
                Ok(Stored::Replaced { in_place: false })
            }
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        super::refuse(format::refuse_key(key))?;
        let list = list_of(key);
        let found = self.find(key, list);
        if let Some(found) = found {
            self.unlink(list, found);
        }
        Ok(found.is_some())
    }
}

#[cfg(test)]
mod tests {
    use oscost_sys::folder::Folder;

    use super::*;
    use crate::check::check_in;
    use crate::workload::{self, Sequence, Unobserved, WorkPlan, Workload};
    use crate::{Database, Layout};

    /// The last record begins at the largest offset that a pointer can hold, in the image as in the files.
    #[test]
    fn it_is_full_behind_the_largest_offset() {
        let mut image = BookImage::default();
        let mut insert = |number: usize, length: usize| {
            let key = format!("{number}");
            Target::store(&mut image, key.as_bytes(), &vec![b'v'; length], StoreMode::Insert)
        };
        let appended = Ok(Stored::Inserted { reused: false });
        for number in 0..9765 {
            assert_eq!(insert(number, 1023), appended);
        }
        // 9765 values of 1024 bytes and one of 639 are 9999999 bytes.
        assert_eq!([insert(9765, 638), insert(9766, 1), insert(9767, 1)], [appended, appended, Err(FULL)]);
    }

    /// "altarage" and "zinke" have one hash of FNV, and with the same two bytes behind them one chain: each finds its own value.
    #[test]
    fn keys_with_one_mark_on_one_chain_are_two_records() {
        let ends = (b'a'..=0xff).flat_map(|one| (b'a'..=0xff).map(move |two| [one, two]));
        let pairs = ends.map(|end| [[&b"altarage"[..], &end].concat(), [&b"zinke"[..], &end].concat()]);
        let pair = pairs.into_iter().find(|[one, other]| list_of(one) == list_of(other)).expect("a pair");
        assert_eq!(mark_of(&pair[0]), mark_of(&pair[1]));
        assert_ne!(mark_of(b"altarage"), mark_of(b"egaratla"), "few keys have one mark");
        let mut image = BookImage::default();
        for (key, value) in pair.iter().zip([b"one", b"two"]) {
            let stored = Target::store(&mut image, key, value, StoreMode::Insert);
            assert_eq!(stored, Ok(Stored::Inserted { reused: false }));
        }
        for (key, expected) in pair.iter().zip([b"one", b"two"]) {
            let mut value = Vec::new();
            assert_eq!((image.fetch(key, &mut value), &value[..]), (Ok(true), &expected[..]));
        }
    }

    /// At every place of a run, the image's files are those that the program leaves, and so are its answers and its counts.
    #[test]
    fn its_bytes_are_those_of_the_program_at_every_place_of_a_run() {
        let bits = oscost_sys::random::bits().expect("bits");
        let path = std::env::temp_dir().join(format!("recorddb-image-{bits:032x}"));
        std::fs::create_dir(&path).expect("a folder");
        let folder = Folder::open(&path).expect("a folder");
        let options = DatabaseOptions { create: true, ..DatabaseOptions::default() };
        let (own, ours) = (OsStr::new("program"), OsStr::new("image"));
        let read = |name: &OsStr| {
            let (index, data) = names::book(name);
            [index, data].map(|name| std::fs::read(path.join(name)).expect("a file"))
        };
        for workload in [Workload::Figure, Workload::Text] {
            let plan = WorkPlan { workload, records: 300, seed: 9, child: 0 };
            let mut database =
                Database::open_in(&folder, own, &DatabaseOptions { truncate: true, ..options })
                    .expect("open");
            let mut image = BookImage::default();
            let (mut theirs, mut imaged) = (Sequence::new(&plan), Sequence::new(&plan));
            let mut reused = 0;
            loop {
                let by_program = workload::run_some(&mut theirs, 331, &mut database, &mut Unobserved);
                let by_image = workload::run_some(&mut imaged, 331, &mut image, &mut Unobserved);
                let (by_program, by_image) = (by_program.expect("right"), by_image.expect("right"));
                assert_eq!(by_program, by_image);
                assert_eq!(image.visits(), database.counters().visits);
                image.write_in(&folder, ours, &options).expect("written");
                assert!(read(own) == read(ours), "the files differ");
                assert!(check_in(&folder, ours, Layout::Book).expect("read").is_clean());
                reused += by_image.of(workload::OperationKind::InsertReused);
                if by_image.total() < 331 {
                    break;
                }
            }
            assert!(reused > 10, "{reused}");
        }
        std::fs::remove_dir_all(&path).expect("removed");
    }
}
