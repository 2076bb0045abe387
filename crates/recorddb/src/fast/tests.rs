//! Records whose hashes have the same bits: keys of one's own choice, because nobody finds such ones.

use std::collections::BTreeMap;

use super::words::MemoryWords;
use super::*;
use crate::lock::SystemLocks;

type Memory = Fast<MemoryWords, SystemLocks>;

fn empty() -> Memory {
    let mut words = MemoryWords(Vec::new());
    words.make_room(format::FIRST_CHUNK).expect("memory");
    open::fill(&mut words).expect("memory");
    let (space, _) = Space::take_over(&mut words, 0).expect("memory");
    let nobody = Arc::new(File::open("/dev/null").expect("there"));
    open::opened(words, Guard::new(None, SystemLocks::None, false), Some(space), 0, nobody)
}

fn key(text: &str, hash: u64) -> Key {
    let mut key = Key::new(text.as_bytes(), 0).expect("a key");
    key.hash = hash;
    key
}

fn store(fast: &mut Memory, key: &Key, value: &str) {
    let way = fast.find(key).expect("whole");
    match way.found {
        Some(found) => fast.replace(key, value.as_bytes(), &way, found),
        None => fast.insert(key, value.as_bytes(), &way),
    }
    .expect("stored");
}

fn fetched(fast: &mut Memory, key: &Key) -> Option<String> {
    let found = fast.find(key).expect("whole").found?;
    fast.read(found).expect("whole");
    let mut value = Vec::new();
    unpack(&fast.buffer[RECORD_HEAD as usize + key.count..], found.head.value, &mut value);
    Some(String::from_utf8(value).expect("letters"))
}

fn delete(fast: &mut Memory, key: &Key) -> bool {
    let way = fast.find(key).expect("whole");
    way.found.is_some_and(|found| fast.unlink(&way, found).map(|()| true).expect("deleted"))
}

/// Keys and values in the order of a walk by one who has done nothing else.
fn walked(fast: &mut Memory) -> Vec<(String, String)> {
    fast.buffer.clear();
    fast.rewind();
    let (mut key, mut value, mut all) = (Vec::new(), Vec::new(), Vec::new());
    while fast.advance(&mut key, &mut value).expect("whole") {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("letters");
        all.push((text(&key), text(&value)));
    }
    all
}

/// Forty records of one hash are more than two nodes hold. Half of them go, others come in their places and behind them.
#[test]
fn keys_of_one_hash_are_records_of_their_own() {
    for hash in [0x1234_5678_9abc_def0, 0, u64::MAX] {
        forty_of(hash);
    }
}

fn forty_of(hash: u64) {
    let mut fast = empty();
    let mut model = BTreeMap::new();
    assert_eq!(walked(&mut fast), []);
    // Lengths from a word to two, and of one length several.
    let name = |number: usize| format!("k{number:0width$}", width = 2 + number % 9);
    let of = |number: usize| key(&name(number), hash);
    for number in 0..40 {
        assert_eq!(fetched(&mut fast, &of(number)), None, "{number}");
        let value = format!("v{number}");
        store(&mut fast, &of(number), &value);
        model.insert(name(number), value);
    }
    let used = fast.words.0.iter().rposition(|word| *word != 0);
    for number in (0..40).step_by(2) {
        assert!(delete(&mut fast, &of(number)) && !delete(&mut fast, &of(number)), "{number}");
        model.remove(&name(number));
    }
    for number in (1..40).step_by(4) {
        store(&mut fast, &of(number), "another");
        model.insert(name(number), "another".to_owned());
    }
    for number in 40..60 {
        store(&mut fast, &of(number), "v");
        model.insert(name(number), "v".to_owned());
    }
    assert_eq!(fast.words.0.iter().rposition(|word| *word != 0), used, "there was room in the list");
    for number in 0..61 {
        assert_eq!(fetched(&mut fast, &of(number)), model.get(&name(number)).cloned(), "{number}");
    }
    for _ in 0..2 {
        assert!(walked(&mut fast).into_iter().eq(model.clone()), "in the order of keys, and again");
    }
    assert_eq!(fetched(&mut fast, &key(&name(1), hash ^ 1)), None, "of another hash");
}

/// Hashes that part at every bit below their root that a node looks at: each way down has its nodes, and they go with what they lead to.
#[test]
fn keys_part_where_their_hashes_do() {
    const BASE: u64 = 0x1234_5678_9abc_def0;
    let mut fast = empty();
    let bits = LIST_SHIFT..format::ROOT_SHIFT;
    let mut hashes: Vec<u64> = bits.map(|bit| BASE ^ 1 << bit).chain([BASE]).collect();
    for hash in &hashes {
        store(&mut fast, &key(&format!("{hash:x}"), *hash), &format!("v{hash:x}"));
    }
    for hash in &hashes {
        let name = format!("{hash:x}");
        assert_eq!(fetched(&mut fast, &key(&name, *hash)), Some(format!("v{name}")));
        assert_eq!(fetched(&mut fast, &key("another", *hash)), None, "{name}");
    }
    let in_order = hashes.iter().collect::<std::collections::BTreeSet<_>>();
    let names: Vec<String> = in_order.into_iter().map(|hash| format!("{hash:x}")).collect();
    assert_eq!(
        walked(&mut fast).into_iter().map(|it| it.0).collect::<Vec<_>>(),
        names,
        "in the order of hashes"
    );
    while let Some(hash) = hashes.pop() {
        assert!(delete(&mut fast, &key(&format!("{hash:x}"), hash)));
        for left in &hashes {
            assert!(
                fetched(&mut fast, &key(&format!("{left:x}"), *left)).is_some(),
                "{left:x} went with {hash:x}"
            );
        }
    }
    let survey = survey::Survey::of(&mut fast.words).expect("memory");
    assert_eq!((&survey.damages[..], survey.records), (&[][..], 0));
    assert!(survey.blocks.iter().all(|block| block.led == survey::Led::FreeList), "each node goes, too");
}

/// A list that is damaged is told, whoever looks for what is not on it.
#[test]
fn a_damaged_list_is_told() {
    let hash = 7;
    let damage_of = |change: &dyn Fn(&mut MemoryWords, u64)| {
        let mut fast = empty();
        for number in 10..30 {
            store(&mut fast, &key(&format!("k{number}"), hash), "v");
        }
        // The second record is the first of the list.
        let node = fast.find(&key("k11", hash)).expect("whole").last - 1;
        change(&mut fast.words, node);
        let found = fast.find(&key("missing", hash));
        let walked = fast.advance(&mut Vec::new(), &mut Vec::new());
        (found.err().map(what), walked.err().map(what))
    };
    let set = |words: &mut MemoryWords, at, word| words.store(at, word).expect("within");
    let get = |words: &mut MemoryWords, at| words.load(at).expect("within");
    let end = |node: u64| node + format::FAN_OUT;
    let circle = damage_of(&|words, node| set(words, end(node), format::node_slot(node)));
    assert_eq!(
        circle,
        (Some("a list that goes round in a circle"), Some("a list that goes round in a circle"))
    );
    let swapped = damage_of(&|words, node| {
        let next = get(words, end(node));
        set(words, node + 1, next);
    });
    assert_eq!(swapped.0, Some("a node where a record is to be"));
    let record = damage_of(&|words, node| {
        let record = get(words, node + 1);
        set(words, end(node), record);
    });
    assert_eq!(record.0, Some("a record where a node is to be"));
    // Four bits of the hash are the node above it.
    let of_another = damage_of(&|words, node| {
        let mut record = [0; 5];
        let at = get(words, node + 1) >> 16;
        words.read(at, &mut record).expect("within");
        record[1] ^= 8;
        record[2] = check_of(&record);
        words.write(at, &record).expect("within");
        set(words, node + 1, format::record_slot(at, record[1]));
    });
    assert_eq!(of_another.0, Some("a record in the place of another key"));
    let elsewhere = damage_of(&|words, node| {
        let Slot::Node(next) = format::slot(get(words, end(node)), 0).expect("a slot") else {
            panic!("a node")
        };
        let head = Head::read(get(words, next), next).expect("a head");
        set(words, next, Head::node(head.class, !hash, LIST_SHIFT).word());
    });
    let other = Some("a slot that points to something else");
    assert_eq!(elsewhere, (other, other));
    assert_eq!(damage_of(&|_, _| ()), (None, None));
    assert!(!check::check(&[]).is_clean(), "what cannot be read is damaged");
}

/// Records of one hash stand in the order in which they came, in one node and then in the next.
#[test]
fn a_list_is_filled_from_its_beginning() {
    let mut fast = empty();
    let of = |number: u64| key(&format!("k{number}"), 7);
    (0..20).for_each(|number| store(&mut fast, &of(number), "v"));
    let mut place = |number: u64| fast.find(&of(number)).expect("whole").last;
    // The second had to make the list, and stands before the first.
    let (first, next) = (place(1), place(15));
    assert_eq!(place(0), first + 1);
    (2..15).for_each(|number| assert_eq!(place(number), first + number, "{number}"));
    (15..20).for_each(|number| assert_eq!(place(number), next + number - 15, "{number}"));
    let end = fast.words.0[usize::try_from(first + 15).expect("small")];
    assert_eq!(format::slot(end, 0), Ok(Slot::Node(next - 1)));
}

/// Two keys whose words and hashes are the same differ in their lengths.
#[test]
fn a_zero_at_the_end_of_a_key_counts() {
    let mut fast = empty();
    store(&mut fast, &key("ab", 7), "two");
    assert_eq!(fetched(&mut fast, &key("ab\0", 7)), None);
    store(&mut fast, &key("ab\0", 7), "three");
    let found = ["ab", "ab\0"].map(|text| fetched(&mut fast, &key(text, 7)));
    assert_eq!(found, [Some("two".to_owned()), Some("three".to_owned())]);
}

/// A list may have 1024 nodes; one that has more goes round in a circle.
#[test]
fn a_list_has_at_most_1024_nodes() {
    const HASH: u64 = 7;
    let mut fast = empty();
    (10..12).for_each(|number| store(&mut fast, &key(&format!("k{number}"), HASH), "v"));
    let mut node = fast.find(&key("k11", HASH)).expect("whole").last - 1;
    let mut lengthened = |fast: &mut Memory| {
        let next = fast.new_node(HASH, LIST_SHIFT, &[]).expect("room");
        fast.words.store(node + format::FAN_OUT, format::node_slot(next)).expect("within");
        node = next;
    };
    (1..1024).for_each(|_| lengthened(&mut fast));
    let names = walked(&mut fast).into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(names, ["k10", "k11"]);
    assert_eq!(fetched(&mut fast, &key("missing", HASH)), None);
    lengthened(&mut fast);
    fast.rewind();
    let circle = Some("a list that goes round in a circle");
    assert_eq!(fast.advance(&mut Vec::new(), &mut Vec::new()).err().map(what), circle);
    assert_eq!(fast.find(&key("missing", HASH)).err().map(what), circle);
}

/// A walk visits each record that it looks at, and each of a list for each that it finds there.
#[test]
fn visits_are_the_records_that_were_looked_at() {
    let mut fast = empty();
    assert_eq!(fast.counters().visits, 0);
    for number in 0..5u64 {
        store(&mut fast, &key(&format!("k{number}"), number << 60), "v");
    }
    assert_eq!(
        (walked(&mut fast).len(), fast.counters().visits),
        (5, 5 + 5),
        "its stripe is looked at again"
    );
    (5..8).for_each(|number| store(&mut fast, &key(&format!("k{number}"), u64::MAX), "v"));
    let before = fast.counters().visits;
    assert_eq!(walked(&mut fast).len(), 8);
    assert_eq!(fast.counters().visits - before, 5 + 5 + 4 * 3);
}

/// A slot leads to a record that belongs there, by its hash and its tag.
#[test]
fn a_slot_that_leads_elsewhere_is_told() {
    let mut fast = empty();
    store(&mut fast, &key("key", 7), "v");
    let way = fast.find(&key("key", 7)).expect("whole");
    let at = way.found.expect("there").at;
    let found = |fast: &mut Memory, slot: u64| {
        fast.words.store(way.last, slot).expect("within");
        fast.rewind();
        let walked = fast.advance(&mut Vec::new(), &mut Vec::new()).err().map(what);
        (fast.find(&key("other", 6)).err().map(what), walked)
    };
    assert_eq!(found(&mut fast, format::record_slot(at, 7)), (None, None));
    let other_tag = found(&mut fast, format::record_slot(at, 6));
    assert_eq!(other_tag, (Some("a record in the place of another key"), None), "a walk has no key");
    let node = fast.new_node(0, format::ROOT_SHIFT, &[]).expect("room");
    let other = Some("a slot that points to something else");
    assert_eq!(found(&mut fast, format::record_slot(node, 7)), (other, other));
}

#[test]
fn a_value_has_at_most_7000_bytes_and_what_replaces_it_stands_elsewhere() {
    let mut fast = empty();
    let longest = vec![b'v'; 7000];
    let longer = [&longest[..], b"v"].concat();
    assert_eq!(
        Records::store(&mut fast, b"key", &longest, StoreMode::Insert),
        Ok(Stored::Inserted { reused: false })
    );
    let replaced = Records::store(&mut fast, b"key", &longest, StoreMode::Either);
    assert_eq!(replaced, Ok(Stored::Replaced { in_place: false }));
    assert!(matches!(Records::store(&mut fast, b"key", &longer, StoreMode::Either), Err(Error::Input(_))));
    let mut value = Vec::new();
    assert_eq!((fast.fetch(b"key", &mut value), value), (Ok(true), longest));
    assert!(!fast.lost);
    fast.give_unlinked(FAR, 0);
    assert!(fast.lost, "there is no such block");
    fast.give_unlinked(format::FIRST_CHUNK + 1, 0);
    assert!(fast.lost, "what is lost stays lost");
}

/// A word that no file in memory has.
const FAR: u64 = 1 << 40;

fn what(error: Error) -> &'static str {
    match error {
        Error::Damaged(damage) => damage.what,
        other => panic!("{other}"),
    }
}
