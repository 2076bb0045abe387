//! Space of layout `fast`: blocks from the opener's own arena without a lock, or from the shared space with one.
//!
//! Each list is changed by storing one word, its head: a process that is killed loses the blocks in its hands, no more.

use super::format::{
    self, ARENA_LISTS, CHUNK, CHUNK_HEADER, CHUNK_MARK, CLASSES, Head, SIZES, damage, header,
};
use super::words::Words;
use crate::error::Error;
use crate::lock::{Guard, LockId, Locks};

/// Blocks that move between an arena and the shared lists at a time.
const BATCH: u32 = 32;

/// The arena of one opener.
#[derive(Debug)]
pub(crate) struct Space {
    arena: u64,
    /// Blocks on its free lists, by class; of those that it found, a batch at most is counted.
    idle: [u32; CLASSES],
}

impl Space {
    /// Takes over arena `number`, which nobody uses. Whether its last owner was killed.
    pub fn take_over(words: &mut impl Words, number: usize) -> Result<(Self, bool), Error> {
        let arena = format::arena(number);
        let killed = words.load(arena + format::ARENA_IN_USE)? != 0;
        if killed {
            words.store(header::UNCLEAN, 1)?;
            // Blocks may have their heads and the arena not know of them yet: one, or the rest of a chunk that was cut.
            let mut bump = words.load(arena)?;
            while bump < format::chunk_end(bump) && words.load(bump)? != 0 {
                bump += SIZES[Head::read(words.load(bump)?, bump)?.class];
            }
            words.store(arena, bump)?;
        }
        words.store(arena + format::ARENA_IN_USE, 1)?;
        let mut idle = [0; CLASSES];
        for (class, idle) in idle.iter_mut().enumerate() {
            let first = words.load(arena + ARENA_LISTS + class as u64)?;
            *idle = if first == 0 { 0 } else { walk(words, first, class)?.1 };
        }
        Ok((Self { arena, idle }, killed))
    }

    /// Gives the arena back: nothing of it is in anybody's hands.
    pub fn give_back(&self, words: &mut impl Words) -> Result<(), Error> {
        words.store(self.arena + format::ARENA_IN_USE, 0)
    }

    /// A free block of at least `size` words, which stands on no list: where, and its class.
    #[inline]
    pub fn take<W: Words, L: Locks>(
        &mut self,
        words: &mut W,
        guard: &mut Guard<L>,
        size: u64,
    ) -> Result<(u64, usize), Error> {
        let class =
            format::class_of(size).ok_or(Error::Input("a record of layout fast has at most 8 KiB"))?;
        let list = self.arena + ARENA_LISTS + class as u64;
        let first = words.load(list)?;
        if first != 0 {
            self.idle[class] = self.idle[class].saturating_sub(1);
            let next = next_free(words, first, class)?;
            words.store(list, next)?;
            return Ok((first, class));
        }
        if words.load(header::POOL + class as u64)? != 0 {
            let taken = self.take_from_pool(words, guard, class)?;
            if taken != 0 {
                return Ok((taken, class));
            }
        }
        self.carve(words, guard, class).map(|at| (at, class))
    }

    /// Makes the block at `at` free.
    #[inline]
    pub fn give<W: Words, L: Locks>(
        &mut self,
        words: &mut W,
        guard: &mut Guard<L>,
        at: u64,
        class: usize,
    ) -> Result<(), Error> {
        let list = self.arena + ARENA_LISTS + class as u64;
        words.store(at, Head::free(class).word())?;
        let first = words.load(list)?;
        words.store(at + 1, first)?;
        words.store(list, at)?;
        self.idle[class] += 1;
        if self.idle[class] >= 2 * BATCH { self.give_to_pool(words, guard, class) } else { Ok(()) }
    }

    /// A block from the chunk of this arena, or from a new one.
    fn carve<W: Words, L: Locks>(
        &mut self,
        words: &mut W,
        guard: &mut Guard<L>,
        class: usize,
    ) -> Result<u64, Error> {
        let mut bump = words.load(self.arena)?;
        let end = format::chunk_end(bump);
        if SIZES[class] > end - bump {
            let chunk = self.new_chunk(words, guard)?;
            let mut rest = Vec::new();
            cut(words, bump, end, |at, class| rest.push((at, class)))?;
            bump = chunk + CHUNK_HEADER;
            words.store(self.arena, bump)?;
            for (at, class) in rest {
                self.give(words, guard, at, class)?;
            }
        }
        words.store(bump, Head::free(class).word())?;
        words.store(self.arena, bump + SIZES[class])?;
        Ok(bump)
    }

    /// Lengthens what is used of the file by a chunk.
    fn new_chunk<W: Words, L: Locks>(&self, words: &mut W, guard: &mut Guard<L>) -> Result<u64, Error> {
        guard.enter_inner(LockId::IndexAppend)?;
        let made: Result<u64, Error> = (|| {
            let at = words.load(header::END)?;
            words.make_room(at + CHUNK)?;
            words.store(at, CHUNK_MARK)?;
            words.store(header::END, at + CHUNK)?;
            Ok(at)
        })();
        let left = guard.leave_inner(LockId::IndexAppend);
        let at = made?;
        left?;
        Ok(at)
    }

    /// Takes one block, and up to a batch more for the next times. 0 if somebody else was faster.
    fn take_from_pool<W: Words, L: Locks>(
        &mut self,
        words: &mut W,
        guard: &mut Guard<L>,
        class: usize,
    ) -> Result<u64, Error> {
        let pool = header::POOL + class as u64;
        guard.enter_inner(LockId::IndexAppend)?;
        let taken: Result<(u64, u64, u32), Error> = (|| {
            let first = words.load(pool)?;
            if first == 0 {
                return Ok((0, 0, 0));
            }
            let (last, count) = walk(words, first, class)?;
            let rest = next_free(words, last, class)?;
            words.store(pool, rest)?;
            Ok((first, last, count))
        })();
        let left = guard.leave_inner(LockId::IndexAppend);
        let (first, last, count) = taken?;
        left?;
        if count > 1 {
            // The own list is empty, or nobody would have come here.
            let second = next_free(words, first, class)?;
            words.store(last + 1, 0)?;
            words.store(self.arena + ARENA_LISTS + class as u64, second)?;
            self.idle[class] += count - 1;
        }
        Ok(first)
    }

    /// Gives a batch of the own list to all: where one process inserts and another deletes, space goes round.
    fn give_to_pool<W: Words, L: Locks>(
        &mut self,
        words: &mut W,
        guard: &mut Guard<L>,
        class: usize,
    ) -> Result<(), Error> {
        let list = self.arena + ARENA_LISTS + class as u64;
        let pool = header::POOL + class as u64;
        let first = words.load(list)?;
        let (last, count) = walk(words, first, class)?;
        let rest = next_free(words, last, class)?;
        guard.enter_inner(LockId::IndexAppend)?;
        let given: Result<(), Error> = (|| {
            words.store(list, rest)?;
            let head = words.load(pool)?;
            words.store(last + 1, head)?;
            words.store(pool, first)
        })();
        let left = guard.leave_inner(LockId::IndexAppend);
        given?;
        left?;
        self.idle[class] = self.idle[class].saturating_sub(count);
        Ok(())
    }
}

/// The last of up to a batch of blocks from `first` on, and how many they are.
fn walk(words: &mut impl Words, first: u64, class: usize) -> Result<(u64, u32), Error> {
    let (mut last, mut count) = (first, 1);
    while count < BATCH {
        match next_free(words, last, class)? {
            0 => break,
            next => last = next,
        }
        count += 1;
    }
    Ok((last, count))
}

/// The free block behind the one at `at`; 0 after the last.
#[inline]
fn next_free(words: &mut impl Words, at: u64, class: usize) -> Result<u64, Error> {
    if at < format::FIRST_CHUNK || Head::read(words.load(at)?, at)? != Head::free(class) {
        return Err(damage("a block on a free list that is not free, or of another size", at).into());
    }
    words.load(at + 1)
}

/// Cuts `from..to` into free blocks and hands each to `give`; what is too small for a block stays unused.
pub(crate) fn cut(
    words: &mut impl Words,
    mut from: u64,
    to: u64,
    mut give: impl FnMut(u64, usize),
) -> Result<(), Error> {
    while let Some(class) = format::class_within(to - from) {
        words.store(from, Head::free(class).word())?;
        give(from, class);
        from += SIZES[class];
    }
    Ok(())
}

#[cfg(test)]
mod tests;
