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
    let mut fast = empty();
    let mut model = BTreeMap::new();
    assert_eq!(walked(&mut fast), []);
    // Lengths from a word to two, and of one length several.
    let name = |number: usize| format!("k{number:0width$}", width = 2 + number % 9);
    let of = |number: usize| key(&name(number), 0x1234_5678_9abc_def0);
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
    assert_eq!(fetched(&mut fast, &key(&name(1), 0x1234_5678_9abc_def1)), None, "of another hash");
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

fn what(error: Error) -> &'static str {
    match error {
        Error::Damaged(damage) => damage.what,
        other => panic!("{other}"),
    }
}
