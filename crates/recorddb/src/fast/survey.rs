//! Finds what every block of a file is, and what points to it: for the checker and for recovery.

use super::format::{
    self, ARENA_IN_USE, ARENA_LISTS, ARENAS, BlockKind, CHUNK, CHUNK_HEADER, CHUNK_MARK, CLASSES, FAN_OUT,
    FIRST_CHUNK, Head, RECORD_HEAD, ROOTS, ROOTS_AT, SIZES, STRIPES, Slot, header,
};
use super::words::Words;
use crate::error::{Damage, Error};

/// What leads to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Led {
    Nothing,
    Tree,
    FreeList,
}

/// A block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub at: u64,
    pub head: Head,
    pub led: Led,
}

/// All blocks, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub blocks: Vec<Block>,
    /// What no block covers at the ends of chunks that nobody allocates from.
    pub tails: Vec<(u64, u64)>,
    /// From where to where there are blocks that an arena does not know of.
    ahead: Vec<(u64, u64)>,
    pub records: u64,
    pub damages: Vec<Damage>,
}

impl Survey {
    /// Looks at everything. Each block is led to once, so every walk ends.
    ///
    /// # Errors
    /// What cannot be read; what was read and is wrong is in `damages`.
    pub fn of(words: &mut impl Words) -> Result<Self, Error> {
        let mut survey = Self::default();
        let seed = words.load(header::SEED)?;
        if words.load(header::CHECK)? != format::header_check(words.load(header::VERSION)?, seed) {
            survey.damages.push(format::damage("a header whose checksum is wrong", header::CHECK));
        }
        let end = words.load(header::END)?;
        if !format::is_end(end) {
            survey.damages.push(format::damage(format::NO_END, header::END));
            return Ok(survey);
        }
        let mut bumps = Vec::with_capacity(ARENAS);
        for arena in (0..ARENAS).map(format::arena) {
            let bump = words.load(arena)?;
            if bump != 0 && !(FIRST_CHUNK..=end).contains(&bump) {
                survey.damages.push(format::damage("an arena that allocates where no chunk is", arena));
            }
            bumps.push((bump, words.load(arena + ARENA_IN_USE)? != 0));
        }
        for chunk in (FIRST_CHUNK..end).step_by(CHUNK as usize) {
            survey.chunk(words, chunk, &bumps)?;
        }
        for stripe in 0..STRIPES {
            for root in 0..ROOTS {
                let start = u64::from(stripe) << 54 | root << format::ROOT_SHIFT;
                let at = format::stripe(stripe) + ROOTS_AT + root;
                survey.tree(words, at, format::ROOT_SHIFT, start, seed)?;
            }
        }
        let heads = (0..ARENAS).map(|number| format::arena(number) + ARENA_LISTS).chain([header::POOL]);
        for head in heads {
            for class in 0..CLASSES {
                survey.free_list(words, head + class as u64, class)?;
            }
        }
        for (from, to) in std::mem::take(&mut survey.ahead) {
            let led = |block: &&Block| (from..to).contains(&block.at) && block.led != Led::Nothing;
            if let Some(block) = survey.blocks.iter().find(led) {
                survey.damages.push(format::damage("an arena that allocates over blocks", block.at));
            }
        }
        Ok(survey)
    }

    /// Blocks of one chunk; `bumps` say where each arena allocates, and whether somebody has it.
    fn chunk(&mut self, words: &mut impl Words, chunk: u64, bumps: &[(u64, bool)]) -> Result<(), Error> {
        if words.load(chunk)? != CHUNK_MARK {
            self.damages.push(format::damage("a chunk without its mark", chunk));
            return Ok(());
        }
        let end = chunk + CHUNK;
        let mut at = chunk + CHUNK_HEADER;
        while at < end {
            let word = words.load(at)?;
            if word == 0 {
                break;
            }
            match Head::read(word, at) {
                Ok(head) if SIZES[head.class] <= end - at => {
                    self.blocks.push(Block { at, head, led: Led::Nothing });
                    at += SIZES[head.class];
                }
                Ok(_) => {
                    self.damages.push(format::damage("a block that reaches over the end of its chunk", at));
                    return Ok(());
                }
                Err(damage) => {
                    self.damages.push(damage);
                    return Ok(());
                }
            }
        }
        // Unused space reads as zeros, and allocation relies on that.
        let mut rest = vec![0; usize::try_from(end - at).unwrap_or(0)];
        words.read(at, &mut rest)?;
        if let Some(used) = rest.iter().position(|word| *word != 0) {
            self.damages.push(format::damage("a word of nobody behind the last block", at + used as u64));
        }
        let mut here = bumps.iter().filter(|(bump, _)| (chunk + 1..end).contains(bump));
        match (here.next(), here.next()) {
            (Some((bump, _)), None) if *bump == at => {}
            // Its owner was killed between the heads of blocks and the word that says so: nothing leads to them.
            (Some((bump, true)), None) if self.blocks.iter().rev().any(|block| block.at == *bump) => {
                self.ahead.push((*bump, at));
            }
            (Some((bump, _)), _) => {
                self.damages.push(format::damage("an arena that allocates over blocks", *bump));
            }
            (None, _) if at < end => self.tails.push((at, end)),
            (None, _) => {}
        }
        Ok(())
    }

    /// Notes that something leads to the block at `at`; what it is, unless something else is wrong.
    fn lead(&mut self, from: u64, at: u64, led: Led) -> Option<Head> {
        let Ok(number) = self.blocks.binary_search_by_key(&at, |block| block.at) else {
            self.damages.push(format::damage("a pointer to where no block begins", from));
            return None;
        };
        let block = &mut self.blocks[number];
        if block.led != Led::Nothing {
            self.damages.push(format::damage("a block that two lead to", at));
            return None;
        }
        block.led = led;
        Some(block.head)
    }

    /// Follows the slot at `at`, all of whose hashes begin as `start` does down to `shift`. What is still to be followed is
    /// kept here and not on the stack: a damaged file may hold lists of any length.
    fn tree(
        &mut self,
        words: &mut impl Words,
        at: u64,
        shift: u32,
        start: u64,
        seed: u64,
    ) -> Result<(), Error> {
        let mut todo = vec![(at, shift, start, false)];
        while let Some((at, shift, start, record_only)) = todo.pop() {
            match format::slot(words.load(at)?, at) {
                Err(damage) => self.damages.push(damage),
                Ok(Slot::Empty) => {}
                Ok(Slot::Record(record, tag)) => match self.lead(at, record, Led::Tree) {
                    Some(head) if head.kind == BlockKind::Record => {
                        self.record(words, record, head, (shift, start), tag, seed)?;
                    }
                    Some(_) => self.damages.push(format::damage("a slot that points to something else", at)),
                    None => {}
                },
                Ok(Slot::Node(_)) if record_only => {
                    self.damages.push(format::damage("a node where a record is to be", at));
                }
                Ok(Slot::Node(node)) => match self.lead(at, node, Led::Tree) {
                    Some(head) if head == Head::node(head.class, start, shift) => {
                        for number in 0..FAN_OUT {
                            // Below the last level a node is a list, and what it holds has the hash so far; its last slot
                            // leads to the next one.
                            todo.push(match shift.checked_sub(4) {
                                Some(shift) => (node + 1 + number, shift, start | number << shift, false),
                                None => (node + 1 + number, shift, start, number + 1 < FAN_OUT),
                            });
                        }
                    }
                    Some(_) => self.damages.push(format::damage("a slot that points to something else", at)),
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        words: &mut impl Words,
        at: u64,
        head: Head,
        (shift, start): (u32, u64),
        tag: u16,
        seed: u64,
    ) -> Result<(), Error> {
        let mut record = vec![0; usize::try_from(head.words()).unwrap_or(0)];
        words.read(at, &mut record)?;
        let key = &record[RECORD_HEAD as usize..][..head.key.div_ceil(8)];
        let hash = format::hash(seed, key, head.key);
        if record[2] != super::check_of(&record) || record[1] != hash {
            self.damages.push(format::damage("a record whose checksum is wrong", at));
        } else if hash >> shift != start >> shift || hash & 0x7fff != u64::from(tag) {
            self.damages.push(format::damage("a record in the place of another key", at));
        } else {
            self.records += 1;
        }
        Ok(())
    }

    fn free_list(&mut self, words: &mut impl Words, head_at: u64, class: usize) -> Result<(), Error> {
        let mut from = head_at;
        let mut at = words.load(head_at)?;
        while at != 0 {
            let Some(head) = self.lead(from, at, Led::FreeList) else { break };
            if head != Head::free(class) {
                self.damages
                    .push(format::damage("a block on a free list that is not free, or of another size", at));
                break;
            }
            (from, at) = (at, words.load(at + 1)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
