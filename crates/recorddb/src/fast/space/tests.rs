//! Blocks on lists that are put together by hand, and chunks that are used up.

use super::super::format::{ARENA_IN_USE, FIRST_CHUNK};
use super::super::words::MemoryWords;
use super::super::{open, recover};
use super::*;
use crate::lock::SystemLocks;

const ARENA: u64 = format::arena(0);

fn empty() -> MemoryWords {
    let mut words = MemoryWords(Vec::new());
    words.make_room(FIRST_CHUNK).expect("memory");
    open::fill(&mut words).expect("memory");
    words
}

fn guard() -> Guard<SystemLocks> {
    Guard::new(None, SystemLocks::None, false)
}

fn load(words: &mut MemoryWords, at: u64) -> u64 {
    words.load(at).expect("within")
}

#[test]
fn an_arena_is_in_use_until_it_is_given_back() {
    let mut words = empty();
    let (space, killed) = Space::take_over(&mut words, 0).expect("memory");
    assert!(!killed && space.idle == [0; CLASSES]);
    assert_eq!((load(&mut words, ARENA + ARENA_IN_USE), load(&mut words, header::UNCLEAN)), (1, 0));
    assert!(recover::is_needed(&mut words).expect("memory"), "somebody may have been killed");
    space.give_back(&mut words).expect("memory");
    assert_eq!(load(&mut words, ARENA + ARENA_IN_USE), 0);
    assert!(!recover::is_needed(&mut words).expect("memory"));
    words.store(ARENA + ARENA_IN_USE, 1).expect("within");
    let (_, killed) = Space::take_over(&mut words, 0).expect("memory");
    assert_eq!((killed, load(&mut words, header::UNCLEAN)), (true, 1));
    recover::recover(&mut words).expect("nothing is damaged");
    assert_eq!(load(&mut words, header::UNCLEAN), 0);
    assert!(!recover::is_needed(&mut words).expect("memory"));
    for at in [header::CHECK, header::END] {
        words.store(at, 1).expect("within");
    }
    let first = damage("a header whose checksum is wrong", header::CHECK);
    assert_eq!(recover::recover(&mut words), Err(first.into()));
    assert_eq!(load(&mut words, header::UNCLEAN), 1, "it is still needed");
}

/// Blocks of 16 words: the 64th that is freed gives a batch of 32 to all.
#[test]
fn a_batch_of_freed_blocks_is_given_to_all_and_taken_again() {
    let (mut words, mut guard) = (empty(), guard());
    let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
    let mut taken: Vec<u64> = (0..64)
        .map(|_| space.take(&mut words, &mut guard, 16).expect("room"))
        .map(|(at, class)| {
            assert_eq!(class, 12);
            at
        })
        .collect();
    assert_eq!(taken[0], FIRST_CHUNK + CHUNK_HEADER);
    assert!(taken.windows(2).all(|pair| pair[1] == pair[0] + 16), "{taken:?}");
    let (pool, own) = (header::POOL + 12, ARENA + ARENA_LISTS + 12);
    let last = taken.pop().expect("64");
    for at in &taken {
        space.give(&mut words, &mut guard, *at, 12).expect("within");
    }
    assert_eq!((load(&mut words, pool), space.idle[12]), (0, 63));
    space.give(&mut words, &mut guard, last, 12).expect("within");
    assert_eq!(space.idle[12], 32);
    assert_eq!(load(&mut words, pool), last, "what was freed last goes first");
    assert_eq!(load(&mut words, own), taken[31]);
    // 32 of its own, then the batch of all, then new ones.
    let mut again = Vec::new();
    for left in (0..32).rev().chain((0..32).rev()) {
        again.push(space.take(&mut words, &mut guard, 16).expect("room").0);
        assert_eq!(space.idle[12], left, "so many are on its list");
    }
    assert_eq!((again[0], again[31], again[32]), (taken[31], taken[0], last));
    assert_eq!((load(&mut words, pool), load(&mut words, own), space.idle[12]), (0, 0, 0));
    let new = space.take(&mut words, &mut guard, 16).expect("room").0;
    assert_eq!(new, last + 16);
    let mut all = [again, vec![new]].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 65, "no block is given twice");
}

#[test]
fn what_is_left_of_a_chunk_is_cut_into_blocks_before_the_next_begins() {
    let (mut words, mut guard) = (empty(), guard());
    let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
    let first = space.take(&mut words, &mut guard, 1024).expect("room").0;
    assert_eq!(load(&mut words, header::END), FIRST_CHUNK + CHUNK);
    // 1023 words are left: too few for another.
    let second = space.take(&mut words, &mut guard, 1024).expect("room").0;
    assert_eq!((first, second), (FIRST_CHUNK + 1, FIRST_CHUNK + CHUNK + 1));
    assert_eq!(load(&mut words, header::END), FIRST_CHUNK + 2 * CHUNK);
    let rest = space.take(&mut words, &mut guard, 960).expect("room").0;
    assert_eq!(rest, first + 1024, "the largest block of what was left");
    assert!(space.take(&mut words, &mut guard, 1025).is_err(), "no class is that large");
}

/// The classes of 1024, 896, 112 and 15 words are all that a chunk has.
#[test]
fn a_chunk_is_used_to_its_last_word() {
    let (mut words, mut guard) = (empty(), guard());
    let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
    for size in [1024, 896, 112, 15] {
        space.take(&mut words, &mut guard, size).expect("room");
        assert_eq!(load(&mut words, header::END), FIRST_CHUNK + CHUNK);
    }
    assert_eq!(load(&mut words, ARENA), FIRST_CHUNK + CHUNK);
    let next = space.take(&mut words, &mut guard, 4).expect("room").0;
    assert_eq!((next, load(&mut words, header::END)), (FIRST_CHUNK + CHUNK + 1, FIRST_CHUNK + 2 * CHUNK));
}

/// A list of so many blocks of 16 words, its head at `head`; where the first of them is.
fn listed(words: &mut MemoryWords, head: u64, count: u64) -> u64 {
    let (mut space, _) = Space::take_over(words, 0).expect("memory");
    let first = (0..count).fold(0, |next, _| {
        let at = space.carve(words, &mut guard(), 12).expect("room");
        words.store(at + 1, next).expect("within");
        at
    });
    words.store(head, first).expect("within");
    first
}

/// Of an arena's list a batch is counted; from that of all a batch is taken, and the first of it used.
#[test]
fn what_was_found_is_counted_up_to_a_batch() {
    let (own, pool) = (ARENA + ARENA_LISTS + 12, header::POOL + 12);
    for (count, counted) in [(0, 0), (1, 1), (2, 2), (31, 31), (32, 32), (33, 32)] {
        let mut words = empty();
        listed(&mut words, own, count);
        let (space, _) = Space::take_over(&mut words, 0).expect("memory");
        assert_eq!(space.idle[12], counted);
        assert_eq!(space.idle.iter().sum::<u32>(), counted);

        let mut words = empty();
        let first = listed(&mut words, pool, count);
        let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
        let taken = space.take(&mut words, &mut guard(), 16).expect("room").0;
        assert!(taken == first || count == 0);
        assert_eq!((space.idle[12], load(&mut words, pool) != 0), (counted.saturating_sub(1), count > 32));
        for left in (0..counted.saturating_sub(1)).rev() {
            space.take(&mut words, &mut guard(), 16).expect("room");
            assert_eq!(space.idle[12], left);
        }
        assert_eq!(load(&mut words, own), 0, "no more were taken");
    }
}

#[test]
fn a_free_list_leads_to_free_blocks_of_its_class_or_is_damaged() {
    let other = "a block on a free list that is not free, or of another size";
    let mut words = empty();
    let first = listed(&mut words, header::POOL + 12, 1);
    let mut told = |at: u64, class: usize| next_free(&mut words, at, class);
    assert_eq!(told(first, 12), Ok(0));
    assert_eq!(told(first, 13), Err(damage(other, first).into()));
    assert_eq!(told(FIRST_CHUNK - 1, 12), Err(damage(other, FIRST_CHUNK - 1).into()));
    assert_eq!(told(FIRST_CHUNK, 12), Err(damage("a block without its head", FIRST_CHUNK).into()));
}

/// Locks under which somebody else empties the list of all, in the moment before they are had.
struct Faster(std::rc::Rc<std::cell::RefCell<MemoryWords>>);

impl Locks for Faster {
    fn lock(
        &mut self,
        _: LockId,
        _: oscost_sys::record_lock::LockKind,
    ) -> Result<oscost_sys::mapped_file::Locked, oscost_sys::CallError> {
        self.0.borrow_mut().store(header::POOL + 12, 0).expect("within");
        Ok(oscost_sys::mapped_file::Locked::Clean)
    }

    fn unlock(&mut self, _: LockId) -> Result<(), oscost_sys::CallError> {
        Ok(())
    }
}

impl Words for std::rc::Rc<std::cell::RefCell<MemoryWords>> {
    fn load(&mut self, at: u64) -> Result<u64, Error> {
        self.borrow_mut().load(at)
    }
    fn store(&mut self, at: u64, word: u64) -> Result<(), Error> {
        self.borrow_mut().store(at, word)
    }
    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Error> {
        self.borrow_mut().read(at, words)
    }
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Error> {
        self.borrow_mut().write(at, words)
    }
    fn make_room(&mut self, end: u64) -> Result<(), Error> {
        self.borrow_mut().make_room(end)
    }
    fn calls(&self) -> crate::io::IoCalls {
        self.borrow().calls()
    }
}

#[test]
fn who_was_slower_takes_a_new_block() {
    let mut words = empty();
    let first = listed(&mut words, header::POOL + 12, 1);
    let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
    let mut words = std::rc::Rc::new(std::cell::RefCell::new(words));
    let faster = Faster(std::rc::Rc::clone(&words));
    let mut guard = Guard::new(Some(crate::lock::Granularity::Fine), faster, false);
    assert_eq!(space.take(&mut words, &mut guard, 16), Ok((first + 16, 12)));
    assert_eq!((space.idle[12], guard.calls.lock), (0, 1));
}

/// Blocks of all sizes that a killed process had in its hands, and the rest of a chunk that nobody allocates from.
#[test]
fn what_a_killed_process_had_is_for_all() {
    let (mut words, mut guard) = (empty(), guard());
    let (mut space, _) = Space::take_over(&mut words, 0).expect("memory");
    let taken: Vec<(u64, usize)> =
        [4, 5, 16, 1024].map(|size| space.take(&mut words, &mut guard, size).expect("room")).into();
    assert_eq!(taken.iter().map(|(_, class)| *class).collect::<Vec<_>>(), [0, 1, 12, CLASSES - 1]);
    recover::recover(&mut words).expect("nothing is damaged");
    for class in 0..CLASSES {
        let at = taken.iter().find(|(_, of)| *of == class).map_or(0, |(at, _)| *at);
        assert_eq!(load(&mut words, header::POOL + class as u64), at, "{class}");
        assert!(at == 0 || next_free(&mut words, at, class) == Ok(0), "{class}");
    }
    // 1049 words are in blocks; its arena allocates behind them, until it does not: 998 are a block of 960, one of 36 and a gap.
    let end = FIRST_CHUNK + CHUNK_HEADER + 1049;
    assert_eq!(load(&mut words, ARENA), end);
    words.store(ARENA, 0).expect("within");
    recover::recover(&mut words).expect("nothing is damaged");
    for (size, at) in [(960, end), (36, end + 960)] {
        let class = format::class_of(size).expect("a class");
        assert_eq!(load(&mut words, header::POOL + class as u64), at, "{size}");
    }
}
