//! Surveys of files that are put together word by word.

use super::super::check_of;
use super::super::format::{EMPTY, NODE_WORDS, node_slot, record_slot};
use super::super::open::fill;
use super::super::words::MemoryWords;
use super::*;

/// Where the blocks of the only chunk begin, and where it ends.
const BLOCKS: u64 = FIRST_CHUNK + CHUNK_HEADER;
const CHUNK_END: u64 = FIRST_CHUNK + CHUNK;
/// The arena that allocates in it.
const ARENA: u64 = format::arena(0);

/// A database of one chunk, whose blocks are free ones of these classes; the arena allocates behind them.
fn with_blocks(classes: &[usize]) -> MemoryWords {
    let mut words = MemoryWords(vec![0; CHUNK_END as usize]);
    fill(&mut words).expect("memory");
    let mut at = BLOCKS;
    for class in classes {
        set(&mut words, at, Head::free(*class).word());
        at += SIZES[*class];
    }
    set(&mut words, header::END, CHUNK_END);
    set(&mut words, FIRST_CHUNK, CHUNK_MARK);
    set(&mut words, ARENA, at);
    words
}

fn set(words: &mut MemoryWords, at: u64, word: u64) {
    words.store(at, word).expect("within");
}

fn load(words: &mut MemoryWords, at: u64) -> u64 {
    words.load(at).expect("within")
}

fn survey(words: &mut MemoryWords) -> Survey {
    Survey::of(words).expect("memory")
}

/// What is damaged, and at which word.
fn damages(words: &mut MemoryWords) -> Vec<(&'static str, u64)> {
    survey(words).damages.iter().map(|damage| (damage.what, damage.at / 8)).collect()
}

#[test]
fn blocks_that_nothing_leads_to_are_no_damage() {
    let mut words = with_blocks(&[0, 12, 13]);
    let found = survey(&mut words);
    assert_eq!(found.damages, []);
    assert_eq!(found.blocks.iter().map(|block| block.at - BLOCKS).collect::<Vec<_>>(), [0, 4, 20]);
    assert!(found.blocks.iter().all(|block| block.led == Led::Nothing));
    assert_eq!((found.tails.len(), found.records), (0, 0), "the arena has the rest");
    set(&mut words, ARENA, 0);
    assert_eq!(survey(&mut words).tails, [(BLOCKS + 38, CHUNK_END)], "nobody has it");
    assert_eq!(survey(&mut with_blocks(&[])).tails, [], "the arena has all of it");
}

#[test]
fn a_header_is_whole() {
    let mut words = with_blocks(&[]);
    let seed = load(&mut words, header::SEED);
    set(&mut words, header::SEED, seed ^ 1);
    assert_eq!(damages(&mut words), [("a header whose checksum is wrong", header::CHECK)]);
    set(&mut words, header::SEED, seed);
    set(&mut words, header::END, CHUNK_END - 1);
    assert_eq!(damages(&mut words), [(format::NO_END, header::END)]);
}

#[test]
fn an_arena_allocates_within_a_chunk_behind_its_blocks() {
    let of = |bump: u64, in_use: u64| {
        let mut words = with_blocks(&[0, 0]);
        set(&mut words, ARENA, bump);
        set(&mut words, ARENA + ARENA_IN_USE, in_use);
        damages(&mut words)
    };
    for right in [0, BLOCKS + 8, FIRST_CHUNK, CHUNK_END] {
        assert_eq!(of(right, 0), [], "{right}");
    }
    for nowhere in [FIRST_CHUNK - 1, CHUNK_END + 1] {
        assert_eq!(of(nowhere, 0), [("an arena that allocates where no chunk is", ARENA)], "{nowhere}");
    }
    let over = |at: u64| [("an arena that allocates over blocks", at)];
    assert_eq!(of(BLOCKS + 4, 0), over(BLOCKS + 4), "its owner gave it back");
    assert_eq!(of(BLOCKS + 4, 1), [], "its owner was killed, and nothing leads there");
    assert_eq!(of(BLOCKS + 5, 1), over(BLOCKS + 5), "within a block");
    assert_eq!(of(BLOCKS + 9, 0), over(BLOCKS + 9), "behind a gap");
    let mut led = with_blocks(&[0, 0]);
    set(&mut led, ARENA, BLOCKS + 4);
    set(&mut led, ARENA + ARENA_IN_USE, 1);
    set(&mut led, header::POOL, BLOCKS + 4);
    assert_eq!(damages(&mut led), over(BLOCKS + 4), "somebody else has it");
    set(&mut led, header::POOL, BLOCKS);
    assert_eq!(damages(&mut led), [], "the block before it is nobody's matter");
    let mut two = with_blocks(&[0]);
    set(&mut two, format::arena(1), BLOCKS + 4);
    assert_eq!(damages(&mut two), over(BLOCKS + 4));
}

#[test]
fn blocks_fill_their_chunk_and_no_more() {
    // 1024, 896, 112 and 15 words are all that there are.
    let full = [1024, 896, 112, 15].map(|words| format::class_of(words).expect("a class"));
    assert_eq!(full.map(|class| SIZES[class]), [1024, 896, 112, 15]);
    let mut words = with_blocks(&full);
    assert_eq!(damages(&mut words), []);
    assert_eq!(survey(&mut words).tails, []);
    set(&mut words, CHUNK_END - 15, Head::free(12).word());
    assert_eq!(damages(&mut words), [("a block that reaches over the end of its chunk", CHUNK_END - 15)]);
    set(&mut words, CHUNK_END - 15, 7);
    assert_eq!(damages(&mut words), [("a block without its head", CHUNK_END - 15)]);
    let mut words = with_blocks(&[0]);
    set(&mut words, BLOCKS + 9, 7);
    assert_eq!(damages(&mut words), [("a word of nobody behind the last block", BLOCKS + 9)]);
    let mut words = with_blocks(&[]);
    set(&mut words, FIRST_CHUNK, 0);
    assert_eq!(damages(&mut words), [("a chunk without its mark", FIRST_CHUNK)]);
}

#[test]
fn a_free_list_leads_to_free_blocks_of_its_class_once() {
    let mut words = with_blocks(&[0, 0, 1]);
    let own = ARENA + ARENA_LISTS;
    set(&mut words, own, BLOCKS);
    set(&mut words, BLOCKS + 1, BLOCKS + 4);
    set(&mut words, header::POOL + 1, BLOCKS + 8);
    let found = survey(&mut words);
    assert_eq!(found.damages, []);
    assert!(found.blocks.iter().all(|block| block.led == Led::FreeList), "{:?}", found.blocks);
    set(&mut words, header::POOL, BLOCKS + 4);
    assert_eq!(damages(&mut words), [("a block that two lead to", BLOCKS + 4)]);
    set(&mut words, header::POOL, BLOCKS + 1);
    assert_eq!(damages(&mut words), [("a pointer to where no block begins", header::POOL)]);
    set(&mut words, header::POOL, 0);
    set(&mut words, BLOCKS + 5, BLOCKS + 8);
    let other = "a block on a free list that is not free, or of another size";
    assert_eq!(damages(&mut words), [(other, BLOCKS + 8), ("a block that two lead to", BLOCKS + 8)]);
}

/// Puts a record into the block at `at`, and tells the slot of its root and what points to it.
fn put_record(words: &mut MemoryWords, at: u64, class: usize, key: u64) -> (u64, u64) {
    let seed = load(words, header::SEED);
    let hash = format::hash(seed, &[key], 8);
    let head = Head { kind: BlockKind::Record, class, key: 8, value: 0 };
    let mut record = [head.word(), hash, 0, key];
    record[2] = check_of(&record);
    words.write(at, &record).expect("within");
    (hash, record_slot(at, hash))
}

fn root_of(hash: u64) -> u64 {
    let (stripe, root) = format::root(hash);
    format::stripe(stripe) + ROOTS_AT + root
}

#[test]
fn a_record_is_whole_and_in_its_own_place() {
    let mut words = with_blocks(&[0]);
    let (hash, slot) = put_record(&mut words, BLOCKS, 0, 42);
    let root = root_of(hash);
    set(&mut words, root, slot);
    let found = survey(&mut words);
    assert_eq!((found.damages.len(), found.records, found.blocks[0].led), (0, 1, Led::Tree));
    set(&mut words, BLOCKS + 3, 43);
    assert_eq!(damages(&mut words), [("a record whose checksum is wrong", BLOCKS)]);
    assert_eq!(survey(&mut words).records, 0);
    set(&mut words, BLOCKS + 3, 42);
    set(&mut words, root, slot ^ 1);
    assert_eq!(damages(&mut words), [("a record in the place of another key", BLOCKS)], "another tag");
    set(&mut words, root, EMPTY);
    let elsewhere = format::stripe((format::root(hash).0 + 1) % STRIPES) + ROOTS_AT;
    set(&mut words, elsewhere, slot);
    assert_eq!(damages(&mut words), [("a record in the place of another key", BLOCKS)], "another root");
    set(&mut words, elsewhere, 0);
    assert_eq!(damages(&mut words), [("a slot that points to no block", elsewhere)]);
    set(&mut words, elsewhere, node_slot(BLOCKS));
    assert_eq!(damages(&mut words), [("a slot that points to something else", elsewhere)]);
    set(&mut words, elsewhere, record_slot(BLOCKS + 1, 0));
    assert_eq!(damages(&mut words), [("a pointer to where no block begins", elsewhere)]);
}

#[test]
fn a_record_with_a_hash_of_its_own_making_is_damaged() {
    let mut words = with_blocks(&[0]);
    let (hash, _) = put_record(&mut words, BLOCKS, 0, 42);
    let other = hash ^ 1;
    let mut record = [load(&mut words, BLOCKS), other, 0, 42];
    record[2] = check_of(&record);
    words.write(BLOCKS, &record).expect("within");
    set(&mut words, root_of(hash), record_slot(BLOCKS, other));
    assert_eq!(damages(&mut words), [("a record whose checksum is wrong", BLOCKS)]);
}

#[test]
fn a_node_leads_on_by_the_next_bits_of_the_hash() {
    let class = format::class_of(NODE_WORDS).expect("a class");
    let mut words = with_blocks(&[0, class]);
    let node = BLOCKS + SIZES[0];
    let (hash, slot) = put_record(&mut words, BLOCKS, 0, 42);
    let head = Head::node(class, hash, format::ROOT_SHIFT);
    set(&mut words, node, head.word());
    (1..=FAN_OUT).for_each(|number| set(&mut words, node + number, EMPTY));
    let own = node + 1 + (hash >> (format::ROOT_SHIFT - 4) & 15);
    set(&mut words, own, slot);
    set(&mut words, root_of(hash), node_slot(node));
    let found = survey(&mut words);
    assert_eq!((&found.damages[..], found.records), (&[][..], 1));
    assert!(found.blocks.iter().all(|block| block.led == Led::Tree));
    let other = if own == node + 1 { node + 2 } else { node + 1 };
    set(&mut words, own, EMPTY);
    set(&mut words, other, slot);
    assert_eq!(damages(&mut words), [("a record in the place of another key", BLOCKS)]);
    set(&mut words, node, Head::node(class, !hash, format::ROOT_SHIFT).word());
    assert_eq!(damages(&mut words), [("a slot that points to something else", root_of(hash))]);
}

/// Where no bit of the hash is left a node is a list: only its last slot leads to another.
#[test]
fn a_list_holds_records_and_leads_on_by_its_last_slot() {
    let class = format::class_of(NODE_WORDS).expect("a class");
    let levels = format::ROOT_SHIFT / 4 + 1;
    let blocks: Vec<usize> = std::iter::once(0).chain((0..=levels).map(|_| class)).collect();
    let mut words = with_blocks(&blocks);
    let (hash, record) = put_record(&mut words, BLOCKS, 0, 42);
    let mut slot = root_of(hash);
    let mut list = 0;
    for level in 0..=levels {
        list = BLOCKS + SIZES[0] + u64::from(level) * SIZES[class];
        (1..=FAN_OUT).for_each(|number| set(&mut words, list + number, EMPTY));
        let shift = format::ROOT_SHIFT - 4 * level.min(levels - 1);
        set(&mut words, list, Head::node(class, hash, shift).word());
        set(&mut words, slot, node_slot(list));
        // The last but one is the first of the list.
        slot = if shift < 4 { list + FAN_OUT } else { list + 1 + (hash >> (shift - 4) & 15) };
    }
    for number in 1..FAN_OUT {
        set(&mut words, list + number, record);
        let found = survey(&mut words);
        assert_eq!((&found.damages[..], found.records), (&[][..], 1), "slot {number}");
        set(&mut words, list + number, EMPTY);
    }
    let end = list - SIZES[class] + FAN_OUT;
    assert_eq!(load(&mut words, end), node_slot(list));
    set(&mut words, end, EMPTY);
    for number in 1..FAN_OUT {
        set(&mut words, end - number, node_slot(list));
        assert_eq!(damages(&mut words), [("a node where a record is to be", end - number)]);
        set(&mut words, end - number, EMPTY);
    }
}
