//! Walks over all records, by hash, and by key among equal hashes. Changes during the walk do not move its place.

use oscost_sys::record_lock::LockKind;

use super::format::{self, BlockKind, FAN_OUT, RECORD_HEAD, ROOTS, ROOTS_AT, Slot, damage};
use super::words::Words;
use super::{Fast, Found, Head};
use crate::error::Error;
use crate::lock::{LockId, Locks};

/// Where a walk stands: behind this hash and key. Before the first there is none.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    behind: Option<(u64, Vec<u8>)>,
    /// The stripe to go on with.
    stripe: u32,
}

impl<W: Words, L: Locks> Fast<W, L> {
    /// The next record behind the cursor. `false` behind the last.
    pub(super) fn advance(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, Error> {
        while self.cursor.stripe < format::STRIPES {
            let stripe = self.cursor.stripe;
            // A stripe without a record is passed without its lock: it is as if one had come a moment earlier.
            if self.has_records(stripe)? {
                let id = LockId::Chain(stripe);
                self.guard.enter(id, LockKind::Read)?;
                let found = self.next_in(stripe, key, value);
                let left = self.guard.leave(id);
                let found = found?;
                left?;
                if let Some(hash) = found {
                    self.cursor.behind = Some((hash, key.clone()));
                    return Ok(true);
                }
            }
            self.cursor.stripe += 1;
        }
        Ok(false)
    }

    fn has_records(&mut self, stripe: u32) -> Result<bool, Error> {
        let mut roots = [format::EMPTY; ROOTS as usize];
        self.words.read(format::stripe(stripe) + ROOTS_AT, &mut roots)?;
        Ok(roots.iter().any(|slot| *slot != format::EMPTY))
    }

    /// The first record of a stripe behind the cursor, into `key` and `value`; its hash.
    fn next_in(&mut self, stripe: u32, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        let first = format::stripe(stripe) + ROOTS_AT;
        for root in 0..ROOTS {
            let start = u64::from(stripe) << 54 | root << format::ROOT_SHIFT;
            let last = start | ((1 << format::ROOT_SHIFT) - 1);
            if self.cursor.behind.as_ref().is_some_and(|(hash, _)| *hash > last) {
                continue;
            }
            let mut best = None;
            self.least(first + root, format::ROOT_SHIFT, start, &mut best)?;
            if let Some((hash, found, bytes)) = best {
                self.read(found)?;
                let value_at = RECORD_HEAD as usize + found.head.key.div_ceil(8);
                super::unpack(&self.buffer[value_at..], found.head.value, value);
                *key = bytes;
                return Ok(Some(hash));
            }
        }
        Ok(None)
    }

    /// The least record behind the cursor below the slot at `at`, all of whose hashes begin as `start` does.
    fn least(
        &mut self,
        at: u64,
        shift: u32,
        start: u64,
        best: &mut Option<(u64, Found, Vec<u8>)>,
    ) -> Result<(), Error> {
        match format::slot(self.words.load(at)?, at)? {
            Slot::Empty => Ok(()),
            Slot::Record(record, _) => self.consider(record, best),
            Slot::Node(node) if shift < 4 => self.least_of_list(node, start, best),
            Slot::Node(node) => {
                self.is_node(node, start, shift)?;
                let shift = shift - 4;
                for number in 0..FAN_OUT {
                    let start = start | number << shift;
                    let last = start | ((1 << shift) - 1);
                    if self.cursor.behind.as_ref().is_none_or(|(hash, _)| *hash <= last) {
                        self.least(node + 1 + number, shift, start, best)?;
                        if best.is_some() {
                            break;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn least_of_list(
        &mut self,
        mut node: u64,
        start: u64,
        best: &mut Option<(u64, Found, Vec<u8>)>,
    ) -> Result<(), Error> {
        for _ in 0..1024 {
            self.is_node(node, start, super::LIST_SHIFT)?;
            for at in node + 1..node + FAN_OUT {
                if let Slot::Record(record, _) = format::slot(self.words.load(at)?, at)? {
                    self.consider(record, best)?;
                }
            }
            let last = node + FAN_OUT;
            match format::slot(self.words.load(last)?, last)? {
                Slot::Node(next) => node = next,
                _ => return Ok(()),
            }
        }
        Err(damage("a list that goes round in a circle", node).into())
    }

    /// Takes a record for the least, if it is behind the cursor and before the least so far.
    fn consider(&mut self, at: u64, best: &mut Option<(u64, Found, Vec<u8>)>) -> Result<(), Error> {
        self.visits += 1;
        let head = Head::read(self.words.load(at)?, at)?;
        if head.kind != BlockKind::Record {
            return Err(damage("a slot that points to something else", at).into());
        }
        let hash = self.words.load(at + 1)?;
        self.buffer.resize(head.key.div_ceil(8), 0);
        self.words.read(at + RECORD_HEAD, &mut self.buffer)?;
        let mut key = Vec::new();
        super::unpack(&self.buffer, head.key, &mut key);
        let behind = self.cursor.behind.as_ref().is_none_or(|(last, name)| (hash, &key) > (*last, name));
        let before = best.as_ref().is_none_or(|(least, _, name)| (hash, &key) < (*least, name));
        if behind && before {
            *best = Some((hash, Found { at, head }, key));
        }
        Ok(())
    }
}
