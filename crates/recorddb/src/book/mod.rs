//! Layout `book`: the database of the book, call for call.
//!
//! Fine locks: a chain for a whole operation (read to fetch, write to store and delete), first of all; within it, and
//! briefly, the free list, then the end of the data file, then the end of the index. Data is written before the index,
//! the index before the head of the chain. Overwriting in place takes no lock of an end.

pub mod check;
pub mod format;
pub mod image;

use std::io::{IoSlice, IoSliceMut};

use oscost_sys::record_lock::{LockKind, Range};

use crate::error::{Damage, Error};
use crate::io::{self, EINTR, Io};
use crate::lock::{Guard, LockId, Locks, Places};
use crate::options::{Counters, Records, StoreMode, Stored};
use format::{Body, CHAINS, FREE_LIST, HEADER, LENGTH, MAX_OFFSET, MAX_RECORDS, POINTER};

/// Where locks lie: a chain on the first byte of its pointer, an end from where records begin to wherever the file ends.
pub(crate) const PLACES: Places = Places { range, number };

/// Mutexes or lock files that fine locking needs.
pub(crate) const LOCKS: usize = CHAINS as usize + 5;

fn range(id: LockId) -> (usize, Range) {
    match id {
        LockId::Whole | LockId::FreeList => (0, Range { start: FREE_LIST, length: 1 }),
        LockId::Creation => (0, Range { start: 0, length: 0 }),
        LockId::Chain(chain) => (0, Range { start: format::chain_at(chain), length: 1 }),
        LockId::DataAppend => (1, Range { start: 0, length: 0 }),
        LockId::IndexAppend => (0, Range { start: HEADER, length: 0 }),
    }
}

fn number(id: LockId) -> usize {
    match id {
        LockId::Chain(chain) => chain as usize,
        LockId::FreeList => CHAINS as usize,
        LockId::DataAppend => CHAINS as usize + 1,
        LockId::IndexAppend => CHAINS as usize + 2,
        LockId::Creation => CHAINS as usize + 3,
        LockId::Whole => CHAINS as usize + 4,
    }
}

/// The database of the book over some I/O and some locks.
pub(crate) struct Book<I, L> {
    index: I,
    data: I,
    guard: Guard<L>,
    /// Where the next index record is read by [`Records::next_record`].
    cursor: u64,
    visits: u64,
    /// Body of the index record that was read last.
    body: Vec<u8>,
    writable: bool,
}

/// An index record as it was read.
#[derive(Debug, Clone, Copy)]
struct Record {
    at: u64,
    next: u64,
    body: Body,
}

/// A record and where the pointer to it stands.
#[derive(Debug, Clone, Copy)]
struct Linked {
    pointer_at: u64,
    record: Record,
}

impl<I: Io, L: Locks> Book<I, L> {
    pub fn new(index: I, data: I, guard: Guard<L>, writable: bool) -> Self {
        Self { index, data, guard, cursor: HEADER, visits: 0, body: Vec::with_capacity(1024), writable }
    }

    /// Writes an empty index if there is none, and empties both files if `truncate`, under the lock of creation.
    pub fn create(&mut self, truncate: bool) -> Result<(), Error> {
        self.within(LockId::Creation, LockKind::Write, |book| {
            if truncate {
                book.index.cut(0)?;
                book.data.cut(0)?;
            }
            if book.index.end()? == 0 {
                io::append(&mut book.index, &format::empty_index(), &[], 0)?;
            }
            Ok(())
        })
    }

    /// Waits for the process that creates the database, and refuses a file that is no database.
    pub fn look(&mut self) -> Result<(), Error> {
        self.within(LockId::Creation, LockKind::Read, |book| {
            let mut header = vec![0; format::empty_index().len()];
            let read = io::read_all(&mut book.index, 0, &mut header)?;
            let pointers = header[..read].chunks_exact(POINTER);
            if read < header.len()
                || header.last() != Some(&b'\n')
                || !pointers.clone().all(|text| format::number(text).is_some())
            {
                return Err(Error::Refused(crate::error::Refusal::OtherFile));
            }
            Ok(())
        })
    }

    /// Does `body` under a lock, and gives it back whatever came of it.
    #[inline]
    fn within<T>(
        &mut self,
        id: LockId,
        kind: LockKind,
        body: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.guard.enter(id, kind)?;
        let result = body(self);
        let left = self.guard.leave(id);
        let value = result?;
        left?;
        Ok(value)
    }

    /// As [`Self::within`], for a lock that coarse locking does not need.
    #[inline]
    fn within_inner<T>(
        &mut self,
        id: LockId,
        body: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.guard.enter_inner(id)?;
        let result = body(self);
        let left = self.guard.leave_inner(id);
        let value = result?;
        left?;
        Ok(value)
    }

    /// Reads the pointer at `at`: seek, read.
    fn pointer(&mut self, at: u64) -> Result<u64, Error> {
        let mut text = [0; POINTER];
        if io::read_all(&mut self.index, at, &mut text)? < POINTER {
            return Err(Damage::index("the file ends in a pointer", at).into());
        }
        Ok(format::pointer(&text, at)?)
    }

    /// Writes the pointer at `at`: seek, write.
    fn put_pointer(&mut self, at: u64, value: u64) -> Result<(), Error> {
        let mut text = [0; POINTER];
        format::put_number(&mut text, value);
        Ok(io::write_rest(&mut self.index, at, &text, &[], 0)?)
    }

    /// Reads the index record at `at`: seek, readv, read. `None` where the file ends.
    fn record(&mut self, at: u64) -> Result<Option<Record>, Error> {
        self.visits += 1;
        let (mut next, mut length) = ([0; POINTER], [0; LENGTH]);
        let read = loop {
            match self.index.read(at, &mut [IoSliceMut::new(&mut next), IoSliceMut::new(&mut length)]) {
                Err(error) if error.errno == EINTR => {}
                other => break other?,
            }
        };
        match read {
            0 => return Ok(None),
            read if read < POINTER + LENGTH => {
                // Short by a signal, or by the end of the file: the rest tells which.
                let mut head = [0; POINTER + LENGTH];
                if io::read_all(&mut self.index, at, &mut head)? < head.len() {
                    return Err(Damage::index("the file ends in a record", at).into());
                }
                next.copy_from_slice(&head[..POINTER]);
                length.copy_from_slice(&head[POINTER..]);
                let length = format::body_length(&length, at)?;
                self.body.resize(length, 0);
                if io::read_all(&mut self.index, at + head.len() as u64, &mut self.body)? < length {
                    return Err(Damage::index("the file ends in a record", at).into());
                }
            }
            _ => {
                let length = format::body_length(&length, at)?;
                self.body.resize(length, 0);
                let read = match self.index.read_on(&mut self.body) {
                    Err(error) if error.errno == EINTR => 0,
                    other => other?,
                };
                let body_at = at + (POINTER + LENGTH) as u64;
                if read < length
                    && read + io::read_all(&mut self.index, body_at + read as u64, &mut self.body[read..])?
                        < length
                {
                    return Err(Damage::index("the file ends in a record", at).into());
                }
            }
        }
        let next = format::pointer(&next, at)?;
        Ok(Some(Record { at, next, body: format::body(&self.body, at)? }))
    }

    /// Reads the value of `record` behind the end of `value`: seek, read.
    fn value(&mut self, record: &Record, value: &mut Vec<u8>) -> Result<(), Error> {
        let (at, length) = (record.body.data_at, record.body.data_length);
        value.clear();
        value.resize(length, 0);
        if io::read_all(&mut self.data, at, value)? < length {
            return Err(Damage::data("the file ends in a value", at).into());
        }
        if value.pop() != Some(b'\n') {
            return Err(Damage::data("a value without its newline", at).into());
        }
        Ok(())
    }

    /// Walks the chain whose pointer stands at `from` until a record satisfies `wanted`.
    fn walk(&mut self, from: u64, wanted: impl Fn(&[u8], &Body) -> bool) -> Result<Option<Linked>, Error> {
        let mut pointer_at = from;
        let mut at = self.pointer(from)?;
        let mut seen = 0;
        while at != 0 {
            let record =
                self.record(at)?.ok_or(Damage::index("a pointer behind the end of the file", pointer_at))?;
            if wanted(&self.body[..record.body.key], &record.body) {
                return Ok(Some(Linked { pointer_at, record }));
            }
            seen += 1;
            if seen > MAX_RECORDS {
                return Err(Damage::index("a list that goes round in a circle", from).into());
            }
            pointer_at = at;
            at = record.next;
        }
        Ok(None)
    }

    fn find(&mut self, key: &[u8], chain: u32) -> Result<Option<Linked>, Error> {
        self.walk(format::chain_at(chain), |other, _| other == key)
    }

    /// Writes an index record over what stands at `at`: seek, writev.
    fn overwrite_record(
        &mut self,
        at: u64,
        next: u64,
        key: &[u8],
        data_at: u64,
        length: usize,
    ) -> Result<(), Error> {
        let (head, body) = encode(next, key, data_at, length);
        Ok(gathered(&mut self.index, at, &head, &body)?)
    }

    /// Takes a record out of its chain and puts it, blanked, on the free list. The record is the one read last.
    fn unlink(&mut self, found: &Linked) -> Result<(), Error> {
        let Record { at, next, body } = found.record;
        let (key, value) = (vec![b' '; body.key], vec![b' '; body.data_length - 1]);
        self.within_inner(LockId::FreeList, |book| {
            gathered(&mut book.data, body.data_at, &value, b"\n")?;
            let free = book.pointer(FREE_LIST)?;
            book.overwrite_record(at, free, &key, body.data_at, body.data_length)?;
            book.put_pointer(FREE_LIST, at)?;
            book.put_pointer(found.pointer_at, next)
        })
    }

    /// Takes a record whose key and value had these lengths from the free list, if there is one.
    fn take_free(&mut self, key: usize, value: usize) -> Result<Option<Record>, Error> {
        self.within_inner(LockId::FreeList, |book| {
            let found =
                book.walk(FREE_LIST, |other, body| other.len() == key && body.data_length == value)?;
            if let Some(Linked { pointer_at, record }) = found {
                book.put_pointer(pointer_at, record.next)?;
            }
            Ok(found.map(|found| found.record))
        })
    }

    /// Appends value and record, and makes the record the head of its chain, whose first record was `first`.
    fn append(&mut self, key: &[u8], value: &[u8], chain: u32, first: u64) -> Result<(), Error> {
        let data_at = self.within_inner(LockId::DataAppend, |book| {
            Ok(io::append(&mut book.data, value, b"\n", MAX_OFFSET)?)
        })?;
        let data_at = data_at.ok_or(Error::Full("an offset of layout book has 7 digits"))?;
        let (head, body) = encode(first, key, data_at, value.len() + 1);
        let at = self.within_inner(LockId::IndexAppend, |book| {
            Ok(io::append(&mut book.index, &head, &body, MAX_OFFSET)?)
        })?;
        let at = at.ok_or(Error::Full("an offset of layout book has 7 digits"))?;
        self.put_pointer(format::chain_at(chain), at)
    }

    fn insert(&mut self, key: &[u8], value: &[u8], chain: u32) -> Result<Stored, Error> {
        let first = self.pointer(format::chain_at(chain))?;
        let Some(free) = self.take_free(key.len(), value.len() + 1)? else {
            self.append(key, value, chain, first)?;
            return Ok(Stored::Inserted { reused: false });
        };
        gathered(&mut self.data, free.body.data_at, value, b"\n")?;
        self.overwrite_record(free.at, first, key, free.body.data_at, value.len() + 1)?;
        self.put_pointer(format::chain_at(chain), free.at)?;
        Ok(Stored::Inserted { reused: true })
    }

    fn replace(&mut self, found: &Linked, key: &[u8], value: &[u8], chain: u32) -> Result<Stored, Error> {
        if found.record.body.data_length == value.len() + 1 {
            gathered(&mut self.data, found.record.body.data_at, value, b"\n")?;
            return Ok(Stored::Replaced { in_place: true });
        }
        self.unlink(found)?;
        let first = self.pointer(format::chain_at(chain))?;
        self.append(key, value, chain, first)?;
        Ok(Stored::Replaced { in_place: false })
    }

    fn for_writing(&self) -> Result<(), Error> {
        if self.writable { Ok(()) } else { Err(Error::Refused(crate::error::Refusal::ReadOnly)) }
    }
}

/// Pointer and length, and the body, of an index record.
fn encode(next: u64, key: &[u8], data_at: u64, length: usize) -> ([u8; POINTER + LENGTH], Vec<u8>) {
    let mut body = Vec::with_capacity(key.len() + 16);
    body.extend_from_slice(key);
    for number in [data_at, length as u64] {
        body.push(b':');
        let mut digits = [0; POINTER];
        format::put_number(&mut digits, number);
        body.extend(digits.iter().filter(|digit| **digit != b' '));
    }
    body.push(b'\n');
    let mut head = [0; POINTER + LENGTH];
    format::put_number(&mut head[..POINTER], next);
    format::put_number(&mut head[POINTER..], body.len() as u64);
    (head, body)
}

/// Writes two parts at `at`: seek, writev; more only where that was cut short.
fn gathered(io: &mut impl Io, at: u64, first: &[u8], second: &[u8]) -> Result<(), oscost_sys::CallError> {
    let written = match io.write(at, &[IoSlice::new(first), IoSlice::new(second)]) {
        Err(error) if error.errno == EINTR => 0,
        other => other?,
    };
    io::write_rest(io, at, first, second, written)
}

impl<I: Io, L: Locks> Records for Book<I, L> {
    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        refuse(format::refuse_key(key))?;
        let chain = format::chain_of(key);
        self.within(LockId::Chain(chain), LockKind::Read, |book| match book.find(key, chain)? {
            Some(found) => book.value(&found.record, value).map(|()| true),
            None => Ok(false),
        })
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        self.for_writing()?;
        refuse(format::refuse_key(key))?;
        refuse(format::refuse_value(value))?;
        let chain = format::chain_of(key);
        self.within(LockId::Chain(chain), LockKind::Write, |book| match (book.find(key, chain)?, how) {
            (Some(_), StoreMode::Insert) => Ok(Stored::Exists),
            (None, StoreMode::Replace) => Ok(Stored::NotFound),
            (None, _) => book.insert(key, value, chain),
            (Some(found), _) => book.replace(&found, key, value, chain),
        })
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.for_writing()?;
        refuse(format::refuse_key(key))?;
        let chain = format::chain_of(key);
        self.within(LockId::Chain(chain), LockKind::Write, |book| match book.find(key, chain)? {
            Some(found) => book.unlink(&found).map(|()| true),
            None => Ok(false),
        })
    }

    fn rewind(&mut self) {
        self.cursor = HEADER;
    }

    fn next_record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, Error> {
        self.within(LockId::FreeList, LockKind::Read, |book| {
            while let Some(record) = book.record(book.cursor)? {
                book.cursor += (POINTER + LENGTH + book.body.len()) as u64;
                let found = &book.body[..record.body.key];
                if !format::is_blank(found) {
                    key.clear();
                    key.extend_from_slice(found);
                    book.value(&record, value)?;
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn counters(&self) -> Counters {
        Counters {
            io: self.index.calls().plus(&self.data.calls()),
            locks: self.guard.calls,
            visits: self.visits,
        }
    }
}

fn refuse(what: Option<&'static str>) -> Result<(), Error> {
    what.map_or(Ok(()), |what| Err(Error::Input(what)))
}

#[cfg(test)]
mod tests;
