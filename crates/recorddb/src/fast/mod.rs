//! Layout `fast`: a modern design for the same task.
//!
//! A tree over the hash of the key, 1024 stripes wide, each with a lock of its own; below a stripe's roots, nodes of 16
//! slots wherever two records share a root. An operation takes the lock of its stripe and no other, but once in a while
//! that of the shared space. It stores a record elsewhere than the one it replaces, and links it by storing one word, so
//! that a process that is killed at any moment leaves a whole tree: at most the operation in flight is missing, and the
//! blocks it had in its hands are lost until the next who opens the database alone recovers them.
//!
//! Records carry a checksum. What survives is the death of processes; the loss of power is another matter, and is not
//! covered: nothing is synchronised to the disk.

pub mod check;
pub mod format;
mod key;
mod next;
pub(crate) mod open;
pub(crate) mod places;
mod recover;
mod space;
mod survey;
mod words;

use std::fs::File;
use std::sync::Arc;

use oscost_sys::record_lock::LockKind;

use crate::error::{Error, Refusal};
use crate::lock::{Guard, LockId, Locks};
use crate::options::{Counters, Records, StoreMode, Stored};
use format::{BlockKind, Head, RECORD_HEAD, SIZES, Slot, damage};
use key::{Key, check_of, unpack};
use next::Cursor;
use space::Space;
use words::Words;

/// Bits of the hash that no level of nodes looks at: keys that differ in nothing else share a list.
const LIST_SHIFT: u32 = format::ROOT_SHIFT % 4;

/// Levels of nodes below a root, and one.
const LEVELS: usize = 14;

/// A record that was found.
#[derive(Debug, Clone, Copy)]
struct Found {
    at: u64,
    head: Head,
}

/// Where the way from a root leads: where a key is, or would be.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The key's own slot.
    last: u64,
    /// Slots passed, this one included; they stand in [`Fast::passed`].
    count: usize,
    /// What it holds.
    slot: Slot,
    /// The record, if it is the key's.
    found: Option<Found>,
    /// It is for one more node of a list, not for a record.
    list_is_full: bool,
}

/// The database over some words and some locks.
pub(crate) struct Fast<W: Words, L: Locks> {
    words: W,
    guard: Guard<L>,
    space: Option<Space>,
    seed: u64,
    visits: u64,
    cursor: Cursor,
    buffer: Vec<u64>,
    /// Slots passed on the way to a key.
    passed: [u64; LEVELS],
    /// A call failed, and blocks may be lost: the next opener must recover them.
    lost: bool,
    /// Holds the byte by which others see that somebody is here, and that of the arena.
    _presence: Arc<File>,
}

impl<W: Words, L: Locks> Fast<W, L> {
    #[inline]
    fn within<T>(
        &mut self,
        hash: u64,
        kind: LockKind,
        body: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let id = LockId::Chain(format::root(hash).0);
        self.guard.enter(id, kind)?;
        let result = body(self);
        let left = self.guard.leave(id);
        self.lost |= matches!(result, Err(Error::Call(_) | Error::Damaged(_)));
        let value = result?;
        left?;
        Ok(value)
    }

    /// Goes down from the root of a key to its record, or to the slot where it would be linked.
    #[inline]
    fn find(&mut self, key: &Key) -> Result<Way, Error> {
        let (stripe, root) = format::root(key.hash);
        let mut at = format::stripe(stripe) + format::ROOTS_AT + root;
        let mut way = Way { last: at, count: 0, slot: Slot::Empty, found: None, list_is_full: false };
        let mut shift = format::ROOT_SHIFT;
        loop {
            let Some(place) = self.passed.get_mut(way.count) else {
                return Err(damage("a tree deeper than its keys", at).into());
            };
            *place = at;
            way.last = at;
            way.count += 1;
            way.slot = format::slot(self.words.load(at)?, at)?;
            match way.slot {
                Slot::Empty => return Ok(way),
                Slot::Record(record, tag) => {
                    way.found = self.compare(record, tag, key, shift)?;
                    return Ok(way);
                }
                Slot::Node(node) => {
                    self.is_node(node, key.hash, shift)?;
                    if shift < 4 {
                        // Every bit of the hash is used up: the node is a list of records with one hash.
                        return self.find_in_list(node, key, way);
                    }
                    shift -= 4;
                    at = node + 1 + (key.hash >> shift & 15);
                }
            }
        }
    }

    #[inline]
    fn is_node(&mut self, node: u64, hash: u64, shift: u32) -> Result<(), Error> {
        let head = Head::read(self.words.load(node)?, node)?;
        if head == Head::node(head.class, hash, shift) {
            Ok(())
        } else {
            Err(damage("a slot that points to something else", node).into())
        }
    }

    /// Looks through nodes of records with one hash; the last slot of each may point to one more node.
    fn find_in_list(&mut self, mut node: u64, key: &Key, mut way: Way) -> Result<Way, Error> {
        let mut free = None;
        // Longer lists would need more keys with one hash than anybody finds.
        for _ in 0..1024 {
            for at in node + 1..node + format::FAN_OUT {
                match format::slot(self.words.load(at)?, at)? {
                    Slot::Empty => free = free.or(Some(at)),
                    Slot::Record(record, tag) => {
                        if let Some(found) = self.compare(record, tag, key, LIST_SHIFT)? {
                            way.last = at;
                            way.slot = Slot::Record(record, tag);
                            way.found = Some(found);
                            return Ok(way);
                        }
                    }
                    Slot::Node(_) => return Err(damage("a node where a record is to be", at).into()),
                }
            }
            let last = node + format::FAN_OUT;
            match format::slot(self.words.load(last)?, last)? {
                Slot::Node(next) => node = next,
                Slot::Empty => {
                    way.last = free.unwrap_or(last);
                    way.slot = Slot::Empty;
                    way.found = None;
                    way.list_is_full = free.is_none();
                    return Ok(way);
                }
                Slot::Record(..) => return Err(damage("a record where a node is to be", last).into()),
            }
            self.is_node(node, key.hash, LIST_SHIFT)?;
        }
        Err(damage("a list that goes round in a circle", node).into())
    }

    /// The record at `at`, if it is the key's.
    #[inline]
    fn compare(&mut self, at: u64, tag: u16, key: &Key, shift: u32) -> Result<Option<Found>, Error> {
        self.visits += 1;
        let mut start = [0; 2];
        self.words.read(at, &mut start)?;
        let head = Head::read(start[0], at)?;
        if head.kind != BlockKind::Record {
            return Err(damage("a slot that points to something else", at).into());
        }
        let hash = start[1];
        if hash != key.hash || head.key != key.length {
            // Another key's. That the key is not there is only true if this record is what it was, and where it was.
            self.read(Found { at, head })?;
            let place = hash >> shift == key.hash >> shift && hash & 0x7fff == u64::from(tag);
            return if place {
                Ok(None)
            } else {
                Err(damage("a record in the place of another key", at).into())
            };
        }
        self.buffer.resize(key.count, 0);
        self.words.read(at + RECORD_HEAD, &mut self.buffer)?;
        if self.buffer == key.words() {
            return Ok(Some(Found { at, head }));
        }
        self.read(Found { at, head })?;
        Ok(None)
    }

    /// Reads hash, check, key and value of a record into the buffer, and compares its check.
    #[inline]
    fn read(&mut self, found: Found) -> Result<(), Error> {
        let Found { at, head } = found;
        self.buffer.resize(usize::try_from(head.words()).unwrap_or(0), 0);
        self.words.read(at, &mut self.buffer)?;
        if check_of(&self.buffer) == self.buffer[2] && self.buffer[0] == head.word() {
            Ok(())
        } else {
            Err(damage("a record whose checksum is wrong", at).into())
        }
    }

    /// Writes a record that nothing points to yet.
    #[inline]
    fn new_record(&mut self, key: &Key, value: &[u8]) -> Result<(u64, usize), Error> {
        if value.len() > format::LONGEST_VALUE {
            return Err(Error::Input("a value of layout fast has at most 7000 bytes"));
        }
        let size = RECORD_HEAD + (key.count + value.len().div_ceil(8)) as u64;
        let Self { words, guard, space, .. } = self;
        let (at, class) =
            space.as_mut().ok_or(Error::Refused(Refusal::ReadOnly))?.take(words, guard, size)?;
        let head = Head { kind: BlockKind::Record, class, key: key.length, value: value.len() };
        self.buffer.clear();
        self.buffer.extend_from_slice(&[head.word(), key.hash, 0]);
        self.buffer.extend_from_slice(key.words());
        let start = self.buffer.len();
        self.buffer.resize(usize::try_from(size).unwrap_or(0), 0);
        format::pack(value, &mut self.buffer[start..]);
        self.buffer[2] = check_of(&self.buffer);
        let written = self.words.write(at + 1, &self.buffer[1..]);
        // Free until all of it is there: a killed process leaves no half record that looks whole.
        if let Err(error) = written.and_then(|()| self.words.store(at, head.word())) {
            return Err(self.take_back(at, class, error));
        }
        Ok((at, class))
    }

    /// Frees a block that could not be used, because of `error`.
    fn take_back(&mut self, at: u64, class: usize, error: Error) -> Error {
        // Where even that fails the block is lost until the next recovery.
        let _ = self.give(at, class);
        error
    }

    /// A node that nothing points to yet.
    fn new_node(&mut self, hash: u64, shift: u32, slots: &[(u64, u64)]) -> Result<u64, Error> {
        let Self { words, guard, space, .. } = self;
        let space = space.as_mut().ok_or(Error::Refused(Refusal::ReadOnly))?;
        let (at, class) = space.take(words, guard, format::NODE_WORDS)?;
        let mut node = [format::EMPTY; format::NODE_WORDS as usize];
        for (number, slot) in slots {
            node[1 + usize::try_from(*number).unwrap_or(0)] = *slot;
        }
        let head = Head::node(class, hash, shift);
        let written = self.words.write(at + 1, &node[1..]);
        if let Err(error) = written.and_then(|()| self.words.store(at, head.word())) {
            return Err(self.take_back(at, class, error));
        }
        Ok(at)
    }

    #[inline]
    fn give(&mut self, at: u64, class: usize) -> Result<(), Error> {
        let Self { words, guard, space, .. } = self;
        space.as_mut().ok_or(Error::Refused(Refusal::ReadOnly))?.give(words, guard, at, class)
    }

    /// Frees what has been unlinked. The operation is done: that its space is lost for now is no error of it.
    #[inline]
    fn give_unlinked(&mut self, at: u64, class: usize) {
        self.lost |= self.give(at, class).is_err();
    }

    #[inline]
    fn insert(&mut self, key: &Key, value: &[u8], way: &Way) -> Result<Stored, Error> {
        let (at, class) = self.new_record(key, value)?;
        let slot = format::record_slot(at, key.hash);
        let linked = match way.slot {
            Slot::Record(other, _) => self.part(key.hash, slot, other, way),
            _ if way.list_is_full => self.new_node(key.hash, LIST_SHIFT, &[(0, slot)]).map(format::node_slot),
            _ => Ok(slot),
        };
        match linked.and_then(|slot| self.words.store(way.last, slot)) {
            Ok(()) => Ok(Stored::Inserted { reused: false }),
            Err(error) => Err(self.take_back(at, class, error)),
        }
    }

    /// Nodes that lead to a record and to another one of the same slot, by the bits in which their hashes differ.
    fn part(&mut self, hash: u64, slot: u64, other: u64, way: &Way) -> Result<u64, Error> {
        let other_hash = self.words.load(other + 1)?;
        let other_slot = format::record_slot(other, other_hash);
        let mut shift = format::ROOT_SHIFT - 4 * (way.count as u32 - 1);
        let mut passed = [0; LEVELS];
        let mut depth = 0;
        let mut made = loop {
            if shift < 4 {
                break self.new_node(hash, shift, &[(0, slot), (1, other_slot)])?;
            }
            let above = shift;
            shift -= 4;
            let (one, two) = (hash >> shift & 15, other_hash >> shift & 15);
            if one != two {
                shift = above;
                break self.new_node(hash, shift, &[(one, slot), (two, other_slot)])?;
            }
            passed[depth] = one;
            depth += 1;
        };
        for number in passed[..depth].iter().rev() {
            shift += 4;
            made = self.new_node(hash, shift, &[(*number, format::node_slot(made))])?;
        }
        Ok(format::node_slot(made))
    }

    #[inline]
    fn replace(&mut self, key: &Key, value: &[u8], way: &Way, found: Found) -> Result<Stored, Error> {
        let (at, class) = self.new_record(key, value)?;
        if let Err(error) = self.words.store(way.last, format::record_slot(at, key.hash)) {
            return Err(self.take_back(at, class, error));
        }
        self.give_unlinked(found.at, found.head.class);
        Ok(Stored::Replaced { in_place: false })
    }

    /// Unlinks a record, and every node above it that is left with less than two.
    fn unlink(&mut self, way: &Way, found: Found) -> Result<(), Error> {
        self.words.store(way.last, format::EMPTY)?;
        self.give_unlinked(found.at, found.head.class);
        let passed = self.passed;
        for pair in passed[..way.count].windows(2).rev() {
            let Slot::Node(node) = format::slot(self.words.load(pair[0])?, pair[0])? else { break };
            let mut slots = [format::EMPTY; format::FAN_OUT as usize];
            self.words.read(node + 1, &mut slots)?;
            let mut used = slots.iter().filter(|slot| **slot != format::EMPTY);
            let rest = match (used.next(), used.next()) {
                (None, _) => format::EMPTY,
                (Some(only), None) if matches!(format::slot(*only, node)?, Slot::Record(..)) => *only,
                _ => break,
            };
            let head = Head::read(self.words.load(node)?, node)?;
            self.words.store(pair[0], rest)?;
            self.give_unlinked(node, head.class);
        }
        Ok(())
    }

    fn for_writing(&self) -> Result<(), Error> {
        if self.space.is_some() { Ok(()) } else { Err(Error::Refused(Refusal::ReadOnly)) }
    }
}

impl<W: Words, L: Locks> Records for Fast<W, L> {
    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        let key = Key::new(key, self.seed)?;
        self.within(key.hash, LockKind::Read, |fast| {
            let Some(found) = fast.find(&key)?.found else { return Ok(false) };
            fast.read(found)?;
            unpack(&fast.buffer[RECORD_HEAD as usize + key.count..], found.head.value, value);
            Ok(true)
        })
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        self.for_writing()?;
        let key = Key::new(key, self.seed)?;
        self.within(key.hash, LockKind::Write, |fast| {
            let way = fast.find(&key)?;
            match (way.found, how) {
                (Some(_), StoreMode::Insert) => Ok(Stored::Exists),
                (None, StoreMode::Replace) => Ok(Stored::NotFound),
                (None, _) => fast.insert(&key, value, &way),
                (Some(found), _) => fast.replace(&key, value, &way, found),
            }
        })
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.for_writing()?;
        let key = Key::new(key, self.seed)?;
        self.within(key.hash, LockKind::Write, |fast| {
            let way = fast.find(&key)?;
            match way.found {
                Some(found) => fast.unlink(&way, found).map(|()| true),
                None => Ok(false),
            }
        })
    }

    fn rewind(&mut self) {
        self.cursor = Cursor::default();
    }

    fn next_record(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, Error> {
        self.advance(key, value)
    }

    fn counters(&self) -> Counters {
        Counters { io: self.words.calls(), locks: self.guard.calls, visits: self.visits }
    }
}

impl<W: Words, L: Locks> Drop for Fast<W, L> {
    fn drop(&mut self) {
        if let Some(space) = self.space.take().filter(|_| !self.lost) {
            // Where it fails the arena counts as that of a killed process: its space is recovered.
            let _ = space.give_back(&mut self.words);
        }
    }
}

/// That sizes fit: the largest record has a class.
const _: () = assert!(
    RECORD_HEAD as usize + format::LONGEST_KEY / 8 + format::LONGEST_VALUE.div_ceil(8)
        <= SIZES[format::CLASSES - 1] as usize
);

#[cfg(test)]
mod tests;
